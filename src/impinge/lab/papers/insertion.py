"""Table 2 of Ponamgi, Manocha and Lin (1995): a bolt is screwed into a nut, with 3, 6 and 9 threads.

At each step of the way all contacts are found, and where there are none the closest distance.  The paper's claim is
that the time grows linearly although the number of possible interactions grows quadratically.  Nicolson and Fearing
(1991) had tested "critical points" on the crest of the bolt instead; the paper reports that this misses contacts,
and how many is counted here, on the same polygons.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich.progress import track
from rich.table import Table

import impinge
from impinge.arrays import Floats
from impinge.lab.bench.broad_results import exponent
from impinge.lab.papers import drawing
from impinge.lab.papers.critical_points import Missed, compare
from impinge.lab.papers.printing import milliseconds, say, titled_console, verdict
from impinge.lab.scenes.screw import COARSE, FINE, Screw, screw
from impinge.mesh.mesh import Mesh
from impinge.queries.method import MethodName

if TYPE_CHECKING:
    from matplotlib.axes import Axes

METHODS: tuple[MethodName, ...] = ("obb", "incremental")
PAPER = {3: 0.059, 6: 0.099, 9: 0.191}
"""Seconds a step, by the number of threads."""
RATIOS = {"fine": FINE, "coarse": COARSE}
STRAIGHT, CROSSED = "straight", "cross-threaded"
WAYS: dict[str, Callable[[Screw, int], Floats]] = {STRAIGHT: Screw.insertion, CROSSED: Screw.cross_threaded}
STEPS_A_TURN = 120
STEEPEST = 1.2
"""The exponent that growth must stay below."""

_STRETCH = 40
"""Steps that one method walks before it is another's turn."""
_ROUNDS = 5
_EVERY = 6
"""Critical points are compared with the exact contacts at every so many steps."""


@dataclass(frozen=True)
class Row:
    """One insertion."""

    threads: int
    ratio: str
    way: str
    polygons: tuple[int, int]
    """Of bolt and nut."""
    steps: int
    touching: int
    """Steps with a contact."""
    contacts: int
    closest: float
    """The smallest distance of all steps without."""
    seconds: dict[str, float]
    """A step, by each method."""
    missed: Missed


class Insertion:
    """One way in, to be walked several times; the best time of each stretch counts."""

    def __init__(
        self, threads: int, ratio: str, way: str, steps_a_turn: int = STEPS_A_TURN, most: int | None = None
    ) -> None:
        """``most`` makes it the whole way in fewer steps."""
        self.threads, self.ratio, self.way = threads, ratio, way
        self.screw = screw(threads, RATIOS[ratio])
        self.bolt, self.nut = self.screw.bolt(), self.screw.nut()
        path = WAYS[way](self.screw, steps_a_turn)
        self.path: Floats = path[:: -(-len(path) // (most or len(path)))]
        self._starts = range(0, len(self.path), _STRETCH)
        self._best = np.full((len(METHODS), len(self._starts)), np.inf)
        self._closest = np.inf

    def walk(self) -> None:
        """Once, by all methods, which take turns after each stretch."""
        pairs = [impinge.Pair(self.bolt, self.nut, method=method) for method in METHODS]
        for pair in pairs:
            asked(pair, self.path[:1])
        self._answers = np.zeros((len(METHODS), len(self._starts), 2), dtype=np.int64)
        for column, first in enumerate(self._starts):
            for row, pair in enumerate(pairs):
                begin = time.perf_counter()
                contacts, touching, near = asked(pair, self.path[first : first + _STRETCH])
                self._best[row, column] = min(self._best[row, column], time.perf_counter() - begin)
                self._answers[row, column] = contacts, touching
                self._closest = min(self._closest, near)
        if (self._answers != self._answers[0]).any():
            raise RuntimeError(f"{self.threads} threads, {self.ratio}, {self.way}: the methods find different contacts")

    def row(self) -> Row:
        contacts, touching = self._answers[0].sum(axis=0).tolist()
        return Row(
            self.threads,
            self.ratio,
            self.way,
            polygons=(len(self.bolt.faces), len(self.nut.faces)),
            steps=len(self.path),
            touching=touching,
            contacts=contacts,
            closest=self._closest,
            seconds=dict(zip(METHODS, (self._best.sum(axis=1) / len(self.path)).tolist(), strict=True)),
            missed=compare(self.screw, self.bolt, self.nut, self.path[::_EVERY]),
        )


def measure(insertions: Sequence[Insertion], rounds: int = _ROUNDS) -> list[Row]:
    """Walked one after the other in each round, so that all share whatever else the machine does."""
    for _ in range(rounds):
        for insertion in insertions:
            insertion.walk()
    return [insertion.row() for insertion in insertions]


def asked(pair: impinge.Pair, path: Floats) -> tuple[int, int, float]:
    """Contacts of all poses, how many poses have some, and the closest distance of those that have none."""
    found = pair.contacts(path)
    apart = np.bincount(found.pose, minlength=len(path)) == 0
    near = float(np.min(pair.distance(path[apart]).value)) if apart.any() else np.inf
    return len(found), int(np.count_nonzero(~apart)), near


def chosen(rows: Sequence[Row], ratio: str, way: str) -> list[Row]:
    return sorted((row for row in rows if (row.ratio, row.way) == (ratio, way)), key=lambda row: row.threads)


def kinds_of(rows: Sequence[Row]) -> list[tuple[str, str]]:
    return list(dict.fromkeys((row.ratio, row.way) for row in rows))


def growth(rows: Sequence[Row], method: str) -> float | None:
    """The power of the number of polygons, of bolt and nut together, that the time grows with."""
    if len(rows) < 2:
        return None
    return exponent([sum(row.polygons) for row in rows], [row.seconds[method] for row in rows])


def papers_growth(rows: Sequence[Row]) -> float:
    """The same of the paper's figures."""
    return exponent([sum(row.polygons) for row in rows], [PAPER[row.threads] for row in rows])


def table(rows: Sequence[Row]) -> Table:
    methods = list(rows[0].seconds)
    made = Table("thread", "way", "threads", "bolt", "nut", "steps", "touching", "contacts a step", *methods, "paper")
    made.title = "Threaded insertion: polygons, and the time of all contacts or of the closest distance"
    for ratio, way in kinds_of(rows):
        for row in chosen(rows, ratio, way):
            made.add_row(
                ratio,
                way,
                f"{row.threads}",
                f"{row.polygons[0]:,}",
                f"{row.polygons[1]:,}",
                f"{row.steps:,}",
                f"{row.touching / row.steps:.0%}",
                f"{row.contacts / row.steps:.1f}",
                *(milliseconds(row.seconds[method]) for method in methods),
                milliseconds(PAPER[row.threads]) if way == STRAIGHT and row.threads in PAPER else "",
            )
        made.add_section()
    for column in made.columns[2:]:
        column.justify = "right"
    return made


def critical_table(rows: Sequence[Row]) -> Table:
    made = Table(
        "thread", "way", "threads", "poses", "touching", "not noticed", "false alarms", "regions", "not noticed"
    )
    made.title = "Critical points on the crest of the bolt, against all contacts"
    for row in rows:
        missed = row.missed
        made.add_row(
            row.ratio,
            row.way,
            f"{row.threads}",
            f"{missed.poses:,}",
            f"{missed.touching:,}",
            f"{missed.touching - missed.noticed:,}",
            f"{missed.false_alarms:,}",
            f"{missed.regions:,}",
            f"{missed.regions - missed.regions_noticed:,}",
        )
    for column in made.columns[2:]:
        column.justify = "right"
    return made


def findings(rows: Sequence[Row]) -> list[str]:
    """What the paper says, and whether it holds."""
    said = []
    for ratio, way in kinds_of(rows):
        own = chosen(rows, ratio, way)
        for method in own[0].seconds:
            power = growth(own, method)
            if power is not None:
                said.append(
                    f"{ratio}, {way}, {method}: time grows like polygons^{power:.2f} (the paper's figures: "
                    f"{papers_growth(own):.2f}); that it grows linearly, at most like {STEEPEST}, "
                    f"{verdict(power <= STEEPEST)}."
                )
    poses, regions = (sum(getattr(row.missed, name) for row in rows) for name in ("touching", "regions"))
    noticed, found = (sum(getattr(row.missed, name) for row in rows) for name in ("noticed", "regions_noticed"))
    said.append(
        f"Critical points miss {poses - noticed:,} of {poses:,} poses in contact, and {regions - found:,} of "
        f"{regions:,} regions of contact; that they miss some {verdict(found < regions)}."
    )
    return said


def picture(rows: Sequence[Row], path: Path) -> Path:
    """The bolt half in the nut, straight and cross-threaded, with all contacts; and time over polygons."""
    canvas = drawing.figure(15.0, 5.6)
    plots = canvas.subplots(1, 3)
    made = screw(3, COARSE)
    bolt, nut = made.bolt(), made.nut()
    for scene, name in zip(plots, WAYS, strict=False):
        _draw_section(scene, made, bolt, nut, WAYS[name](made, STEPS_A_TURN), name)
    for number, (ratio, way) in enumerate(kinds_of(rows)):
        own = chosen(rows, ratio, way)
        polygons = [sum(row.polygons) for row in own]
        for method, style in zip(own[0].seconds, ("o-", "x:"), strict=False):
            times = [1e3 * row.seconds[method] for row in own]
            plots[2].loglog(polygons, times, style, color=f"C{number}", label=f"{method}, {ratio}, {way}")
    polygons = sorted({sum(row.polygons) for row in rows})
    first = max(1e3 * value for row in rows if sum(row.polygons) == polygons[0] for value in row.seconds.values())
    plots[2].loglog(polygons, [first * count / polygons[0] for count in polygons], "--", color="0.6", label="linear")
    plots[2].set_xlabel("polygons of bolt and nut")
    plots[2].set_ylabel("milliseconds a step")
    plots[2].grid(visible=True, which="both", alpha=0.3)
    plots[2].legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=2)
    return drawing.save(canvas, path)


def _draw_section(scene: Axes, made: Screw, bolt: Mesh, nut: Mesh, path: Floats, name: str) -> None:
    """The step with the most contacts; the near half of the nut is cut away."""
    found = impinge.contacts(bolt, nut, path)
    pose = path[int(np.bincount(found.pose, minlength=len(path)).argmax())]
    view = drawing.View(0.0, 8.0)
    behind = nut.triangles[nut.triangles[:, :, 1].min(axis=1) > -0.1 * made.diameter]
    pieces = [drawing.Piece(behind, drawing.FIXED), drawing.piece_of(bolt, pose, drawing.MOVER)]
    drawing.draw_pieces(scene, view, pieces)
    now = impinge.contacts(bolt, nut, pose)
    drawing.draw_loops(scene, view, now.loops(bolt, nut, pose))
    scene.set_title(f"{name}: {len(now)} contacts")


def run(steps: int | None, out: Path) -> None:
    """The command; ``steps`` is the most steps of each insertion."""
    console = titled_console("Threaded insertion, Ponamgi, Manocha and Lin 1995, Table 2")
    rows = []
    for ratio, way in track(list(product(RATIOS, WAYS)), "insertion", transient=True, console=console):
        rows += measure([Insertion(threads, ratio, way, most=steps) for threads in PAPER])
    console.print(table(rows))
    console.print(critical_table(rows))
    say(console, findings(rows))
    say(console, [picture(rows, out / "insertion.png")])
