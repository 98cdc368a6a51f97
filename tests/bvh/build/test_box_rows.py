"""The vector instructions do what their names say."""

from __future__ import annotations

import numba
import numpy as np

from impinge.bvh.build.box_rows import NO_BOX, enlarge, enlarge_by_centre, exchange, forget, half_surface, unite


@numba.njit
def _use_all(rows, boxes):  # type: ignore[no-untyped-def]
    forget(rows, 0)
    forget(rows, 1)
    for i in range(len(boxes)):
        enlarge(rows, 0, boxes, i)
        enlarge_by_centre(rows, 1, boxes, i)
    unite(rows, 2, boxes, 1, len(boxes))
    forget(rows, 3)
    exchange(boxes, 0, len(boxes) - 1)
    exchange(boxes, 1, 1)
    return half_surface(rows, 0)


def test_rows_of_boxes() -> None:
    rng = np.random.default_rng(0)
    low = rng.uniform(-1, 1, size=(7, 3)).astype(np.float32)
    high = low + rng.uniform(0, 0.5, size=(7, 3)).astype(np.float32)
    boxes = np.zeros((7, 8), dtype=np.float32)
    boxes[:, :3], boxes[:, 4:7] = low, -high
    before = boxes.copy()
    rows = np.zeros((4, 8), dtype=np.float32)
    surface = _use_all(rows, boxes)
    assert np.array_equal(rows[0, :3], low.min(axis=0))
    assert np.array_equal(rows[0, 4:7], -high.max(axis=0))
    assert np.array_equal(rows[1, :3], (low + high).min(axis=0))
    assert np.array_equal(rows[1, 4:7], -(low + high).max(axis=0))
    assert np.array_equal(rows[2], before[1:].min(axis=0))
    assert (rows[3] == NO_BOX).all()
    x, y, z = high.max(axis=0) - low.min(axis=0)
    assert surface == np.float32(x * y + y * z + z * x)
    assert np.array_equal(boxes, before[[6, 1, 2, 3, 4, 5, 0]])
