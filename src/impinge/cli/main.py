"""The command ``impinge``.

Exit codes: 0 all is well, 1 there are findings, 2 the input or the request was wrong (one line on
standard error says how), 3 a mistake in impinge itself.
"""

from __future__ import annotations

import sys
import time
import traceback
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import impinge
from impinge.cli import terminal
from impinge.cli.check import check, check_with_progress, say_where_the_report_is, write_report_with_progress
from impinge.cli.exit_codes import BAD_INPUT, FINDINGS, INTERRUPTED, NO_FINDINGS, OUR_MISTAKE
from impinge.cli.output_file import require_place_for
from impinge.cli.path_argument import parse_path
from impinge.cli.repair import repair
from impinge.errors import MissingExtra


class OneLineErrors(TyperGroup):
    """Wrong input is the user's business: one sentence and exit code 2, never a traceback."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise  # the reader of our output went away; click ends quietly
        except (ValueError, OSError, MissingExtra) as error:
            terminal.say(f"impinge: {_sentence(error)}", err=True)
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
    help="Exact collision detection for polyhedra: what touches, where, how far apart.",
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
    require_place_for(output)
    from impinge.apps.demo.engine_bay import CLEARANCE, PLANTED, engine_bay

    assembly = engine_bay()
    terminal.out.print(f"An engine bay of {len(assembly)} parts, clearance {CLEARANCE:g} {assembly.unit}.")
    result = check_with_progress(assembly, CLEARANCE)
    terminal.show(terminal.findings_table(result.findings, assembly.unit))
    write_report_with_progress(output, assembly, result, "Engine bay")
    say_where_the_report_is(output)
    found = {(item.kind.name.lower(), frozenset((item.part_a, item.part_b))) for item in result.findings}
    planted = {(item.kind, frozenset((item.part_a, item.part_b))) for item in PLANTED}
    if found != planted:
        terminal.out.print(f"This differs from the {len(planted)} planted cases: please report it as a bug.")
        raise typer.Exit(OUR_MISTAKE)
    terminal.out.print(f"All {len(planted)} planted cases were found, and nothing else.")
    terminal.out.print("Next: impinge check your-assembly.glb --clearance 5mm --report report.html")


app.command()(check)


@app.command()
def diagnose(
    file: Annotated[Path, typer.Argument(metavar="FILE", parser=parse_path, help="A mesh or CAD file.")],
) -> None:
    """Report open and non-manifold edges, coincident and degenerate faces, T-vertices, winding, cracks and slivers.

    Exit code 0: a clean closed mesh; 1: something is unusual; 2: the input was wrong.
    """
    with terminal.spinner(f"reading {file.name}"):
        mesh = impinge.load(file)
    with terminal.spinner("looking"):
        diagnosis = mesh.diagnose()
    terminal.show(terminal.diagnosis_table(file.name, mesh, diagnosis))
    raise typer.Exit(NO_FINDINGS if diagnosis.is_clean else FINDINGS)


app.command()(repair)


@app.command()
def warmup() -> None:
    """Compile all kernels for this machine now, so that no later run has to wait."""
    from impinge.apps.warmup import compile_everything
    from impinge.kernels.jit import kernels_are_compiled

    if not kernels_are_compiled():
        terminal.out.print("There is nothing to compile: the kernels of this installation are ready.")
        return
    from impinge.kernels.with_numba.cache import cache_directory, why_not_kept

    start = time.perf_counter()
    with terminal.progress_bar("compiling kernels") as progress:
        compile_everything(progress)
    if reason := why_not_kept():
        raise OSError(f"all kernels are compiled, but not kept: {reason}")
    terminal.out.print(f"All kernels are compiled, in {time.perf_counter() - start:.1f} s. They are kept in")
    typer.echo(cache_directory)


def run() -> None:
    """The command, once everything is loaded."""
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
