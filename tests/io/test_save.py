"""What is written is read back bit by bit."""

from __future__ import annotations

import numpy as np
import pytest

import impinge
from impinge.io.save import SUFFIXES, save


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_round_trip_keeps_every_bit(tmp_path, suffix):
    rng = np.random.default_rng(1)
    points = rng.normal(size=(30, 3)) * 10.0 ** rng.integers(-30, 30, size=(30, 1))
    mesh = impinge.Mesh(points, rng.integers(0, 30, size=(20, 3)))
    save(mesh, tmp_path / f"part{suffix}")
    again = impinge.load(tmp_path / f"part{suffix}")
    assert np.array_equal(again.triangles, mesh.triangles)


def test_an_unknown_ending_is_refused(tmp_path):
    mesh = impinge.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    with pytest.raises(ValueError, match=r"part\.step: files ending in '\.step' cannot be written"):
        save(mesh, tmp_path / "part.step")
