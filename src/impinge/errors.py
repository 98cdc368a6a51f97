"""Exceptions that impinge adds to Python's own.

Bad input is a ``ValueError`` (or ``FileNotFoundError``) whose message names
the argument and the place in it.  Two cases deserve a name of their own.
"""


class Unsupported(ValueError):
    """The query has no answer for these bodies, for example ``relation`` of an open mesh.

    Examples
    --------
    >>> import impinge
    >>> triangle = impinge.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    >>> triangle.volume
    Traceback (most recent call last):
    impinge.errors.Unsupported: the mesh is open at 3 edges, so it bounds no volume
    """


class MissingExtra(ImportError):
    """An optional package is needed; the message names the extra that installs it.

    Parameters
    ----------
    purpose
        What the package is needed for, as the beginning of a sentence.
    package
        The name of the package.
    extra
        The extra of impinge that installs it.

    Examples
    --------
    >>> from impinge import MissingExtra
    >>> raise MissingExtra("reading STEP files", "cadquery-ocp-novtk", "cad")
    Traceback (most recent call last):
    impinge.errors.MissingExtra: reading STEP files needs the package 'cadquery-ocp-novtk': ...
    """

    def __init__(self, purpose: str, package: str, extra: str) -> None:
        super().__init__(f"{purpose} needs the package '{package}': install it with  pip install \"impinge[{extra}]\"")
