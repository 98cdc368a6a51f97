# mypy: allow-untyped-defs, allow-incomplete-defs
"""Segments between numbered nodes, joined to polylines: the walk along paths and around cycles."""

from __future__ import annotations

import numpy as np

from impinge.kernels.jit import inner, kernel
from impinge.kernels.record import Record, bool_, int64


class Walk(Record):
    """Segments, what is known of their nodes, and the chains so far."""

    nodes = int64[:, 2]
    """Of each segment."""
    degree = int64[:]
    """How many segments meet at a node;"""
    sums = int64[:]
    """the sum of their numbers: with two of them, less one it is the other."""
    seen = bool_[:]
    """Segments that are in a chain."""
    order = int64[:]
    """The segments in the order of the walk,"""
    entered = int64[:]
    """and the node where each of them is entered;"""
    count = int64
    """so many of them."""
    starts = int64[:]
    """Where each chain starts in ``order``, and the end;"""
    ends = int64[:]
    """the node where it ends."""


walk_at = Walk.at


@inner
def _follow(walk, node, current):
    """Walk on from ``node`` along the segment ``current`` to the next branch, free end or known segment."""
    while not walk.seen[current]:
        walk.seen[current] = True
        walk.order[walk.count] = current
        walk.entered[walk.count] = node
        walk.count += 1
        node = walk.nodes[current, 0] + walk.nodes[current, 1] - node
        if walk.degree[node] != 2:
            break
        current = walk.sums[node] - current
    return node


@kernel
def walk_chains(walk):
    """Walk along all segments; return the number of chains."""
    walk = walk_at(walk)
    chains = 0
    for cycles in range(2):  # all paths first, from their ends: what is left is cycles
        for segment in range(walk.n_nodes):
            if walk.seen[segment]:
                continue
            node = walk.nodes[segment, 0]
            if cycles == 0 and walk.degree[node] == 2:
                node = walk.nodes[segment, 1]
                if walk.degree[node] == 2:
                    continue
            walk.starts[chains] = walk.count
            walk.ends[chains] = _follow(walk, node, segment)
            chains += 1
    walk.starts[chains] = walk.count
    return chains


def chains_of(nodes, node_count):
    """Paths and cycles of segments (s, 2) over nodes; they are broken where other than two segments meet.

    Returns the places (c + 1,) where the chains start, the segments in order (s,), the node where each of them is
    entered (s,), and the node where each chain ends (c,), which is the first one for a cycle.
    """
    count = len(nodes)
    sums = np.zeros(node_count, dtype=np.int64)
    np.add.at(sums, nodes.ravel(), np.repeat(np.arange(count), 2))
    walk = Walk(
        nodes=np.ascontiguousarray(nodes),
        degree=np.bincount(nodes.ravel(), minlength=node_count),
        sums=sums,
        seen=np.zeros(count, dtype=np.bool_),
        order=np.empty(count, dtype=np.int64),
        entered=np.empty(count, dtype=np.int64),
        starts=np.empty(count + 1, dtype=np.int64),
        ends=np.empty(count, dtype=np.int64),
    )
    chains = walk_chains(walk.address)
    return walk.starts[: chains + 1], walk.order, walk.entered, walk.ends[:chains]
