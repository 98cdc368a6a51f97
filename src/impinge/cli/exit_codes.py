"""The exit codes of the command."""

NO_FINDINGS = 0
FINDINGS = 1
BAD_INPUT = 2
"""The input or the request was wrong."""
OUR_MISTAKE = 3
INTERRUPTED = 130
"""As shells report Ctrl-C."""
