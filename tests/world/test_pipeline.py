from __future__ import annotations

import numpy as np
import pytest

import impinge
from impinge.kernels import interruptible
from impinge.world import pipeline


def frame_of_boxes() -> impinge.Frame:
    world = impinge.World()
    box = impinge.shapes.box(1, 1, 1)
    for number in range(8):
        pose = np.eye(4)
        pose[:3, 3] = number**2, number, 0.5 * number
        world.add(box, pose)
    return world.detect("distance")


def test_many_distances_are_gathered_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A signal is handled between two of them."""
    whole = frame_of_boxes().distance
    parts: list[slice] = []

    def noted(count: int, first: int) -> list[slice]:
        parts.extend(interruptible.in_parts(count, first))
        return parts

    monkeypatch.setattr(pipeline, "_GATHERED_AT_ONCE", 1)
    monkeypatch.setattr(pipeline, "in_parts", noted)
    gathered = frame_of_boxes().distance
    assert whole is not None
    assert gathered is not None
    assert len(whole.value) == 28
    assert len(parts) > 1
    for name in ("value", "point_a", "point_b", "face_a", "face_b"):
        first, second = getattr(whole, name), getattr(gathered, name)
        assert first.dtype == second.dtype
        assert first.tolist() == second.tolist()
