# mypy: allow-untyped-defs, allow-incomplete-defs
"""Hierarchical spatial hashing from scratch: [Mirtich1997] section 2.1.

Boxes are stored from coarse to fine, each in the cells of its own resolution.  Before, all cells that it overlaps at
this and at coarser resolutions are looked up: the boxes found there are *close* to it (definition 1).  Two boxes may
have several cells in common; they are counted in the first of them only, so that no set of pairs is needed.
"""

from __future__ import annotations

import numpy as np

from impinge.broadphase.boxes import overlap
from impinge.broadphase.pair_keys import first_keys, new_keys, pair_key
from impinge.broadphase.spatial_hashing.bucket_table import (
    LABEL,
    NEXT,
    NOTHING,
    OWNERS,
    bucket_at,
    bucket_for,
    clear,
    enlarged,
    has_room_for,
    parts_of_table,
    push,
)
from impinge.broadphase.spatial_hashing.hash_levels import cells_of, grown, number_of_cells, resolution_of, size_of
from impinge.kernels.jit import inner, kernel


@inner
def from_coarse_to_fine(resolution, levels):
    """The numbers of all boxes by their resolutions, and how many boxes there are at each."""
    count = np.zeros(levels, dtype=np.int64)
    for k in resolution:
        count[k] += 1
    place = np.zeros(levels, dtype=np.int64)
    for k in range(1, levels):
        place[k] = place[k - 1] + count[k - 1]
    order = new_keys(len(resolution))
    for i in range(len(resolution)):
        order[place[resolution[i]]] = i
        place[resolution[i]] += 1
    return order, count


CLOSE, LOOKED_UP = range(2)


@inner
def store_all(order, resolution, own, population, ids, rows, fixed, margin, half, inverses, table, keys, tallies):
    """Store all boxes in an empty table; how many pairs overlap, and the keys of as many as there is room for."""
    entries, heads = table.entries, table.heads
    found = 0
    for i in order:
        box = grown(rows, i, half)
        for level in range(resolution[i] + 1):
            if population[level] == 0:
                continue
            mine = level == resolution[i]
            cells = cells_of(box, inverses[level])
            tallies[LOOKED_UP] += number_of_cells(cells)
            for x in range(cells[0], cells[3] + 1):
                for y in range(cells[1], cells[4] + 1):
                    for z in range(cells[2], cells[5] + 1):
                        if mine:
                            bucket = bucket_for(table, level, x, y, z)
                        else:
                            bucket = bucket_at(table.cells, table.slots, level, x, y, z)
                            if bucket == NOTHING:
                                continue
                        entry = heads[bucket, OWNERS]
                        while entry != NOTHING:
                            j = entries[entry, LABEL]
                            entry = entries[entry, NEXT]
                            if x != max(cells[0], own[j, 0]) or y != max(cells[1], own[j, 1]):
                                continue
                            if z != max(cells[2], own[j, 2]) or (fixed[i] and fixed[j]):
                                continue
                            tallies[CLOSE] += 1
                            if overlap(rows, i, j, margin):
                                if found < len(keys):
                                    keys[found] = pair_key(ids, i, j)
                                found += 1
                        if mine:
                            push(table, bucket, OWNERS, i, NOTHING)
    return found


@kernel
def hash_all(ids, rows, fixed, margin, half, resolutions, inverses, alpha, beta, table, guess):
    """Keys of all overlapping pairs, unsorted; ``guess`` is how many there may be.

    Also returns the parts of the table (to be used again), and the numbers of close pairs and of cells that were
    looked up.
    """
    resolution = new_keys(len(ids))
    own = np.empty((len(ids), 6), dtype=np.int64)  # cells at the box's resolution
    room = 0
    for i in range(len(ids)):
        box = grown(rows, i, half)
        resolution[i], _ = resolution_of(size_of(box), resolutions, alpha, beta)
        cells = cells_of(box, inverses[resolution[i]])
        for k in range(6):
            own[i, k] = cells[k]
        room += number_of_cells(cells)
    order, population = from_coarse_to_fine(resolution, len(resolutions))
    clear(table)
    if not has_room_for(table.marks, table.entries, table.cells, room):
        table = enlarged(table, room)
    keys = new_keys(guess)
    tallies = np.zeros(2, dtype=np.int64)
    found = store_all(
        order, resolution, own, population, ids, rows, fixed, margin, half, inverses, table, keys, tallies
    )
    if found > guess:  # once more, from the beginning
        keys = new_keys(found)
        clear(table)
        tallies[:] = 0
        store_all(order, resolution, own, population, ids, rows, fixed, margin, half, inverses, table, keys, tallies)
    return first_keys(keys, found), parts_of_table(table), tallies[CLOSE], tallies[LOOKED_UP]
