"""Welding closes cracks, moves no vertex farther than allowed, and tells how far."""

from __future__ import annotations

import numpy as np
import pytest

from impinge.lab.scenes import shapes
from impinge.mesh import topology
from impinge.mesh.mesh import Mesh
from impinge.mesh.repair.weld import as_weld, weld


def soup(mesh: Mesh, noise: float, seed: int = 1) -> Mesh:
    """Every face with corners of its own, off by some noise."""
    rng = np.random.default_rng(seed)
    points = mesh.triangles.reshape(-1, 3)
    return Mesh(points + noise * rng.uniform(-1, 1, size=points.shape), np.arange(len(points)).reshape(-1, 3))


@pytest.mark.parametrize("scale", [2.0**-1000, 1.0, 2.0**100])
@pytest.mark.parametrize("reach", ["auto", 1e-6])
def test_a_soup_of_triangles_closes(scale: float, reach: str | float) -> None:
    torus = soup(shapes.torus(3, 1), 1e-7)
    big = Mesh(torus.vertices * scale, torus.faces)
    done = weld(big, reach * scale if isinstance(reach, float) else reach)  # type: ignore[arg-type]
    assert done.mesh.is_closed
    assert not big.is_closed
    assert done.vertices == len(torus.vertices) - len(shapes.torus(3, 1).vertices)
    assert 0.0 < done.largest_move / scale <= 4e-7
    used = np.abs(done.mesh.triangles - big.triangles).max()
    assert 0.0 < used <= done.largest_move
    assert np.array_equal(done.mesh.vertices, big.vertices)


def test_single_precision_closes() -> None:
    """Patches that were placed in double precision and rounded to single, far from the origin."""
    torus = soup(shapes.torus(3, 1), 1e-6)
    rounded = (torus.vertices + [100.0, 20.0, -300.0]).astype(np.float32).astype(np.float64)
    assert weld(Mesh(rounded, torus.faces), "auto").mesh.is_closed


def test_holes_stay_open() -> None:
    box = shapes.box(1, 1, 1)
    done = weld(soup(Mesh(box.vertices, box.faces[1:]), 1e-9), "auto")
    assert len(topology.open_edges(done.mesh)) == 3


def test_a_closed_mesh_is_left_alone() -> None:
    box = shapes.box(1, 1, 1)
    done = weld(box, 10.0)
    assert (done.vertices, done.largest_move) == (0, 0.0)
    assert np.array_equal(done.mesh.faces, box.faces)


def test_nothing_is_none() -> None:
    assert as_weld(0.0) is None
    assert as_weld("auto") == "auto"
    with pytest.raises(ValueError, match="weld is 'ulps'"):
        as_weld("ulps")
