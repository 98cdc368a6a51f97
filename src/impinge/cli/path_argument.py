"""Paths of files that are read, as arguments of a command."""

from __future__ import annotations

from pathlib import Path

import typer


def parse_path(text: str) -> Path:
    """The path; an empty one, often a variable of a script that was not set, would be the current folder."""
    if not text:
        raise typer.BadParameter("an empty path names no file; the current folder is .")
    return Path(text)
