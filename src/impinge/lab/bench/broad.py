"""Many moving boxes: our broad phases against the libraries that are installed, in one interleaved run.

``python -m impinge.lab.bench broad [--boxes N ...] [--worlds NAME ...] [--frames N] [--rounds N]``

Three worlds at constant density (``lab.scenes.boxes``), the same frames for everybody, single thread.  Ours are called
as a user would, ``update(boxes)`` and then ``pairs``; the peers as in ``broad_peers``.  A frame's cost is the best of
several rounds, and the mean over the frames is shown: what is kept from frame to frame has to be made anew now and
then, and that belongs to the cost.  Each round does the same work: our broad phases begin it from nothing, and
everybody sees a few frames before the clock runs.  All pairs of all frames are compared with ours.
"""

from __future__ import annotations

import argparse
import gc
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
from rich.console import Console

from impinge.arrays import Floats
from impinge.broadphase.aabb_tree.kept_tree import KeptTree, KeptTreeStatistics
from impinge.broadphase.broad_phase import BroadPhase
from impinge.broadphase.brute_force import BruteForce
from impinge.broadphase.spatial_hashing.spatial_hash import SpatialHash
from impinge.broadphase.sweep_prune import SweepAndPrune, SweepStatistics
from impinge.lab.bench.broad_costs import Cost, Costs, seconds_of
from impinge.lab.bench.broad_peers import PEERS, Finder, Pairs
from impinge.lab.bench.broad_results import (
    AUTO,
    BRUTE,
    HASH,
    HASH_STANDARD,
    SWEEP,
    Row,
    exchange_table,
    goal_table,
    goals,
    speed_table,
)
from impinge.lab.bench.held_bytes import held_bytes
from impinge.lab.bench.timing import machine
from impinge.lab.scenes.boxes import WORLDS, box_world

BOXES = (100, 1000, 10_000, 100_000)
FRAMES = 30
"""Five times as many as a list of ``auto`` lasts at the usual speed: making it has to count with its share."""

_WARM = 3
"""Frames before the clock runs."""
_SLOW = 0.25
"""Seconds; a broad phase that takes longer for a frame is measured for the first ones only."""
_FEW = 3
_MOST_BRUTE = 1000
"""Boxes up to which brute force says what is true: it takes 5 ms a frame."""
_WIDTH = 150


class Ours:
    """One of our broad phases, called as the peers are."""

    def __init__(self, boxes: Floats, *, make: Callable[[], BroadPhase]) -> None:
        self.phase = make()
        self.phase.add(boxes)

    def __call__(self, boxes: Floats) -> Pairs:
        self.phase.update(boxes)
        return self.phase.pairs


OURS: dict[str, Callable[[Floats], Ours]] = {
    AUTO: partial(Ours, make=KeptTree),
    HASH: partial(Ours, make=SpatialHash),
    HASH_STANDARD: partial(Ours, make=partial(SpatialHash, coherent=False)),
    SWEEP: partial(Ours, make=SweepAndPrune),
    BRUTE: partial(Ours, make=BruteForce),
}


def candidates() -> dict[str, Callable[[Floats], Finder]]:
    return {**OURS, **PEERS}


def measure(world: str, count: int, frames: int, rounds: int, speed: float, costs: Costs) -> Row:
    """All broad phases in turn, each about the same frames."""
    row = Row(world, count)
    scene = box_world(world, count, speed)
    shown = list(scene.frames(0, _WARM + frames))
    truth = [keys_of(pairs) for pairs in _true_pairs(shown)][_WARM:]
    row.pairs = float(np.mean([len(keys) for keys in truth]))
    finders: dict[str, Finder] = {}
    for name, make in candidates().items():
        try:
            expected = costs.expected(name, make, world, count)
            if expected.is_hopeless or (name in PEERS and costs.is_outrun(name, PEERS, world, count)):
                costs.note(name, world, count, expected)
                row.left_out.add(name)
                continue
            start = time.perf_counter()
            finders[name] = make(shown[0])
        except ImportError:
            continue
        made = time.perf_counter() - start
        costs.note(name, world, count, Cost(made, _compare(row, name, finders[name], shown, truth)))
    gc.collect()
    gc.disable()
    try:
        _time(row, finders, shown, rounds)
    finally:
        gc.enable()
    return row


def _true_pairs(shown: Sequence[Floats]) -> list[Pairs]:
    """By brute force where that is possible, else by our quickest member, which then is compared with all others."""
    find = OURS[BRUTE if len(shown[0]) <= _MOST_BRUTE else AUTO](shown[0])
    return [find(boxes) for boxes in shown]


def keys_of(pairs: Pairs) -> Pairs:
    """Each pair as a number; ascending."""
    small, large = np.sort(np.asarray(pairs, dtype=np.int64), axis=1).T
    return np.sort((small << 32) | large)


def _compare(row: Row, name: str, find: Finder, shown: Sequence[Floats], truth: Sequence[Pairs]) -> float:
    """One pass through all frames, or the first ones if it is slow; returns the seconds of one."""
    spent = [seconds_of(find, boxes) for boxes in shown[:_WARM]][-1]
    row.frames[name] = min(_FEW, len(truth)) if spent > _SLOW else len(truth)
    row.compared[name] = sum(map(len, truth[: row.frames[name]]))
    row.missing[name] = row.more[name] = 0
    exchanges = []
    for boxes, keys in zip(shown[_WARM:], truth[: row.frames[name]], strict=False):
        found = find(boxes)
        missing, more = differences(found, keys)
        row.missing[name] += missing
        row.more[name] += more
        if isinstance(found, int):
            row.only_count.add(name)
        statistics = find.phase.statistics if isinstance(find, Ours) else None
        if isinstance(statistics, SweepStatistics):
            exchanges.append(statistics.exchanges)
        if name == AUTO and isinstance(statistics, KeptTreeStatistics):
            row.new_lists += statistics.picked != "kept list"
    if exchanges:
        row.exchanges = float(np.mean(exchanges))
    if name == AUTO and isinstance(find, Ours):
        row.bytes_a_box = held_bytes(find.phase, without={"keys"}) / row.count
    return spent


def differences(found: Pairs | int, keys: Pairs) -> tuple[int, int]:
    """Pairs that are missing, and that are too many; of those that only count, by how much they are wrong."""
    if isinstance(found, int):
        return max(len(keys) - found, 0), max(found - len(keys), 0)
    common = len(np.intersect1d(keys_of(found), keys))
    return len(keys) - common, len(found) - common


def _time(row: Row, finders: Mapping[str, Finder], shown: Sequence[Floats], rounds: int) -> None:
    best = {name: np.full(row.frames[name], np.inf) for name in finders}
    for _ in range(rounds):
        for name, kept in finders.items():
            find = OURS[name](shown[0]) if name in OURS else kept
            for boxes in shown[:_WARM]:
                find(boxes)
            for number in range(row.frames[name]):
                spent = seconds_of(find, shown[_WARM + number])
                best[name][number] = min(best[name][number], spent)
    row.seconds.update({name: float(each.mean()) for name, each in best.items()})


def run(arguments: Sequence[str] = ()) -> int:
    parser = argparse.ArgumentParser(prog="python -m impinge.lab.bench broad", description=__doc__.partition("\n")[0])
    parser.add_argument("--boxes", type=int, nargs="+", metavar="N", default=BOXES, help="in each world")
    parser.add_argument(
        "--worlds", nargs="+", choices=WORLDS, metavar="NAME", default=list(WORLDS), help=", ".join(WORLDS)
    )
    parser.add_argument("--frames", type=int, metavar="N", default=FRAMES, help=f"of each world ({FRAMES})")
    parser.add_argument("--rounds", type=int, metavar="N", default=5, help="turns of each; the best counts (5)")
    parser.add_argument("--speed", type=float, metavar="PART", default=0.02, help="of its size, a frame (0.02)")
    options = parser.parse_args(arguments)
    if min(options.boxes) < 2 or min(options.frames, options.rounds) < 1 or not 0.0 <= options.speed < np.inf:
        parser.error("there are two boxes or more, at least one frame and one round, and speeds are not negative")
    console = Console()
    if not console.is_terminal:
        console = Console(width=_WIDTH)
    console.print(f"[bold]Broad phases[/bold]  {machine()}")
    rows, costs = [], Costs()
    for world in options.worlds:
        for count in sorted(options.boxes):
            start = time.perf_counter()
            rows.append(measure(world, count, options.frames, options.rounds, options.speed, costs))
            spent = time.perf_counter() - start
            console.print(f"{world}, {count:,} boxes: {spent:.0f} s; {rows[-1].pairs:,.0f} pairs a frame")
    names = list(candidates())
    for world in options.worlds:
        console.print(speed_table([row for row in rows if row.world == world], names))
    console.print(exchange_table(rows))
    console.print(goal_table(rows, PEERS))
    for line in notes(rows):
        console.print(line, markup=False, highlight=False)
    return 0


def notes(rows: Sequence[Row]) -> list[str]:
    all_goals = goals(rows, PEERS)
    lines = [
        f"* slower than {_SLOW:g} s a frame, so measured for the first {_FEW} frames only.",
        f"{sum(goal.held for goal in all_goals)} of {len(all_goals)} goals held.",
    ]
    if counting := sorted({name for row in rows for name in row.only_count}):
        lines.append(f"Only count the pairs: {', '.join(counting)}.")
    if absent := [name for name in PEERS if not any(name in row.seconds or name in row.left_out for row in rows)]:
        lines.append(f"Not installed: {', '.join(absent)}.")
    return lines
