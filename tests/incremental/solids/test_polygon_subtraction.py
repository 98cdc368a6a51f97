"""What is left of a polygon: cycles, holes, cuts and ears, in one plane."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from impinge.incremental.solids.boundary_triangulation import triangulated
from impinge.incremental.solids.hull_surface import Plane
from impinge.incremental.solids.polygon_subtraction import (
    cycles,
    subtracted,
    twice_area,
    uncovered_border,
    vertex_inside,
)

SIZE = 6
GRID = Plane(
    [float(i) for i in range(SIZE + 1) for _ in range(SIZE + 1)],
    [float(j) for _ in range(SIZE + 1) for j in range(SIZE + 1)],
)


def at(i: int, j: int) -> int:
    return i * (SIZE + 1) + j


def cell(i: int, j: int) -> list[int]:
    return [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)]


OUTLINE = (
    [at(i, 0) for i in range(SIZE)]
    + [at(SIZE, j) for j in range(SIZE)]
    + [at(i, SIZE) for i in range(SIZE, 0, -1)]
    + [at(0, j) for j in range(SIZE, 0, -1)]
)


def area(regions) -> float:
    unit = twice_area(GRID, cell(0, 0))
    return sum(twice_area(GRID, triangle) for region in regions for triangle in region.triangles) / unit


def regions_by_flood(free: np.ndarray) -> int:
    """How many connected groups of free cells there are, across edges."""
    left = {(i, j) for i, j in np.argwhere(free).tolist()}
    count = 0
    while left:
        count += 1
        stack = [left.pop()]
        while stack:
            i, j = stack.pop()
            for other in ((i + 1, j), (i - 1, j), (i, j + 1), (i, j - 1)):
                if other in left:
                    left.remove(other)
                    stack.append(other)
    return count


@pytest.mark.parametrize("method", ["subtraction", "triangulation"])
@given(st.integers(0, 2**36 - 1))
def test_any_set_of_cells(method, bits):
    """Holes in holes, touching corners and combs: area, regions and border are right by both methods."""
    covered = np.array([bits >> k & 1 for k in range(SIZE * SIZE)], dtype=bool).reshape(SIZE, SIZE)
    border = uncovered_border(OUTLINE, [cell(i, j) for i, j in np.argwhere(covered).tolist()])
    assert border is not None
    if not border:
        assert covered.all()
        return
    regions = subtracted(GRID, border) if method == "subtraction" else triangulated(GRID, OUTLINE, border)
    assert regions is not None
    assert area(regions) == (~covered).sum()
    assert len(regions) == regions_by_flood(~covered)
    assert all(GRID.turn(*triangle) > 0 for region in regions for triangle in region.triangles)
    assert sorted(run for region in regions for run in region.border) == sorted(border)


def test_a_ring_is_one_region_with_a_hole():
    border = uncovered_border(OUTLINE, [cell(2, 2)])
    loops = cycles(GRID, border)
    assert sorted(twice_area(GRID, loop) > 0 for loop in loops) == [False, True]
    (region,) = subtracted(GRID, border)
    assert len(region.border) == len(OUTLINE) + 4


def test_overlapping_faces_have_no_answer():
    assert uncovered_border(OUTLINE, [cell(1, 1), cell(1, 1)]) is None
    triangle = [at(0, 0), at(4, 0), at(0, 4)]
    border = uncovered_border(OUTLINE, [triangle, [at(1, 0), at(5, 0), at(1, 4)]])
    assert border is None or subtracted(GRID, border) is None


def test_inside_is_exact_beside_an_edge():
    plane = Plane([0.0, 1.0, 0.0, 0.1, 0.5], [0.0, 0.0, 3.0, 0.1, float(np.nextafter(1.5, 2.0))])
    assert vertex_inside(plane, 3, [0, 1, 2])
    assert not vertex_inside(plane, 4, [0, 1, 2])
