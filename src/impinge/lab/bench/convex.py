"""Two convex bodies of 8 to 20,000 vertices, against the libraries that are installed, in one interleaved run.

``python -m impinge.lab.bench convex [--vertices N ...] [--poses N] [--rounds N]``

Single thread.  *Random* poses have nothing to do with each other: ours are the verbs from scratch, a call for each pose
and all poses in one call.  *Smooth* ones turn by one degree and shift a little: ours are a ``Pair``, a call for each
step and the whole path in one call.  Whether the bodies collide is tested where about half of the poses do; the
distance where none does.  Peers are called as in ``convex_peers``: one call for each pose, as they have no other.
"""

from __future__ import annotations

import argparse
import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import impinge
from impinge.arrays import Floats
from impinge.convex.hull.convex_hull import ConvexHull
from impinge.lab.bench.convex_peers import COAL, COAL_CACHED, FCL, MUJOCO, PEERS, ready
from impinge.lab.bench.timing import interleaved, machine
from impinge.lab.scenes.polytopes import ellipsoid, random_directions
from impinge.lab.scenes.poses import poses, random_turns, turns

VERTICES = (8, 50, 200, 500, 1000, 20_000)
CALL, BATCH = "impinge", "impinge, one call"
RANDOM, SMOOTH = "random", "smooth"
COLLIDES, DISTANCE = "collides", "distance"

_AXES = (1.0, 0.8, 0.6), (0.9, 1.0, 0.7)
_SPACING = {COLLIDES: (1.2, 2.1), DISTANCE: (2.05, 2.6)}
"""How far the centres are apart: the bodies reach to 1 at most, and to 0.6 at least."""
_DEGREE = np.pi / 180.0
_SEED = 20
_SLOW = 5e-3
"""Seconds; a library that takes longer for a call is measured for the first poses only."""
_FEW = 10
_WIDTH = 190


@dataclass(frozen=True, eq=False)
class Row:
    """One query about two bodies along some poses."""

    vertices: int
    motion: str
    query: str
    seconds: dict[str, float]
    """A call, of each library."""
    meeting: int
    """Poses in which the bodies collide, by our answer."""
    asked: dict[str, int]
    """Poses that each was measured for."""
    different: dict[str, int]
    """Yes or no answers of each peer that are not ours."""
    off: dict[str, float]
    """The largest difference of a peer's distance from ours."""

    def times_faster(self, ours: str, other: str) -> float:
        return self.seconds[other] / self.seconds[ours]


@cache
def bodies(vertices: int) -> tuple[ConvexHull, ConvexHull]:
    rng = np.random.default_rng([_SEED, vertices])
    return ellipsoid(rng, vertices, _AXES[0]), ellipsoid(rng, vertices, _AXES[1])


def path(motion: str, query: str, count: int) -> tuple[Floats, Floats]:
    """Poses (count, 4, 4) of both bodies."""
    rng = np.random.default_rng([_SEED, count, motion == SMOOTH, query == COLLIDES])
    low, high = _SPACING[query]
    if motion == RANDOM:
        away = random_directions(rng, count) * rng.uniform(low, high, size=(count, 1))
        return poses(random_turns(rng, count), np.zeros(3)), poses(random_turns(rng, count), away)
    step = np.arange(count)
    spin, orbit = (random_directions(rng, 1)[0] * _DEGREE for _ in range(2))
    spacing = (low + high) / 2.0 + (high - low) / 2.0 * np.cos(step / 30.0)
    away = turns(step[:, None] * orbit) @ random_directions(rng, 1)[0] * spacing[:, None]
    start = random_turns(rng, 1)[0]
    fixed = np.broadcast_to(np.eye(4), (count, 4, 4)).copy()
    return fixed, poses(turns(step[:, None] * spin) @ start, away)


def measure(vertices: int, motion: str, query: str, count: int, rounds: int) -> Row:
    """All libraries in turn."""
    a, b = bodies(vertices)
    poses_a, poses_b = path(motion, query, count)
    pairs = [(np.ascontiguousarray(p), np.ascontiguousarray(q)) for p, q in zip(poses_a, poses_b, strict=True)]
    truth = value_of(getattr(impinge, query)(a, b, poses_a, poses_b))
    meeting = int(impinge.collides(a, b, poses_a, poses_b).sum())
    calls: dict[str, Callable[[], object]] = {
        CALL: partial(_ours_call_by_call, a, b, motion, query, pairs),
        BATCH: partial(_ours_in_one_call, a, b, motion, query, poses_a, poses_b),
    }
    asked, different, off = dict.fromkeys(calls, count), {}, {}
    for name, peer in ready(a, b).items():
        ask = getattr(peer, query)
        asked[name] = _FEW if _seconds_of_one(ask, pairs[: min(3, count)]) > _SLOW else count
        asked[name] = min(asked[name], count)
        answers = np.array([ask(*at) for at in pairs[: asked[name]]])
        if query == COLLIDES:
            different[name] = int((answers != truth[: asked[name]]).sum())
        else:
            off[name] = float(np.abs(answers - truth[: asked[name]]).max())
        calls[name] = partial(_one_after_another, ask, pairs[: asked[name]])
    gc.collect()
    gc.disable()
    try:
        seconds = interleaved(calls, rounds)
    finally:
        gc.enable()
    each = {name: value / asked[name] for name, value in seconds.items()}
    return Row(vertices, motion, query, each, meeting, asked, different, off)


def value_of(answer: Any) -> Any:
    """A Distance's value; yes or no as it is."""
    return getattr(answer, "value", answer)


def _ours_call_by_call(a: ConvexHull, b: ConvexHull, motion: str, query: str, pairs: Sequence[Any]) -> None:
    ask = partial(getattr(impinge, query), a, b) if motion == RANDOM else getattr(impinge.Pair(a, b), query)
    _one_after_another(ask, pairs)


def _ours_in_one_call(a: ConvexHull, b: ConvexHull, motion: str, query: str, poses_a: Floats, poses_b: Floats) -> None:
    if motion == RANDOM:
        getattr(impinge, query)(a, b, poses_a, poses_b)
    else:
        getattr(impinge.Pair(a, b), query)(poses_a, poses_b)


def _one_after_another(ask: Callable[..., object], pairs: Sequence[Any]) -> None:
    for pose_a, pose_b in pairs:
        ask(pose_a, pose_b)


def _seconds_of_one(ask: Callable[..., object], pairs: Sequence[Any]) -> float:
    """After a first call, which may compile or build something."""
    ask(*pairs[0])
    start = time.perf_counter()
    _one_after_another(ask, pairs)
    return (time.perf_counter() - start) / len(pairs)


@dataclass(frozen=True)
class Goal:
    """How many times faster than another library ours should be."""

    ours: str
    than: str
    asked: float
    reached: float

    @property
    def held(self) -> bool:
        return self.reached >= self.asked


def goals(row: Row) -> list[Goal]:
    """The goals of this row; nothing where the peers that are named are not installed."""
    found = []
    if 50 <= row.vertices <= 500 and COAL_CACHED in row.seconds:
        found += [
            Goal(ours, COAL_CACHED, asked, row.times_faster(ours, COAL_CACHED))
            for ours, asked in ((CALL, 2.0), (BATCH, 4.0))
        ]
    rivals = [name for name in (COAL, COAL_CACHED, FCL, MUJOCO) if name in row.seconds]
    if row.vertices >= 1000 and rivals:
        best = min(rivals, key=lambda name: row.seconds[name])
        found.append(Goal(CALL, f"the best ({best})", 2.0, row.times_faster(CALL, best)))
    return found


def speed_table(rows: Sequence[Row]) -> Table:
    names = [CALL, BATCH, *(name for name in PEERS if any(name in row.seconds for row in rows))]
    table = Table("vertices", "poses", "query", *names, title="us a pose; behind it times slower than impinge a call")
    for row in rows:
        cells = [_cell(row, name) for name in names]
        table.add_row(f"{row.vertices:,}", row.motion, row.query, *cells)
    for column in table.columns[3:]:
        column.justify = "right"
    return table


def _cell(row: Row, name: str) -> str:
    if name not in row.seconds:
        return "-"
    mark = "*" if row.asked[name] < row.asked[CALL] else ""
    ratio = "" if name == CALL else f" {row.times_faster(CALL, name):.2g}x"
    return f"{1e6 * row.seconds[name]:.3g}{ratio}{mark}"


def goal_table(rows: Sequence[Row]) -> Table:
    table = Table("vertices", "poses", "query", "ours", "faster than", "goal", "reached", "held", title="Goals")
    for row in rows:
        for goal in goals(row):
            table.add_row(
                f"{row.vertices:,}", row.motion, row.query, goal.ours, goal.than,
                f"{goal.asked:g}x", f"{goal.reached:.2f}x", "yes" if goal.held else "NO",
            )  # fmt: skip
    return table


def agreement_table(rows: Sequence[Row]) -> Table:
    """How far the peers' answers are from ours, over all rows."""
    heads = ("peer", "yes/no", "not as ours", "where", "distances", "largest difference", "where")
    table = Table(*heads, title="Answers")
    for name in PEERS:
        yes_no = [row for row in rows if name in row.different]
        distances = [row for row in rows if name in row.off]
        wrong = [row for row in yes_no if row.different[name]]
        worst = max(distances, key=lambda row: row.off[name], default=None)
        if yes_no or distances:
            table.add_row(
                name,
                f"{sum(row.asked[name] for row in yes_no):,}",
                f"{sum(row.different[name] for row in wrong):,}",
                ", ".join(f"{row.vertices:,} {row.motion}" for row in wrong),
                f"{sum(row.asked[name] for row in distances):,}",
                "" if worst is None else f"{worst.off[name]:.2g}",
                "" if worst is None else f"{worst.vertices:,} {worst.motion}",
            )
    return table


def missing(rows: Sequence[Row]) -> list[str]:
    return [name for name in PEERS if not any(name in row.seconds for row in rows)]


def run(arguments: Sequence[str] = ()) -> int:
    parser = argparse.ArgumentParser(prog="python -m impinge.lab.bench convex", description=__doc__.partition("\n")[0])
    parser.add_argument("--vertices", type=int, nargs="+", metavar="N", default=VERTICES, help="of each body")
    parser.add_argument("--poses", type=int, metavar="N", default=1000, help="of each motion (1000)")
    parser.add_argument("--rounds", type=int, metavar="N", default=9, help="turns of each library; the best counts (9)")
    options = parser.parse_args(arguments)
    if min(options.vertices) < 4 or min(options.poses, options.rounds) < 1:
        parser.error("bodies have 4 vertices or more, and there is at least one pose and one round")
    console = Console()
    if not console.is_terminal:
        console = Console(width=_WIDTH)
    console.print(f"[bold]Convex bodies[/bold]  {machine()}")
    rows = []
    for vertices in options.vertices:
        start = time.perf_counter()
        for motion in (RANDOM, SMOOTH):
            for query in (COLLIDES, DISTANCE):
                rows.append(measure(vertices, motion, query, options.poses, options.rounds))
        spent = time.perf_counter() - start
        shares = " and ".join(f"{row.meeting} {row.motion}" for row in rows[-4:] if row.query == COLLIDES)
        console.print(f"{vertices:,} vertices: {spent:.0f} s; of {options.poses} poses {shares} ones collide")
    console.print(speed_table(rows))
    if any(count < options.poses for row in rows for count in row.asked.values()):
        console.print(f"* slower than {1e3 * _SLOW:g} ms a call, so measured for the first {_FEW} poses only")
    console.print(goal_table(rows))
    console.print(agreement_table(rows))
    for line in notes(rows):
        console.print(line, markup=False, highlight=False)
    return 0


def notes(rows: Sequence[Row]) -> list[str]:
    all_goals = [goal for row in rows for goal in goals(row)]
    lines = [f"{sum(goal.held for goal in all_goals)} of {len(all_goals)} goals held."]
    if absent := missing(rows):
        lines.append(f"Not installed: {', '.join(absent)}.")
    return lines
