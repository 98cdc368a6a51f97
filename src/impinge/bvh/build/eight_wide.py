# mypy: allow-untyped-defs, allow-incomplete-defs
"""From a binary tree of groups to nodes of eight slots, with as few empty slots as possible.

Wald, Benthin and Boulos (2008), "Getting rid of packets": the widest groups are opened first until the
slots are used up.  Small groups, of at most eight triangles, are not divided in two: their triangles take
a slot each, beside their larger neighbours where there is room, else in a node of their own.
Four of five slots are used then, against one of two where every small group gets a node.
"""

from __future__ import annotations

from impinge.bvh.build.arrays import integer_list, integers
from impinge.bvh.layout import EMPTY, WIDTH
from impinge.kernels.jit import inner

# Columns of the binary tree's groups: the places [first, last) of tree order, and the first of the two
# groups that it is divided into (the other one follows it), or -1 for a small group.
FIRST, LAST, LEFT = 0, 1, 2


@inner
def _widest(entries, count, groups, areas):
    """Where the divided group with the largest area stands, or -1."""
    best = -1
    for s in range(count):
        if groups[entries[s], LEFT] >= 0 and (best < 0 or areas[entries[s]] > areas[entries[best]]):
            best = s
    return best


@inner
def _smallest(entries, count, groups):
    """Where the smallest group stands whose triangles find room in slots of their own, or -1."""
    best = -1
    fewest = WIDTH - count + 2
    for s in range(count):
        if entries[s] >= 0 and groups[entries[s], LEFT] < 0:
            triangles = groups[entries[s], LAST] - groups[entries[s], FIRST]
            if triangles < fewest:
                fewest = triangles
                best = s
    return best


@inner
def _divide(group, groups, areas, entries):
    """Divide a group into at most eight entries: groups, or ~place for single triangles. How many they are."""
    entries[0] = group
    count = 1
    while count < WIDTH:
        s = _widest(entries, count, groups, areas)
        if s < 0:
            break
        left = groups[entries[s], LEFT]
        entries[s] = left
        entries[count] = left + 1
        count += 1
    while True:
        s = _smallest(entries, count, groups)
        if s < 0:
            return count
        first = groups[entries[s], FIRST]
        last = groups[entries[s], LAST]
        entries[s] = ~first
        for place in range(first + 1, last):
            entries[count] = ~place
            count += 1


@inner
def eight_wide(groups, areas, triangle_count):
    """The nodes over a binary tree whose group 0 holds everything: child, ranges, depth.

    A node stands behind the node that refers to it, its siblings beside it.
    """
    most = triangle_count + 1  # every node but the pseudo root has two slots or more
    child = integer_list(most * WIDTH)
    ranges = integers(most * WIDTH, 2)
    waiting = integers(most, 2)  # nodes to fill, and their groups
    level = integer_list(most)
    entries = integer_list(WIDTH)
    waiting[0, 0] = 0
    waiting[0, 1] = 0
    level[0] = 1
    waiting_count = 1
    node_count = 1
    depth = 1
    while waiting_count > 0:
        waiting_count -= 1
        node = waiting[waiting_count, 0]
        group = waiting[waiting_count, 1]
        if node > 0:
            used = _divide(group, groups, areas, entries)
        else:  # the pseudo root has one slot
            entries[0] = 0 if triangle_count > 1 else ~0
            used = 1
        for slot in range(WIDTH):
            ref = node * WIDTH + slot
            if slot >= used:
                child[ref] = EMPTY
                ranges[ref, 0] = 0
                ranges[ref, 1] = 0
            elif entries[slot] < 0:
                child[ref] = entries[slot]
                ranges[ref, 0] = ~entries[slot]
                ranges[ref, 1] = ~entries[slot] + 1
            else:
                child[ref] = node_count
                ranges[ref, 0] = groups[entries[slot], FIRST]
                ranges[ref, 1] = groups[entries[slot], LAST]
                level[node_count] = level[node] + 1
                depth = max(depth, level[node_count])
                waiting[waiting_count, 0] = node_count
                waiting[waiting_count, 1] = entries[slot]
                waiting_count += 1
                node_count += 1
    return child[: node_count * WIDTH].copy(), ranges[: node_count * WIDTH].copy(), depth
