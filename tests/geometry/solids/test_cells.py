"""The cells that two closed surfaces cut, against block worlds."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

import impinge
from impinge.lab.hard_solids import cuboids, triangulated
from impinge.results import RelationKind

Blocks = NDArray[np.bool_]


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
