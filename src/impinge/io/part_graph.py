"""Products that use other products, and their expansion into placed instances.

A file of a few lines can place more parts than any memory holds, each level using
the one below twice.  So the placed nodes are counted from the bottom up, once for
each node of the graph, before any is placed.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from impinge.arrays import Floats
from impinge.io.scene import Geometry, Instance

MOST_PLACED = 200_000
"""Parts and groups of parts in one file.

The model of a car has some ten thousand, that of a large building a hundred thousand.
To place this many takes about ten seconds.
"""

DEEPEST = 1_000
"""Levels of groups inside groups; real models have some ten."""


@dataclass(frozen=True, eq=False)
class Use:
    """A node where another node, or the scene, uses it."""

    node: Hashable
    matrix: Floats
    """(4, 4), from the node's frame to the one of its user."""
    name: str = ""
    """The name of this use; empty: the node's."""


@dataclass(frozen=True, eq=False)
class Node:
    """A part, a group of parts, or both."""

    name: str
    shapes: Sequence[tuple[str, Geometry]]
    """Its own geometries, each with the name of the part that it becomes; empty: that of the use."""
    uses: Sequence[Use]


def placed_instances(roots: Sequence[Use], node_at: Callable[[Hashable], Node]) -> list[Instance]:
    """All geometries in the order of the file, each with the product of the matrices above it.

    Parameters
    ----------
    roots
        What the scene shows.
    node_at
        Makes the node of a key; it is called once for each key that is reached.
    """
    nodes = _users_last(roots, node_at)
    placed = _checked_counts(roots, nodes)
    outermost: tuple[str, ...] = ()
    stack = [(root, np.eye(4), outermost) for root in reversed(roots) if placed[root.node]]
    instances: list[Instance] = []
    while stack:
        use, above, inside = stack.pop()
        node = nodes[use.node]
        matrix = above @ use.matrix
        name = use.name or node.name
        instances.extend(Instance(own or name, geometry, matrix, inside) for own, geometry in node.shapes)
        around = (*inside, name) if name else inside
        stack.extend((inner, matrix, around) for inner in reversed(node.uses) if placed[inner.node])
    return instances


def check_number(roots: Sequence[Use], node_at: Callable[[Hashable], Node]) -> None:
    """Refuse what :func:`placed_instances` would refuse, and place nothing."""
    _checked_counts(roots, _users_last(roots, node_at))


def _users_last(roots: Sequence[Use], node_at: Callable[[Hashable], Node]) -> dict[Hashable, Node]:
    """Every node that is reached, after all nodes that it uses."""
    finished: dict[Hashable, Node] = {}
    unfinished: dict[Hashable, Node] = {}  # from a root down to the latest node
    stack = [(root.node, False) for root in reversed(roots)]
    while stack:
        key, uses_are_finished = stack.pop()
        if uses_are_finished:
            finished[key] = unfinished.pop(key)
        elif key in unfinished:
            raise ValueError(f"{unfinished[key].name or key!r} contains itself")
        elif key not in finished:
            if len(unfinished) == DEEPEST:
                raise ValueError(f"its parts are nested more than {DEEPEST:,} levels deep")
            unfinished[key] = node_at(key)
            stack.append((key, True))
            stack.extend((use.node, False) for use in reversed(unfinished[key].uses))
    return finished


def _checked_counts(roots: Sequence[Use], nodes: dict[Hashable, Node]) -> dict[Hashable, int]:
    """How many parts and groups each node places; 0 for a node without any geometry below it."""
    counts: dict[Hashable, int] = {}
    for key, node in nodes.items():
        below = sum(counts[use.node] for use in node.uses)
        counts[key] = below + max(1, len(node.shapes)) if below or node.shapes else 0
    total = sum(counts[root.node] for root in roots)
    if total > MOST_PLACED:
        number = f"{total:,}" if total < 10**15 else f"2**{total.bit_length() - 1}"
        raise ValueError(f"it places {number} parts and groups; more than {MOST_PLACED:,} are not supported")
    return counts
