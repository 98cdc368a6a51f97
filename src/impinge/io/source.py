"""The file that is being read: where it lies, what its reader may open, and how much memory it may fill.

A model file may come from anybody.  What it names (``"uri": "/dev/zero"``) and what
it announces (10**12 faces, an archive of a few megabytes that unpacks to gigabytes)
is checked here, before a byte is read or allocated.
"""

from __future__ import annotations

import os
import re
import stat
import urllib.parse
from collections.abc import Callable
from pathlib import Path

MAX_EXPANDED = 2**31
"""Bytes that the content of one file may take once it is unpacked and its instances are placed.

Two gigabytes hold some ten million triangles in any format, and fit into the memory of a small computer.
"""

MAX_SECONDS = 600.0
"""What Open CASCADE may take for one STEP or IGES file.

Files of a few hundred megabytes take it some minutes; some damaged ones never end.
"""

MOST_USES = 400_000
"""Uses of parts and groups, also of those that show nothing; see ``part_graph.MOST_PLACED``."""

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
"""``http:``, ``file:``; a single letter would be a drive of Windows."""


class Source:
    """One file, and the limits that its reader keeps.

    Parameters
    ----------
    path
        The model file.
    whole
        The split into parts is not wanted.
    allow_outside
        Files that the model names may lie outside its own folder.
    max_expanded
        Bytes that the unpacked content may take.
    max_seconds
        Seconds that a child process may take.
    """

    def __init__(
        self,
        path: Path,
        whole: bool = False,
        allow_outside: bool = False,
        max_expanded: int = MAX_EXPANDED,
        max_seconds: float = MAX_SECONDS,
    ) -> None:
        self.path = path
        self.whole = whole
        self.allow_outside = allow_outside
        self.max_expanded = max_expanded
        self.max_seconds = max_seconds
        self._taken = 0
        self._used = 0

    def take(self, size: int, what: str) -> None:
        """Account for ``size`` bytes that are about to be filled with ``what``."""
        self._taken += size
        if self._taken > self.max_expanded:
            raise ValueError(
                f"{what} would take more than {self.max_expanded:,} bytes once unpacked; "
                "the argument max_expanded allows more"
            )

    def use(self, number: int) -> None:
        """Account for so many uses of parts that are about to be made."""
        self._used += number
        if self._used > MOST_USES:
            raise ValueError(
                f"it uses parts and groups {self._used:,} times; more than {MOST_USES:,} are not supported"
            )

    def beside(self, uri: str, size: int) -> bytes:
        """The first ``size`` bytes of a file that the model names, relative to its folder."""
        shown = repr(uri[:200])
        if _SCHEME.match(uri):
            raise ValueError(f"it names the file {shown}, but only paths are followed, no addresses")
        name = urllib.parse.unquote(uri)
        folder = self.path.parent.resolve()
        try:
            place = (folder / name).resolve()  # through all symbolic links
        except (OSError, RuntimeError, ValueError) as error:
            raise ValueError(f"it names the file {shown}, which is no path") from error
        if not self.allow_outside and not place.is_relative_to(folder):
            raise ValueError(
                f"it names the file {shown} outside its own folder; the argument allow_outside permits that"
            )
        try:
            return read_regular(place, size, self.take)  # each time: a file may be named again and again
        except (OSError, ValueError) as error:
            reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
            raise ValueError(f"it names the file {shown}, which cannot be read ({reason})") from error


def read_regular(path: Path, size: int | None = None, take: Callable[[int, str], None] | None = None) -> bytes:
    """The content of a regular file, or its first ``size`` bytes: pipes, devices and directories are refused.

    What the path leads to is read from the open file, so that it cannot be exchanged in between.  ``take`` is called
    with the number of bytes before they are read.
    """
    # Opening a named pipe waits for a writer unless told not to; Windows has no such flag and needs another one.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with open(os.open(path, flags), "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise ValueError("it is not a regular file")
        if size is None:
            size = found.st_size
        if found.st_size < size:
            raise ValueError(f"it has {found.st_size} bytes, {size} are announced")
        if take is not None:
            take(size, "it")
        return file.read(size)
