"""``impinge repair``: write a file mended."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import impinge
from impinge.cli import terminal
from impinge.cli.exit_codes import FINDINGS, NO_FINDINGS
from impinge.cli.output_file import require_place_for
from impinge.cli.path_argument import parse_path

if TYPE_CHECKING:
    from impinge.mesh.repair.weld import Weld


def repair(
    file: Annotated[Path, typer.Argument(metavar="FILE", parser=parse_path, help="A mesh or CAD file.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the mesh: .obj, .off or .stl.")],
    weld: Annotated[
        str | None,
        typer.Option(
            metavar="LENGTH|auto",
            help="Weld vertices of open edges this close: 0.01mm, 0.01 in the unit of the file, or auto for those "
            "that are equal but for rounding. By default no vertex moves.",
        ),
    ] = None,
) -> None:
    """Join T-vertices, merge coincident faces, drop those without area, and wind all of them outward.

    Exit code 0: the result is a clean closed mesh; 1: something unusual is left; 2: the input was wrong.
    """
    from impinge.apps.length_text import length_text
    from impinge.cli.length_option import parse_weld
    from impinge.io.save import known_suffix, save

    given = parse_weld(weld)
    known_suffix(output)
    require_place_for(output, [file])
    with terminal.spinner(f"reading {file.name}"):
        mesh = impinge.load(file)
        # A mesh has no unit; where one matters, the file is read once more.
        unit = None if given is None else impinge.load_assembly(file, solid=False).unit
    reach: Weld = given if given is None or given == "auto" else given.in_unit(unit, file.name)
    with terminal.spinner("repairing"):
        done = mesh.repair(reach)
        diagnosis = done.mesh.diagnose()
    save(done.mesh, output)
    terminal.say(f"{file.name}: {done}")
    if done.welded:
        terminal.say(f"Welded vertices moved by at most {length_text(done.largest_move, unit)}.")
    terminal.show(terminal.diagnosis_table(output.name, done.mesh, diagnosis))
    raise typer.Exit(NO_FINDINGS if diagnosis.is_clean else FINDINGS)
