"""The command line: ``impinge --help``."""
