"""Many bodies at once: ``World`` against the managers of coal, python-fcl and trimesh.

``python -m impinge.lab.bench world [feeder] [small] [polytopes] [assembly] [--assembly FILE] [OPTIONS]``

Each section has a file of its own: ``world_feeder``, ``world_small``, ``world_polytopes``, ``world_assembly`` and
``world_differences``, which tells which library is right where answers about an assembly differ.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from impinge.arrays import as_clearance
from impinge.io.files import load_assembly
from impinge.lab.bench import results, world_assembly, world_differences, world_feeder, world_polytopes, world_small
from impinge.lab.bench.timing import machine
from impinge.lab.scenes.crowd import Setting

FEEDER, POLYTOPES, ASSEMBLY, SMALL = "feeder", "polytopes", "assembly", "small"
FRAMES = 10

_CLEARANCE = 1e-4
"""Of an assembly, in its own size, where none is given."""


def _feeder(console: Console, options: argparse.Namespace) -> None:
    rows = []
    for count in options.parts:
        start = time.perf_counter()
        rows.append(world_feeder.measure(count, options.frames, options.rounds))
        console.print(f"{count:,} parts: {time.perf_counter() - start:.0f} s")
    console.print(world_feeder.table(rows))
    _say(console, world_feeder.findings(rows))
    if options.save is not None:
        command = f"python -m impinge.lab.bench world feeder --frames {options.frames} --rounds {options.rounds}"
        results.save(options.save, "world", command, {"feeder": [world_feeder.as_results(row) for row in rows]})


def _polytopes(console: Console, options: argparse.Namespace) -> None:
    settings = [
        Setting(count=count, density=density) for density in world_polytopes.DENSITIES for count in options.polytopes
    ]
    rows = [world_polytopes.measure(setting, options.frames, options.rounds) for setting in settings]
    console.print(world_polytopes.table(rows))
    _say(console, world_polytopes.findings(rows))


def _assembly(console: Console, options: argparse.Namespace) -> None:
    start = time.perf_counter()
    assembly = load_assembly(options.assembly)
    console.print(f"{options.assembly.name}: {assembly}, read in {time.perf_counter() - start:.2f} s")
    parts = world_assembly.placed(assembly)
    clearance = _CLEARANCE * parts.size if options.clearance is None else as_clearance(options.clearance)
    result = world_assembly.measure(assembly, clearance, options.rounds)
    for each in world_assembly.tables(result):
        console.print(each)
    _say(console, world_assembly.findings(result))
    places = world_differences.compare(assembly, clearance)
    console.print(world_differences.table(places, parts.names))
    console.print(world_differences.distance_table(places, parts.names))
    _say(console, world_differences.findings(places))


def _say(console: Console, sentences: Sequence[str]) -> None:
    for sentence in sentences:
        console.print(sentence, highlight=False)


def _small(console: Console, options: argparse.Namespace) -> None:
    console.print(world_small.table(world_small.measure(options.rounds)))


SECTIONS = {FEEDER: _feeder, SMALL: _small, POLYTOPES: _polytopes, ASSEMBLY: _assembly}


def run(arguments: Sequence[str] = ()) -> int:
    parser = argparse.ArgumentParser(prog="python -m impinge.lab.bench world", description=__doc__.partition("\n")[0])
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=f"{', '.join(SECTIONS)}; all, if none is named")
    parser.add_argument("--parts", type=int, nargs="+", metavar="N", default=world_feeder.PARTS, help="in the feeder")
    parser.add_argument(
        "--polytopes", type=int, nargs="+", metavar="N", default=world_polytopes.COUNTS, help="in the room"
    )
    parser.add_argument(
        "--assembly", type=Path, metavar="FILE", help="an assembly of yours; without it none is measured"
    )
    parser.add_argument("--clearance", type=float, help="in the unit of the file (1/10,000 of the assembly's size)")
    parser.add_argument("--frames", type=int, metavar="N", default=FRAMES, help=f"of each ({FRAMES})")
    parser.add_argument("--rounds", type=int, metavar="N", default=3, help="turns of each; the best counts (3)")
    parser.add_argument("--save", type=Path, metavar="FILE", help="also write a results file (JSON) of the feeder")
    options = parser.parse_args(arguments)
    if min(*options.parts, *options.polytopes, options.frames, options.rounds) < 1:
        parser.error("parts, polytopes, frames and rounds are at least 1")
    if unknown := set(options.sections) - set(SECTIONS):
        parser.error(f"no section {', '.join(sorted(unknown))}; there are {', '.join(SECTIONS)}")
    if ASSEMBLY in options.sections and options.assembly is None:
        parser.error("give the file of the assembly: --assembly FILE")
    named = options.sections or [each for each in SECTIONS if each != ASSEMBLY or options.assembly is not None]
    console = Console()
    if not console.is_terminal:
        console = Console(width=180)
    console.print(f"[bold]World[/bold]  {machine()}")
    for name in named:
        SECTIONS[name](console, options)
    return 0
