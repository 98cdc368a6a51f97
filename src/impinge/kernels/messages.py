"""Lines on standard error, none of which may make anything fail.

Standard error may be missing (an application without a console), closed, or a file on a full disk.
"""

from __future__ import annotations

import sys
from contextlib import suppress

_CLEAR_LINE = "\r\x1b[K"


def on_terminal() -> bool:
    """Whether the lines are seen as they come, so that one may replace another."""
    with suppress(OSError, ValueError):
        return sys.stderr is not None and sys.stderr.isatty()
    return False


def say(text: str, end: str = "\n") -> None:
    """Write a line, on a terminal in place of one that was not ended."""
    with suppress(OSError, ValueError):
        if sys.stderr is not None:
            print(f"{_CLEAR_LINE if on_terminal() else ''}{text}", end=end, file=sys.stderr, flush=True)
