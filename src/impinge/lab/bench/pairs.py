"""Two bodies in every scene: how many times faster than coal and than python-fcl, in one interleaved run.

``python -m impinge.lab.bench pairs [--poses N] [--save FILE] [SCENE ...]``

Single thread.  A cell of the table is the geometric mean over the poses of the ratio of times, first to
coal's, then to python-fcl's, and below it our own time.  Peers are called as in ``peers``.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import impinge
from impinge.errors import MissingExtra
from impinge.lab.bench import pair_timing as timing
from impinge.lab.bench import results
from impinge.lab.bench.pair_timing import COAL, FCL, SceneTimes, measure
from impinge.lab.bench.peers import Coal, Fcl
from impinge.lab.bench.timing import interleaved, machine
from impinge.lab.scenes.pair_scene import PairScene
from impinge.lab.scenes.shapes import box

SCENES = {
    "pipes": "pipes",
    "torus": "torus_on_land",
    "sheets": "parallel_sheets",
    "tori": "tori",
    "bolt": "threads",
    "torpedo": "torpedo",
    "combs": "combs",
}
"""Name on the command line -> module of lab.scenes."""
LOSS = 1.5
"""A pose that takes this many times longer than with the faster peer is a loss."""

PEER_ROWS = (
    timing.BUILD,
    timing.BOOLEAN,
    timing.CONTACTS,
    timing.DISTANCE,
    timing.DISTANCE_ZERO,
    timing.CLOSER_THAN,
)
PATH_ROWS = (timing.PAIR_BOOLEAN, timing.PAIR_DISTANCE, timing.PATH_BOOLEAN, timing.PATH_DISTANCE)
_WIDTH = 170
"""Of the output in a file: room for all scenes."""
_SHOWN = 5


def run(arguments: Sequence[str] = ()) -> int:
    parser = argparse.ArgumentParser(prog="python -m impinge.lab.bench pairs", description=__doc__.partition("\n")[0])
    parser.add_argument("scenes", nargs="*", metavar="SCENE", help=f"from {', '.join(SCENES)}; all if none is named")
    parser.add_argument("--poses", type=int, metavar="N", help="poses of every scene (each has its own default)")
    parser.add_argument("--save", type=Path, metavar="FILE", help="also write a results file (JSON)")
    options = parser.parse_args(arguments)
    for name in options.scenes:
        if name not in SCENES:
            parser.error(f"{name!r} is not a scene; there are {', '.join(SCENES)}")
    if options.poses is not None and options.poses < 1:
        parser.error(f"--poses is {options.poses}; it must be 1 or more")
    console = Console()
    if not console.is_terminal:
        console = Console(width=_WIDTH)
    console.print(f"[bold]Pairs[/bold]  {machine()}")
    try:
        far = far_apart()
        console.print(far_table(far))
        measured = [_timed(console, _scene(name, options.poses)) for name in options.scenes or SCENES]
    except MissingExtra as error:
        console.print(str(error), markup=False)
        return 1
    console.print(speed_table(measured))
    console.print(worst_table(measured))
    console.print(memory_table(measured))
    for line in disagreements(measured):
        console.print(line, markup=False, highlight=False)
    if options.save is not None:
        command = " ".join(["python -m impinge.lab.bench pairs", *options.scenes])
        command += "" if options.poses is None else f" --poses {options.poses}"
        scenes = [as_results(each) for each in measured]
        results.save(options.save, "pairs", command, {"far_boxes_us": far, "scenes": scenes})
    return 0


def as_results(measured: SceneTimes) -> dict[str, Any]:
    """What a results file keeps of a scene."""
    scene = measured.scene
    rows = {}
    for name, row in measured.rows.items():
        others = [other for other in row.seconds if other != timing.OURS]
        rows[name] = {
            "poses": len(row.pose),
            "seconds": results.rounded(row.ours),
            "times_faster": {other: results.rounded(row.times_faster_than(other)) for other in others},
            "slower": int(np.count_nonzero(row.slowdown > 1.0)),
            "worst": results.rounded(float(row.slowdown.max())),
            "worst_pose": int(row.pose[row.slowdown.argmax()]),
        }
    return {
        "name": scene.name,
        "triangles": [len(scene.fixed.faces), len(scene.mover.faces)],
        "poses": len(scene.poses),
        "touching": int(measured.touching),
        "rows": rows,
        "bytes_of_tree": results.rounded(measured.our_bytes),
        "bytes_of_coal": results.rounded(measured.coal_bytes),
        "answers_that_differ": len(measured.disagreements),
    }


def _scene(name: str, poses: int | None) -> PairScene:
    make = import_module(f"impinge.lab.scenes.{SCENES[name]}").scene
    scene: PairScene = make() if poses is None else make(count=poses)
    return scene


def _timed(console: Console, scene: PairScene) -> SceneTimes:
    start = time.perf_counter()
    result = measure(scene)
    console.print(f"{scene!r}: measured in {time.perf_counter() - start:.0f} s", highlight=False)
    return result


def far_apart() -> dict[str, float]:
    """The cost of a call, microseconds: two boxes of 12 triangles that are nowhere near each other."""
    bodies = box(1.0, 1.0, 1.0), box(1.0, 1.0, 1.0)
    at = np.eye(4), np.eye(4)
    at[1][:3, 3] = 10.0, 20.0, 30.0
    coal, fcl, pair = Coal(*bodies), Fcl(*bodies), impinge.Pair(*bodies)
    calls: dict[str, Callable[[], object]] = {
        "impinge.collides": partial(impinge.collides, *bodies, *at),
        "impinge.Pair.collides": partial(pair.collides, *at),
        COAL: partial(coal.collides, *at),
        FCL: partial(fcl.collides, *at),
    }
    count = 2000

    def repeated(call: Callable[[], object]) -> None:
        for _ in range(count):
            call()

    seconds = interleaved({name: partial(repeated, call) for name, call in calls.items()}, rounds=10)
    return {name: results.rounded(1e6 * seconds[name] / count) for name in calls}


def far_table(microseconds: Mapping[str, float]) -> Table:
    table = Table(*microseconds, title="collides of two far boxes, us a call")
    table.add_row(*(f"{each:.2f}" for each in microseconds.values()))
    return table


def speed_table(measured: Sequence[SceneTimes]) -> Table:
    """The table of ratios: times faster than coal / than python-fcl, and our time."""
    table = _table("times faster than coal / python-fcl, our time", measured)
    for name in PEER_ROWS:
        cells = []
        for result in measured:
            row = result.rows.get(name)
            ratios = "-" if row is None else " / ".join(f"{row.times_faster_than(peer):.1f}" for peer in (COAL, FCL))
            cells.append(ratios if row is None else f"{ratios}\n{duration(row.ours)}")
        table.add_row(name, *cells)
    table.add_section()
    table.add_row("times faster than our own from scratch, our time a step")
    for name in PATH_ROWS:
        rows = [result.rows[name] for result in measured]
        table.add_row(name, *(f"{row.times_faster_than(timing.SCRATCH):.1f}\n{duration(row.ours)}" for row in rows))
    return table


def worst_table(measured: Sequence[SceneTimes]) -> Table:
    """The worst pose of each cell: our time over that of the faster peer, and how many poses are losses."""
    table = _table(f"the worst pose: our time / the faster peer's (a loss above {LOSS})", measured)
    for name in PEER_ROWS:
        cells = []
        for result in measured:
            row = result.rows.get(name)
            if row is None:
                cells.append("-")
                continue
            slowdown = row.slowdown
            losses = np.count_nonzero(slowdown > LOSS)
            told = f"\n[red]{losses} of {len(slowdown)} lost[/red]" if losses else ""
            place = f" (pose {row.pose[slowdown.argmax()]})" if len(slowdown) > 1 else ""
            cells.append(f"{slowdown.max():.2f}{place}{told}")
        table.add_row(name, *cells)
    return table


def memory_table(measured: Sequence[SceneTimes]) -> Table:
    table = _table("bytes a triangle", measured)
    table.add_row("our tree, beyond the mesh", *(f"{result.our_bytes:.0f}" for result in measured))
    table.add_row("coal's model, with the mesh", *(f"{result.coal_bytes:.0f}" for result in measured))
    return table


def disagreements(measured: Sequence[SceneTimes]) -> list[str]:
    """Where answers differ; only the first few of each scene are spelled out, but all are counted."""
    lines = []
    for result in measured:
        found = result.disagreements
        count = "1 answer differs" if len(found) == 1 else f"{len(found) or 'no'} answers differ"
        lines.append(f"{result.scene.name}: {count}")
        lines += [f"  {line}" for line in found[:_SHOWN]]
        lines += [f"  and {len(found) - _SHOWN} more"] * (len(found) > _SHOWN)
    return lines


def _table(title: str, measured: Sequence[SceneTimes]) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column("", min_width=30)
    for result in measured:
        scene = result.scene
        sizes = f"{len(scene.fixed.faces)} x {len(scene.mover.faces)}"
        poses = f"{len(scene.poses)} poses,\n{result.touching} touch"
        table.add_column(f"{scene.name}\n{sizes}\n{poses}", justify="right")
    return table


def duration(seconds: float) -> str:
    """Three digits in a fitting unit.

    >>> duration(1.234e-5), duration(0.0517)
    ('12.3 us', '51.7 ms')
    """
    for unit, size in (("us", 1e-6), ("ms", 1e-3)):
        if seconds < 999.5 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s"
