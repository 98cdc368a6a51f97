"""What appears on the terminal: tables on standard output, progress on standard error."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text
from typer import echo

from impinge.apps.visible_text import visible

if TYPE_CHECKING:
    from impinge.apps.clash import Finding
    from impinge.mesh.mesh import Mesh
    from impinge.mesh.repair.diagnose import Diagnosis

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)

_LONGEST_LINE = 10_000
"""Columns, where no terminal gives a width: more than the names of two parts take."""

_STYLES = {
    "INTERFERENCE": "bold red",
    "EQUAL": "bold magenta",
    "NESTED": "bold yellow",
    "TOUCHING": "bold blue",
    "CLEARANCE": "yellow",
}


@contextmanager
def progress_bar(text: str) -> Iterator[Callable[[int, int], None]]:
    """A bar that is moved by calling ``progress(done, total)`` and vanishes at the end."""
    bar = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=err,
        transient=True,
        disable=not err.is_terminal,
        # The line about compiling kernels is written to the same line of the terminal; a redirected
        # one would be piled up above the bar.
        redirect_stderr=False,
    )
    with bar:
        task = bar.add_task(text, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def spinner(text: str) -> Iterator[None]:
    """For work of unknown length."""
    if not err.is_terminal:
        yield
        return
    with err.status(Text(visible(text))):
        yield


def say(sentence: str, err: bool = False) -> None:
    """Print a line, however long; names in it may come from a file."""
    echo(visible(sentence), err=err)


def show(table: Table) -> None:
    """Print a table; where standard output is a file or another program, no line is broken, however long."""
    if out.is_terminal:
        out.print(table)
    else:
        Console(highlight=False, width=_LONGEST_LINE).print(table, no_wrap=True, crop=False)


def findings_table(findings: Sequence[Finding], unit: str | None) -> Table:
    from impinge.apps.length_text import length_text

    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("#", justify="right")
    table.add_column("kind")
    table.add_column("part", overflow="fold")
    table.add_column("part", overflow="fold")
    some_are_apart = any(finding.distance > 0.0 for finding in findings)
    if some_are_apart:
        table.add_column("distance", justify="right", no_wrap=True)
    for number, finding in enumerate(findings, start=1):
        row: list[str | Text] = [
            str(number),
            Text(finding.kind.name.lower(), style=_STYLES[finding.kind.name]),
            Text(visible(finding.part_a)),
            Text(visible(finding.part_b)),
        ]
        if some_are_apart:
            row.append(length_text(finding.distance, unit) if finding.distance > 0.0 else "")
        table.add_row(*row)
    return table


def diagnosis_table(name: str, mesh: Mesh, diagnosis: Diagnosis) -> Table:
    from impinge.mesh.repair.diagnose import REMARKS

    table = Table(box=None, pad_edge=False, header_style="dim", title=Text(visible(name)), title_justify="left")
    table.add_column("what")
    table.add_column("count", justify="right")
    table.add_column("the first ones", overflow="fold")
    table.add_row("vertices", str(len(mesh.vertices)), "")
    table.add_row("triangles", str(len(mesh.faces)), "")
    table.add_row("closed", "yes" if mesh.is_closed else "no", "")
    for field in fields(diagnosis):
        found = getattr(diagnosis, field.name)
        first = ", ".join(str(entry) for entry in found[:4].tolist()) + (", ..." if len(found) > 4 else "")
        style = "green" if len(found) == 0 else "cyan" if field.name in REMARKS else "bold yellow"
        table.add_row(field.name.replace("_", " "), Text(str(len(found)), style=style), first)
    return table
