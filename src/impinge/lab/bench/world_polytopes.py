"""Hundreds of convex polytopes that fly in a room: ``World`` against the same loop over the peers' managers.

Lin, Manocha, Cohen and Gottschalk (1996), section 5: I-COLLIDE finds all contacts of hundreds of convex polytopes in
about 1/20 s.  The crowd of ``lab.scenes.crowd``, recorded once and replayed for everybody in one interleaved run, one
thread.  A frame takes poses (n, 4, 4) and gives the pairs that collide.  Where somebody finds a pair otherwise than
``World`` with GJK, rational arithmetic decides (``lab.convex_oracle``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np
from rich.table import Table

from impinge.arrays import Floats
from impinge.convex.hull.convex_hull import ConvexHull
from impinge.convex.search import METHODS
from impinge.geometry.pose import posed_vertices
from impinge.lab import convex_oracle
from impinge.lab.bench.world_frames import WARM, Differing, Measured, box_pairs, compared
from impinge.lab.bench.world_peers import CONVEX_PEERS, Frames, Pairs
from impinge.lab.scenes.crowd import Crowd, Setting
from impinge.world.world import World

COUNTS = (100, 500, 1000)
DENSITIES = (0.04, 0.2)
"""The parts of the room that balls around the polytopes fill."""
PAPER_SECONDS = 1.0 / 20.0
OURS = {f"World, {method}": method for method in METHODS}
USUAL = "World, gjk"

_MOST_CHECKED = 50
"""Pairs of each peer; one takes some milliseconds."""


@dataclass(frozen=True, eq=False)
class Flight:
    """A recorded motion."""

    bodies: tuple[ConvexHull, ...]
    shown: list[Floats]
    """(n, 4, 4) of each frame."""
    truth: list[Pairs]
    """The pairs that collide, by GJK."""


@dataclass
class Row(Measured):
    """One crowd; different is what was found otherwise than by GJK, in all frames."""

    setting: Setting
    checked: dict[str, int] = field(default_factory=dict)
    """Those of them that were checked in rational arithmetic,"""
    wrong: dict[str, int] = field(default_factory=dict)
    """and how many of these answers it refutes."""


class Flying:
    """A world of polytopes that finds in each frame which of them collide."""

    def __init__(self, bodies: Sequence[ConvexHull], poses: Floats, hulls: str) -> None:
        self._world = World(hulls=hulls)
        for body, pose in zip(bodies, poses, strict=True):
            self._world.add(body, pose)

    def __call__(self, poses: Floats, box_pairs: Pairs) -> Pairs:
        """Without the pairs of boxes that the peers may need."""
        self._world.set_poses(poses)
        return self._world.detect().pairs


_NO_PAIRS = np.empty((0, 2), dtype=np.int64)


def record(setting: Setting, frames: int) -> Flight:
    """Polytopes that bounce off each other, seen by a world."""
    crowd = Crowd(setting)
    seen = Flying(crowd.bodies, crowd.poses, "gjk")
    shown, truth = [], []
    for _ in range(frames):
        shown.append(crowd.poses)
        truth.append(seen(shown[-1], _NO_PAIRS))
        crowd.step([(a, b) for a, b in truth[-1].tolist()])
    return Flight(crowd.bodies, shown, truth)


def measure(setting: Setting, frames: int, rounds: int) -> Row:
    flight = record(setting, WARM + frames)
    row = Row(setting)
    overlapping = box_pairs(flight.bodies, flight.shown)
    row.box_pairs = float(np.mean([len(pairs) for pairs in overlapping[WARM:]]))
    row.collisions = float(np.mean([len(pairs) for pairs in flight.truth[WARM:]]))
    best: dict[str, Floats] = {}
    differing: dict[str, Differing] = {}
    for _ in range(rounds):
        for name, flying in _flying(flight):
            seconds, differing[name] = compared(flying, flight.shown, flight.truth, overlapping)
            best[name] = np.minimum(best.get(name, np.inf), seconds)
    row.seconds = {name: float(np.mean(spent)) for name, spent in best.items()}
    for name, other in differing.items():
        row.different[name] = len(other)
        row.checked[name], row.wrong[name] = checked(flight, other)
    return row


def _flying(flight: Flight) -> Iterator[tuple[str, Frames]]:
    """All that can be measured, one after the other; peers that are not installed are left out."""
    for name, method in OURS.items():
        yield name, Flying(flight.bodies, flight.shown[0], method)
    for name, make in CONVEX_PEERS.items():
        with suppress(ImportError):
            yield name, make(flight.bodies)


def checked(flight: Flight, differing: Differing) -> tuple[int, int]:
    """How many of these answers were checked in rational arithmetic, and how many of them it refutes."""
    checked_ones = sorted(differing)[:_MOST_CHECKED]
    wrong = 0
    for frame, a, b in checked_ones:
        posed = (posed_vertices(flight.shown[frame][i], flight.bodies[i].vertices) for i in (a, b))
        said = not bool((flight.truth[frame] == (a, b)).all(axis=1).any())
        wrong += convex_oracle.meets(*posed) != said
    return len(checked_ones), wrong


def table(rows: Sequence[Row]) -> Table:
    titles = (f"{row.setting.count:,}, {row.setting.density:.0%} full" for row in rows)
    made = Table("", *titles, title="Flying polytopes: ms a frame")
    made.add_row("triangles of each", *(f"{row.setting.faces}" for row in rows))
    made.add_row("pairs of boxes", *(f"{row.box_pairs:,.0f}" for row in rows))
    made.add_row("collisions", *(f"{row.collisions:,.1f}" for row in rows))
    made.add_section()
    for name in dict.fromkeys(name for row in rows for name in row.seconds):
        made.add_row(name, *(_figure(row, name) for row in rows))
    for column in made.columns[1:]:
        column.justify = "right"
    return made


def _figure(row: Row, name: str) -> str:
    if name not in row.seconds:
        return ""
    shown = f"{1e3 * row.seconds[name]:.3g}"
    if name not in OURS:
        shown += f" {row.seconds[name] / row.seconds[USUAL]:.1f}x"
    if row.different[name]:
        shown += f" ({row.different[name]} differ, {row.wrong[name]} of {row.checked[name]} wrong)"
    return shown


def findings(rows: Sequence[Row]) -> list[str]:
    said = []
    for row in rows:
        slowest = max(row.seconds[name] for name in OURS)
        held = "holds" if slowest <= PAPER_SECONDS else "does not hold"
        sentence = (
            f"{row.setting.count:,} polytopes, {row.setting.density:.0%} full: at most {1e3 * slowest:.3g} ms a frame; "
            f"that it is {1e3 * PAPER_SECONDS:g} ms or less, as with I-COLLIDE in 1996 for hundreds, {held}."
        )
        peers = [name for name in CONVEX_PEERS if name in row.seconds]
        if peers:
            best = min(peers, key=lambda name: row.seconds[name])
            ratio = row.seconds[best] / row.seconds[USUAL]
            sentence += f" {USUAL} is {ratio:.1f} times as fast as {best}."
        said.append(sentence)
    return said
