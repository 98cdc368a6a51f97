"""Simple polygons in the plane: checked exactly, and brought to counter-clockwise order.

Edges whose boxes overlap are found by a sweep along x, and exact orientations say whether they meet: O(n log n) for
usual polygons, O(n^2) for the worst, where Shamos and Hoey (1976), "Geometric intersection problems", stay below.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge.arrays import Floats, real_array, require_in_range
from impinge.geometry.exact.turns import turns

Longs = NDArray[np.int64]

_CHUNK = 2**16
"""Pairs of edges that are tested at once: a few megabytes."""


def simple_polygon(polygon: ArrayLike, what: str) -> Floats:
    """The corners (n, 2) of a simple polygon, counter-clockwise; ``what`` names the argument in errors.

    A last corner that repeats the first one is left out.

    >>> simple_polygon([[0, 0], [0, 1], [1, 0]], "outline").tolist()
    [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]
    """
    ring = real_array(polygon, what)
    if ring.ndim != 2 or ring.shape[1] != 2:
        raise ValueError(f"{what}: expected shape (n, 2), got {ring.shape}")
    require_in_range(ring, what)
    ring = ring + 0.0
    if len(ring) > 1 and (ring[0] == ring[-1]).all():
        ring = ring[:-1]
    n = len(ring)
    if n < 3:
        raise ValueError(f"{what}: expected at least 3 different corners, got {n}")
    before, after = np.roll(ring, 1, axis=0), np.roll(ring, -1, axis=0)
    repeated = np.flatnonzero((ring == after).all(axis=1))
    if len(repeated):
        raise ValueError(f"{what}: the corners {repeated[0]} and {(repeated[0] + 1) % n} are equal")
    turn = turns(before, ring, after)
    # On one line with both neighbours, and both of them on the same side.
    same_side = ((before < ring) & (after < ring)) | ((before > ring) & (after > ring))
    back = np.flatnonzero((turn == 0) & same_side.any(axis=1))
    if len(back):
        raise ValueError(f"{what}: its edges run back on themselves at corner {back[0]}")
    crossing = _meeting_edges(ring, after)
    if crossing is not None:
        i, j = crossing
        edges = f"{i}-{(i + 1) % n} and {j}-{(j + 1) % n}"
        raise ValueError(f"{what}: its edges {edges} meet; a simple polygon neither touches nor crosses itself")
    # At the lowest of the leftmost corners a simple polygon turns the way it runs.
    return ring if turn[np.lexsort((ring[:, 1], ring[:, 0]))[0]] > 0 else ring[::-1].copy()


def _meeting_edges(start: Floats, end: Floats) -> tuple[int, int] | None:
    """Two edges of a closed ring that have no corner in common but a point; exact, by a sweep along x."""
    n = len(start)
    low, high = np.minimum(start, end), np.maximum(start, end)
    order = np.argsort(low[:, 0], kind="stable")
    last = np.searchsorted(low[order, 0], high[order, 0], side="right")
    waiting: list[Longs] = []
    size = 0
    for place, edge in enumerate(order):
        others = order[place + 1 : last[place]]
        others = others[(low[others, 1] <= high[edge, 1]) & (high[others, 1] >= low[edge, 1])]
        step = (others - edge) % n
        others = others[(step != 1) & (step != n - 1)]  # neighbours share a corner
        waiting.append(np.stack([np.full(len(others), edge), others], axis=1))
        size += len(others)
        if size >= _CHUNK or (size and place == n - 1):
            i, j = np.sort(np.concatenate(waiting), axis=1).T
            apart = turns(start[i], end[i], start[j]) * turns(start[i], end[i], end[j]) > 0
            apart |= turns(start[j], end[j], start[i]) * turns(start[j], end[j], end[i]) > 0
            if not apart.all():
                return min(zip(i[~apart].tolist(), j[~apart].tolist(), strict=True))
            waiting, size = [], 0
    return None
