"""Which parts of an assembly collide, and which are closer than a clearance: ``World`` against trimesh's manager.

The assembly is a file of the user's.  A *first frame* goes from meshes and poses to an answer about all pairs, with all
that has to be made for it: trees, models, managers.  In the *next frames* the whole assembly has moved by a little, and
what was made is kept.  Peers that take one pair after the other get the pairs whose boxes overlap for
free.  One thread, everybody in turn, the best of several rounds.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
from rich.table import Table

from impinge.arrays import Floats
from impinge.geometry.pose import posed_vertices
from impinge.lab.bench.world_assembly_peers import (
    CONTENDERS,
    MANAGER,
    MANAGERS,
    OUR_DISTANCES,
    OURS,
    OURS_WITH_HULLS,
    SINGLES,
    Found,
    Make,
)
from impinge.mesh.assembly import Assembly
from impinge.mesh.mesh import Mesh

COLLIDES, CLOSER_THAN = "collides", "closer_than"
COMPILED = (OURS, OURS_WITH_HULLS, OUR_DISTANCES)
GOAL_SECONDS = 10.0
GOAL = 10.0
_NEXT_FRAMES = 4
_STEP = 0.01
"""How far an assembly moves between frames, in its own size."""
_SLOW = 10.0
"""Seconds; a library that takes longer for a first frame is measured no further."""


@dataclass(frozen=True, eq=False)
class Placed:
    """The parts of an assembly."""

    names: tuple[str, ...]
    bodies: tuple[Mesh, ...]
    """Parts may share one."""
    poses: Floats
    """(n, 4, 4)"""

    def again(self, solids: bool) -> tuple[Mesh, ...]:
        """Meshes for which nothing was made yet; closed ones count as solids, as in ``impinge check``, if wanted."""
        made = {id(body): _again(body, solids) for body in self.bodies}
        return tuple(made[id(body)] for body in self.bodies)

    @property
    def triangles(self) -> int:
        return sum(len(body.faces) for body in self.bodies)

    def boxes(self, poses: Floats) -> Floats:
        """(n, 2, 3)"""
        posed = (posed_vertices(pose, body.vertices) for body, pose in zip(self.bodies, poses, strict=True))
        return np.array([(each.min(axis=0), each.max(axis=0)) for each in posed])

    def box_pairs(self, poses: Floats, clearance: float) -> list[tuple[int, int]]:
        """The pairs whose boxes are no farther apart than a clearance on any axis."""
        low, high = np.moveaxis(self.boxes(poses), 1, 0)
        near = (low[:, None] <= high[None] + clearance).all(axis=2)
        return [(a, b) for a, b in np.argwhere(near & near.T).tolist() if a < b]

    @property
    def size(self) -> float:
        """The diagonal of the box around all parts."""
        boxes = self.boxes(self.poses)
        return float(np.linalg.norm(boxes[:, 1].max(axis=0) - boxes[:, 0].min(axis=0)))


def _again(body: Mesh, solids: bool) -> Mesh:
    return Mesh(body.vertices, body.faces, solid=solids and body.is_closed)


def placed(assembly: Assembly) -> Placed:
    return Placed(
        tuple(part.name for part in assembly),
        tuple(part.mesh for part in assembly),
        np.array([part.pose for part in assembly]),
    )


@dataclass
class Figures:
    """One contender and one query: the best seconds."""

    taking_in: float = np.inf
    first: float = np.inf
    """Taking in and answering."""
    next: float = np.inf
    found: int = 0
    different: int = 0
    """Pairs that are not found by ``World``, or by it only, in the first frame."""


@dataclass
class Result:
    parts: Placed
    clearance: float
    unit: str
    box_pairs: dict[str, int] = field(default_factory=dict)
    """For each query."""
    figures: dict[str, dict[str, Figures]] = field(default_factory=dict)
    """For each query and contender."""

    def ratio(self, query: str, name: str, what: str, to: str = OURS) -> float:
        return float(getattr(self.figures[query][name], what) / getattr(self.figures[query][to], what))


def measure(assembly: Assembly, clearance: float, rounds: int) -> Result:
    parts = placed(assembly)
    result = Result(parts, clearance, assembly.unit or "")
    moved = parts.poses.copy()
    moved[:, :3, 3] += _STEP * parts.size / np.sqrt(3.0)
    reaches = {COLLIDES: 0.0, CLOSER_THAN: clearance}
    places = {
        query: [(poses, parts.box_pairs(poses, reach)) for poses in (parts.poses, moved)]
        for query, reach in reaches.items()
    }
    truth: dict[str, Found] = {}
    for query, name in product(reaches, COMPILED):
        if hasattr(_class_of(CONTENDERS.get(name)), query):
            # Kernels are compiled, or loaded, before anything counts.
            _frames({}, name, CONTENDERS[name], query, parts.again(solids=True), reaches[query], places[query])
    for _, (query, reach), (name, make) in product(range(rounds), reaches.items(), CONTENDERS.items()):
        figures = result.figures.setdefault(query, {})
        result.box_pairs[query] = len(places[query][0][1])
        known = figures.get(name)
        if not hasattr(_class_of(make), query) or (known and known.first > _SLOW):
            continue
        try:
            found = _frames(figures, name, make, query, parts.again(solids=True), reach, places[query])
        except ImportError:
            continue
        if name == OURS:
            truth[query] = found
        figures[name].found, figures[name].different = len(found), len(found ^ truth[query])
    return result


def _class_of(make: Make | None) -> Any:
    return getattr(make, "func", make)


def _frames(
    figures: dict[str, Figures],
    name: str,
    make: Make,
    query: str,
    bodies: Sequence[Mesh],
    clearance: float,
    places: Sequence[tuple[Floats, list[tuple[int, int]]]],
) -> Found:
    """A first frame and the next ones; what the first one found."""
    poses, pairs = places[0]
    start = time.perf_counter()
    ready = make(bodies, poses)
    taken_in = time.perf_counter()
    ask = getattr(ready, query)
    limit = (clearance,) if query == CLOSER_THAN else ()
    found: Found = ask(*limit, pairs)
    done = time.perf_counter()
    best = figures.setdefault(name, Figures())
    best.taking_in = min(best.taking_in, taken_in - start)
    best.first = min(best.first, done - start)
    for number in range(_NEXT_FRAMES if best.first <= _SLOW else 1):
        poses, pairs = places[(number + 1) % 2]
        start = time.perf_counter()
        ready.move(poses)
        ask(*limit, pairs)
        best.next = min(best.next, time.perf_counter() - start)
    return found


def tables(result: Result) -> list[Table]:
    titles = {COLLIDES: "which collide", CLOSER_THAN: f"which are within {result.clearance:g} {result.unit}".rstrip()}
    made = []
    for query, figures in result.figures.items():
        table = Table("", "taking in", "first frame", "", "next frame", "", "found", "differ")
        table.title = f"{len(result.parts.names)} parts, {titles[query]}: ms, {result.box_pairs[query]} pairs of boxes"
        for name, each in figures.items():
            table.add_row(
                name,
                *(_milli(each.taking_in), _milli(each.first), _times(result.ratio(query, name, "first"))),
                *(_milli(each.next), _times(result.ratio(query, name, "next"))),
                *(f"{each.found:,}", f"{each.different:,}"),
            )
        for column in table.columns[1:]:
            column.justify = "right"
        made.append(table)
    return made


def _milli(seconds: float) -> str:
    return f"{1e3 * seconds:,.3g}" if seconds < 1.0 else f"{1e3 * seconds:,.0f}"


def _times(ratio: float) -> str:
    return f"{ratio:.1f}x" if ratio < 100.0 else f"{ratio:,.0f}x"


def findings(result: Result) -> list[str]:
    """The goals: seconds, and how many times as fast as a loop over trimesh's manager on the same pairs."""
    said = []
    for query, figures in result.figures.items():
        ours = figures[OURS]
        held = "holds" if ours.first <= GOAL_SECONDS else "does not hold"
        said.append(
            f"{query}: all pairs decided in {ours.first:.3g} s, trees and all; that it is {GOAL_SECONDS:g} s or "
            f"less {held}."
        )
        kept = OURS_WITH_HULLS if OURS_WITH_HULLS in figures else OURS
        for name in (MANAGER, MANAGERS, SINGLES):
            if name in figures:
                first, later = result.ratio(query, name, "first"), result.ratio(query, name, "next", kept)
                said.append(
                    f"{query}: {first:.1f} times as fast as {name} in the first frame, {later:.1f} times in the next "
                    f"ones ({kept}); {GOAL:g} times or more {'holds' if first >= GOAL else 'does not hold'} with all "
                    f"preparation, {'holds' if later >= GOAL else 'does not hold'} without."
                )
    return said
