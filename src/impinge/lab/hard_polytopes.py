"""Pairs of small convex bodies and poses that are hard on trackers: touching, parallel, needle-like, very flat, tiny.

A family makes two hulls and a row of poses for them.  Half of the poses have nothing to do with each other, half make
short smooth paths; families on a grid have whole-numbered shifts and quarter turns, so that bodies touch exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from impinge.arrays import Floats
from impinge.convex.hull.convex_hull import ConvexHull
from impinge.geometry.pose import posed_vertices
from impinge.lab.hard_input import quarter_turn
from impinge.lab.scenes.polytopes import random_directions
from impinge.lab.scenes.poses import poses, random_turns, turns
from impinge.lab.scenes.shapes import unit_circle

_PATH = 16
"""Steps of a smooth path."""


@dataclass(frozen=True, eq=False)
class Encounter:
    """Two bodies in some poses."""

    a: ConvexHull
    b: ConvexHull
    poses_a: Floats
    poses_b: Floats

    def posed(self, i: int) -> tuple[Floats, Floats]:
        """The vertices of both in pose i: what the truth is about."""
        return posed_vertices(self.poses_a[i], self.a.vertices), posed_vertices(self.poses_b[i], self.b.vertices)


Family = Callable[[np.random.Generator, int, int], Encounter]
"""From a generator, the number of poses, and how many vertices a body may have."""


def _cloud(rng: np.random.Generator, most: int) -> Floats:
    """(n, 3) points of which all or nearly all are vertices."""
    count = int(rng.integers(4, most + 1))
    points = random_directions(rng, count) * rng.uniform(0.3, 1.0, size=3)
    return points if rng.random() < 0.5 else points * rng.uniform(0.7, 1.0, size=(count, 1))


def _reach(hull: ConvexHull) -> float:
    return float(np.linalg.norm(hull.vertices, axis=1).max())


def moved_about(rng: np.random.Generator, a: ConvexHull, b: ConvexHull, count: int) -> Encounter:
    """Random poses and smooth paths around touching."""
    jumps = count - _PATH * (count // (2 * _PATH))
    reach = _reach(a) + _reach(b)
    turned = [random_turns(rng, jumps)]
    shifts = [random_directions(rng, jumps) * rng.uniform(0.0, 1.2, size=(jumps, 1)) * reach]
    step = np.arange(_PATH)[:, None]
    for _ in range((count - jumps) // _PATH):
        turned.append(turns(step * rng.normal(size=3) * 10.0 ** rng.uniform(-4.0, -1.0)) @ random_turns(rng, 1)[0])
        begin, towards = random_directions(rng, 2) * reach
        shifts.append(begin * rng.uniform(0.3, 1.1) + step * towards * 10.0 ** rng.uniform(-4.0, -1.5))
    fixed = poses(random_turns(rng, count) if rng.random() < 0.5 else np.eye(3), np.zeros((count, 3)))
    return Encounter(a, b, fixed, poses(np.concatenate(turned), np.concatenate(shifts)))


def random(rng: np.random.Generator, count: int, most: int) -> Encounter:
    return moved_about(rng, ConvexHull(_cloud(rng, most)), ConvexHull(_cloud(rng, most)), count)


def needles(rng: np.random.Generator, count: int, most: int) -> Encounter:
    """Both, or one of them, thin in two directions by 1e-2 to 1e-9."""
    hulls = []
    for thin in (True, rng.random() < 0.5):
        thickness = 10.0 ** rng.uniform(-9.0, -2.0) if thin else 1.0
        hulls.append(ConvexHull(_cloud(rng, most) * [1.0, thickness, thickness]))
    return moved_about(rng, hulls[0], hulls[1], count)


def plates(rng: np.random.Generator, count: int, most: int) -> Encounter:
    """Thin in one direction by 1e-2 to 1e-12, or exactly flat; nearly parallel in half of the paths."""
    hulls = []
    for _ in range(2):
        thickness = 0.0 if rng.random() < 0.3 else 10.0 ** rng.uniform(-12.0, -2.0)
        hulls.append(ConvexHull(_cloud(rng, most) * [1.0, 1.0, thickness]))
    made = moved_about(rng, hulls[0], hulls[1], count)
    if rng.random() < 0.5:
        slightly = turns(rng.normal(size=(count, 3)) * 10.0 ** rng.uniform(-16.0, -2.0, size=(count, 1)))
        lift = rng.normal(size=(count, 3)) * [0.5, 0.5, 10.0 ** rng.uniform(-12.0, 0.0)]
        made = Encounter(made.a, made.b, poses(np.eye(3), np.zeros((count, 3))), poses(slightly, lift))
    return made


def prisms(rng: np.random.Generator, count: int, most: int) -> Encounter:
    """Regular prisms that stand beside or upon each other: parallel edges and faces, turned about their axes."""
    hulls = []
    for _ in range(2):
        circle = unit_circle(4 * int(rng.integers(1, max(2, most // 8 + 1)))) * rng.uniform(0.3, 1.0)
        height = rng.uniform(0.1, 2.0)
        hulls.append(ConvexHull([(x, y, z) for x, y in circle for z in (0.0, height)]))
    angle = rng.uniform(-0.02, 0.02) * np.arange(count)
    axis = np.column_stack([np.zeros(count), np.zeros(count), angle])
    shift = rng.uniform(-1.2, 1.2, size=3) + np.arange(count)[:, None] * rng.normal(size=3) * 1e-3
    tilt = random_turns(rng, 1)[0] if rng.random() < 0.5 else np.eye(3)
    here = poses(tilt, np.zeros((count, 3)))
    return Encounter(hulls[0], hulls[1], here, poses(tilt @ turns(axis), shift @ tilt.T))


def boxes(rng: np.random.Generator, count: int, most: int) -> Encounter:
    """Boxes on a grid: faces, edges and corners that touch exactly."""
    hulls = [ConvexHull(_corners(rng.integers(1, 5, size=3))) for _ in range(2)]
    return _on_the_grid(rng, hulls[0], hulls[1], count, 5)


def _corners(sizes: np.ndarray) -> Floats:
    return np.array([(x, y, z) for x in (0.0, sizes[0]) for y in (0.0, sizes[1]) for z in (0.0, sizes[2])])


def _on_the_grid(rng: np.random.Generator, a: ConvexHull, b: ConvexHull, count: int, offset: int) -> Encounter:
    here = np.stack([quarter_turn(rng, offset) for _ in range(count)])
    there = np.stack([quarter_turn(rng, offset) for _ in range(count)])
    return Encounter(a, b, here, there)


def grid(rng: np.random.Generator, count: int, most: int) -> Encounter:
    """Hulls of points on a small grid: coplanar faces, and bodies that touch exactly; some are flat, some a segment."""
    hulls = [ConvexHull(rng.integers(0, 5, size=(int(rng.integers(2, most + 1)), 3)).astype(float)) for _ in range(2)]
    return _on_the_grid(rng, hulls[0], hulls[1], count, 4)


def touching(rng: np.random.Generator, count: int, most: int) -> Encounter:
    """Grid bodies shifted so that they touch in two vertices, exactly, or off by some units in the last place."""
    hulls = [ConvexHull(rng.integers(-4, 5, size=(int(rng.integers(4, most + 1)), 3)).astype(float)) for _ in range(2)]
    towards = random_directions(rng, count)
    top = hulls[0].vertices[(towards @ hulls[0].vertices.T).argmax(axis=1)]
    bottom = hulls[1].vertices[(towards @ hulls[1].vertices.T).argmin(axis=1)]
    shift = top - bottom
    nudged = rng.random(count) < 0.5
    shift[nudged] += rng.integers(-2, 3, size=(int(nudged.sum()), 3)) * np.spacing(np.abs(shift[nudged]) + 1.0)
    return Encounter(hulls[0], hulls[1], poses(np.eye(3), np.zeros((count, 3))), poses(np.eye(3), shift))


def parallel(rng: np.random.Generator, count: int, most: int) -> Encounter:
    """A body and itself, shifted along the normal of a face or along an edge: faces and edges are parallel."""
    hull = ConvexHull(_cloud(rng, most))
    turned = random_turns(rng, 1)[0]
    tail, head = hull.vertices[hull.edges[rng.integers(len(hull.edges), size=count)]].transpose(1, 0, 2)
    along = (head - tail) * rng.choice([0.5, 1.0, 2.0], size=(count, 1))
    away = random_directions(rng, count) * rng.uniform(0.0, 2.2, size=(count, 1))
    shift = np.where(rng.random((count, 1)) < 0.5, along, away)
    return Encounter(hull, hull, poses(turned, np.zeros((count, 3))), poses(turned, shift))


def far_away(rng: np.random.Generator, count: int, most: int) -> Encounter:
    """Any of the others' shapes, 1e3 to 1e8 sizes away from the origin."""
    made = random(rng, count, most)
    shift = random_directions(rng, 1)[0] * 10.0 ** rng.uniform(3.0, 8.0)
    made.poses_a[:, :3, 3] += shift
    made.poses_b[:, :3, 3] += shift
    return made


_LADDER = (1.0, 2.0**100, 2.0**-300, 1e-300, 2.0**-537, 2.0**-511, 2.0**-1022, 2.0**-1050, 2.0**-1074)
"""Magnitudes whose sums, squares or products of three vanish, or are subnormal, beside those of others."""


def _multiples(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Small whole numbers, some off by a unit in the last place, or any."""
    whole = rng.integers(-3, 4, size=shape).astype(float)
    any_ = rng.uniform(-3.0, 3.0, size=shape)
    chosen = rng.random(shape)
    return np.where(chosen < 0.7, whole, np.where(chosen < 0.85, whole * (1.0 + 2.0**-52), any_))


def _beside_each_other(rng: np.random.Generator, a: Floats, b: Floats, unit: float) -> tuple[Floats, Floats]:
    """The points with some of a in b as well, as they are or some units off, and b on one side of a along an axis."""
    shared = rng.random(len(b)) < 0.4
    b[shared] = a[rng.integers(len(a), size=int(shared.sum()))]
    axis = int(rng.integers(3))
    if rng.random() < 0.6:
        a[:, axis], b[:, axis] = -np.abs(a[:, axis]), np.abs(b[:, axis])
    if rng.random() < 0.7:
        b[:, axis] += unit * rng.integers(-2, 3, size=len(b) if rng.random() < 0.5 else 1)
    return a, b


def _hardly_moved(
    rng: np.random.Generator, a: ConvexHull, b: ConvexHull, count: int, shifts: tuple[float, ...]
) -> Encounter:
    """Poses in which mostly nothing is rounded: at rest, or turned by quarters; shifted along axes; some are any."""
    both = []
    for _ in range(2):
        placed = np.stack([quarter_turn(rng, 0) for _ in range(count)])
        placed[rng.random(count) < 0.6] = np.eye(4)
        placed[:, :3, :3] = np.where(rng.random((count, 1, 1)) < 0.1, random_turns(rng, count), placed[:, :3, :3])
        placed[:, :3, 3] = rng.choice([0.0, 0.0, 0.0, 0.0, *shifts], size=(count, 3)) * rng.integers(-1, 2, (count, 3))
        both.append(placed)
    return Encounter(a, b, both[0], both[1])


def mixed_scales(rng: np.random.Generator, count: int, most: int) -> Encounter:
    """Coordinates of two or three very different magnitudes, from 2**100 down to the smallest float."""
    magnitudes = rng.choice(_LADDER, size=int(rng.integers(2, 4)), replace=False)
    sizes = rng.integers(1, most + 1, size=2)
    a, b = (_multiples(rng, (n, 3)) * rng.choice(magnitudes, size=(n, 3) if rng.random() < 0.5 else 3) for n in sizes)
    a, b = _beside_each_other(rng, a, b, float(rng.choice([2.0**-1074, *magnitudes])))
    return _hardly_moved(rng, ConvexHull(a), ConvexHull(b), count, tuple(magnitudes.tolist()))


def subnormal(rng: np.random.Generator, count: int, most: int) -> Encounter:
    """Multiples of the smallest float, 2 to 2**30 of them; in half of the pairs beside a large common coordinate."""
    reach = 2 ** int(rng.integers(1, 31))
    sizes = rng.integers(1, most + 1, size=2)
    a, b = (rng.integers(-reach, reach + 1, size=(n, 3)).astype(np.float64) * 2.0**-1074 for n in sizes)
    a, b = _beside_each_other(rng, a, b, 2.0**-1074)
    if rng.random() < 0.5:
        axis = int(rng.integers(3))
        a[:, axis] = b[:, axis] = rng.choice(_LADDER)
    return _hardly_moved(rng, ConvexHull(a), ConvexHull(b), count, (2.0**-1074, reach * 2.0**-1074))


FAMILIES: dict[str, Family] = {
    "random": random,
    "needles": needles,
    "plates": plates,
    "prisms": prisms,
    "boxes on a grid": boxes,
    "grid": grid,
    "touching": touching,
    "parallel": parallel,
    "far away": far_away,
}

UNDERFLOWING: dict[str, Family] = {"mixed scales": mixed_scales, "subnormal": subnormal}
"""Those whose products underflow; an error in parts of their size, as the accuracy bench measures it, says little."""
