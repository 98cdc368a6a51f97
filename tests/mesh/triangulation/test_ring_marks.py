"""Marks on a ring are found as a walk around it finds them."""

import numpy as np
import pytest

from impinge.kernels.jit import kernel
from impinge.mesh.triangulation.ring_marks import all_marked, last_marked, next_marked, set_mark


@kernel
def _marked(count, changes, mark, starts, first, last):
    marks = all_marked(count, 1)
    for i in range(len(changes)):
        set_mark(marks, changes[i, 0], changes[i, 1])
    for i in range(len(starts)):
        first[i] = next_marked(marks, starts[i], mark)
        last[i] = last_marked(marks, starts[i], mark)


@pytest.mark.parametrize("count", [3, 4, 5, 8, 21])
@pytest.mark.parametrize("mark", [1, 2, 4])
def test_next_and_last(count, mark):
    rng = np.random.default_rng(count)
    for changed in (0, count // 2, 3 * count, 20 * count):
        changes = np.column_stack(
            [rng.integers(0, count, changed), rng.choice([0, 1, 2, 4], changed, p=[0.7, 0.1, 0.1, 0.1])]
        )
        now = np.ones(count, dtype=int)
        for corner, value in changes:
            now[corner] = value
        starts = np.arange(count)
        first, last = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
        _marked(count, changes, mark, starts, first, last)
        for start in starts:
            around = [i for i in np.roll(starts, -start).tolist() if now[i] == mark]
            assert (first[start], last[start]) == ((around[0], around[-1]) if around else (-1, -1))
