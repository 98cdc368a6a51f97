# mypy: allow-untyped-defs, allow-incomplete-defs
"""Segments between numbered nodes, joined to polylines: the walk along paths and around cycles."""

from __future__ import annotations

import numpy as np

from impinge.kernels.jit import inner, kernel


@inner
def _follow(nodes, degree, sums, node, current, seen, order, entered, count):
    """Walk on from ``node`` along the segment ``current`` to the next branch, free end or known segment."""
    while not seen[current]:
        seen[current] = True
        order[count] = current
        entered[count] = node
        count += 1
        node = nodes[current, 0] + nodes[current, 1] - node
        if degree[node] != 2:
            break
        current = sums[node] - current
    return node, count


@kernel
def _walk(nodes, degree, sums, seen, order, entered, starts, ends):
    """Fill the four arrays that chains_of returns; the result is the number of chains."""
    chains = 0
    count = 0
    for cycles in range(2):  # all paths first, from their ends: what is left is cycles
        for segment in range(len(nodes)):
            if seen[segment]:
                continue
            node = nodes[segment, 0]
            if cycles == 0 and degree[node] == 2:
                node = nodes[segment, 1]
                if degree[node] == 2:
                    continue
            starts[chains] = count
            ends[chains], count = _follow(nodes, degree, sums, node, segment, seen, order, entered, count)
            chains += 1
    starts[chains] = count
    return chains


def chains_of(nodes, node_count):
    """Paths and cycles of segments (s, 2) over nodes; they are broken where other than two segments meet.

    Returns the places (c + 1,) where the chains start, the segments in order (s,), the node where each of them is
    entered (s,), and the node where each chain ends (c,), which is the first one for a cycle.
    """
    numbers = np.arange(len(nodes))
    degree = np.bincount(nodes.ravel(), minlength=node_count)
    # The sum of the two segments at a node, less one of them, is the other.
    sums = np.zeros(node_count, dtype=np.int64)
    np.add.at(sums, nodes.ravel(), np.repeat(numbers, 2))
    seen = np.zeros(len(nodes), dtype=np.bool_)
    order = np.empty(len(nodes), dtype=np.int64)
    entered = np.empty(len(nodes), dtype=np.int64)
    starts = np.empty(len(nodes) + 1, dtype=np.int64)
    ends = np.empty(len(nodes), dtype=np.int64)
    chains = _walk(nodes, degree, sums, seen, order, entered, starts, ends)
    return starts[: chains + 1], order, entered, ends[:chains]
