# mypy: allow-untyped-defs, allow-incomplete-defs
"""The triangles of an expanding polytope, nearest to the origin first: a binary heap (Williams 1964) of heights.

Triangles that are gone, or were replaced, stay in the heap until they come up, or until it is full.
"""

from __future__ import annotations

import numpy as np

from impinge.kernels.jit import inner


@inner
def push(work, f):
    """Add a triangle; False if there is no room for it."""
    if work.heap_count == work.n_heap_heights:
        _drop_gone(work)
        if work.heap_count == work.n_heap_heights:
            return False
    work.heap_count += 1
    _sift_up(work, work.heap_count - 1, work.heights[f], f)
    return True


@inner
def pop(work):
    """The nearest triangle and its height, of that time; there must be one."""
    height, f = work.heap_heights[0], np.int64(work.heap_triangles[0])
    last = work.heap_count - 1
    work.heap_count = last
    if last > 0:
        _sift_down(work, last, work.heap_heights[last], np.int64(work.heap_triangles[last]))
    return height, f


@inner
def _drop_gone(work):
    kept = 0
    for i in range(work.heap_count):
        height, f = work.heap_heights[i], np.int64(work.heap_triangles[i])
        if work.heights[f] == height:
            _sift_up(work, kept, height, f)
            kept += 1
    work.heap_count = kept


@inner
def _is_before(work, i, height, f):
    """Whether what is at a place of the heap comes before a triangle; of equal heights the lower number does."""
    return work.heap_heights[i] < height or (work.heap_heights[i] == height and work.heap_triangles[i] < f)


@inner
def _put(work, i, height, f):
    work.heap_heights[i] = height
    work.heap_triangles[i] = f


@inner
def _move(work, i, j):
    """Write what is at place j to place i."""
    _put(work, i, work.heap_heights[j], np.int64(work.heap_triangles[j]))


@inner
def _sift_up(work, i, height, f):
    """Put a triangle at place i, or at one above it."""
    while i > 0:
        parent = (i - 1) // 2
        if _is_before(work, parent, height, f):
            break
        _move(work, i, parent)
        i = parent
    _put(work, i, height, f)


@inner
def _sift_down(work, count, height, f):
    """Put a triangle at the top, or at a place below it, of a heap of so many."""
    i = 0
    while 2 * i + 1 < count:
        child = 2 * i + 1
        if child + 1 < count:
            right = child + 1
            if _is_before(work, right, work.heap_heights[child], np.int64(work.heap_triangles[child])):
                child = right
        if not _is_before(work, child, height, f):
            break
        _move(work, i, child)
        i = child
    _put(work, i, height, f)
