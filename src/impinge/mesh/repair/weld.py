"""Welding: vertices of open edges that are close to each other become one, which closes cracks.

No vertex is removed or renumbered: the corners of faces go over to the vertex that stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from impinge.arrays import Floats, Ints, real_array, shown
from impinge.constants import LARGEST_COORDINATE
from impinge.mesh import topology
from impinge.mesh.mesh import Mesh, mesh_of_arrays
from impinge.mesh.repair.cracks import find_cracks
from impinge.mesh.topology import AnyInts

Weld: TypeAlias = "float | Literal['auto'] | None"
"""How far apart vertices of open edges may be to become one: a length, ``"auto"`` for what is equal but for rounding
(``Diagnosis.cracks``), ``None`` for no welding."""

_MOST_NEAR = 64
"""Vertices within a length of one vertex, on average; more say that the length is a mistake."""


@dataclass(frozen=True, eq=False)
class Welding:
    """A welded mesh, and what welding did."""

    mesh: Mesh
    """A surface, even where the given mesh is a solid."""
    vertices: int
    """Vertices that were taken for another one."""
    largest_move: float
    """The largest distance from such a vertex to the one that it was taken for."""


def as_weld(value: Any) -> Weld:
    """What a caller gives, checked; 0 is None."""
    if value is None:
        return None
    if isinstance(value, str):
        if value == "auto":
            return "auto"
        raise ValueError(f"weld is {value!r}; it must be a length, 'auto' or None")
    array = real_array(value, "weld")
    if array.ndim != 0 or not 0.0 <= float(array) <= LARGEST_COORDINATE:
        raise ValueError(f"weld is {shown(value)}; it must be a length of 0 or more, 'auto' or None")
    return float(array) or None


def weld(mesh: Mesh, reach: float | Literal["auto"]) -> Welding:
    """Take vertices of open edges for the nearest earlier one within reach; those that an edge joins stay apart."""
    edges = topology.edges(mesh).pairs
    pairs = _close_pairs(mesh.vertices, edges, topology.open_edges(mesh), reach)
    in_pair = np.zeros(len(mesh.vertices), dtype=np.bool_)
    in_pair[pairs] = True
    target = _leaders(pairs, edges[in_pair[edges].all(axis=1)], len(mesh.vertices))
    gone = np.flatnonzero(target != np.arange(len(target)))
    stays = target[gone]
    merged = topology.merged_vertices(mesh)
    moved = target[merged]
    faces = np.where((moved != merged)[mesh.faces], moved[mesh.faces], mesh.faces)
    moves = _distances(mesh.vertices, gone, stays)
    welded = mesh_of_arrays(mesh.vertices, faces, mesh.polygon, False)
    return Welding(welded, len(gone), float(moves.max(initial=0.0)))


def _close_pairs(points: Floats, edges: Ints, open_edges: Ints, reach: float | Literal["auto"]) -> Ints:
    """(k, 2) pairs of vertices of open edges that are within reach of each other, the nearest first."""
    if isinstance(reach, str):
        pairs = find_cracks(points, edges, open_edges)
    else:
        pairs = _pairs_within(points, np.unique(open_edges), reach)
    return pairs[np.argsort(_distances(points, pairs[:, 0], pairs[:, 1]), kind="stable")]


def _pairs_within(points: Floats, some: Ints, length: float) -> Ints:
    if len(some) == 0:
        return np.zeros((0, 2), dtype=np.int32)
    from scipy.spatial import cKDTree  # type: ignore[import-untyped]

    # Brought to a size of one by a power of two, so that no square underflows or overflows.
    exponent = int(np.frexp(np.abs(points[some]).max())[1])
    tree, radius = cKDTree(np.ldexp(points[some], -exponent)), float(np.ldexp(length, -exponent))
    if tree.count_neighbors(tree, radius) > _MOST_NEAR * len(some):
        raise ValueError(f"weld is {length:g}; it is larger than most faces at open edges")
    pairs: Ints = some[tree.query_pairs(radius, output_type="ndarray")]
    return pairs


def _distances(points: Floats, one: AnyInts, other: AnyInts) -> Floats:
    x, y, z = (points[one] - points[other]).T
    distances: Floats = np.hypot(np.hypot(x, y), z)  # which takes care of squares too small or too large
    return distances


def _leaders(pairs: Ints, tied: Ints, count: int) -> Ints:
    """(count,) the vertex that each becomes: one near it with a smaller number, which itself stays.

    ``pairs`` are near each other, the nearest first; those that are ``tied`` stay apart.
    """
    target = np.arange(count, dtype=np.int32)
    group = topology.connected_parts(count, pairs[:, 0], pairs[:, 1])
    first = np.unique(group, return_index=True)[1].astype(np.int32)
    leader = first[group]
    # Almost always all of a group are near the first of it, and no edge joins two of them.
    others = np.bincount(group) - 1
    near_first = np.bincount(group[pairs[(pairs == leader[pairs]).any(axis=1), 0]], minlength=len(first))
    plain = near_first == others
    plain[group[tied[group[tied[:, 0]] == group[tied[:, 1]], 0]]] = False
    target[plain[group]] = leader[plain[group]]
    rest = _one_by_one(pairs[~plain[group[pairs[:, 0]]]], tied[~plain[group[tied]].any(axis=1)])
    target[list(rest)] = list(rest.values())
    return target


def _one_by_one(pairs: Ints, tied: Ints) -> dict[int, int]:
    """What each vertex becomes, the nearest that is allowed."""
    near, kept_apart = _mutual(pairs.tolist()), _mutual(tied.tolist())
    becomes: dict[int, int] = {}
    groups: dict[int, set[int]] = {}
    for vertex in sorted(near):
        for leader in near[vertex]:
            members = groups.setdefault(leader, {leader})
            if leader < vertex and leader not in becomes and members.isdisjoint(kept_apart.get(vertex, [])):
                becomes[vertex] = leader
                members.add(vertex)
                break
    return becomes


def _mutual(pairs: Iterable[Sequence[int]]) -> dict[int, list[int]]:
    """For each end of a pair, the other ends."""
    found: dict[int, list[int]] = {}
    for a, b in pairs:
        found.setdefault(a, []).append(b)
        found.setdefault(b, []).append(a)
    return found
