"""The command ``impinge``.

Exit codes: 0 all is well, 1 there are findings, 2 the input or the request was wrong (one line on
standard error says how), 3 a mistake in impinge itself.
"""

from __future__ import annotations

import json
import sys
import time
import traceback
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer.core import TyperGroup

import impinge
from impinge.cli import terminal
from impinge.errors import MissingExtra

if TYPE_CHECKING:
    from impinge.apps.clash import Finding
    from impinge.geometry.assembly import Assembly

NO_FINDINGS, FINDINGS, BAD_INPUT, OUR_MISTAKE = 0, 1, 2, 3
INTERRUPTED = 130  # as shells report Ctrl-C


class OneLineErrors(TyperGroup):
    """Wrong input is the user's business: one sentence and exit code 2, never a traceback."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise  # the reader of our output went away; click ends quietly
        except (ValueError, OSError, MissingExtra) as error:
            typer.echo(f"impinge: {_sentence(error)}", err=True)
            raise typer.Exit(BAD_INPUT) from error
        except KeyboardInterrupt as error:
            typer.echo("impinge: interrupted", err=True)
            raise typer.Exit(INTERRUPTED) from error


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return " ".join(str(error).split()) or type(error).__name__


app = typer.Typer(
    cls=OneLineErrors,
    name="impinge",
    help="Exact collision detection for polyhedra: who touches, where, how far apart.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"impinge {impinge.__version__}")
        raise typer.Exit


@app.callback()
def _global_options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


@app.command()
def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the HTML report.")] = Path(
        "impinge-report.html"
    ),
) -> None:
    """Check a small engine bay that impinge makes by itself, and write a report."""
    _require_place_for(output)
    from impinge.lab.scenes.engine_bay import CLEARANCE, PLANTED, engine_bay

    assembly = engine_bay()
    terminal.out.print(f"An engine bay of {len(assembly)} parts, clearance {CLEARANCE:g} {assembly.unit}.")
    findings = _check(assembly, CLEARANCE)
    terminal.out.print(terminal.findings_table(findings, assembly.unit))
    _write_report(output, assembly, findings, CLEARANCE, "Engine bay")
    found = {(item.kind.name.lower(), frozenset((item.part_a, item.part_b))) for item in findings}
    planted = {(item.kind, frozenset((item.part_a, item.part_b))) for item in PLANTED}
    if found != planted:
        terminal.out.print(f"This differs from the {len(planted)} planted cases: please report it as a bug.")
        raise typer.Exit(OUR_MISTAKE)
    terminal.out.print(f"All {len(planted)} planted cases were found, and nothing else.")
    terminal.out.print("Next: impinge check your-assembly.glb --clearance 5 --report report.html")


@app.command()
def check(
    assembly: Annotated[Path, typer.Argument(metavar="ASSEMBLY", help="A file with one or more parts.")],
    clearance: Annotated[float, typer.Option(help="Report pairs this close or closer, in the unit of the file.")] = 0.0,
    unit: Annotated[str | None, typer.Option(help="Convert to um, mm, cm, m, in or ft first.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
    report: Annotated[Path | None, typer.Option(help="Also write an HTML report with pictures.")] = None,
) -> None:
    """Find the parts of an assembly that interfere, touch, are nested or come too close.

    Exit code 0: no findings; 1: findings; 2: the input was wrong.
    """
    from impinge.geometry.cast import as_clearance

    limit = as_clearance(clearance)
    if report is not None:
        _require_place_for(report)
        if report.exists() and report.samefile(assembly):
            raise ValueError(f"{report}: the report would overwrite the assembly; give another name")
    with terminal.spinner(f"reading {assembly.name}"):
        parts = impinge.load_assembly(assembly, unit=unit)
    findings = _check(parts, limit)
    if as_json:
        typer.echo(json.dumps(_as_json(assembly, parts, findings, limit), indent=2))
    else:
        _print_findings(assembly, parts, findings, limit)
    if report is not None:
        _write_report(report, parts, findings, limit, assembly.name, quiet=as_json)
    raise typer.Exit(FINDINGS if findings else NO_FINDINGS)


@app.command()
def diagnose(file: Annotated[Path, typer.Argument(metavar="FILE", help="A mesh or CAD file.")]) -> None:
    """Report open and non-manifold edges, coincident and degenerate faces, T-vertices, winding, cracks and slivers.

    Exit code 0: a clean closed mesh; 1: something is unusual; 2: the input was wrong.
    """
    with terminal.spinner(f"reading {file.name}"):
        mesh = impinge.load(file)
    with terminal.spinner("looking"):
        diagnosis = mesh.diagnose()
    terminal.out.print(terminal.diagnosis_table(file.name, mesh, diagnosis))
    raise typer.Exit(NO_FINDINGS if diagnosis.is_clean else FINDINGS)


@app.command()
def repair(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A mesh or CAD file.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the mesh: .obj, .off or .stl.")],
    weld: Annotated[
        str | None,
        typer.Option(help="Weld vertices of open edges this close: a length, or 'auto'. By default no vertex moves."),
    ] = None,
) -> None:
    """Join T-vertices, merge coincident faces, drop those without area, and wind all of them outward.

    Exit code 0: the result is a clean closed mesh; 1: something unusual is left; 2: the input was wrong.
    """
    from impinge.adapters.save import known_suffix, save

    known_suffix(output)
    _require_place_for(output)
    if output.exists() and output.samefile(file):
        raise ValueError(f"{output}: the repaired mesh would overwrite the file; give another name")
    with terminal.spinner(f"reading {file.name}"):
        mesh = impinge.load(file)
    with terminal.spinner("repairing"):
        done = mesh.repair(_as_weld(weld))
        diagnosis = done.mesh.diagnose()
    save(done.mesh, output)
    typer.echo(f"{file.name}: {done}")
    terminal.out.print(terminal.diagnosis_table(output.name, done.mesh, diagnosis))
    raise typer.Exit(NO_FINDINGS if diagnosis.is_clean else FINDINGS)


def _as_weld(text: str | None) -> float | Literal["auto"] | None:
    if text is None:
        return None
    if text == "auto":
        return "auto"
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"--weld is {text!r}; it must be a length or 'auto'") from None


@app.command()
def warmup() -> None:
    """Compile all kernels for this machine now, so that no later run has to wait."""
    from impinge.jit import cache_directory, why_not_kept
    from impinge.world.warmup import compile_everything

    start = time.perf_counter()
    with terminal.progress_bar("compiling kernels") as progress:
        compile_everything(progress)
    if reason := why_not_kept():
        raise OSError(f"all kernels are compiled, but not kept: {reason}")
    terminal.out.print(f"All kernels are compiled, in {time.perf_counter() - start:.1f} s. They are kept in")
    typer.echo(cache_directory)


def _check(assembly: Assembly, clearance: float) -> tuple[Finding, ...]:
    from impinge.apps.clash import check as check_assembly

    _compile_for_a_first_run()
    with terminal.progress_bar("checking pairs") as progress:
        return check_assembly(assembly, clearance, progress)


def _compile_for_a_first_run() -> None:
    """Fill an empty kernel cache at once, in two processes: faster than kernel by kernel, when first needed."""
    from impinge.jit import cache_was_empty

    if cache_was_empty:
        from impinge.world.warmup import compile_everything

        with terminal.progress_bar("first run: compiling kernels for this machine, once") as progress:
            compile_everything(progress, verbs=("check",))


def _require_place_for(report: Path) -> None:
    """Find out before the work, not after it, that a file cannot be written."""
    if report.is_dir():
        raise ValueError(f"{report}: it is a directory; give the name of the file to write")
    if not report.parent.is_dir():
        raise FileNotFoundError(f"{report}: the directory {report.parent} does not exist")


def _write_report(
    path: Path, assembly: Assembly, findings: tuple[Finding, ...], clearance: float, title: str, quiet: bool = False
) -> None:
    with terminal.progress_bar("drawing the report") as progress:
        from impinge.apps.report import write_report

        write_report(path, assembly, findings, clearance, title, progress)
    if not quiet:
        # Not through rich, which would break a long path in two.
        typer.echo(f"Report with pictures: {path}")


def _print_findings(file: Path, assembly: Assembly, findings: tuple[Finding, ...], clearance: float) -> None:
    unit = f" {assembly.unit}" if assembly.unit else ""
    if findings:
        terminal.out.print(terminal.findings_table(findings, assembly.unit))
    count = f"{len(findings)} finding{'' if len(findings) == 1 else 's'}" if findings else "no findings"
    parts = f"{len(assembly)} part{'' if len(assembly) == 1 else 's'}"
    typer.echo(f"{file.name}: {count} among {parts}, clearance {clearance:g}{unit}")


def _as_json(file: Path, assembly: Assembly, findings: tuple[Finding, ...], clearance: float) -> dict[str, Any]:
    return {
        "file": str(file),
        "unit": assembly.unit,
        "parts": len(assembly),
        "clearance": clearance,
        "findings": [
            {
                "kind": finding.kind.name.lower(),
                "part_a": finding.part_a,
                "part_b": finding.part_b,
                "distance": finding.distance,
                "where": finding.where.tolist(),
                "description": finding.description,
            }
            for finding in findings
        ],
    }


def run() -> None:
    """The entry point of the command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # names of parts may hold what a terminal cannot show
    try:
        app()
    except Exception:
        traceback.print_exc()
        print("impinge: this is a mistake in impinge; please report it with the lines above", file=sys.stderr)
        sys.exit(OUR_MISTAKE)


if __name__ == "__main__":
    run()
