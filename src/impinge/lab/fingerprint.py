"""One hash over the answers of the library, to show that a change of the code leaves them the same, bit for bit.

``python -m impinge.lab.fingerprint [--sections NAME ...] [--values FILE]``

Each section has a hash of its own, so that a difference can be located; ``--values`` writes what was hashed, one line
a case, so that two versions can be compared by ``diff``.  This file uses public names only and makes its own input:
``python path/to/fingerprint.py`` runs against any other version that is on the path.

Hashed is what the contracts promise.  Of a Pair and of a World only the value of a distance is: coherent queries may
name another pair of faces at exactly the same distance.  Streams of contacts are sorted.  An exception counts by the
name of its type.  Input is built by operations that IEEE 754 rounds correctly (no BLAS, no sines to the last bit).
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import io
import json
import math
import pickle
import struct
import sys
import tempfile
import time
import warnings
import zipfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from inspect import signature
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import impinge

Case = tuple[str, Callable[[], Any]]
"""What is asked, in words, and the question."""
Shape = tuple[Any, list[list[int]]]
"""Vertices (n, 3), and polygons."""

# --- text of answers

_FIELDS = {
    "Assembly": ("unit", "parts"),
    "ContactLoop": ("pose", "region", "points", "closed", "contacts", "segment"),
    "Contacts": ("pose", "face_a", "face_b", "segments", "normal", "kind", "shape", "complete"),
    "ConvexHull": (
        "dimension", "vertices", "source", "edges", "faces", "red_vertices", "red_edges", "red_faces", "bounds",
    ),
    "ConvexPieces": ("pieces",),
    "Diagnosis": (
        "open_edges", "nonmanifold_edges", "coincident_faces", "degenerate_faces", "t_vertices",
        "inconsistent_winding", "cracks", "slivers", "coplanar_neighbours",
    ),
    "Distance": ("value", "point_a", "point_b", "face_a", "face_b", "feature_a", "feature_b"),
    "Feature": ("kind", "index"),
    "Frame": ("query", "pairs", "began", "ended", "persist", "contacts", "values"),
    "Frames": ("query", "colliding", "frame", "pairs", "contacts"),
    "Mesh": ("vertices", "faces", "polygon", "solid"),
    "Part": ("name", "mesh", "pose"),
    "Penetration": ("depth", "direction", "point_a", "point_b", "lower", "upper"),
    "Relation": ("kind", "touching"),
    "Repair": ("mesh", "source", "welded", "largest_move", "joined", "divided", "dropped", "merged", "turned"),
}  # fmt: skip
"""By the names of classes.  What else they hold is not hashed: a new field is no other answer."""


def text_of(value: Any) -> str:
    """An answer as one line: floats in hexadecimal, so that every bit counts, arrays with their types and shapes.

    >>> text_of(np.array([0.5, -0.0])), text_of((True, 2, None))
    ('f8[2](0x1.0000000000000p-1 -0x0.0p+0)', '(1 2 None)')
    """
    if isinstance(value, np.ndarray):
        shape = ",".join(map(str, value.shape))
        return f"{value.dtype.str[1:]}[{shape}]({' '.join(map(_text_of_scalar, value.ravel().tolist()))})"
    if isinstance(value, np.generic):
        return _text_of_scalar(value.item())
    if isinstance(value, (tuple, list)):
        return f"({' '.join(map(text_of, value))})"
    name = next((each.__name__ for each in type(value).__mro__ if each.__name__ in _FIELDS), None)
    if name is None:
        return _text_of_scalar(value)
    return f"{name}({' '.join(f'{field}={text_of(getattr(value, field, None))}' for field in _FIELDS[name])})"


def _text_of_scalar(value: Any) -> str:
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, int):  # bool and IntEnum too
        return str(int(value))
    return repr(value)


def answer(ask: Callable[[], Any]) -> str:
    """The text of an answer; of a refusal, the name of its type."""
    try:
        return text_of(ask())
    except Exception as error:
        return f"raises {type(error).__name__}"


# --- poses


def pose(quaternion: Any, shift: Any) -> Any:
    """A rotation by a quaternion of any length, and a shift: sums, products and quotients alone."""
    w, x, y, z = map(float, quaternion)
    n = w * w + x * x + y * y + z * z
    made = np.eye(4)
    made[0, :3] = (w * w + x * x - y * y - z * z) / n, 2.0 * (x * y - w * z) / n, 2.0 * (x * z + w * y) / n
    made[1, :3] = 2.0 * (x * y + w * z) / n, (w * w - x * x + y * y - z * z) / n, 2.0 * (y * z - w * x) / n
    made[2, :3] = 2.0 * (x * z - w * y) / n, 2.0 * (y * z + w * x) / n, (w * w - x * x - y * y + z * z) / n
    made[:3, 3] = shift
    return made


def _random(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def any_poses(seed: int, count: int, spread: float) -> Any:
    random = _random(seed)
    return np.stack([pose(random.random(4) - 0.5, (random.random(3) - 0.5) * spread) for _ in range(count)])


def grid_poses(seed: int, count: int, step: float = 1.0, far: int = 2) -> Any:
    """Quarter turns and shifts by whole steps: the input of all that touches, exactly."""
    random = _random(seed)
    made: list[Any] = []
    while len(made) < count:
        turn = random.integers(-1, 2, 4)
        if np.abs(turn).sum() in (1, 2, 4):  # a quarter turn, a half or a third one about axes, edges or diagonals
            made.append(pose(turn, random.integers(-far, far + 1, 3) * step))
    return np.stack(made) + 0.0


def path_of_poses(seed: int, count: int, spread: float) -> Any:
    """From one pose to another and on to a third, in small steps."""
    random = _random(seed)
    turns, shifts = random.random((3, 4)) - 0.5, (random.random((3, 3)) - 0.5) * spread
    shifts[1] *= 0.25
    made = []
    for i in range(count):
        leg, s = divmod(2.0 * i / count, 1.0)
        k = int(leg)
        made.append(pose(turns[k] + s * (turns[k + 1] - turns[k]), shifts[k] + s * (shifts[k + 1] - shifts[k])))
    return np.stack(made)


def shift(*by: float) -> Any:
    return pose((1, 0, 0, 0), by)


# --- shapes


def _circle(sides: int) -> list[tuple[float, float]]:
    """Rounded to nine digits: no matter how a library rounds its sines."""
    angles = [2.0 * math.pi * i / sides for i in range(sides)]
    return [(round(math.cos(a), 9), round(math.sin(a), 9)) for a in angles]


def cube(size: float = 1.0, at: Sequence[float] = (0.0, 0.0, 0.0)) -> Shape:
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)]) * size + np.array(at)
    return corners, [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]


def torus(around: int, across: int, outer: float = 1.0, inner: float = 0.375) -> Shape:
    points = [
        [c * (outer + inner * x), s * (outer + inner * x), inner * y]
        for c, s in _circle(around)
        for x, y in _circle(across)
    ]
    faces = []
    for i in range(around):
        for j in range(across):
            a, b = i * across + j, i * across + (j + 1) % across
            c, d = ((i + 1) % around) * across + j, ((i + 1) % around) * across + (j + 1) % across
            faces += [[a, c, d], [a, d, b]]
    return np.array(points), faces


def ball(levels: int, radius: float = 1.0) -> Shape:
    """An octahedron, divided and blown up."""
    points = [[1.0, 0, 0], [-1.0, 0, 0], [0, 1.0, 0], [0, -1.0, 0], [0, 0, 1.0], [0, 0, -1.0]]
    faces = [[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]]
    for _ in range(levels):
        between: dict[tuple[int, int], int] = {}

        def middle(i: int, j: int, between: dict[tuple[int, int], int] = between) -> int:
            key = (min(i, j), max(i, j))
            if key not in between:
                x, y, z = (p + q for p, q in zip(points[i], points[j], strict=True))
                n = math.sqrt(x * x + y * y + z * z)
                between[key] = len(points)
                points.append([x / n, y / n, z / n])
            return between[key]

        faces = [
            face
            for a, b, c in faces
            for ab, bc, ca in [(middle(a, b), middle(b, c), middle(c, a))]
            for face in ([a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca])
        ]
    return np.array(points) * radius, faces


def prism(outline: Sequence[tuple[float, float]], height: float) -> Shape:
    """Over any polygon, which stays one face."""
    n = len(outline)
    points = [[x, y, z] for z in (0.0, height) for x, y in outline]
    sides = [[i, (i + 1) % n, n + (i + 1) % n, n + i] for i in range(n)]
    return np.array(points), [list(range(n))[::-1], list(range(n, 2 * n)), *sides]


def sheet(count: int, wave: float) -> Shape:
    """An open surface over whole coordinates; flat without waves."""
    heights = _random(7).integers(-2, 3, (count + 1, count + 1)) * wave
    points = [[float(i), float(j), float(heights[i, j])] for i in range(count + 1) for j in range(count + 1)]
    quads = [(i * (count + 1) + j, (i + 1) * (count + 1) + j) for i in range(count) for j in range(count)]
    return np.array(points), [face for a, b in quads for face in ([a, b, b + 1], [a, b + 1, a + 1])]


def soup(seed: int, count: int, far: int = 3, factors: Sequence[float] = (1.0, 1.0, 1.0)) -> Shape:
    """Triangles over a small grid: many coplanar, some without area, vertices repeated."""
    points = _random(seed).integers(-far, far + 1, (3 * count, 3)) * np.array(factors)
    return points, [[3 * i, 3 * i + 1, 3 * i + 2] for i in range(count)]


def degenerate() -> Shape:
    """Among faces with area: points, segments, corners twice, a face twice and once more turned over."""
    points = [[0, 0, 0], [2, 0, 0], [0, 2, 0], [1, 0, 0], [0, 0, 0], [1, 1, 1], [2, 2, 2], [0, 0, 2]]
    faces = [[0, 1, 2], [0, 3, 1], [0, 4, 0], [5, 5, 6], [0, 5, 6], [0, 1, 2], [2, 1, 0], [4, 7, 3], [1, 2, 7]]
    return np.array(points, dtype=float), faces


def apart(shape: Shape) -> Shape:
    """Each face with vertices of its own."""
    points, faces = shape
    ends = np.cumsum([0] + [len(face) for face in faces]).tolist()
    return points[np.concatenate(faces)], [list(range(a, b)) for a, b in pairwise(ends)]


def scaled(shape: Shape, factor: float) -> Shape:
    return shape[0] * factor, shape[1]


ELL = [(0.0, 0.0), (3.0, 0.0), (3.0, 1.0), (1.0, 1.0), (1.0, 2.0), (2.0, 3.0), (0.0, 3.0)]


def mesh(shape: Shape, solid: bool = False) -> impinge.Mesh:
    return impinge.Mesh(*shape, solid=solid)


def hull(shape: Shape) -> impinge.ConvexHull:
    return impinge.ConvexHull(shape[0])


class Scene(NamedTuple):
    """Two bodies, poses of the second, and a length that is of their size."""

    a: Any
    b: Any
    poses: Any
    length: float = 0.5


def mesh_scenes() -> dict[str, Scene]:
    ring, ball_2 = mesh(torus(12, 8)), mesh(ball(2), solid=True)
    return {
        "box and torus": Scene(mesh(cube()), ring, any_poses(1, 10, 4.0)),
        "tori": Scene(mesh(torus(24, 12)), mesh(torus(20, 14)), any_poses(2, 10, 4.0)),
        "solids": Scene(ball_2, mesh(torus(14, 10), solid=True), any_poses(3, 10, 4.5)),
        "polygons": Scene(mesh(prism(ELL, 1.0), solid=True), mesh(cube(1.5), solid=True), any_poses(4, 12, 5.0)),
        "open surfaces": Scene(mesh(sheet(8, 0.125)), ring, any_poses(5, 10, 6.0)),
        "solid and surface": Scene(ball_2, mesh(scaled(sheet(6, 0.25), 0.25)), any_poses(6, 10, 3.0)),
        "one triangle": Scene(mesh(soup(8, 1)), mesh(soup(9, 1)), any_poses(7, 16, 6.0)),
    }


def hard_mesh_scenes() -> dict[str, Scene]:
    block, little = mesh(cube(), solid=True), mesh(cube(0.5), solid=True)
    ring, ring_solid = torus(10, 6), mesh(torus(12, 8), solid=True)
    far_ring = (ring[0] + np.array([1e8, -2e8, 3e7]), ring[1])
    near = any_poses(12, 8, 4.0)
    off_far = near.copy()
    off_far[:, :3, 3] = near[:, :3, 3] + [1e8, -2e8, 3e7]
    loose = any_poses(13, 6, 3.0)
    loose[:, :3, :3] *= 1.0 + 3e-10
    made = {
        "touching cubes": Scene(block, block, grid_poses(1, 24, 0.5)),
        "touching surfaces": Scene(mesh(cube()), mesh(cube(2.0)), grid_poses(2, 16)),
        "touching polygons": Scene(mesh(prism(ELL, 1.0), solid=True), mesh(cube(), solid=True), grid_poses(3, 24)),
        "coplanar sheets": Scene(mesh(sheet(4, 0.0)), mesh(sheet(3, 0.0)), grid_poses(4, 16)),
        "needles": Scene(
            mesh(soup(1, 20, 3, (1e6, 1.0, 1e-6))), mesh(soup(2, 20, 3, (1.0, 1e6, 1e-6))), any_poses(5, 8, 4.0)
        ),
        "degenerate": Scene(mesh(degenerate()), mesh(degenerate()), grid_poses(6, 16)),
        "repeated vertices": Scene(mesh(apart(cube()), True), mesh(apart(torus(8, 6)), True), any_poses(7, 8, 3.0)),
        "soups": Scene(mesh(soup(3, 24)), mesh(soup(4, 24)), grid_poses(8, 10)),
        "turned soups": Scene(mesh(soup(5, 16)), mesh(soup(6, 16)), any_poses(9, 8, 6.0)),
        "nested balls": Scene(mesh(ball(2), solid=True), mesh(ball(1, 0.25), solid=True), any_poses(10, 16, 1.6)),
        "nested surfaces": Scene(mesh(ball(2)), mesh(ball(1, 0.25)), any_poses(10, 8, 1.6)),
        "nested and touching": Scene(mesh(cube(2.0, (-1, -1, -1)), True), little, grid_poses(11, 24, 0.5)),
        "equal": Scene(ring_solid, ring_solid, np.stack([shift(0, 0, 0), shift(0, 0, 1e-300), shift(2.0**-52, 0, 0)])),
        "far": Scene(mesh(scaled(cube(), 0.5)), mesh(far_ring), near),
        "far in both": Scene(mesh(far_ring), mesh(cube(0.75)), off_far),
        "loose poses": Scene(ring_solid, block, loose),
        "very different": Scene(mesh(scaled(ring, 1e6)), mesh(scaled(cube(), 1e-6)), any_poses(14, 6, 2.5e6)),
    }
    for name, factor in {"huge": 1e40, "small": 1e-30, "tiny": 1e-300, "subnormal": 1e-310}.items():
        poses, grid = any_poses(15, 6, 4.0), grid_poses(16, 6, 0.5)
        poses[:, :3, 3] *= factor
        grid[:, :3, 3] *= factor
        made[name] = Scene(mesh(scaled(ring, factor)), mesh(scaled(cube(), factor)), poses, 0.5 * factor)
        solid = mesh(scaled(cube(), factor), solid=True)
        made[f"{name} touching"] = Scene(solid, solid, grid, 0.5 * factor)
    return made


def hull_scenes() -> dict[str, Scene]:
    cloud = impinge.ConvexHull(_random(20).random((60, 3)) - 0.5)
    return {
        "cubes": Scene(hull(cube()), hull(cube()), any_poses(21, 16, 3.0)),
        "clouds": Scene(cloud, impinge.ConvexHull(_random(22).random((200, 3)) - 0.5), any_poses(23, 16, 2.0)),
        "balls": Scene(hull(ball(3)), hull(ball(2, 0.5)), any_poses(24, 16, 4.0)),
        "of meshes": Scene(
            impinge.ConvexHull(mesh(torus(12, 8))), impinge.ConvexHull(mesh(prism(ELL, 2.0))), any_poses(25, 16, 6.0)
        ),
        "hull and mesh": Scene(cloud, mesh(torus(12, 8)), any_poses(26, 10, 3.0)),
    }


def hard_hull_scenes() -> dict[str, Scene]:
    flat, line, point = (
        impinge.ConvexHull([[0, 0, 0], [2, 0, 0], [0, 2, 0], [2, 2, 0]]),
        [[0, 0, 0], [1, 2, 3]],
        [[0, 0, 0]],
    )
    segment, dot = impinge.ConvexHull(line), impinge.ConvexHull(point)
    unit = hull(cube())
    needle = impinge.ConvexHull(soup(1, 8, 3, (1e6, 1.0, 1e-6))[0])
    gem = impinge.ConvexHull(_random(30).integers(-2, 3, (20, 3)))
    made = {
        "touching": Scene(unit, unit, grid_poses(31, 24, 0.5)),
        "on a grid": Scene(gem, impinge.ConvexHull(_random(32).integers(-2, 3, (20, 3))), grid_poses(33, 20, 1.0, 4)),
        "flat": Scene(flat, flat, grid_poses(34, 16)),
        "flat and solid": Scene(flat, unit, any_poses(35, 10, 4.0)),
        "segments": Scene(segment, segment, grid_poses(36, 16)),
        "segment and solid": Scene(segment, gem, any_poses(37, 10, 6.0)),
        "points": Scene(dot, dot, grid_poses(38, 8, 1.0, 1)),
        "point and solid": Scene(dot, gem, grid_poses(39, 16, 0.5, 4)),
        "needles": Scene(needle, needle, any_poses(40, 10, 8e6)),
        "nested": Scene(hull(ball(2)), hull(ball(1, 0.125)), any_poses(41, 12, 1.8)),
        "very different": Scene(hull(cube(1e6)), hull(ball(1, 1e-6)), any_poses(42, 8, 2e6)),
        "far": Scene(impinge.ConvexHull(ball(1)[0] + 1e8), unit, any_poses(43, 8, 6.0) + _far()),
    }
    for name, factor in {"huge": 1e40, "small": 1e-30, "tiny": 1e-300, "subnormal": 1e-310, "least": 1e-322}.items():
        poses, grid = any_poses(44, 8, 3.0), grid_poses(45, 8, 0.5)
        poses[:, :3, 3] *= factor
        grid[:, :3, 3] *= factor
        made[name] = Scene(hull(scaled(ball(1), factor)), hull(scaled(cube(), factor)), poses, 0.5 * factor)
        made[f"{name} touching"] = Scene(hull(scaled(cube(), factor)), hull(scaled(cube(), factor)), grid, factor)
    return made


def _far() -> Any:
    made = np.zeros((4, 4))
    made[:3, 3] = 1e8
    return made


def pieces_scenes() -> dict[str, Scene]:
    ell = impinge.ConvexPieces([cube()[0], cube(1.0, (1, 0, 0))[0], cube(1.0, (0, 1, 0))[0]])
    random = _random(50)
    cloud = impinge.ConvexPieces([random.random((10, 3)) + 2.0 * random.random(3) - 1.5 for _ in range(12)])
    mixed = impinge.ConvexPieces([[[0, 0, 0]], [[1, 1, 1], [2, 3, 1]], [[0, 0, 2], [1, 0, 2], [0, 1, 2]], cube(0.5)[0]])
    tiny = impinge.ConvexPieces([scaled(cube(), 1e-300)[0], scaled(cube(1.0, (1, 0, 0)), 1e-300)[0]])
    small = any_poses(57, 6, 4.0)
    small[:, :3, 3] *= 1e-300
    return {
        "pieces": Scene(cloud, ell, any_poses(51, 12, 5.0)),
        "touching": Scene(ell, ell, grid_poses(52, 20)),
        "of all dimensions": Scene(mixed, ell, grid_poses(53, 16)),
        "with a hull": Scene(cloud, hull(ball(1)), any_poses(54, 10, 4.0)),
        "with a mesh": Scene(ell, mesh(torus(10, 6)), any_poses(55, 6, 4.0)),
        "with a solid": Scene(ell, mesh(cube(4.0, (-2, -2, -2)), solid=True), any_poses(56, 6, 4.0)),
        "tiny": Scene(tiny, tiny, small, 1e-300),
    }


# --- sections


_OF_TRIANGLES = ("contacts", "relation")
_OF_HULLS = ("gjk", "vclip", "lin-canny")


def _verbs(scene: Scene, method: str) -> Iterator[Case]:
    a, b, poses, length = scene
    everything: dict[str, Callable[..., Any]] = {
        "collides": impinge.collides,
        "contacts": impinge.contacts,
        "distance": impinge.distance,
        "closer_than": lambda a, b, *poses, **options: impinge.closer_than(a, b, length, *poses, **options),
        "closer_than 0": lambda a, b, *poses, **options: impinge.closer_than(a, b, 0.0, *poses, **options),
        "closer_than the distance": _closer_than_the_distance,
        "relation": impinge.relation,
        "penetration": impinge.penetration,
    }
    turned = poses[::-1].copy()
    for name, verb in everything.items():
        if name in _OF_TRIANGLES and method in _OF_HULLS:
            continue
        yield f"{name} {method}", partial(verb, a, b, None, poses, method=method)
        yield f"{name} {method}, swapped", partial(verb, b, a, turned, poses[0], method=method)
        for i in range(3):  # a single pose takes another way through the library
            yield f"{name} {method}, pose {i}", partial(verb, a, b, None, poses[i], method=method)


def _closer_than_the_distance(a: Any, b: Any, pose_a: Any, pose_b: Any, **options: Any) -> Any:
    """At the very bound, which is hard to decide."""
    found = impinge.distance(a, b, pose_a, pose_b, **options)
    return impinge.closer_than(a, b, float(np.ravel(found.value)[0]), pose_a, pose_b, **options)


def _streamed(*bodies_and_poses: Any) -> Any:
    parts = list(impinge.contact_stream(*bodies_and_poses))
    names = ("pose", "face_a", "face_b", "kind", "segments", "normal")
    columns = [np.concatenate([getattr(part, name) for part in parts]) for name in names] if parts else []
    order: Any = np.lexsort(columns[2::-1]) if parts else []
    return [column[order] for column in columns]


def _asked(scenes: dict[str, Scene], methods: Sequence[str]) -> Iterator[Case]:
    for name, scene in scenes.items():
        a, b, poses, _ = scene
        for method in methods:
            for what, ask in _verbs(scene, method):
                yield f"{name}: {what}", ask
        grid = poses[:2, None], poses[None, :3]
        yield f"{name}: contact_stream", partial(_streamed, a, b, None, poses)
        yield f"{name}: collides, a grid of poses", partial(impinge.collides, a, b, *grid)
        yield f"{name}: distance, two workers", partial(impinge.distance, a, b, poses, None, workers=2)
        yield f"{name}: contacts, two workers", partial(impinge.contacts, a, b, poses, None, workers=2)
        yield f"{name}: few contacts", partial(_few_contacts, a, b, poses)
        yield f"{name}: loops", partial(_loops, a, b, None, poses)


def _loops(a: Any, b: Any, *poses: Any) -> Any:
    return impinge.contacts(a, b, *poses).loops(getattr(a, "mesh", a), getattr(b, "mesh", b), *poses)


def _few_contacts(a: Any, b: Any, poses: Any) -> Any:
    """Which ones are left out is not specified."""
    found = impinge.contacts(a, b, None, poses, max_contacts=5)
    return len(found), found.complete


def meshes() -> Iterator[Case]:
    return _asked(mesh_scenes(), ("auto", "obb", "incremental", "brute"))


def hard_meshes() -> Iterator[Case]:
    return _asked(hard_mesh_scenes(), ("obb", "incremental", "brute"))


def hulls() -> Iterator[Case]:
    return _asked(hull_scenes(), ("auto", *_OF_HULLS))


def hard_hulls() -> Iterator[Case]:
    return _asked(hard_hull_scenes(), ("auto", *_OF_HULLS))


def pieces() -> Iterator[Case]:
    return _asked(pieces_scenes(), ("auto", "gjk"))


def paths() -> Iterator[Case]:
    """Pair: along a path in one call, and pose by pose."""
    scenes: list[tuple[str, dict[str, Scene], Sequence[str]]]
    scenes = [("meshes", mesh_scenes(), ("auto", "incremental")), ("hard", hard_mesh_scenes(), ("auto", "incremental"))]
    scenes += [("hulls", hull_scenes(), _OF_HULLS), ("pieces", pieces_scenes(), ("auto",))]
    scenes += [("hard hulls", hard_hull_scenes(), _OF_HULLS)]
    for kind, some, methods in scenes:
        for name, (a, b, poses, length) in some.items():
            spread = float(np.abs(poses[:, :3, 3]).max())
            smooth = path_of_poses(60, 16, 2.0 * spread) if kind in ("meshes", "hulls", "pieces") else poses
            for method in methods:
                yield from (
                    (f"{kind}: {name}: {method}: {what}", ask) for what, ask in _along(a, b, smooth, length, method)
                )


def _along(a: Any, b: Any, path: Any, length: float, method: str) -> Iterator[Case]:
    verbs: dict[str, Callable[..., Any]] = {
        "collides": lambda pair, at: pair.collides(None, at),
        "contacts": lambda pair, at: pair.contacts(None, at),
        "distance": lambda pair, at: pair.distance(None, at).value,
        "closer_than": lambda pair, at: pair.closer_than(length, None, at),
        "relation": lambda pair, at: pair.relation(None, at),
        "penetration": lambda pair, at: pair.penetration(None, at).depth,
    }
    for name, verb in verbs.items():
        yield f"{name} in one call", partial(_at_once, a, b, method, verb, path)
        yield f"{name} pose by pose", partial(_one_by_one, a, b, method, verb, path)
    yield "all in turn", partial(_in_turn, a, b, method, verbs, path)


def _at_once(a: Any, b: Any, method: Any, verb: Callable[..., Any], path: Any) -> Any:
    return verb(impinge.Pair(a, b, method), path)


def _one_by_one(a: Any, b: Any, method: Any, verb: Callable[..., Any], path: Any) -> list[Any]:
    pair = impinge.Pair(a, b, method)
    return [verb(pair, at) for at in path]


def _in_turn(a: Any, b: Any, method: Any, verbs: dict[str, Callable[..., Any]], path: Any) -> list[Any]:
    """The memory of one question must not spoil the next."""
    pair = impinge.Pair(a, b, method)
    return [answer(partial(verb, pair, at)) for at in path for verb in verbs.values()]


def traversals() -> Iterator[Case]:
    """A budget at a time; what counts is the end."""
    for name, (a, b, poses, _) in (mesh_scenes() | hard_mesh_scenes()).items():
        for i in range(2):
            yield f"{name}: contacts {i}", partial(_finished, a, b, poses[i], "contacts")
            yield f"{name}: distance {i}", partial(_finished, a, b, poses[i], "distance")


def _finished(a: Any, b: Any, at: Any, question: Any) -> Any:
    search = impinge.Traversal(a, b, None, at, question=question)
    while not search.run(tests=25):
        pass
    return search.contacts if question == "contacts" else search.upper


def worlds() -> Iterator[Case]:
    """Frames in turn: each case depends on those before it."""
    ways: list[tuple[str, str | None]] = [(name, "auto") for name in ("auto", "tree", "sweep", "hash", "hash-standard")]
    ways += [("brute", None), *(("auto", hulls) for hulls in (None, "gjk", "vclip", "lin-canny"))]
    for broadphase, hulls in ways:
        yield from _frames(f"{broadphase}, hulls {hulls}", broadphase, hulls, 1.0)
    for hulls in ("auto", "vclip"):
        yield from _frames(f"convex, hulls {hulls}", "auto", hulls, 1.0, convex=True)
    for factor in (1e40, 1e-300):
        yield from _frames(f"times {factor}", "auto", "auto", factor)


def _frames(name: str, broadphase: str, hulls: str | None, factor: float, convex: bool = False) -> Iterator[Case]:
    def body(shape: Shape, solid: bool = False) -> impinge.Mesh:
        return mesh(scaled(shape, factor), solid)

    kinds: list[Any] = [
        body(torus(12, 8), solid=True), body(cube(), solid=True), body(torus(8, 6)), body(soup(70, 12, 1)),
        hull(scaled(ball(1, 0.75), factor)), body(prism(ELL, 0.5), solid=True), body(ball(1, 0.25), solid=True),
    ]  # fmt: skip
    if convex:  # pieces and meshes do not go together
        two = [scaled(cube(), factor)[0], scaled(cube(1.0, (1, 0, 0)), factor)[0]]
        kinds = [*map(impinge.ConvexHull, kinds), impinge.ConvexPieces(two)]
    world = impinge.World(broadphase, clearance=0.25 * factor, hulls=hulls)
    random = _random(71)
    place: dict[int, tuple[Any, Any]] = {}

    def at(identity: int) -> Any:
        turn, where = place[identity]
        return pose(turn, where * factor)

    def add(count: int, grid: bool = False) -> None:
        for _ in range(count):
            number = len(world)
            turn, where = random.random(4) - 0.5, random.random(3) * 7.0
            if grid:
                turn, where = np.array([1.0, 0.0, 0.0, 0.0]), np.round(where)
            made = pose(turn, where * factor)
            group = ("left", "right", None)[number % 3]
            place[world.add(kinds[number % len(kinds)], made, group=group, fixed=number % 7 == 6)] = turn, where

    def step(size: float, which: int = 1) -> None:
        for number, each in enumerate(list(world)):
            turn, where = place[each.id]
            if not each.fixed and number % which == 0:
                place[each.id] = turn + (random.random(4) - 0.5) * size, where + (random.random(3) - 0.5) * size
        moving = [each.id for each in world if not each.fixed]
        world.set_poses(np.stack([at(identity) for identity in moving]), moving)

    def jump() -> None:
        identity = next(each.id for each in world if not each.fixed)
        place[identity] = (place[identity][0], random.random(3) * 7.0)
        world.move(identity, at(identity))

    def remove(*numbers: int) -> None:
        for identity in [list(world)[number].id for number in numbers]:
            world.remove(identity)
            del place[identity]

    def rules() -> None:
        first, second, third = [each.id for each in world][:3]
        world.allow("left", "right")
        world.forbid(first, second, 2.0 * factor)
        world.forbid(third, "left", 0.0)

    changes: list[Callable[[], object]] = [
        lambda: add(24), lambda: None, lambda: step(0.05), lambda: step(0.05, 3), lambda: add(4, grid=True), jump,
        lambda: remove(2, 9, 10), rules, lambda: step(0.1), lambda: step(2.0), lambda: remove(0), lambda: step(0.01),
    ]  # fmt: skip
    for number, change in enumerate(changes):
        change()
        for query in ("collides", "contacts", "distance", "closer_than"):
            yield f"{name}: frame {number}: {query}", partial(_detected, world, query)
        yield f"{name}: frame {number}: within", partial(_detected, world, "distance", 0.5 * factor)


def _detected(world: impinge.World, query: str, within: float | None = None) -> Any:
    frame = world.detect(query, within=within)
    return frame, list(frame)


def configurations() -> Iterator[Case]:
    """Many poses of all objects of a world in one call."""
    shapes = {
        "meshes": [torus(12, 8), cube(), soup(90, 12, 1), prism(ELL, 0.5), ball(1, 0.5)],
        "boxes": [cube(), cube(0.5), cube(2.0), cube(0.25)],
    }
    for factor in (1.0, 1e40, 1e-300):
        bodies: dict[str, list[Any]] = {
            name: [mesh(scaled(shape, factor), solid=number % 2 == 1) for number, shape in enumerate(made)]
            for name, made in shapes.items()
        }
        bodies["hulls"] = [hull(scaled(shape, factor)) for shape in shapes["meshes"]]
        bodies["mixed"] = [*bodies["meshes"][:3], *bodies["hulls"][3:], *bodies["boxes"][:2]]
        bodies["pieces"] = [
            *bodies["hulls"][:3],
            impinge.ConvexPieces([scaled(cube(), factor)[0], scaled(cube(1.0, (1, 0, 0)), factor)[0]]),
        ]
        for name, kinds in bodies.items():
            yield from _configurations(f"{name}, times {factor}", kinds * 2, factor)


def _configurations(name: str, bodies: list[Any], factor: float) -> Iterator[Case]:
    world = impinge.World(clearance=0.25 * factor)
    for number, body in enumerate(bodies):
        world.add(body, group=("left", "right", None)[number % 3], fixed=number % 5 == 4)
    ways = {
        "anywhere": any_poses(91, 12 * len(bodies), 4.0),
        "on a grid": grid_poses(92, 12 * len(bodies), 1.0, 2),
        "along a path": path_of_poses(93, 12 * len(bodies), 4.0),
    }
    asked: list[tuple[str, dict[str, Any]]] = [
        (query, {}) for query in ("collides", "contacts", "distance", "closer_than")
    ]
    asked += [("distance", {"within": 0.5 * factor}), ("collides", {"workers": 2}), ("distance", {"workers": 2})]
    for rules in (False, True):
        if rules:
            first, second, third = [each.id for each in world][:3]
            world.allow("left", "right")
            world.forbid(first, second, 2.0 * factor)
            world.forbid(third, "left", 0.0)
        for way, at in ways.items():
            poses = at.reshape(12, len(bodies), 4, 4).copy()
            poses[..., :3, 3] *= factor
            for query, options in asked:
                told = f"{name}, {way}, rules {int(rules)}: {query} {options}"
                yield told, partial(_detected_at, world, poses, query, options)
            yield f"{name}, {way}, rules {int(rules)}: first", partial(_any_pair_at, world, poses)


def _detected_at(world: impinge.World, poses: Any, query: Any, options: dict[str, Any]) -> Any:
    frames = world.detect(query, poses=poses, **options)
    return frames, None if frames.distance is None else frames.distance.value


def _any_pair_at(world: impinge.World, poses: Any) -> Any:
    """Which pair is found first is not promised."""
    return world.detect(poses=poses, first=True).colliding


def hull_building() -> Iterator[Case]:
    random = _random(80)
    sets: dict[str, Any] = {
        "cloud": random.random((300, 3)),
        "few": random.random((7, 3)),
        "ball": ball(3)[0],
        "grid": [[x, y, z] for x in range(5) for y in range(5) for z in range(5)],
        "small grid": random.integers(0, 4, (60, 3)),
        "flat": random.integers(0, 6, (40, 3)) * [1, 1, 0],
        "flat, turned": random.integers(0, 6, (40, 2)).repeat([2, 1], axis=1),
        "segment": [[i, 2 * i, -i] for i in range(9)],
        "point": [[0.1, 0.2, 0.3]] * 4,
        "repeated": np.concatenate([cube()[0]] * 3 + [-cube()[0] * 0.0]),
        "needles": soup(81, 20, 3, (1e6, 1.0, 1e-6))[0],
        "far": random.random((50, 3)) + 1e8,
        "nearly flat": random.random((50, 3)) * [1.0, 1.0, 1e-16],
        "huge": random.random((50, 3)) * 1e40,
        "largest": (random.random((50, 3)) - 0.5) * 1e308,
        "tiny": random.random((50, 3)) * 1e-300,
        "subnormal": random.random((50, 3)) * 1e-310,
        "least": random.integers(-3, 4, (40, 3)) * 5e-324,
        "none": np.empty((0, 3)),
        "not a number": [[0, 0, math.nan]],
    }
    for name, points in sets.items():
        yield name, partial(_hull_of, points)
    for name, (a, b, *_) in (mesh_scenes() | hard_mesh_scenes()).items():
        yield f"{name}, a", partial(impinge.ConvexHull, a)
        yield f"{name}, b", partial(impinge.ConvexHull, b)


def _hull_of(points: Any) -> Any:
    found = impinge.ConvexHull(points)
    return found, found.neighbours, found.mesh


def properties() -> Iterator[Case]:
    """What a mesh knows about itself, and what can be made of it."""
    star = [(c * r, s * r) for (c, s), r in zip(_circle(40), [1.0, 0.4] * 20, strict=True)]
    bodies = {f"{name}, {side}": body for name, (a, b, *_) in (mesh_scenes() | hard_mesh_scenes()).items()
              for side, body in (("a", a), ("b", b))}  # fmt: skip
    bodies |= {"star": mesh(prism(star, 0.1)), "turned inside out": mesh((cube()[0], [f[::-1] for f in cube()[1]]))}
    bodies |= {"cracked": mesh((apart(cube())[0] + _random(90).random((24, 3)) * 1e-12, apart(cube())[1]))}
    bodies |= {"t-vertices": mesh((np.array([[0, 0, 0], [2, 0, 0], [0, 2, 0], [1, 0, 0], [1, -1, 0.0]]),
                                   [[0, 1, 2], [0, 4, 3], [4, 1, 3]]))}  # fmt: skip
    shear = np.array([[1.0, 0.5, 0.0, 1.0], [0.0, -2.0, 0.25, 0.0], [0.0, 0.0, 0.125, 3.0], [0.0, 0.0, 0.0, 1.0]])
    asked: dict[str, Callable[[Any], Any]] = {
        "arrays": lambda body: body,
        "bounds": lambda body: body.bounds,
        "area": lambda body: body.area,
        "closed": lambda body: body.is_closed,
        "edges": lambda body: (body.edges, body.edge_faces(0), body.face_adjacency),
        "components": lambda body: (body.components, body.component_count),
        "volume": lambda body: body.volume,
        "centre of mass": lambda body: body.centre_of_mass,
        "inertia": lambda body: body.inertia,
        "diagnosis": lambda body: body.diagnose(),
        "repair": lambda body: body.repair(),
        "repair, welded": lambda body: body.repair(0.001),
        "transformed": lambda body: body.transformed(shear),
        "pickled": lambda body: pickle.loads(pickle.dumps(body)),
        "solid": lambda body: impinge.Mesh(body.vertices, body.faces, solid=True),
    }
    for name, body in bodies.items():
        for what, ask in asked.items():
            yield f"{name}: {what}", partial(ask, body)


# --- files

_FILE_SHAPE = (np.array(cube()[0] + [0.1, 0.2, 1.0 / 3.0]), cube()[1])
_CORNERS = _FILE_SHAPE[0].tolist()
_QUADS = _FILE_SHAPE[1]
_TRIANGLES = [face for a, b, c, d in _QUADS for face in ([a, b, c], [a, c, d])]


def _rows(rows: Sequence[Sequence[float]], form: str = "{} {} {}") -> list[str]:
    return [form.format(*map(repr, row)) for row in rows]


def _stl() -> bytes:
    facets = ["facet normal 0 0 0\nouter loop\n" + "\n".join(_rows([_CORNERS[i] for i in face], "vertex {} {} {}"))
              + "\nendloop\nendfacet" for face in _TRIANGLES]  # fmt: skip
    return "\n".join(["solid left", *facets, "endsolid left", ""]).encode()


def _binary_stl() -> bytes:
    facets = [struct.pack("<12fH", 0, 0, 0, *(x for i in face for x in _CORNERS[i]), 0) for face in _TRIANGLES]
    return bytes(80) + struct.pack("<I", len(facets)) + b"".join(facets)


def _obj() -> bytes:
    faces = ["f " + " ".join(f"{i + 1}//1" for i in quad) for quad in _QUADS[:5]]
    last = "f " + " ".join(str(i - 8) for i in _QUADS[5])
    return "\n".join(["o left", *_rows(_CORNERS, "v {} {} {}"), *faces, "g more", last, ""]).encode()


def _off() -> bytes:
    quads = ["4 " + " ".join(map(str, quad)) for quad in _QUADS]
    return "\n".join(["OFF", "8 6 0", *_rows(_CORNERS), *quads, ""]).encode()


def _ply(order: str) -> bytes:
    name = {"": "ascii", "<": "binary_little_endian", ">": "binary_big_endian"}[order]
    axes = "".join(f"property double {axis}\n" for axis in "xyz")
    lists = "element face 6\nproperty list uchar int vertex_indices\nend_header\n"
    header = f"ply\nformat {name} 1.0\nelement vertex 8\n{axes}{lists}".encode()
    if not order:
        return header + "\n".join([*_rows(_CORNERS), *("4 " + " ".join(map(str, q)) for q in _QUADS), ""]).encode()
    rows = [struct.pack(order + "3d", *corner) for corner in _CORNERS]
    return header + b"".join(rows) + b"".join(struct.pack(order + "B4i", 4, *quad) for quad in _QUADS)


def _gltf(binary: bool) -> bytes:
    indices, positions = np.array(_TRIANGLES, "<u2").tobytes(), np.array(_CORNERS, "<f4").tobytes()
    data = indices + positions
    document: dict[str, Any] = {
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}],
        "nodes": [
            {"name": "root", "children": [1, 2, 3]}, {"name": "left", "mesh": 0},
            {"name": "right", "mesh": 0, "translation": [5, 0, 0], "rotation": [0, 0, 0.70710677, 0.70710677]},
            {"name": "large", "mesh": 0, "scale": [2, 2, -2]},
        ],
        "meshes": [{"name": "cube", "primitives": [{"attributes": {"POSITION": 1}, "indices": 0}]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5123, "count": 36, "type": "SCALAR"},
            {"bufferView": 1, "componentType": 5126, "count": 8, "type": "VEC3"},
        ],
        "bufferViews": [
            {"buffer": 0, "byteLength": len(indices)},
            {"buffer": 0, "byteOffset": len(indices), "byteLength": len(positions)},
        ],
        "buffers": [{"byteLength": len(data)}],
    }  # fmt: skip
    if not binary:
        document["buffers"][0]["uri"] = "data:application/octet-stream;base64," + base64.b64encode(data).decode()
        return json.dumps(document).encode()
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(data), b"BIN\0") + data
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def _zipped(files: dict[str, str]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, text in files.items():
            archive.writestr(zipfile.ZipInfo(name), text)
    return content.getvalue()


def _3mf() -> bytes:
    vertices = "".join(_rows(_CORNERS, '<vertex x="{}" y="{}" z="{}"/>'))
    triangles = "".join(_rows(_TRIANGLES, '<triangle v1="{}" v2="{}" v3="{}"/>'))
    model = (
        '<model unit="inch" xmlns="http://schemas.microsoft.com/3dmanufacturing/core/2015/02"><resources>'
        f'<object id="1" name="left"><mesh><vertices>{vertices}</vertices><triangles>{triangles}</triangles></mesh>'
        '</object><object id="2" name="group"><components>'
        '<component objectid="1" transform="0 1 0 -1 0 0 0 0 1 5 0 0"/></components></object>'
        '</resources><build><item objectid="1"/><item objectid="2"/></build></model>'
    )
    return _zipped({"3D/3dmodel.model": model})


def _dae() -> str:
    numbers = " ".join(repr(x) for corner in _CORNERS for x in corner)
    corners = " ".join(str(i) for quad in _QUADS for i in quad)
    return (
        '<?xml version="1.0"?><COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">'
        '<asset><unit name="centimeter" meter="0.01"/></asset><library_geometries>'
        '<geometry id="cube" name="cube"><mesh>'
        f'<source id="p"><float_array id="pa" count="24">{numbers}</float_array><technique_common>'
        '<accessor source="#pa" count="8" stride="3"/></technique_common></source>'
        '<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>'
        '<polylist count="6"><input semantic="VERTEX" source="#v" offset="0"/>'
        f"<vcount>4 4 4 4 4 4</vcount><p>{corners}</p></polylist></mesh></geometry></library_geometries>"
        '<library_visual_scenes><visual_scene id="scene"><node id="l" name="left"><instance_geometry url="#cube"/>'
        '</node><node id="r" name="right"><translate>5 0 0</translate><rotate>0 0 1 90</rotate>'
        '<instance_geometry url="#cube"/></node></visual_scene></library_visual_scenes>'
        '<scene><instance_visual_scene url="#scene"/></scene></COLLADA>'
    )


def _3dxml() -> bytes:
    positions, corners = ", ".join(_rows(_CORNERS)), " ".join(str(i) for face in _TRIANGLES for i in face)
    rep = (
        '<XMLRepresentation xmlns="http://www.3ds.com/xsd/3DXML"><Root><Rep><Faces>'
        f'<Face triangles="{corners}"/></Faces><VertexBuffer><Positions>{positions}</Positions></VertexBuffer>'
        "</Rep></Root></XMLRepresentation>"
    )
    placed = [(4, "left", "1 0 0 0 1 0 0 0 1 0 0 0"), (5, "right", "0 1 0 -1 0 0 0 0 1 5 0 0")]
    instances = "".join(
        f'<Instance3D id="{number}" name="{name}"><IsAggregatedBy>1</IsAggregatedBy><IsInstanceOf>2</IsInstanceOf>'
        f"<RelativeMatrix>{matrix}</RelativeMatrix></Instance3D>"
        for number, name, matrix in placed
    )
    tree = (
        '<Model_3dxml xmlns="http://www.3ds.com/xsd/3DXML"><ProductStructure root="1">'
        f'<Reference3D id="1" name="machine"/><Reference3D id="2" name="cube"/>{instances}'
        '<ReferenceRep id="6" format="TESSELLATED" associatedFile="urn:3DXML:cube.3DRep"/>'
        '<InstanceRep id="7"><IsAggregatedBy>2</IsAggregatedBy><IsInstanceOf>6</IsInstanceOf></InstanceRep>'
        "</ProductStructure></Model_3dxml>"
    )
    manifest = "<Manifest><Root>tree.3dxml</Root></Manifest>"
    return _zipped({"Manifest.xml": manifest, "tree.3dxml": tree, "cube.3DRep": rep})


def files() -> Iterator[Case]:
    """One of each format that needs no extra, whole and cut in the middle."""
    samples = {
        "text.stl": _stl(), "binary.stl": _binary_stl(), "cube.obj": _obj(), "cube.off": _off(), "text.ply": _ply(""),
        "little.ply": _ply("<"), "big.ply": _ply(">"), "cubes.gltf": _gltf(False), "cubes.glb": _gltf(True),
        "cubes.3mf": _3mf(), "cubes.dae": _dae().encode(), "cubes.zae": _zipped({"cubes.dae": _dae()}),
        "cubes.3dxml": _3dxml(), "cube.unknown": b"cube", "empty.stl": b"",
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        for name, data in samples.items():
            whole, half = Path(folder, name), Path(folder, f"half-{name}")
            whole.write_bytes(data)
            half.write_bytes(data[: len(data) // 2])
            yield f"{name}: load", partial(impinge.load, whole)
            yield f"{name}: load as solid", partial(impinge.load, whole, solid=True)
            yield f"{name}: load in mm", partial(impinge.load, whole, unit="mm")
            yield f"{name}: load_assembly", partial(impinge.load_assembly, whole)
            yield f"{name}: load_assembly in inches", partial(impinge.load_assembly, whole, unit="in")
            yield f"{name}: half of it", partial(impinge.load, half)
        yield "no file", partial(impinge.load, Path(folder, "nothing.stl"))


SECTIONS: dict[str, Callable[[], Iterator[Case]]] = {
    "properties": properties,
    "hull-building": hull_building,
    "files": files,
    "meshes": meshes,
    "hard-meshes": hard_meshes,
    "hulls": hulls,
    "hard-hulls": hard_hulls,
    "pieces": pieces,
    "paths": paths,
    "traversals": traversals,
    "worlds": worlds,
    "configurations": configurations,
}

_NEEDS: dict[str, Callable[[], bool]] = {
    "configurations": lambda: "poses" in signature(impinge.World.detect).parameters,
}
"""Whether the version has what a section asks about, where older ones have not."""


def lines_of(cases: Iterator[Case]) -> Iterator[str]:
    """What is hashed, one line a case."""
    for what, ask in cases:
        yield f"{what} = {answer(ask)}\n"


def hash_of(lines: Sequence[str]) -> str:
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def run(arguments: Sequence[str] = ()) -> int:
    parser = argparse.ArgumentParser(prog="fingerprint", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sections", nargs="+", metavar="NAME", choices=SECTIONS, default=list(SECTIONS))
    parser.add_argument("--values", type=Path, metavar="FILE", help="write what is hashed, one line a case")
    options = parser.parse_args(arguments)
    print(f"impinge {impinge.__version__} of {impinge.__file__}", file=sys.stderr)
    values: list[str] = []
    total: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in options.sections:
            if name in _NEEDS and not _NEEDS[name]():
                print(f"{name:14} is not in this version", flush=True)
                continue
            start = time.perf_counter()
            lines = list(lines_of(SECTIONS[name]()))
            total.append(f"{name:14} {hash_of(lines)} {len(lines):5} cases\n")
            print(total[-1], end="", flush=True)
            print(f"{time.perf_counter() - start:.1f} s", file=sys.stderr, flush=True)
            values += [f"{name}: {line}" for line in lines]
    print(f"{'total':14} {hash_of(total)} {len(values):5} cases")
    if options.values:
        options.values.write_text("".join(values))
    return 0


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
