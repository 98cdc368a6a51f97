"""Files that a command writes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


def require_place_for(output: Path, inputs: Iterable[Path] = ()) -> None:
    """Find out before the work, not after it, that a file cannot be written, or would replace what is read."""
    if output.is_dir():
        raise ValueError(f"{output}: it is a directory; give the name of the file to write")
    if not output.parent.is_dir():
        raise FileNotFoundError(f"{output}: the directory {output.parent} does not exist")
    if output.exists() and any(output.samefile(file) for file in inputs if file.exists()):
        raise ValueError(f"{output}: it would overwrite a file that is read; give another name")
