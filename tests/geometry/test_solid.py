"""Inside and outside of closed surfaces, and the cells that two of them cut, against block worlds."""

from __future__ import annotations

from itertools import product

import numba
import numpy as np
import pytest
from numpy.typing import NDArray

import impinge
from impinge import jit
from impinge.geometry import solid
from impinge.geometry.results import RelationKind
from impinge.lab.hard_input import EXACT_ROTATIONS
from impinge.lab.hard_solids import Body, any_shape, cuboids, triangulated
from impinge.lab.scenes.shapes import box, torus
from impinge.lab.solid_oracle import point_in_solid

Floats = NDArray[np.float64]
Blocks = NDArray[np.bool_]

# It has no entry from Python: compiled once more, with one.
vertex_inside = (
    solid.vertex_inside if jit.config.DISABLE_JIT else numba.njit(error_model="numpy")(solid.vertex_inside.py_func)
)


def triangles_of(body: Body, rng: np.random.Generator) -> Floats:
    return np.ascontiguousarray(body.points.astype(np.float64)[triangulated(rng, body)])


# -------------------------------------------------------------------------- one point


@pytest.mark.parametrize("turn", range(0, 24, 5))
def test_rays_through_vertices_and_edges(turn: int) -> None:
    """From grid points, rays along the axes go through vertices, along edges and along faces."""
    cube = np.ascontiguousarray(box(2, 2, 2).triangles @ EXACT_ROTATIONS[turn].T)
    low, high = cube.min(axis=(0, 1)), cube.max(axis=(0, 1))
    for step in product((-1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0), repeat=3):
        point = low + np.array(step)
        if ((point == low) | (point == high)).any() and ((point >= low) & (point <= high)).all():
            continue  # on the surface
        assert vertex_inside(point, cube) == bool(((point > low) & (point < high)).all())


@pytest.mark.parametrize("seed", range(12))
def test_half_grid_points_of_hard_solids(seed: int) -> None:
    rng = np.random.default_rng(seed)
    triangles = triangles_of(any_shape(rng), rng)
    # Points off the half grid of the faces in one coordinate at least are rarely on a surface; those are left out.
    for _ in range(25):
        point = rng.integers(-1, 11, 3) / 2.0
        on_surface = impinge.collides(
            impinge.Mesh(triangles.reshape(-1, 3), np.arange(3 * len(triangles)).reshape(-1, 3)),
            impinge.Mesh([point] * 3, [[0, 1, 2]]),
        )
        if not on_surface:
            assert vertex_inside(point, triangles) == point_in_solid(point.tolist(), triangles)


def test_one_ulp_inside_and_outside() -> None:
    ring = torus(3.0, 1.0, sides=8, tube_sides=4)
    triangles = ring.triangles.copy()
    for x, inside in ((4.0, False), (np.nextafter(4.0, 5.0), False), (np.nextafter(4.0, 3.0), True), (0.0, False)):
        if x != 4.0:
            assert vertex_inside(np.array([x, 0.0, 0.0]), triangles) == inside
            assert point_in_solid([x, 0.0, 0.0], triangles) == inside


@pytest.mark.parametrize("exponent", [-1070, -500, 0, 140])
def test_every_scale(exponent: int) -> None:
    cube = box(4, 4, 4).triangles * 2.0**exponent
    for step in product((1.0, 2.0, 5.0), repeat=3):
        assert vertex_inside(np.array(step) * 2.0**exponent, cube) == (max(step) < 4.0)


# ------------------------------------------------------------------- cells of two solids


def relation_of_blocks(a: Blocks, b: Blocks) -> tuple[RelationKind, bool]:
    """How two unions of unit blocks lie to each other, without any geometry."""
    sticks_out_a, sticks_out_b = bool((a & ~b).any()), bool((b & ~a).any())
    touching = bool((boundary_points(a) & boundary_points(b)).any())
    if not (a & b).any():
        return (RelationKind.TOUCHING if touching else RelationKind.APART), touching
    if sticks_out_a and sticks_out_b:
        return RelationKind.OVERLAPPING, touching
    if sticks_out_a or sticks_out_b:
        return (RelationKind.B_INSIDE_A if sticks_out_a else RelationKind.A_INSIDE_B), touching
    return RelationKind.EQUAL, touching


def boundary_points(blocks: Blocks) -> Blocks:
    """On the grid of half steps: which points lie on the boundary of a union of closed blocks."""
    padded = np.pad(blocks, 1)
    shape = tuple(2 * n + 1 for n in blocks.shape)
    some, every = np.zeros(shape, dtype=bool), np.ones(shape, dtype=bool)
    for offset in product((0, 1), repeat=3):
        # The blocks around point p/2 are floor((p - 1)/2) to floor(p/2) along each axis.
        index = np.ix_(*(1 + (np.arange(n) - o) // 2 for n, o in zip(shape, offset, strict=True)))
        some |= padded[index]
        every &= padded[index]
    return some & ~every


def solid_of(blocks: Blocks, rng: np.random.Generator) -> impinge.Mesh:
    breaks = [np.arange(n + 1) for n in blocks.shape]
    body = cuboids(blocks, breaks)
    return impinge.Mesh(body.points, triangulated(rng, body), solid=True)


def random_blocks(rng: np.random.Generator, shape: tuple[int, int, int]) -> Blocks:
    while True:
        blocks = rng.random(shape) < rng.choice([0.3, 0.6, 0.9])
        if blocks.any():
            return np.asarray(blocks)


@pytest.mark.nojit_slow
@pytest.mark.parametrize("seed", range(4))
def test_block_worlds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    seen = set()
    for _ in range(8):
        shape = (int(rng.integers(1, 4)), 2, int(rng.integers(1, 3)))
        a = random_blocks(rng, shape)
        others = [random_blocks(rng, shape), a.copy(), a | random_blocks(rng, shape), a if a.all() else ~a]
        b = others[rng.integers(len(others))]
        found = impinge.relation(solid_of(a, rng), solid_of(b, rng))
        kind, touching = relation_of_blocks(a, b)
        assert (found.kind, bool(found.touching)) == (kind, touching), (a.astype(int).tolist(), b.astype(int).tolist())
        seen.add(kind)
    assert len(seen) >= 2


@pytest.mark.nojit_slow
def test_blocks_by_hand() -> None:
    rng = np.random.default_rng(0)

    def blocks(text: str) -> Blocks:
        return np.array([[[cell == "#" for cell in row] for row in text.split()]])

    cases = [
        ("##. ...", "..# ..."), ("#.. ...", "..# ..."), ("#. ..", ".. .#"), ("### #.# ###", "... .#. ..."),
        ("### ### ###", "... .#. ..."), ("##. ##. ...", ".## .## ..."), ("#.# ...", "#.# ..."), ("#.# ...", "#.. ..."),
    ]  # fmt: skip
    kinds = []
    for first, second in cases:
        a, b = blocks(first), blocks(second)
        found = impinge.relation(solid_of(a, rng), solid_of(b, rng))
        assert (found.kind, bool(found.touching)) == relation_of_blocks(a, b)
        kinds.append(found.kind)
    assert kinds == [
        RelationKind.TOUCHING, RelationKind.APART, RelationKind.TOUCHING, RelationKind.TOUCHING,
        RelationKind.B_INSIDE_A, RelationKind.OVERLAPPING, RelationKind.EQUAL, RelationKind.B_INSIDE_A,
    ]  # fmt: skip
