"""The exceptions that impinge adds to Python's own.

Bad input is a ``ValueError`` (or ``FileNotFoundError``) whose sentence names
the argument and the place in it.  Two cases deserve a name of their own.
"""


class Unsupported(ValueError):
    """The question has no answer for these bodies, for example ``relation`` of an open mesh."""


class MissingExtra(ImportError):
    """An optional package is needed; the sentence names the extra that installs it."""

    def __init__(self, purpose: str, package: str, extra: str) -> None:
        super().__init__(f"{purpose} needs the package '{package}': install it with  pip install \"impinge[{extra}]\"")
