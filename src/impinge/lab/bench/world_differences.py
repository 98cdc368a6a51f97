"""Which library is right about mated parts: an assembly at several places, checked in exact arithmetic.

Mated parts touch exactly, or nearly.  Where the assembly is moved or turned, rounding leaves a gap or an overlap of
some last bits, and a decision in floats may miss it.  The query is well defined all the same: posed vertices
are (R[i,0]*x + R[i,1]*y + R[i,2]*z) + t[i] in float64, and two parts collide if two of their triangles with these
corners have a common point.  ``lab.oracle`` decides that in integers, without any of the kernels.

A peer never makes these vertices, so it is of interest what is true without their rounding.  That is decided too
(``world_unrounded``): the two answers may differ, because a rounding may close a gap or open one.

All parts are surfaces here, as for the peers: a part inside another one does not collide with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from impinge.arrays import Floats
from impinge.geometry.pose import posed_vertices
from impinge.lab import oracle
from impinge.lab.bench.world_assembly import Placed, placed
from impinge.lab.bench.world_assembly_peers import CoalPairs, FclPairs, Found, OurWorld, TrimeshManagers
from impinge.lab.bench.world_unrounded import meet_unrounded, rounding_of_posed
from impinge.lab.scenes.poses import poses, turns
from impinge.mesh.assembly import Assembly
from impinge.mesh.mesh import Mesh
from impinge.queries.verbs import distance

TRIMESH, FCL, COAL = "trimesh", "python-fcl", "coal"
Peer = TrimeshManagers | FclPairs | CoalPairs
PEERS: dict[str, Callable[[Sequence[Mesh], Floats], Peer]] = {TRIMESH: TrimeshManagers, FCL: FclPairs, COAL: CoalPairs}

_AT_ONCE = 2**22
"""Pairs of boxes that are compared at once."""
_BATCH = 2000
"""Pairs of triangles for which integers are made at once."""


@dataclass(frozen=True)
class Verdict:
    """On two parts, in exact arithmetic."""

    faces: tuple[int, int] | None
    """Two triangles that meet; None where none do."""
    gap: float
    """The distance, correctly rounded."""
    unrounded: bool
    """Whether they collide with vertices that are posed without any rounding."""

    @property
    def collides(self) -> bool:
        return self.faces is not None

    def __str__(self) -> str:
        if self.faces is not None:
            return f"yes: triangles {self.faces[0]}, {self.faces[1]}"
        return f"no: gap {self.gap:.3g}"


@dataclass(frozen=True)
class Difference:
    """A pair of parts about which somebody says otherwise than ``World``."""

    pair: tuple[int, int]
    said: dict[str, bool]
    ours: bool
    verdict: Verdict


@dataclass(frozen=True)
class Distances:
    """The distances of one peer at one place."""

    compared: int
    """Pairs that are apart."""
    worst: tuple[int, int]
    """The pair whose distance differs most from ours."""
    ours: float
    theirs: float
    exact: float


@dataclass
class At:
    """All answers at one place."""

    place: str
    ours: int = 0
    """Pairs that collide."""
    found: dict[str, int] = field(default_factory=dict)
    differences: list[Difference] = field(default_factory=list)
    near: int = 0
    """Pairs within the clearance."""
    near_differences: dict[str, int] = field(default_factory=dict)
    distances: dict[str, Distances] = field(default_factory=dict)


def places(size: float) -> dict[str, Floats]:
    """Where an assembly of this size is placed: a motion (4, 4) of the whole."""
    still, turn = np.eye(3), turns([0.3, 0.5, 0.7])
    away = size * np.array([1.0 / 3.0, 1.0 / 7.0, -1.0 / 9.0])
    return {
        "as in the file": np.eye(4),
        "moved a little": poses(still, away),
        "moved far away": poses(still, 100.0 * away),
        "turned": poses(turn, np.zeros(3)),
        "turned and moved far away": poses(turn, 100.0 * away),
    }


def compare(assembly: Assembly, clearance: float) -> list[At]:
    parts = placed(assembly)
    bodies = parts.again(solids=False)
    return [
        _compare_at(place, Placed(parts.names, bodies, motion @ parts.poses), clearance)
        for place, motion in places(parts.size).items()
    ]


def _compare_at(place: str, parts: Placed, clearance: float) -> At:
    here = At(place)
    pairs = parts.box_pairs(parts.poses, clearance)
    world = OurWorld(parts.bodies, parts.poses)
    ours, near = world.collides(pairs), world.closer_than(clearance, pairs)
    here.ours, here.near = len(ours), len(near)
    found: dict[str, Found] = {}
    apart = [pair for pair in pairs if pair not in ours]
    for name, make in PEERS.items():
        try:
            ready = make(parts.bodies, parts.poses)
        except ImportError:
            continue
        found[name] = ready.collides(pairs)
        here.found[name] = len(found[name])
        here.near_differences[name] = len(near ^ ready.closer_than(clearance, pairs))
        if apart:
            here.distances[name] = _distances(parts, ready, apart)
    for pair in sorted(set().union(*(each ^ ours for each in found.values()))):
        said = {name: pair in each for name, each in found.items()}
        here.differences.append(Difference(pair, said, pair in ours, verdict(parts, pair)))
    return here


def _distances(parts: Placed, ready: Peer, apart: Sequence[tuple[int, int]]) -> Distances:
    ours = np.array([our_distance(parts, pair) for pair in apart])
    theirs = np.array([ready.distance(*pair) for pair in apart])
    worst = int(np.argmax(np.abs(ours - theirs)))
    a, b = (_triangles(parts, number) for number in apart[worst])
    exact = exact_distance(a, b, float(ours[worst]))
    return Distances(len(apart), apart[worst], float(ours[worst]), float(theirs[worst]), exact)


def our_distance(parts: Placed, pair: tuple[int, int]) -> float:
    a, b = pair
    return float(distance(parts.bodies[a], parts.bodies[b], parts.poses[a], parts.poses[b]).value)


def _triangles(parts: Placed, number: int) -> Floats:
    """(n, 3, 3) where they are."""
    body: Mesh = parts.bodies[number]
    return posed_vertices(parts.poses[number], body.vertices)[body.faces]


def verdict(parts: Placed, pair: tuple[int, int]) -> Verdict:
    a, b = (_triangles(parts, number) for number in pair)
    faces = box_pairs_of_triangles(a, b, 0.0)
    for start in range(0, len(faces), _BATCH):
        some = faces[start : start + _BATCH]
        meeting = np.flatnonzero(oracle.meets_batch(a[some[:, 0]], b[some[:, 1]]))
        if len(meeting):
            first, second = some[meeting[0]].tolist()
            return Verdict((first, second), 0.0, _meet_unrounded(parts, pair, a, b))
    return Verdict(None, exact_distance(a, b, our_distance(parts, pair)), _meet_unrounded(parts, pair, a, b))


def _meet_unrounded(parts: Placed, pair: tuple[int, int], a: Floats, b: Floats) -> bool:
    """Given the triangles with rounded vertices."""
    (body_a, pose_a), (body_b, pose_b) = ((parts.bodies[number], parts.poses[number]) for number in pair)
    reach = rounding_of_posed(body_a, pose_a) + rounding_of_posed(body_b, pose_b)
    return meet_unrounded(body_a, pose_a, body_b, pose_b, box_pairs_of_triangles(a, b, reach))


def exact_distance(a: Floats, b: Floats, guess: float) -> float:
    """The smallest distance of triangles (n, 3, 3) and (m, 3, 3), correctly rounded; none is farther than the guess.

    Infinite if that is wrong.
    """
    faces = box_pairs_of_triangles(a, b, np.nextafter(guess, np.inf))
    smallest = None
    for start in range(0, len(faces), _BATCH):
        some = faces[start : start + _BATCH]
        least = min(oracle.squared_distances(a[some[:, 0]], b[some[:, 1]]))
        smallest = least if smallest is None else min(least, smallest)
    return float("inf") if smallest is None else oracle.square_root(smallest)


def box_pairs_of_triangles(a: Floats, b: Floats, reach: float) -> NDArray[np.int64]:
    """(k, 2) the triangles of (n, 3, 3) and (m, 3, 3) whose boxes are no farther apart than ``reach`` on any axis."""
    near_a = np.flatnonzero(_near(a, b.min(axis=(0, 1)), b.max(axis=(0, 1)), reach))
    near_b = np.flatnonzero(_near(b, a.min(axis=(0, 1)), a.max(axis=(0, 1)), reach))
    found = [np.empty((0, 2), dtype=np.int64)]
    for some in _runs(near_a, max(1, _AT_ONCE // max(1, len(near_b)))):
        low, high = a[some].min(axis=1)[:, None], a[some].max(axis=1)[:, None]
        first, second = np.nonzero(_near(b[near_b][None], low, high, reach))
        found.append(np.column_stack([some[first], near_b[second]]))
    return np.concatenate(found)


def _near(triangles: Floats, low: Floats, high: Floats, reach: float) -> NDArray[np.bool_]:
    """Which triangles (..., 3, 3) have boxes that are near a box.  Differences are rounded, so more are than should."""
    outward = np.nextafter(reach, np.inf) * (1.0 + 2.0**-50) if reach else 0.0
    below, above = triangles.min(axis=-2) - high, low - triangles.max(axis=-2)
    near: NDArray[np.bool_] = ((below <= outward) & (above <= outward)).all(axis=-1)
    return near


def _runs(numbers: NDArray[np.int64], length: int) -> Iterator[NDArray[np.int64]]:
    for start in range(0, len(numbers), length):
        yield numbers[start : start + length]


def table(places: Sequence[At], names: Sequence[str]) -> Table:
    """Every pair about which somebody says otherwise."""
    peers = list(dict.fromkeys(peer for here in places for peer in here.found))
    made = Table("place", "parts", "impinge", *peers, "exactly", "without rounding", title="Do these parts collide?")
    for here in places:
        if made.row_count:
            made.add_section()
        totals = (f"{here.found[peer]} pairs" for peer in peers)
        made.add_row(here.place, "", f"{here.ours} pairs", *totals, "", "")
        for each in here.differences:
            a, b = (names[number] for number in each.pair)
            marked = (_said(each.said[peer], each.verdict) for peer in peers)
            exactly = str(each.verdict), "yes" if each.verdict.unrounded else "no"
            made.add_row("", f"{a}, {b}", _said(each.ours, each.verdict), *marked, *exactly)
    return made


def _said(answer: bool, truth: Verdict) -> str:
    said = "yes" if answer else "no"
    if answer not in (truth.collides, truth.unrounded):
        return f"{said} WRONG"
    if answer != truth.collides:
        return f"{said} wrong"
    return said if answer == truth.unrounded else f"{said} (rounded)"


def distance_table(places: Sequence[At], names: Sequence[str]) -> Table:
    made = Table(
        "place", "peer", "pairs apart", "differs most at", "impinge", "peer's", "exact", "off by", "ours off by"
    )
    made.title = "How far apart are parts that do not collide?"
    for here in places:
        for peer, each in here.distances.items():
            values = (f"{value:.17g}" for value in (each.ours, each.theirs, each.exact))
            off = (f"{abs(value - each.exact):.2g}" for value in (each.theirs, each.ours))
            pair = ", ".join(names[number] for number in each.worst)
            made.add_row(here.place, peer, f"{each.compared}", pair, *values, *off)
    return made


def findings(places: Sequence[At]) -> list[str]:
    said = []
    for here in places:
        answers = [({"impinge": each.ours} | each.said, each.verdict) for each in here.differences]
        libraries = ("impinge", *here.found)
        wrong = (f"{name} {sum(said[name] != truth.collides for said, truth in answers)}" for name in libraries)
        unrounded = (f"{name} {sum(said[name] != truth.unrounded for said, truth in answers)}" for name in libraries)
        near = (f"{peer} {count}" for peer, count in here.near_differences.items())
        said.append(
            f"{here.place}: {len(answers)} pairs differ; wrong: {', '.join(wrong)}; without rounding they would be: "
            f"{', '.join(unrounded)}. Within the clearance: {here.near} pairs, found otherwise: {', '.join(near)}."
        )
    return said
