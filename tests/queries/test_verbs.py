"""The verbs: batches, result types, workers, threads, bad input, memory."""

from __future__ import annotations

import dataclasses
import pickle
import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import impinge
from impinge import ContactKind, Mesh, Pair, RelationKind
from impinge.broadphase.body_boxes.body_boxes import BodyBoxes
from impinge.broadphase.choice import broad_phase
from impinge.lab.hard_input import random_pose
from impinge.lab.hard_solids import SOLID_FAMILIES, solid_pair
from impinge.lab.scenes.shapes import box, cylinder, torus
from impinge.queries.dispatch import MESHES

Floats = NDArray[np.float64]
UNIT = box(1, 1, 1)
HULL = impinge.ConvexHull(UNIT)
SURFACE = Mesh(UNIT.vertices, UNIT.faces)
TETRAHEDRON = Mesh(
    [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]], solid=True
)

VERBS: dict[str, Callable[..., Any]] = {
    "collides": impinge.collides,
    "contacts": impinge.contacts,
    "distance": impinge.distance,
    "closer_than": lambda a, b, *poses, **options: impinge.closer_than(a, b, 0.25, *poses, **options),
    "relation": impinge.relation,
}


def shift(x: float, y: float = 0.0, z: float = 0.0) -> Floats:
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def random_poses(seed: int, *shape: int, reach: float = 1.5) -> Floats:
    rng = np.random.default_rng(seed)
    poses = np.array([random_pose(rng, reach) for _ in range(int(np.prod(shape)))])
    return poses.reshape(*shape, 4, 4)


def parts(result: Any) -> list[Any]:
    """The arrays of any result; a distance of meshes has no features of hulls."""
    if dataclasses.is_dataclass(result):
        found = [getattr(result, field.name) for field in dataclasses.fields(result)]
        return [part for part in found if part is not None]
    return [result]


def same(first: Any, second: Any) -> bool:
    """Bit for bit, types and shapes too."""
    pairs = list(zip(parts(first), parts(second), strict=True))
    return all(
        type(x) is type(y)
        and np.shape(x) == np.shape(y)
        and np.asarray(x).dtype == np.asarray(y).dtype
        and np.asarray(x).tobytes() == np.asarray(y).tobytes()
        for x, y in pairs
    )


# ------------------------------------------------------------------------------ batches


def test_single_pose_gives_scalars() -> None:
    assert type(impinge.collides(UNIT, UNIT)) is np.bool_
    assert type(impinge.closer_than(UNIT, UNIT, 1.0)) is np.bool_
    found = impinge.distance(UNIT, UNIT, pose_b=shift(3))
    assert type(found.value) is np.float64
    assert found.value == 2.0
    assert found.point_a.shape == found.point_b.shape == (3,)
    assert type(found.face_a) is type(found.face_b) is np.int32
    relation = impinge.relation(UNIT, UNIT)
    assert type(relation.kind) is RelationKind
    assert type(relation.touching) is np.bool_
    assert impinge.contacts(UNIT, UNIT).shape == ()


@pytest.mark.nojit_slow
def test_poses_broadcast() -> None:
    poses_a, poses_b = random_poses(1, 5, 1), random_poses(2, 3)
    collides = impinge.collides(UNIT, TETRAHEDRON, poses_a, poses_b)
    closer = impinge.closer_than(UNIT, TETRAHEDRON, 0.25, poses_a, poses_b)
    found = impinge.distance(UNIT, TETRAHEDRON, poses_a, poses_b)
    relation = impinge.relation(UNIT, TETRAHEDRON, poses_a, poses_b)
    contacts = impinge.contacts(UNIT, TETRAHEDRON, poses_a, poses_b)
    for array in (collides, closer, found.value, found.face_a, found.face_b, relation.kind, relation.touching):
        assert np.shape(array) == (5, 3)
    assert found.point_a.shape == found.point_b.shape == (5, 3, 3)
    assert contacts.shape == (5, 3)
    assert 0 < np.count_nonzero(collides) < 15
    for i in range(5):
        for j in range(3):
            poses = poses_a[i, 0], poses_b[j]
            assert impinge.collides(UNIT, TETRAHEDRON, *poses) == collides[i, j]
            assert impinge.closer_than(UNIT, TETRAHEDRON, 0.25, *poses) == closer[i, j]
            assert impinge.distance(UNIT, TETRAHEDRON, *poses).value == found.value[i, j]
            assert impinge.relation(UNIT, TETRAHEDRON, *poses).kind == relation.kind[i, j]
            single = impinge.contacts(UNIT, TETRAHEDRON, *poses)
            here = contacts.pose == 3 * i + j
            assert np.array_equal(single.face_a, contacts.face_a[here])
            assert np.array_equal(single.face_b, contacts.face_b[here])
            assert np.array_equal(single.segments, contacts.segments[here])
            assert not single.pose.any()


@pytest.mark.parametrize("shape", [(0,), (2, 0), (0, 3)])
@pytest.mark.parametrize("verb", VERBS)
def test_empty_batch(verb: str, shape: tuple[int, ...]) -> None:
    poses = np.empty((*shape, 4, 4))
    for result in (VERBS[verb](UNIT, UNIT, poses), VERBS[verb](UNIT, UNIT, None, poses, workers=3)):
        if verb == "contacts":
            assert result.shape == shape
            assert len(result) == 0
            assert result.segments.shape == (0, 2, 3)
            assert result.normal.shape == (0, 3)
        else:
            assert all(np.shape(part)[: len(shape)] == shape for part in parts(result))


def test_batch_of_one_keeps_its_axis() -> None:
    assert impinge.collides(UNIT, UNIT, np.eye(4)[None]).shape == (1,)
    assert impinge.distance(UNIT, UNIT, np.eye(4)[None, None]).point_a.shape == (1, 1, 3)
    assert impinge.relation(UNIT, UNIT, np.eye(4)[None]).kind.shape == (1,)


def test_no_pose_is_the_identity() -> None:
    for verb in VERBS.values():
        assert same(verb(UNIT, TETRAHEDRON), verb(UNIT, TETRAHEDRON, np.eye(4), np.eye(4)))
        assert same(verb(UNIT, TETRAHEDRON), verb(UNIT, TETRAHEDRON, np.eye(4).tolist(), np.eye(4, dtype=int)))


def test_poses_of_any_layout_and_dtype() -> None:
    poses = random_poses(3, 4)
    fortran = np.asfortranarray(poses)
    strided = np.repeat(poses, 2, axis=0)[::2]
    read_only = poses.copy()
    read_only.flags.writeable = False
    expected = impinge.distance(UNIT, TETRAHEDRON, poses)
    for other in (fortran, strided, read_only, poses.astype(np.longdouble)):
        assert same(impinge.distance(UNIT, TETRAHEDRON, other), expected)


# -------------------------------------------------------------------------------- results


@pytest.mark.parametrize("verb", ["contacts", "distance", "relation"])
def test_results_are_frozen_and_fresh(verb: str) -> None:
    poses = np.array([shift(0.5), shift(3)])
    first = VERBS[verb](UNIT, UNIT, None, poses)
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(first, dataclasses.fields(first)[0].name, None)
    for part in parts(first):
        if isinstance(part, np.ndarray) and part.size:
            assert part.flags.writeable
            for other in (UNIT.vertices, UNIT.faces, poses, *(p for p in parts(first) if p is not part)):
                assert not isinstance(other, np.ndarray) or not np.shares_memory(part, other)
            part[...] = 0
    assert not same(VERBS[verb](UNIT, UNIT, None, poses), first)
    assert np.array_equal(poses, [shift(0.5), shift(3)])


@pytest.mark.parametrize("workers", [1, 3])
def test_contacts_are_sorted_and_typed(workers: int) -> None:
    found = impinge.contacts(UNIT, UNIT, random_poses(4, 4, reach=0.5), np.eye(4), workers=workers)
    keys = list(zip(found.pose.tolist(), found.face_a.tolist(), found.face_b.tolist(), strict=True))
    assert len(found) == len(keys) > 10
    assert keys == sorted(set(keys))
    *arrays, shape, complete = parts(found)
    assert [array.dtype for array in arrays] == [np.int64, np.int32, np.int32, np.float64, np.float64, np.int8]
    assert shape == (4,)
    assert complete is True
    assert found.segments.shape == (len(found), 2, 3)
    assert np.abs(np.linalg.norm(found.normal, axis=1) - 1.0).max() < 1e-14
    assert "crossing" in repr(found)


def test_contacts_of_a_box_on_a_box() -> None:
    found = impinge.contacts(UNIT, UNIT, pose_a=shift(0, 0, 1))
    coplanar = found.kind == ContactKind.COPLANAR
    assert coplanar.sum() >= 2
    assert (found.normal[coplanar] == [0.0, 0.0, 1.0]).all()  # b is below a
    assert (found.segments[:, :, 2] == 1.0).all()


def test_polygons_of_the_caller() -> None:
    quads = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
    cube = Mesh(corners, quads)
    needle = Mesh([[0.5, 0.5, 0.5], [0.5, 0.5, 3.0], [0.5, 0.6, 3.0]], [[0, 1, 2]])
    found = impinge.contacts(cube, needle)
    assert set(cube.polygon[found.face_a].tolist()) == {5}  # the quad z = 1, whichever way it is cut
    nearest = impinge.distance(cube, needle, pose_b=shift(0, 0, 1))
    assert cube.polygon[nearest.face_a] == 5
    assert nearest.value == 0.5


def test_segments_lie_on_both_faces() -> None:
    found = impinge.contacts(UNIT, UNIT, pose_b=shift(0.5, 0.25, 0.125))
    assert (found.kind == ContactKind.CROSSING).any()
    for ends, i, j in zip(found.segments, found.face_a, found.face_b, strict=True):
        for end in ends:
            point = Mesh([end] * 3, [[0, 1, 2]])
            for mesh, face, offset in ((UNIT, i, 0.0), (UNIT, j, np.array([0.5, 0.25, 0.125]))):
                triangle = Mesh(mesh.triangles[face] + offset, [[0, 1, 2]])
                assert impinge.distance(point, triangle).value <= 4 * np.spacing(1.5)


@pytest.mark.parametrize("turn", [None, (0, 1), (1, 2), (2, 0)])
@pytest.mark.parametrize("gap", [0.5, 0.1, 1e-12])
def test_closer_than_is_exact_for_boxes_at_a_known_distance(gap: float, turn: tuple[int, int] | None) -> None:
    pose_a, pose_b = np.eye(4), shift(1.0 + gap)
    exact = (1.0 + gap) - 1.0  # what the posed coordinates say
    if turn is not None:
        i, j = turn
        quarter = np.eye(4)
        quarter[[i, j], [i, j]] = 0.0
        quarter[i, j], quarter[j, i] = -1.0, 1.0
        pose_a, pose_b = quarter, quarter @ pose_b
    for mesh in (UNIT, SURFACE):
        assert impinge.distance(mesh, mesh, pose_a, pose_b).value == exact
        assert impinge.closer_than(mesh, mesh, exact, pose_a, pose_b)
        assert not impinge.closer_than(mesh, mesh, np.nextafter(exact, 0.0), pose_a, pose_b)
        assert impinge.closer_than(mesh, mesh, np.nextafter(exact, 1.0), pose_a, pose_b)


# -------------------------------------------------------------------- workers and threads


@pytest.mark.nojit_slow
@pytest.mark.parametrize("verb", VERBS)
def test_any_number_of_workers_gives_the_same_bits(verb: str) -> None:
    poses = random_poses(5, 3, 4)
    expected = VERBS[verb](UNIT, TETRAHEDRON, poses, workers=1)
    for workers in (2, 5, 100):
        assert same(VERBS[verb](UNIT, TETRAHEDRON, poses, workers=workers), expected)


def test_workers_on_a_single_pose() -> None:
    for verb in VERBS.values():
        assert same(verb(UNIT, TETRAHEDRON, shift(0.5), workers=5), verb(UNIT, TETRAHEDRON, shift(0.5)))


@pytest.mark.nojit_slow
def test_threads_share_meshes() -> None:
    poses = random_poses(6, 20)
    expected = {verb: call(UNIT, TETRAHEDRON, poses) for verb, call in VERBS.items()}
    fresh_a, fresh_b = (Mesh(mesh.vertices, mesh.faces, solid=True) for mesh in (UNIT, TETRAHEDRON))
    together = threading.Barrier(8)

    def work(number: int) -> bool:
        together.wait()  # all begin at once, on meshes for which nothing has been derived yet
        verbs = list(VERBS.items())
        order = verbs[number % 5 :] + verbs[: number % 5]
        return all(same(call(fresh_a, fresh_b, poses), expected[verb]) for verb, call in order)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))


def test_pickled_meshes_give_the_same_answers() -> None:
    impinge.collides(UNIT, TETRAHEDRON)  # something is derived that must not travel
    copies = pickle.loads(pickle.dumps((UNIT, TETRAHEDRON)))
    for verb in VERBS.values():
        assert same(verb(*copies, shift(0.5, 0.1, 0.2)), verb(UNIT, TETRAHEDRON, shift(0.5, 0.1, 0.2)))


@pytest.mark.nojit_slow
def test_queries_release_the_gil() -> None:
    """While one thread is inside a long query, another one can go on."""
    round_thing = cylinder(1.0, 2.0, sides=40)
    impinge.distance(round_thing, round_thing)
    finished = threading.Event()
    poses = random_poses(7, 300, reach=4.0)

    def long_query() -> None:
        impinge.distance(round_thing, round_thing, poses)
        finished.set()

    interval = sys.getswitchinterval()
    # With the GIL held in the kernel this loop would not be entered before the end of the query.
    sys.setswitchinterval(1e-4)
    try:
        thread = threading.Thread(target=long_query)
        thread.start()
        steps = 0
        while not finished.is_set():
            steps += 1
        thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert steps > 1000


# ------------------------------------------------------------------------------ bad input


def pose_with(i: int, j: int, value: float) -> Floats:
    pose = np.eye(4)
    pose[i, j] = value
    return pose


@pytest.mark.parametrize("argument", ["pose_a", "pose_b"])
@pytest.mark.parametrize(
    ("pose", "says"),
    [
        (pose_with(0, 3, np.nan), r"\[0, 3\] is nan"),
        (pose_with(1, 1, np.inf), r"\[1, 1\] is inf"),
        (np.stack([np.eye(4), pose_with(2, 3, np.nan)]), r"\[1, 2, 3\] is nan"),
        (np.diag([2.0, 2.0, 2.0, 1.0]), r"scales .* mesh\.transformed"),
        (np.diag([1.0, 1.0, 3.0, 1.0]), r"scales .* mesh\.transformed"),
        (pose_with(0, 1, 0.5), r"shears .* mesh\.transformed"),
        (np.diag([1.0, 1.0, -1.0, 1.0]), r"mirrors .* mesh\.transformed"),
        (np.diag([1.0, 1.0, 0.0, 1.0]), r"singular"),
        (pose_with(3, 0, 1.0), r"last row"),
        (pose_with(0, 3, 1e300), r"beyond"),
        (np.eye(3), r"expected shape \(\.\.\., 4, 4\), got \(3, 3\)"),
        (np.eye(4)[0], r"expected shape"),
        ("identity", r"expected real numbers"),
        (np.eye(4) * 1j, r"expected real numbers"),
        ([[1, 0], [0]], r"rows of different lengths"),
    ],
)
@pytest.mark.parametrize("verb", VERBS)
def test_bad_pose(verb: str, pose: Any, says: str, argument: str) -> None:
    with pytest.raises(ValueError, match=f"{argument}.*{says}"):
        VERBS[verb](UNIT, UNIT, **{argument: pose})


@pytest.mark.parametrize("verb", VERBS)
def test_poses_that_do_not_broadcast(verb: str) -> None:
    with pytest.raises(ValueError, match=r"pose_a \(2, 4, 4\) and pose_b \(3, 4, 4\) do not broadcast"):
        VERBS[verb](UNIT, UNIT, np.tile(np.eye(4), (2, 1, 1)), np.tile(np.eye(4), (3, 1, 1)))


@pytest.mark.parametrize("clearance", [-1.0, -5e-324, np.nan, np.inf, -np.inf, 2.0**151, None, "1", [1.0], 1j, True])
def test_bad_clearance(clearance: Any) -> None:
    with pytest.raises(ValueError, match="clearance"):
        impinge.closer_than(UNIT, UNIT, clearance)


@pytest.mark.parametrize("clearance", [0, 0.0, -0.0, 1, np.float32(0.5), np.int8(3), np.array(0.25), 2.0**150])
def test_good_clearance(clearance: Any) -> None:
    assert impinge.closer_than(UNIT, UNIT, clearance)


@pytest.mark.parametrize("verb", VERBS)
def test_unknown_method(verb: str) -> None:
    with pytest.raises(ValueError, match=r"method 'quick'.*auto, obb, incremental, brute"):
        VERBS[verb](UNIT, UNIT, method="quick")


@pytest.mark.parametrize("method", MESHES.methods)
@pytest.mark.parametrize("verb", VERBS)
def test_every_method_gives_the_same_answer(verb: str, method: str) -> None:
    assert same(VERBS[verb](UNIT, TETRAHEDRON, shift(0.5), method=method), VERBS[verb](UNIT, TETRAHEDRON, shift(0.5)))


@pytest.mark.nojit_slow
@pytest.mark.parametrize("solid", [False, True])
@pytest.mark.parametrize("verb", VERBS)
def test_trees_and_brute_force_give_the_same_answers(verb: str, solid: bool) -> None:
    ring = torus(1.0, 0.35, 12, 8)
    a, b = Mesh(ring.vertices, ring.faces, solid=solid), Mesh(UNIT.vertices * 0.3, UNIT.faces, solid=solid)
    poses = random_poses(11, 40, reach=1.3)
    found, expected = (VERBS[verb](a, b, None, poses, method=method) for method in ("obb", "brute"))
    if verb == "distance":
        # Where the bodies meet any common point will do.
        apart = expected.value > 0.0
        assert 5 < apart.sum() < 35
        assert np.array_equal(found.value, expected.value)
        for one, other in zip(parts(found), parts(expected), strict=True):
            assert np.array_equal(one[apart], other[apart])
        assert np.array_equal(found.point_a[~apart], found.point_b[~apart])
    else:
        assert same(found, expected)


@pytest.mark.nojit_slow
@pytest.mark.parametrize("family", list(SOLID_FAMILIES))
def test_trees_and_brute_force_agree_on_hard_solids(family: str) -> None:
    rng = np.random.default_rng(17)
    for _ in range(6):
        pair = solid_pair(rng, family)
        a, b = Mesh(*pair.a, solid=True), Mesh(*pair.b, solid=True)
        for verb in ("collides", "contacts", "closer_than", "relation"):
            assert same(VERBS[verb](a, b, method="obb"), VERBS[verb](a, b, method="brute"))
        values = [impinge.distance(a, b, method=method).value for method in ("obb", "brute")]
        assert values[0] == values[1]


@pytest.mark.nojit_slow
@pytest.mark.parametrize("method", MESHES.methods)
@pytest.mark.parametrize("verb", VERBS)
def test_workers_and_methods_give_the_same_bits(verb: str, method: str) -> None:
    ring = torus(1.0, 0.35, 12, 8)
    poses = random_poses(12, 5, 3, reach=1.3)
    expected = VERBS[verb](ring, UNIT, poses, method=method)
    for workers in (2, 3, 40):
        assert same(VERBS[verb](ring, UNIT, poses, method=method, workers=workers), expected)


# ------------------------------------------------------------------- parts of large sets


@pytest.mark.parametrize("method", MESHES.methods)
def test_max_contacts(method: str) -> None:
    poses = np.array([shift(5), shift(0.5, 0.25, 0.125), shift(0.25, 0.25)])
    everything = impinge.contacts(UNIT, UNIT, None, poses, method=method)
    keys = set(zip(everything.pose, everything.face_a, everything.face_b, everything.kind, strict=True))
    assert everything.complete
    for most in (0, 1, 7, len(everything) - 1, len(everything), len(everything) + 1, 10**12):
        some = impinge.contacts(UNIT, UNIT, None, poses, method=method, max_contacts=most)
        assert len(some) == min(most, len(everything))
        assert some.complete == (most >= len(everything))
        found = list(zip(some.pose, some.face_a, some.face_b, some.kind, strict=True))
        assert found == sorted(set(found))
        assert set(found) <= keys
        assert some.shape == (3,)
        assert some.segments.shape == (len(some), 2, 3)
        assert ("incomplete" in repr(some)) != some.complete
        for workers in (2, 5):
            again = impinge.contacts(UNIT, UNIT, None, poses, method=method, max_contacts=most, workers=workers)
            assert same(again, some)
    assert same(impinge.contacts(UNIT, UNIT, None, poses, method=method, max_contacts=len(everything)), everything)


@pytest.mark.parametrize("most", [-1, 1.0, "3", True, [1], np.nan])
def test_bad_max_contacts(most: Any) -> None:
    with pytest.raises(ValueError, match="max_contacts"):
        impinge.contacts(UNIT, UNIT, max_contacts=most)


def test_max_contacts_of_bodies_that_are_apart() -> None:
    found = impinge.contacts(UNIT, UNIT, None, shift(9), max_contacts=0)
    assert len(found) == 0
    assert found.complete


def test_a_stream_has_all_contacts() -> None:
    poses = random_poses(13, 2, 3, reach=0.7)
    everything = impinge.contacts(UNIT, TETRAHEDRON, poses)
    stream = list(impinge.contact_stream(UNIT, TETRAHEDRON, poses))
    assert all(part.shape == (2, 3) and len(part) > 0 and part.complete for part in stream)
    for name in ("pose", "face_a", "face_b", "kind", "segments", "normal"):
        joined = np.concatenate([getattr(part, name) for part in stream])
        assert np.array_equal(joined, getattr(everything, name))  # all fit into one part, so they are sorted
    assert list(impinge.contact_stream(UNIT, UNIT, None, shift(9))) == []
    assert list(impinge.contact_stream(UNIT, UNIT, np.empty((0, 4, 4)))) == []


@pytest.mark.nojit_slow
def test_a_stream_of_more_than_one_part() -> None:
    flat = np.repeat(np.array([[[0.0, 0, 0], [1, 0, 0], [0, 1, 0]]]), 150, axis=0)
    same_place = Mesh(flat.reshape(-1, 3), np.arange(450).reshape(-1, 3))
    poses = np.array([np.eye(4), shift(0.1)])
    everything = impinge.contacts(same_place, same_place, None, poses)
    assert len(everything) == 2 * 150 * 150
    columns = []
    for part in impinge.contact_stream(same_place, same_place, None, poses):
        assert len(part) <= 1 << 14
        assert impinge.collides(UNIT, UNIT)
        columns.append(np.column_stack([part.pose, part.face_a, part.face_b, part.segments.reshape(-1, 6)]))
    assert len(columns) > 2
    joined = np.concatenate(columns)
    joined = joined[np.lexsort(joined[:, 2::-1].T)]
    expected = np.column_stack(
        [everything.pose, everything.face_a, everything.face_b, everything.segments.reshape(-1, 6)]
    )
    assert np.array_equal(joined, expected)


def test_a_stream_refuses_what_contacts_refuses() -> None:
    for bad in (np.diag([2.0, 1, 1, 1]), np.eye(3), "x"):
        with pytest.raises(ValueError, match="pose_a"):
            list(impinge.contact_stream(UNIT, UNIT, bad))
    with pytest.raises(ValueError, match="a: expected Mesh"):
        list(impinge.contact_stream("x", UNIT))  # type: ignore[arg-type]


@pytest.mark.parametrize("workers", [0, -1, 1.5, "2", None])
@pytest.mark.parametrize("verb", VERBS)
def test_bad_workers(verb: str, workers: Any) -> None:
    with pytest.raises(ValueError, match="workers"):
        VERBS[verb](UNIT, UNIT, workers=workers)


@pytest.mark.parametrize(
    "verb",
    [
        *[verb for verb in VERBS if verb != "relation"],
        "relation",
    ],
)
def test_not_a_mesh(verb: str) -> None:
    with pytest.raises(ValueError, match=r"a: expected Mesh, ConvexHull or ConvexPieces, got str"):
        VERBS[verb]("part.stl", UNIT)
    with pytest.raises(ValueError, match=r"b: expected Mesh, ConvexHull or ConvexPieces, got ndarray"):
        VERBS[verb](UNIT, UNIT.vertices)


# --------------------------------------------------------------------------------- memory


def resident_bytes() -> int:
    """Of this process; 0 where the system does not tell."""
    status = Path("/proc/self/statm")
    return int(status.read_text().split()[1]) * 4096 if status.exists() else 0


def many_queries(count: int) -> None:
    poses = random_poses(8, 10)
    for i in range(count):
        impinge.collides(SURFACE, SURFACE, poses[i % 10])
        if i % 10 == 0:
            impinge.contacts(SURFACE, SURFACE, poses[i % 7])
            impinge.distance(SURFACE, SURFACE, poses[i % 9])
            Mesh(SURFACE.vertices, SURFACE.faces)


@pytest.mark.nojit_slow
def test_queries_do_not_collect_memory() -> None:
    many_queries(1000)
    before = resident_bytes()
    many_queries(20_000)
    assert resident_bytes() - before < 8e6  # 400 bytes for each query would be seen
    tracemalloc.start()
    try:
        many_queries(200)
        start = tracemalloc.get_traced_memory()[0]
        many_queries(1000)
        assert tracemalloc.get_traced_memory()[0] - start < 50_000
    finally:
        tracemalloc.stop()


def many_small_questions(count: int) -> None:
    """Single poses: three of five ask whether bodies collide, one a Pair, one their distance."""
    poses = random_poses(9, 20)
    pair = Pair(SURFACE, SURFACE)
    for i in range(count):
        pose = poses[i % 20]
        if i % 5 == 0:
            impinge.distance(SURFACE, TETRAHEDRON, pose)
        elif i % 5 == 1:
            pair.collides(pose)
        else:
            impinge.collides(UNIT, SURFACE, pose)
        if i % 100 == 0:
            pair.distance(pose)
            pair.contacts(pose)
            impinge.closer_than(SURFACE, SURFACE, 0.1, pose)
        if i % 10_000 == 0:
            fresh = Mesh(SURFACE.vertices, SURFACE.faces)  # and its trees
            impinge.contacts(fresh, fresh, workers=2)
            pair = Pair(fresh, SURFACE)


@pytest.mark.long
def test_a_million_queries_do_not_collect_memory() -> None:
    many_small_questions(20_000)
    before = resident_bytes()
    many_small_questions(1_000_000)
    assert resident_bytes() - before < 4e6


def test_meshes_are_freed() -> None:
    program = (
        "import gc, weakref, impinge\n"
        "m = impinge.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])\n"
        "m.diagnose(); m.triangles; m.bounds\n"
        "r = weakref.ref(m); del m; gc.collect(); print(r() is None)"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "True"


def masked(array: Any) -> Any:
    """The first entry is."""
    array = np.ma.masked_array(array)
    array[(0,) * array.ndim] = np.ma.masked
    return array


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: impinge.Mesh(masked(UNIT.vertices), UNIT.faces), "vertices"),
        (lambda: impinge.Mesh(UNIT.vertices, masked(UNIT.faces)), "faces"),
        (lambda: UNIT.transformed(masked(np.eye(4))), "matrix"),
        (lambda: impinge.ConvexHull(masked(UNIT.vertices)), "points"),
        (lambda: impinge.ConvexPieces([masked(UNIT.vertices)]), "points"),
        (lambda: impinge.collides(UNIT, UNIT, masked(np.eye(4))), "pose_a"),
        (lambda: impinge.collides(UNIT, UNIT, None, masked(np.stack([np.eye(4)] * 2))), "pose_b"),
        (lambda: impinge.distance(HULL, HULL, [masked(np.eye(4)), np.eye(4)]), "pose_a"),
        (lambda: impinge.Pair(HULL, HULL).collides(masked(np.eye(4))), "pose_a"),
        (lambda: impinge.World().add(UNIT, masked(np.eye(4))), "pose"),
        (lambda: broad_phase("brute").add(masked(np.ones((2, 2, 3)))), "boxes"),
        (lambda: broad_phase("brute").overlapping(masked(np.ones((2, 3)))), "box"),
        (lambda: broad_phase("brute").remove(masked([1, 2])), "ids"),
        (lambda: broad_phase("brute").along_ray(masked(np.ones(3)), [1, 0, 0]), "origin"),
        (lambda: broad_phase("brute").along_ray([1, 0, 0], masked(np.ones(3))), "direction"),
        (lambda: BodyBoxes([UNIT], axes=masked(np.eye(3))), "axes"),
        (lambda: BodyBoxes([UNIT, UNIT]).boxes(np.eye(4)[None], masked([0])), "which"),
    ],
)
def test_no_masked_entry_is_taken_for_a_number(call: Any, name: str) -> None:
    impinge.collides(UNIT, UNIT), impinge.collides(HULL, HULL)  # the shortest way is open from now on
    with pytest.raises(ValueError, match=rf"{name}(\[[0-9, ]+\])+ is masked"):
        call()


def test_contacts_of_another_kind() -> None:
    with pytest.raises(ValueError, match=r"contacts: expected those that impinge.contacts has found"):
        impinge.relation(UNIT, UNIT, contacts=[[0, 1]])  # type: ignore[arg-type]
    found = impinge.contacts(HULL, HULL)
    with pytest.raises(ValueError, match=r"a: expected a Mesh .of a ConvexHull its mesh, a.mesh., got"):
        found.loops(HULL, HULL)  # type: ignore[arg-type]
    assert found.loops(HULL.mesh, HULL.mesh) == []
