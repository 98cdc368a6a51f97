"""I-COLLIDE: time a step of a simulation of many polytopes, with boxes of fixed size and with boxes that fit.

Lin, Manocha, Cohen and Gottschalk (1996), section 3, Graphs 1 to 6 (from Cohen et al. 1995): number of objects, their
polygons, their velocity and more are varied, one at a time.  The graphs are not in our copy of the paper; what it says
is that sorting takes linear time, and in section 5 that hundreds of polytopes take about 1/20 s.

A step makes the boxes (cubes, or tight), updates sweep and prune, and has a ``Pair`` of hulls for each pair of boxes
that overlaps.  Pairs are made when boxes begin to overlap, and dropped when they cease.  A motion is recorded once
(``lab.scenes.crowd``) and replayed for both kinds of boxes: they must find the same collisions in every step.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from rich.progress import track
from rich.table import Table

import impinge
from impinge.arrays import Floats
from impinge.broadphase.body_boxes.body_boxes import BodyBoxes
from impinge.broadphase.sweep_prune import SweepAndPrune
from impinge.convex.hull.convex_hull import ConvexHull
from impinge.lab.bench.broad_results import exponent
from impinge.lab.papers import drawing
from impinge.lab.papers.printing import milliseconds, say, titled_console, verdict
from impinge.lab.scenes.crowd import Crowd, Setting

FIXED, DYNAMIC = "cubes", "tight"
KINDS = {FIXED: "fixed-size cubes", DYNAMIC: "dynamic boxes"}
STAGES = ("boxes", "sweep and prune", "hulls")
STEPS = 100
PAPER_SECONDS = 1.0 / 20.0

VARIED: dict[str, tuple[str, tuple[float, ...]]] = {
    "count": ("objects", (100, 200, 500, 1000, 2000)),
    "vertices": ("polygons of an object", (8, 20, 50, 150, 500)),
    "density": ("part of the room that balls around the objects fill", (0.01, 0.02, 0.04, 0.1, 0.2)),
    "speed": ("velocity, radii a step", (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)),
    "degrees": ("degrees a step", (0.0, 2.0, 5.0, 10.0, 20.0, 40.0)),
    "slenderness": ("length over thickness", (1.0, 2.0, 4.0, 8.0)),
}

_ROUNDS = 3

Meeting = list[tuple[int, int]]


@dataclass(frozen=True, eq=False)
class Motion:
    bodies: tuple[ConvexHull, ...]
    poses: Floats
    """(steps, n, 4, 4)"""
    meeting: list[Meeting]
    """The pairs that collide in each step."""


@dataclass(frozen=True)
class Run:
    """One kind of boxes along one motion; everything for a step, in the mean."""

    seconds: tuple[float, ...]
    """Of each stage."""
    pairs: float
    """Whose boxes overlap."""
    exchanges: float

    @property
    def total(self) -> float:
        return sum(self.seconds)


@dataclass(frozen=True)
class Row:
    varied: str
    setting: Setting
    collisions: float
    """A step."""
    runs: dict[str, Run]

    @property
    def value(self) -> float:
        """On the horizontal axis."""
        return float(self.setting.faces if self.varied == "vertices" else getattr(self.setting, self.varied))


class Pipeline:
    """Boxes, sweep and prune, hulls."""

    def __init__(self, bodies: Sequence[ConvexHull], kind: str) -> None:
        self._bodies = tuple(bodies)
        self._boxes = BodyBoxes(bodies, kind=kind)
        self._broad = SweepAndPrune()
        self._near: dict[tuple[int, int], impinge.Pair] = {}
        self.seconds: list[tuple[float, float, float]] = []
        self.pairs = self.exchanges = 0

    def start(self, poses: Floats) -> None:
        """Lists are sorted for a first time, which is not counted."""
        self._broad.add(self._boxes.boxes(poses))
        self._near = {(a, b): self._pair(a, b) for a, b in self._broad.update().began.tolist()}

    def _pair(self, a: int, b: int) -> impinge.Pair:
        return impinge.Pair(self._bodies[a], self._bodies[b])

    def step(self, poses: Floats) -> Meeting:
        begin = time.perf_counter()
        boxes = self._boxes.boxes(poses)
        boxed = time.perf_counter()
        changes = self._broad.update(boxes)
        swept = time.perf_counter()
        for a, b in changes.ended.tolist():
            del self._near[a, b]
        for a, b in changes.began.tolist():
            self._near[a, b] = self._pair(a, b)
        placed = list(poses)
        meeting = [(a, b) for (a, b), pair in self._near.items() if pair.collides(placed[a], placed[b])]
        self.seconds.append((boxed - begin, swept - boxed, time.perf_counter() - swept))
        self.pairs += len(self._near)
        self.exchanges += self._broad.statistics.exchanges
        return sorted(meeting)


def record(setting: Setting, steps: int) -> Motion:
    crowd = Crowd(setting)
    pipeline = Pipeline(crowd.bodies, DYNAMIC)
    pipeline.start(crowd.poses)
    poses, meeting = [], []
    for _ in range(steps):
        poses.append(crowd.poses)
        meeting.append(pipeline.step(poses[-1]))
        crowd.step(meeting[-1])
    return Motion(crowd.bodies, np.stack(poses), meeting)


def replayed(motion: Motion, kind: str) -> Pipeline:
    """The whole motion; its collisions are compared with those of the record."""
    pipeline = Pipeline(motion.bodies, kind)
    pipeline.start(motion.poses[0])
    for number, poses in enumerate(motion.poses):
        if pipeline.step(poses) != motion.meeting[number]:
            raise RuntimeError(f"{KINDS[kind]} find other collisions in step {number}")
    return pipeline


def measure(varied: str, setting: Setting, steps: int, rounds: int = _ROUNDS) -> Row:
    """Both kinds of boxes in turn; of each step and stage the best round counts."""
    motion = record(setting, steps)
    rounds_of: dict[str, list[Pipeline]] = {kind: [] for kind in KINDS}
    for _ in range(rounds):
        for kind, done in rounds_of.items():
            done.append(replayed(motion, kind))
    runs = {}
    for kind, done in rounds_of.items():
        best = np.min([pipeline.seconds for pipeline in done], axis=0).mean(axis=0)
        runs[kind] = Run(tuple(best.tolist()), done[0].pairs / steps, done[0].exchanges / steps)
    return Row(varied, setting, float(np.mean([len(pairs) for pairs in motion.meeting])), runs)


def settings() -> list[tuple[str, Setting]]:
    """One thing varied at a time."""
    usual = Setting()
    return [
        (varied, replace(usual, **{varied: type(getattr(usual, varied))(value)}))
        for varied, (_, values) in VARIED.items()
        for value in values
    ]


def table(rows: Sequence[Row]) -> Table:
    made = Table("varied", "", "collisions", *(f"{kind}: {what}" for kind in KINDS for what in ("step", "pairs")))
    made.add_column("cubes / tight")
    made.title = "Time a step; pairs of boxes and collisions a step"
    before = ""
    for row in rows:
        if before not in ("", row.varied):
            made.add_section()
        fixed, fitting = (row.runs[kind] for kind in KINDS)
        figures = (figure for run in (fixed, fitting) for figure in (milliseconds(run.total), f"{run.pairs:,.0f}"))
        title = VARIED[row.varied][0] if row.varied != before else ""
        ratio = f"{fixed.total / fitting.total:.2f}"
        made.add_row(title, f"{row.value:g}", f"{row.collisions:.1f}", *figures, ratio)
        before = row.varied
    for column in made.columns[1:]:
        column.justify = "right"
    return made


def stage_table(rows: Sequence[Row]) -> Table:
    """Where the time of a step goes, over the number of objects."""
    made = Table("objects", "boxes of", *STAGES, "exchanges")
    for row in (row for row in rows if row.varied == "count"):
        for kind, run in row.runs.items():
            figures = (milliseconds(seconds) for seconds in run.seconds)
            made.add_row(f"{row.setting.count:,}", KINDS[kind], *figures, f"{run.exchanges:,.0f}")
    for column in (made.columns[0], *made.columns[2:]):
        column.justify = "right"
    return made


def findings(rows: Sequence[Row]) -> list[str]:
    said = []
    counted = [row for row in rows if row.varied == "count"]
    if len(counted) > 1:
        counts = [row.setting.count for row in counted]
        for kind, name in KINDS.items():
            total = exponent(counts, [row.runs[kind].total for row in counted])
            sweep = exponent(counts, [row.runs[kind].seconds[1] for row in counted])
            said.append(
                f"With {name} a step grows like N^{total:.2f} and its sweep and prune like N^{sweep:.2f}; the paper "
                f"expects linear time to sort. That a step is nearly linear (at most N^1.2) {verdict(total <= 1.2)}."
            )
    hundreds = [row for row in counted if 100 <= row.setting.count <= 1000]
    if hundreds:
        largest = hundreds[-1]
        slowest = max(run.total for run in largest.runs.values())
        said.append(
            f"The paper: hundreds of polytopes in about {1e3 * PAPER_SECONDS:.0f} ms (in 1996). Here "
            f"{largest.setting.count:,} of {largest.setting.faces} polygons take {milliseconds(slowest)}."
        )
    faster = [row for row in rows if row.runs[FIXED].total < row.runs[DYNAMIC].total]
    said.append(f"Cubes are faster than tight boxes in {len(faster)} of {len(rows)} rows.")
    return said


def picture(rows: Sequence[Row], path: Path) -> Path:
    canvas = drawing.figure(15.0, 8.6)
    plots = canvas.subplots(2, 3).ravel()
    for plot, (varied, (label, _)) in zip(plots, VARIED.items(), strict=True):
        own = [row for row in rows if row.varied == varied]
        for kind, style in zip(KINDS, ("s-", "o-"), strict=True):
            milli = [1e3 * row.runs[kind].total for row in own]
            plot.plot([row.value for row in own], milli, style, label=KINDS[kind])
        if varied in ("vertices", "density"):
            plot.set_xscale("log")
        plot.set_ylim(0.0, 1.1e3 * max((run.total for row in own for run in row.runs.values()), default=1e-3))
        plot.set_xlabel(label)
        plot.grid(visible=True, alpha=0.3)
    for plot in plots[::3]:
        plot.set_ylabel("milliseconds a step")
    plots[0].legend()
    return drawing.save(canvas, path)


def run(steps: int | None, out: Path) -> None:
    """The command; ``steps`` is the length of each motion."""
    console = titled_console("I-COLLIDE, Lin et al. 1996, section 3, Graphs 1 to 6")
    usual = Setting()
    say(
        console,
        [
            f"Where not varied: {usual.count} objects of {usual.faces} polygons, the balls around them fill "
            f"{usual.density:.0%} of the room, {usual.speed:g} radii and {usual.degrees:g} degrees a step, round."
        ],
    )
    length = min(steps or STEPS, STEPS)
    measure("count", Setting(count=20), 2, rounds=1)  # compiles
    rows = [measure(*each, length) for each in track(settings(), "flying", transient=True, console=console)]
    console.print(table(rows))
    console.print(stage_table(rows))
    say(console, findings(rows))
    say(console, [picture(rows, out / "icollide.png")])
