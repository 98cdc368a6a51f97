"""Solids through trees: the same answers as those of all triangles and of the reference implementation."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from numpy.typing import NDArray

import impinge
from impinge.bvh.solids.inside_tests import TreeSolids
from impinge.geometry.solids.cells import EVERYTHING
from impinge.kernels.mode import without_compiler
from impinge.lab import solid_oracle
from impinge.lab.hard_input import quarter_turn, random_pose
from impinge.lab.hard_solids import SOLID_FAMILIES, solid_pair
from impinge.lab.scenes.shapes import box, torus
from impinge.mesh.topology import components
from impinge.queries.methods.brute_force import BruteForce
from impinge.results import RelationKind

Floats = NDArray[np.float64]
APART, A_INSIDE_B, EQUAL = RelationKind.APART, RelationKind.A_INSIDE_B, RelationKind.EQUAL


def solid(mesh: impinge.Mesh, factor: float = 1.0) -> impinge.Mesh:
    return impinge.Mesh(mesh.vertices * factor, mesh.faces, solid=True)


def several(*parts: impinge.Mesh) -> impinge.Mesh:
    """One solid of several pieces."""
    starts = np.cumsum([0, *(len(part.vertices) for part in parts[:-1])])
    return impinge.Mesh(
        np.concatenate([part.vertices for part in parts]),
        np.concatenate([part.faces + start for part, start in zip(parts, starts, strict=True)]),
        solid=True,
    )


def moved(mesh: impinge.Mesh, *offset: float) -> impinge.Mesh:
    return impinge.Mesh(mesh.vertices + np.array(offset), mesh.faces)


def some_poses(rng: np.random.Generator, count: int, size: float) -> tuple[Floats, Floats]:
    """Poses of two bodies of a size that are near each other: the same turn or another, often far from the origin."""
    poses_a = np.array([random_pose(rng) if rng.random() < 0.5 else quarter_turn(rng) for _ in range(count)])
    poses_a[:, :3, 3] = size * rng.choice([0.0, 1.0, 2.0**20, 2.0**45], (count, 1)) * rng.integers(-1, 2, (count, 3))
    poses_b = poses_a.copy()
    poses_b[:, :3, 3] += size * rng.choice([0.0, 0.125, 0.25, 0.5], (count, 3)) * rng.integers(-1, 2, (count, 3))
    for i in np.flatnonzero(rng.random(count) < 0.3):
        poses_b[i, :3, :3] = random_pose(rng)[:3, :3]
    return poses_a, poses_b


def check_parts(a: impinge.Mesh, b: impinge.Mesh, poses_a: Floats, poses_b: Floats) -> list[int]:
    """Pieces inside and cells at contacts are those that brute force finds; return the cells."""
    through_trees, reference = TreeSolids(a, b), BruteForce(a, b)
    pairs = reference.meeting_pairs(poses_a, poses_b)
    for side, mesh in ((0, a), (1, b)):
        labels = components(mesh)
        faces = np.unique(labels, return_index=True)[1]
        free = np.ones((len(poses_a), len(faces)), dtype=np.bool_)
        free[pairs[:, 0], labels[pairs[:, 1 + side]]] = False
        expected = reference.components_inside(side, poses_a, poses_b, free)
        found = through_trees.pieces_inside(side, faces, poses_a, poses_b, free)
        np.testing.assert_array_equal(found, expected)
    cells, expected_cells = np.zeros((2, len(poses_a)), dtype=np.int64)
    reference.cells_at_contacts(poses_a, poses_b, pairs, expected_cells)
    through_trees.cells_at_contacts(poses_a, poses_b, pairs, cells)
    np.testing.assert_array_equal(cells, expected_cells)
    return cells.tolist()


# ---------------------------------------------------------------------- small and hard


@pytest.mark.nojit_slow
@pytest.mark.parametrize("family", SOLID_FAMILIES)
def test_hard_solids(family: str) -> None:
    rng = np.random.default_rng(len(family))
    for _ in range(12):
        pair = solid_pair(rng, family)
        kind, touching = solid_oracle.relation(*pair.a, *pair.b)
        a, b = (impinge.Mesh(*body, solid=True) for body in (pair.a, pair.b))
        found = impinge.relation(a, b, method="obb")
        assert (found.kind, bool(found.touching)) == (kind, touching)
        assert bool(impinge.collides(a, b, method="obb")) == (kind != APART)
        assert (impinge.distance(a, b, method="obb").value == 0.0) == (kind != APART)
        assert bool(impinge.closer_than(a, b, 0.0, method="obb")) == (kind != APART)
        here = np.eye(4)[None]
        check_parts(a, b, here, here)


@pytest.mark.nojit_slow
@pytest.mark.parametrize("family", SOLID_FAMILIES)
def test_hard_solids_in_poses(family: str) -> None:
    rng = np.random.default_rng(100 + len(family))
    for _ in range(12):
        pair = solid_pair(rng, family)
        a, b = (impinge.Mesh(*body, solid=True) for body in (pair.a, pair.b))
        poses = some_poses(rng, 6, float(np.ptp(a.vertices)))
        check_parts(a, b, *poses)
        found, expected = (impinge.relation(a, b, *poses, method=method) for method in ("obb", "brute"))
        np.testing.assert_array_equal(found.kind, expected.kind)
        np.testing.assert_array_equal(found.touching, expected.touching)


def test_two_boxes() -> None:
    """Small enough for plain Python."""
    cube, small = solid(box(2, 2, 2)), solid(box(1, 1, 1))
    poses = np.tile(np.eye(4), (5, 1, 1))
    poses[:, 0, 3] = [0.0, 0.5, 1.5, 2.0, 5.0]
    check_parts(cube, small, np.tile(np.eye(4), (5, 1, 1)), poses)


# ------------------------------------------------------------------------ larger bodies


RING = solid(torus(3.0, 1.0, sides=24, tube_sides=12))
CORE = solid(torus(3.0, 0.5, sides=24, tube_sides=12))
BEADS = several(
    *(moved(box(0.4, 0.4, 0.4), *place) for place in ((3, 0, 0), (0, 3, 0), (0, 0, 0), (-3, 0, 0), (9, 9, 9)))
)


@pytest.mark.nojit_slow
@pytest.mark.parametrize("exponent", [-1030, -300, -40, 0, 40, 100])
def test_rings_at_every_scale(exponent: int) -> None:
    rng = np.random.default_rng(exponent + 2000)
    ring, core, beads = (solid(mesh, 2.0**exponent) for mesh in (RING, CORE, BEADS))
    cells = []
    for a, b in ((ring, core), (beads, ring), (ring, ring)):
        cells += check_parts(a, b, *some_poses(rng, 8, 4.0 * 2.0**exponent))
    assert EVERYTHING in cells


@pytest.mark.nojit_slow
def test_equal_and_nested_rings() -> None:
    assert impinge.relation(RING, RING, method="obb").kind == EQUAL
    found = impinge.relation(CORE, RING, method="obb")
    assert (found.kind, bool(found.touching)) == (A_INSIDE_B, False)
    assert impinge.collides(CORE, RING, method="obb")
    assert impinge.distance(CORE, RING, method="obb").value == 0.0
    assert not impinge.collides(impinge.Mesh(CORE.vertices, CORE.faces), impinge.Mesh(RING.vertices, RING.faces))


@pytest.mark.nojit_slow
def test_pieces_inside_are_told_apart() -> None:
    here = np.eye(4)[None]
    faces = np.unique(components(BEADS), return_index=True)[1]
    inside = TreeSolids(BEADS, RING).pieces_inside(0, faces, here, here, np.ones((1, 5), dtype=np.bool_))
    assert inside.tolist() == [[True, True, False, True, False]]
    free = np.array([[False, True, True, False, True]])
    inside = TreeSolids(BEADS, RING).pieces_inside(0, faces, here, here, free)
    assert inside.tolist() == [[False, True, False, False, False]]


@pytest.mark.nojit_slow
def test_many_triangles_near_one_ray() -> None:
    """More than there is room for at first: thin plates across the ray, from within the first of them."""
    plates = several(*(moved(box(0.5, 4.0, 4.0), float(2 * i), 0.0, 0.0) for i in range(60)))
    speck = solid(box(0.1, 0.1, 0.1))
    poses = np.tile(np.eye(4), (4, 1, 1))
    poses[:, 0, 3] = [0.0, 1.0, 60.0, 59.0]
    check_parts(speck, plates, poses, np.tile(np.eye(4), (4, 1, 1)))


@pytest.mark.skipif(without_compiler(), reason="nothing is compiled in this lane")
def test_surfaces_do_not_need_these_kernels() -> None:
    program = (
        "import sys, impinge\n"
        "mesh = impinge.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])\n"
        "impinge.collides(mesh, mesh, method='obb'), impinge.distance(mesh, mesh, method='obb')\n"
        "print([name for name in sys.modules if name.startswith(('solids.cells', 'impinge.bvh.solids'))])"
    )
    environment = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA_")}
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment)
    assert run.stdout.strip() == "[]"
