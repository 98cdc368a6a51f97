"""Names from files, to be shown: what would act on a terminal, or on the text around it, is written out."""

from __future__ import annotations

import re

_ACTING = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""Control characters, separators of lines and paragraphs, and what turns the direction of writing."""


def visible(text: str) -> str:
    r"""A text on one line, without characters that do anything but be seen.

    Examples
    --------
    >>> print(visible("red \x1b[31m, two\nlines"))
    red \x1b[31m, two\nlines
    """
    return _ACTING.sub(lambda found: found.group().encode("unicode_escape").decode("ascii"), text)
