# mypy: allow-untyped-defs, allow-incomplete-defs
"""Hierarchical spatial hashing from scratch: [Mirtich1997] section 2.1.

Boxes are stored from coarse to fine, each in the cells of its own resolution.  Before, all cells that it overlaps at
this and at coarser resolutions are looked up: the boxes found there are *close* to it (definition 1).  Two boxes may
have several cells in common; they are counted in the first of them only, so that no set of pairs is needed.
"""

from __future__ import annotations

from impinge.broadphase.boxes import overlap
from impinge.broadphase.pair_keys import pair_key
from impinge.broadphase.spatial_hashing.bucket_table import (
    NOTHING,
    OWNERS,
    BucketTable,
    bucket_at,
    bucket_for,
    clear,
    has_room_for,
    push,
)
from impinge.broadphase.spatial_hashing.hash_levels import (
    cells_of,
    grown,
    hashed_objects_at,
    number_of_cells,
    resolution_of,
    size_of,
)
from impinge.kernels.jit import inner, kernel
from impinge.kernels.record import int64

NO_ROOM = -1


class StandardTable(BucketTable):
    """A table that is filled anew each time, what is known of each box meanwhile, and what comes of it."""

    resolution = int64[:]
    """Of each box,"""
    own = int64[:, 6]
    """and its first and last cells there."""
    order = int64[:]
    """The numbers of all boxes from coarse to fine."""
    population = int64[:]
    """How many boxes there are at each resolution,"""
    place = int64[:]
    """and where they stand in the order: the next one, while it is made."""
    keys = int64[:]
    """Of pairs that overlap; as many as there is room for."""
    cells = int64
    """How many have to be stored."""
    close = int64
    """How many pairs were close,"""
    looked_up = int64
    """and in how many cells they were sought."""


standard_table_at = StandardTable.at


@inner
def sort_from_coarse_to_fine(objects, table):
    levels = objects.n_resolutions
    for k in range(levels):
        table.population[k] = 0
    for i in range(objects.n_ids):
        table.population[table.resolution[i]] += 1
    table.place[0] = 0
    for k in range(1, levels):
        table.place[k] = table.place[k - 1] + table.population[k - 1]
    for i in range(objects.n_ids):
        k = table.resolution[i]
        table.order[table.place[k]] = i
        table.place[k] += 1


@inner
def store_all(objects, table):
    """Store all boxes in an empty table; how many pairs overlap."""
    rows, fixed, own = objects.rows, objects.fixed, table.own
    found, close, looked_up = 0, 0, 0
    for turn in range(objects.n_ids):
        i = table.order[turn]
        box = grown(rows, i, objects.half_margin)
        for level in range(table.resolution[i] + 1):
            if table.population[level] == 0:
                continue
            mine = level == table.resolution[i]
            cells = cells_of(box, objects.inverses[level])
            looked_up += number_of_cells(cells)
            for x in range(cells[0], cells[3] + 1):
                for y in range(cells[1], cells[4] + 1):
                    for z in range(cells[2], cells[5] + 1):
                        if mine:
                            bucket = bucket_for(table, level, x, y, z)
                        else:
                            bucket = bucket_at(table, level, x, y, z)
                            if bucket == NOTHING:
                                continue
                        place = table.buckets[bucket].first[OWNERS]
                        while place != NOTHING:
                            j = table.entries[place].label
                            place = table.entries[place].next
                            if x != max(cells[0], own[j, 0]) or y != max(cells[1], own[j, 1]):
                                continue
                            if z != max(cells[2], own[j, 2]) or (fixed[i] and fixed[j]):
                                continue
                            close += 1
                            if overlap(rows, i, j, objects.margin):
                                if found < table.n_keys:
                                    table.keys[found] = pair_key(objects.ids, i, j)
                                found += 1
                        if mine:
                            push(table, bucket, OWNERS, i, NOTHING)
    table.close = close
    table.looked_up = looked_up
    return found


@kernel
def hash_all(objects, table):
    """Find all overlapping pairs: how many there are, and the keys of as many as there is room for, unsorted.

    Or NO_ROOM, if the table is too small for all ``cells``.
    """
    objects, table = hashed_objects_at(objects), standard_table_at(table)
    table.cells = 0
    for i in range(objects.n_ids):
        box = grown(objects.rows, i, objects.half_margin)
        resolution, _ = resolution_of(size_of(box), objects, 1.0)
        cells = cells_of(box, objects.inverses[resolution])
        table.resolution[i] = resolution
        for k in range(6):
            table.own[i, k] = cells[k]
        table.cells += number_of_cells(cells)
    clear(table)
    if not has_room_for(table, table.cells):
        return NO_ROOM
    sort_from_coarse_to_fine(objects, table)
    return store_all(objects, table)
