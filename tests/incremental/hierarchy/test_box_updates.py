"""Hierarchies and their boxes: every face is there, and boxes hold the posed faces in every mode, bit for bit."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from impinge import Mesh
from impinge.geometry.pose import posed_vertices
from impinge.incremental.hierarchy.box_hierarchy import BoxHierarchy, box_hierarchy
from impinge.incremental.hierarchy.box_updates import world_boxes
from impinge.incremental.hierarchy.options import FACES, KINDS, UPDATES, Hierarchy
from impinge.lab.hard_input import random_pose
from impinge.lab.scenes.shapes import box, torus

Floats = NDArray[np.float64]
OPTIONS = [
    Hierarchy(kind, cuts=((3, 2, 2), (2, 2, 2)), levels=3, threshold=2, faces=faces, update=update)
    for kind, faces, update in itertools.product(KINDS, FACES, UPDATES)
]


def names(options: Hierarchy) -> str:
    return f"{options.kind}-{options.faces}-{options.update}"


def soup(seed: int) -> Mesh:
    """Large and small triangles, flat ones, points, far from the origin or not, of any size."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 25))
    triangles = rng.uniform(-1, 1, size=(count, 1, 3)) + rng.uniform(-1, 1, size=(count, 3, 3)) * rng.choice(
        [1e-9, 0.05, 1.0], size=(count, 1, 1)
    )
    triangles[rng.uniform(size=count) < 0.1, 1:] = 0.0
    triangles = (triangles + rng.choice([0.0, 1e6], size=3)) * rng.choice([1e-250, 1.0, 1e30])
    return Mesh(triangles.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3))


def check_structure(hierarchy: BoxHierarchy) -> None:
    nodes, entries = len(hierarchy.first), len(hierarchy.faces)
    children = np.concatenate(
        [np.arange(first, first + count) for first, count in zip(hierarchy.first, hierarchy.count, strict=True)]
    )
    assert sorted(children.tolist()) == list(range(1, nodes + entries))
    assert (hierarchy.count > 0).all()
    assert hierarchy.parent[0] == -1
    for node, (first, count) in enumerate(zip(hierarchy.first, hierarchy.count, strict=True)):
        assert first > node
        assert (hierarchy.parent[first : first + count] == node).all()
    assert set(hierarchy.faces.tolist()) == set(range(hierarchy.face_count))
    if hierarchy.options.faces == "divided":
        assert entries == hierarchy.face_count


def descendants(hierarchy: BoxHierarchy, node: int) -> list[int]:
    """The entries below a node."""
    nodes = len(hierarchy.first)
    if node >= nodes:
        return [node - nodes]
    first = int(hierarchy.first[node])
    return [
        entry for item in range(first, first + int(hierarchy.count[node])) for entry in descendants(hierarchy, item)
    ]


def check_boxes(mesh: Mesh, hierarchy: BoxHierarchy, pose: Floats, rng: np.random.Generator) -> None:
    boxes = world_boxes(hierarchy, pose)
    world = posed_vertices(pose, mesh.vertices)[mesh.faces][hierarchy.faces]
    nodes = len(hierarchy.first)
    whole = np.diff(hierarchy.piece_starts) == 0
    assert np.array_equal(boxes[nodes:][whole, 0], world[whole].min(axis=1))
    assert np.array_equal(boxes[nodes:][whole, 1], world[whole].max(axis=1))
    # Points of a trimmed face are in the box of one of its pieces, and in all boxes above that.
    weights = rng.dirichlet(np.full(3, 0.5), size=8)
    weights[:3] = np.eye(3)
    for face in range(hierarchy.face_count):
        entries = np.flatnonzero(hierarchy.faces == face)
        points = weights @ world[entries[0]]
        points[:3] = world[entries[0]]
        slack = 4.0 * np.spacing(np.abs(points).max())  # of the samples themselves
        held = np.zeros(len(points), dtype=bool)
        for entry in entries:
            inside = np.ones(len(points), dtype=bool)
            item = nodes + int(entry)
            while item >= 0:
                inside &= ((points >= boxes[item, 0] - slack) & (points <= boxes[item, 1] + slack)).all(axis=1)
                corners = points[:3]
                if whole[entry]:
                    assert (corners >= boxes[item, 0]).all()
                    assert (corners <= boxes[item, 1]).all()
                item = int(hierarchy.parent[item])
            held |= inside
        assert held.all()
    if hierarchy.options.update == "exact":
        for node in range(nodes):
            below = [nodes + entry for entry in descendants(hierarchy, node)]
            assert np.array_equal(boxes[node, 0], boxes[below, 0].min(axis=0))
            assert np.array_equal(boxes[node, 1], boxes[below, 1].max(axis=0))


@pytest.mark.parametrize("options", OPTIONS, ids=names)
@given(seed=st.integers(0, 2**32 - 1), far=st.sampled_from([0.0, 2.0, 1e9, 1e40]))
def test_boxes_hold_what_is_below(options: Hierarchy, seed: int, far: float) -> None:
    rng = np.random.default_rng(seed)
    mesh = soup(seed)
    halves = [part.astype(np.int32) for part in np.array_split(rng.permutation(len(mesh.faces)), rng.integers(1, 4))]
    hierarchy = box_hierarchy(mesh, halves, options)
    check_structure(hierarchy)
    check_boxes(mesh, hierarchy, random_pose(rng, far), rng)


@pytest.mark.parametrize("update", UPDATES)
def test_how_tight_boxes_are(update: str) -> None:
    """The figures of hierarchy.reach: spheres are loose, interpolation gains a little on the box that fits."""
    ring = torus(1.0, 0.3, 24, 8)
    rng = np.random.default_rng(3)
    factors = []
    fits, other = (box_hierarchy(ring, None, Hierarchy(levels=2, update=kind)) for kind in ("exact", update))
    for _ in range(20):
        pose = random_pose(rng, 1.0)
        sizes = [np.ptp(world_boxes(handle, pose)[: handle.nodes], axis=1) for handle in (fits, other)]
        factors.append((sizes[1] / sizes[0]).mean())
    low, high = {"exact": (1.0, 1.0), "interpolated": (1.0, 1.2), "rotating": (1.3, 4.0)}[update]
    assert low <= np.mean(factors) <= high


def test_subsets_must_be_a_partition() -> None:
    cube = box(1, 1, 1)
    for bad in ([np.arange(11)], [np.arange(12), np.arange(1)], [], [np.arange(13)]):
        with pytest.raises(ValueError, match="each of the 12 faces"):
            box_hierarchy(cube, [part.astype(np.int32) for part in bad])


def test_levels_cuts_and_threshold() -> None:
    ring = torus(1.0, 0.3, 16, 12)
    assert len(box_hierarchy(ring, None, Hierarchy(levels=0)).first) == 1
    one = box_hierarchy(ring, None, Hierarchy(levels=1))
    assert len(one.first) == 9
    two = box_hierarchy(ring, None, Hierarchy("median", ((3, 2, 2), (2, 2, 2)), levels=2, threshold=4))
    assert two.count[0] == 12
    assert len(two.first) > 60
    fine = box_hierarchy(ring, None, Hierarchy(threshold=1, levels=32))
    assert fine.count.max() < 30
    trimmed = box_hierarchy(ring, None, Hierarchy(levels=2, faces="trimmed"))
    assert len(trimmed.faces) > len(ring.faces)


def test_vertices_in_one_place_end() -> None:
    needle = Mesh(np.ones((3, 3)), [[0, 1, 2]] * 40)
    for faces in FACES:
        hierarchy = box_hierarchy(needle, None, Hierarchy(threshold=0, levels=32, faces=faces))
        check_structure(hierarchy)
