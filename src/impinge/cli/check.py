"""``impinge check``: which parts interfere, touch, are nested or come too close."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from impinge.cli import terminal
from impinge.cli.exit_codes import FINDINGS, NO_FINDINGS
from impinge.cli.output_file import require_place_for
from impinge.cli.path_argument import parse_path

if TYPE_CHECKING:
    from impinge.apps.clash import ClashCheck
    from impinge.cli.model_files import Models
    from impinge.mesh.assembly import Assembly
    from impinge.mesh.repair.weld import Weld

_MOST_NAMES = 5
"""Parts that a sentence names on the terminal; JSON and the report name all."""


def check(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE", parser=parse_path, help="Files with one or more parts each, or folders of files."
        ),
    ],
    clearance: Annotated[
        str,
        typer.Option(
            metavar="LENGTH",
            help="Report pairs this close or closer: 0.5mm, or 0.5 in the unit of the file (of --unit, if given).",
        ),
    ] = "0",
    unit: Annotated[
        str | None,
        typer.Option(help="Convert to um, mm, cm, m, in or ft first; files that name no unit are taken to be in it."),
    ] = None,
    weld: Annotated[
        str,
        typer.Option(
            metavar="LENGTH|auto|none",
            help="Weld vertices of open edges this close, in parts which that closes; auto: equal but for rounding.",
        ),
    ] = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
    report: Annotated[Path | None, typer.Option(help="Also write an HTML report with pictures.")] = None,
) -> None:
    """Find the parts that interfere, touch, are nested or come too close: every part against every other.

    Exit code 0: no findings; 1: findings; 2: the input was wrong, or there was only one part.
    """
    from impinge.cli.length_option import parse_length, parse_weld
    from impinge.cli.model_files import read_models

    required, reach = parse_length("--clearance", clearance), parse_weld(weld)
    if report is not None:
        require_place_for(report, [*files, *(file for place in files if place.is_dir() for file in place.iterdir())])
    models = read_models(files, unit)
    parts = models.assembly
    if len(parts) == 1:
        alone = f"{models.title}: it is one part, so there is nothing to compare it with; give more files."
        raise ValueError(" ".join((alone, *models.remarks)))
    limit = required.in_unit(parts.unit, models.title)
    welding: Weld = reach if reach is None or reach == "auto" else reach.in_unit(parts.unit, models.title)
    result = check_with_progress(parts, limit, welding)
    if as_json:
        typer.echo(json.dumps(_as_json(models, result), indent=2))
    else:
        _print(models, result)
    if report is not None:
        write_report_with_progress(report, parts, result, models.title, models.remarks)
        if not as_json:
            say_where_the_report_is(report)
    raise typer.Exit(FINDINGS if result.findings else NO_FINDINGS)


def check_with_progress(assembly: Assembly, clearance: float, weld: Weld = "auto") -> ClashCheck:
    from impinge.apps.clash import check as check_assembly

    _compile_for_a_first_run()
    with terminal.progress_bar("checking pairs") as progress:
        return check_assembly(assembly, clearance, progress, weld=weld)


def _compile_for_a_first_run() -> None:
    """Fill an empty kernel cache at once, in two processes: faster than kernel by kernel, when first needed."""
    from impinge.apps.warmup import compile_everything, would_help

    if would_help():
        with terminal.progress_bar("first run: compiling kernels for this machine, once") as progress:
            compile_everything(progress, verbs=("check",))


def write_report_with_progress(
    path: Path, assembly: Assembly, result: ClashCheck, title: str, remarks: tuple[str, ...] = ()
) -> None:
    with terminal.progress_bar("drawing the report") as progress:
        from impinge.apps.report import write_report

        write_report(path, assembly, result, title, progress, remarks=remarks)


def say_where_the_report_is(path: Path) -> None:
    terminal.say(f"Report with pictures: {path}")  # not through rich, which would break a long path in two


def _print(models: Models, result: ClashCheck) -> None:
    from impinge.apps.wording import notes, summary

    if result.findings:
        terminal.show(terminal.findings_table(result.findings, models.assembly.unit))
    for sentence in (*models.remarks, *notes(models.assembly, result, _MOST_NAMES)):
        terminal.say(sentence)
    terminal.say(f"{models.title}: {summary(models.assembly, result)}")


def _as_json(models: Models, result: ClashCheck) -> dict[str, Any]:
    from impinge.apps.clash import FindingKind
    from impinge.apps.wording import notes

    kinds = [finding.kind for finding in result.findings]
    return {
        "files": [{"file": str(file.path), "parts": list(file.parts)} for file in models.files],
        "skipped": [{"file": str(file.path), "reason": file.reason} for file in models.skipped],
        "unit": models.assembly.unit,
        "parts": len(models.assembly),
        "clearance": result.clearance,
        "weld": result.weld,
        "welded": [
            {"parts": list(mesh.parts), "vertices": mesh.vertices, "largest_move": mesh.largest_move}
            for mesh in result.welded
        ],
        "open_parts": [{"part": part.name, "open_edges": part.open_edges} for part in result.open_parts],
        "notes": [*models.remarks, *notes(models.assembly, result)],
        "counts": {kind.name.lower(): kinds.count(kind) for kind in FindingKind},
        "findings": [
            {
                "kind": finding.kind.name.lower(),
                "part_a": finding.part_a,
                "part_b": finding.part_b,
                "distance": finding.distance,
                "where": finding.where.tolist(),
                "description": finding.description,
            }
            for finding in result.findings
        ],
    }
