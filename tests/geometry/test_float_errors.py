"""np.seterr is the caller's: whatever it says, answers are the same, and nothing is raised."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import impinge
from impinge import ConvexHull, ConvexPieces, Mesh, Pair, Traversal, World
from impinge.arrays import Floats
from impinge.broadphase.body_boxes.body_boxes import BodyBoxes
from impinge.broadphase.choice import MEMBERS, broad_phase
from impinge.geometry.float_errors import default_float_errors
from impinge.lab.scenes.poses import poses, turns
from impinge.lab.scenes.shapes import box, torus

SCALES = (1.0, 1e-150, 1e-308, 2.0**-1068, 1e44)
"""Of bodies whose squares vanish, whose halves do, that are subnormal, and of the largest ones."""
TURN = turns(np.array([0.3, 0.2, 0.1]))


def mesh(scale: float, shape: Mesh) -> Mesh:
    """A fresh one, of which nothing is known yet."""
    with np.errstate(all="ignore"):
        vertices = np.round(64.0 * shape.vertices) / 64.0 * scale
    return Mesh(vertices, shape.faces, solid=True)


def block(scale: float) -> Mesh:
    return mesh(scale, box(1, 2, 1.5))


def ring(scale: float) -> Mesh:
    return mesh(scale, torus(0.6, 0.2, 8, 4))


def at(scale: float, x: float) -> Floats:
    return poses(TURN, [x * scale, 0.1 * scale, 0.05 * scale])


def mass(scale: float) -> Any:
    body = ring(scale)
    return body.area, body.volume, body.centre_of_mass, body.inertia


def mending(scale: float) -> Any:
    triangles = ring(scale).triangles.reshape(-1, 3)
    soup = Mesh(triangles, np.arange(len(triangles)).reshape(-1, 3))
    return repr(soup.diagnose()), soup.repair().mesh.vertices, soup.repair("auto").mesh.faces


def baking(scale: float) -> Any:
    matrix = np.diag([2.0, 0.5, -1.0, 1.0])
    return block(scale).transformed(matrix).vertices, block(scale).transformed(at(scale, 1.0)).vertices


def polygons(scale: float) -> Any:
    with np.errstate(all="ignore"):
        corners = np.array([[0, 0, 0], [2, 0, 0], [2, 2, 0], [1, 0.5, 0], [0, 2, 0]]) * scale
    return Mesh(corners, [[0, 1, 2, 3, 4]]).faces


def hulls(scale: float) -> Any:
    a, b = ConvexHull(ring(scale)), ConvexHull(block(scale).vertices)
    a.validate()
    path = np.stack([at(scale, x) for x in (0.3, 0.9, 3.0)])
    found: list[Any] = [impinge.penetration(a, b, None, path).depth]
    for method in ("gjk", "vclip", "lin-canny"):
        found += [impinge.collides(a, b, None, path, method=method), impinge.distance(a, b, None, path).value]
    return found


def pieces(scale: float) -> Any:
    a = ConvexPieces([block(scale), ConvexHull(block(scale).transformed(at(scale, 2.0)))])
    return impinge.collides(a, a, None, at(scale, 1.0)), impinge.distance(a, a, None, at(scale, 6.0)).value


def verbs(method: str) -> Callable[[float], Any]:
    def asked(scale: float) -> Any:
        a, b, path = ring(scale), block(scale), np.stack([at(scale, x) for x in (0.3, 0.9, 3.0)])
        found: list[Any] = [impinge.relation(a, b, None, path, method=method).kind]
        for pose in (path, path[1]):
            meeting = impinge.contacts(a, b, None, pose, method=method)
            found += [meeting.segments, meeting.normal, [loop.points for loop in meeting.loops(a, b, None, pose)]]
            found += [impinge.collides(a, b, None, pose, method=method)]
            found += [impinge.closer_than(a, b, 0.25 * scale, None, pose, method=method)]
            found += [impinge.distance(a, b, None, pose, method=method).value]
        return found

    return asked


def pairs(scale: float) -> Any:
    found: list[Any] = []
    for pair in (Pair(ring(scale), block(scale)), Pair(ConvexHull(ring(scale)), ConvexHull(block(scale)))):
        for x in (3.0, 2.9, 0.9):
            found += [pair.collides(None, at(scale, x)), pair.distance(None, at(scale, x)).value]
            found += [pair.closer_than(0.3 * scale, None, at(scale, x)), pair.contacts(None, at(scale, x)).face_a]
    return found


def traversals(scale: float) -> Any:
    search = Traversal(ring(scale), block(scale), None, at(scale, 3.0), question="distance")
    while not search.run(tests=5):
        assert search.lower <= search.upper
    return search.distance.value, search.distance.point_a


def worlds(question: str) -> Callable[[float], Any]:
    def asked(scale: float) -> Any:
        found = []
        for hulls in ("auto", None) if question == "collides" else ("auto",):
            world = World(clearance=0.2 * scale, hulls=hulls)
            for number in range(5):
                world.add((ring, block)[number % 2](scale), at(scale, 0.7 * number))
            world.add(ConvexHull(block(scale)), at(scale, 2.1), fixed=True)
            for step in range(3):
                frame = world.detect(question)
                found += [frame.pairs, frame.values]
                world.set_poses(np.stack([at(scale, 0.3 * number + 0.1 * step) for number in range(5)]))
            world.forbid(0, 1, clearance=0.3 * scale)
            world.remove(3)
            found.append(world.detect(question).pairs)
        return found

    return asked


def broad_phases(scale: float) -> Any:
    found: list[Any] = []
    with np.errstate(all="ignore"):
        low = np.random.default_rng(0).uniform(0.0, 4.0, (40, 3)) * scale
        boxes = [np.stack([low + step * scale, low + (1.0 + step) * scale], axis=1) for step in (0.0, 0.1, 3.0)]
    for name in MEMBERS:
        for margin in (0.0, 0.1 * scale):
            broad = broad_phase(name, margin=margin)
            broad.add(boxes[0])
            for moved in boxes:
                found.append(broad.update(moved).pairs)
                found += [broad.overlapping(boxes[0][0]), broad.along_ray([0, 0, 0], [scale, scale, 0.5 * scale])]
    return found


def body_boxes(scale: float) -> Any:
    where = np.stack([at(scale, 1.0), at(scale, 2.0)])
    return [
        BodyBoxes([ring(scale), block(scale)], kind=kind, axes=axes).boxes(where)
        for kind in ("tight", "cubes", "vertices")
        for axes in (None, [[1, 1, 0], [0, 0, 1]], [[1e-200, 1e-200, 0], [0, 0, 1e-300]])
    ]


def bad_poses(scale: float) -> Any:
    said = []
    for matrix in (np.diag([2.0, 2, 2, 1]), np.diag([1e-200, 1, 1, 1]), np.diag([1e200, 1, 1, 1]),
                   np.full((4, 4), np.nan)):  # fmt: skip
        for pose in (matrix, matrix[None]):
            with pytest.raises(ValueError, match="pose_a") as refused:
                impinge.collides(block(scale), block(scale), pose)
            said.append(str(refused.value))
    nearly = np.eye(4)
    nearly[0, 1], nearly[1, 0] = 1e-200, -1e-200
    return [*said, impinge.collides(block(scale), block(scale), np.stack([nearly, nearly]))]


CALLS: dict[str, Callable[[float], Any]] = {
    **{each.__name__: each for each in (mass, mending, baking, polygons, hulls, pieces, pairs, traversals)},
    **{f"verbs, {method}": verbs(method) for method in ("obb", "incremental", "brute")},
    **{f"world, {query}": worlds(query) for query in ("collides", "contacts", "closer_than", "distance")},
    **{each.__name__: each for each in (broad_phases, body_boxes, bad_poses)},
}


def require_same(found: Any, expected: Any) -> None:
    if isinstance(expected, list | tuple):
        assert len(found) == len(expected)
        for mine, other in zip(found, expected, strict=True):
            require_same(mine, other)
    else:
        np.testing.assert_array_equal(found, expected)


@pytest.mark.nojit_slow
@pytest.mark.parametrize("name", CALLS)
def test_answers_do_not_depend_on_seterr(name: str) -> None:
    for scale in SCALES:
        expected = CALLS[name](scale)
        with np.errstate(all="raise"):
            found = CALLS[name](scale)
        require_same(found, expected)


def test_the_state_of_the_caller_is_restored() -> None:
    @default_float_errors
    def small() -> np.float64:
        return np.float64(1e-200) * np.float64(1e-200)

    with np.errstate(all="raise"):
        before = np.geterr()
        assert small() == 0.0
        assert np.geterr() == before
        with pytest.raises(FloatingPointError, match="underflow"):
            _ = np.float64(1e-200) * np.float64(1e-200)
