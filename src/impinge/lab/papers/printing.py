"""Tables and sentences on the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from impinge.lab.bench.timing import machine

_WIDTH = 150
"""Of the output in a file: room for the widest table."""


def titled_console(title: str) -> Console:
    """A console that has printed the title, the machine and the date."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=_WIDTH)
    console.print(f"[bold]{title}[/bold]  {machine()}")
    return console


def say(console: Console, lines: Sequence[object]) -> None:
    for line in lines:
        console.print(str(line), markup=False, highlight=False)


def verdict(holds: bool) -> str:
    """Of what a paper says."""
    return "holds" if holds else "does not hold here"


def milliseconds(seconds: float) -> str:
    """With three digits, or all before the point."""
    value = 1e3 * seconds
    return f"{value:.3g} ms" if value < 1000.0 else f"{value:,.0f} ms"
