"""Convex hulls as kernels read them: the handle of a hull, and the record behind its address.

A body has three parts: what support mappings need, the feature graph (``hull.feature_graph``), and the divided Voronoi
cells (``voronoi_cells``), which are made when Lin-Canny first asks for them.  Planes and points of features and cells
are in *centred* coordinates, x - centre: those of the local frame in the units of the body, so that two bodies have one
unit.

The graph of a ConvexHull holds every edge of the exact hull of its vertices; so no vertex but the highest one lies
above all of its neighbours, in exact arithmetic, which is all that hill climbing needs (``convex.distance.support``).
"""

from __future__ import annotations

import itertools
import threading
from importlib import import_module
from typing import Any

import numpy as np

from impinge.arrays import Floats
from impinge.convex.features.voronoi_cells import MOST_SIDES, voronoi_cells
from impinge.convex.hull.convex_hull import ConvexHull
from impinge.convex.hull.cube_map import cube_map, squares_along
from impinge.convex.hull.feature_graph import FeatureGraph, feature_graph
from impinge.geometry.float_errors import default_float_errors
from impinge.kernels.record import Record, float64, int32, int64


class ConvexBody(Record, constant=True):
    """A hull, for every method."""

    # Vertices, as given, and their neighbours.
    vertices = float64[:, 3]
    starts = int32[:]
    """The neighbours of vertex i are ends[starts[i]] to ends[starts[i + 1] - 1]."""
    ends = int32[:]
    radius = float64
    """No vertex is farther than this from the origin of its own frame."""
    map = int32[:]
    """Vertices to begin a climb with (``convex.hull.cube_map``),"""
    squares = int64
    """and the number of squares along an edge of that cube."""

    # The columns of FeatureGraph, in centred coordinates.
    centre = float64[3]
    points = float64[:, 3]
    vertex_starts = int32[:]
    vertex_ends = int32[:]
    vertex_edges = int32[:]
    vertex_faces = int32[:]
    edge_vertices = int32[:, 2]
    edge_faces = int32[:, 2]
    edge_side_planes = float64[:, 2, 4]
    face_starts = int32[:]
    face_vertices = int32[:]
    face_edges = int32[:]
    face_planes = float64[:, 4]

    # The columns of Cells, in centred coordinates.
    cell_features = int32[:]
    """Which vertex or face a cell belongs to."""
    cell_planes = float64[:, MOST_SIDES + 1, 4]
    beyond = int32[:, MOST_SIDES + 1]
    vertex_cells = int32[:]
    face_cells = int32[:]
    first_edge = int64
    inside_shift = int64


convex_body = ConvexBody.at

_FEATURE_COLUMNS = (
    "vertex_starts", "vertex_ends", "vertex_edges", "vertex_faces", "edge_vertices", "edge_faces", "edge_side_planes",
    "face_starts", "face_vertices", "face_edges", "face_planes", "centre",
)  # fmt: skip


_serials = itertools.count()
_one_at_a_time = threading.Lock()


class HullHandle:
    """A hull ready for kernels: its address is valid as long as this is alive."""

    __slots__ = ("_hull", "address", "body", "has_cells", "kernel", "serial", "size")

    def __init__(self, hull: ConvexHull) -> None:
        self._hull = hull
        self.serial = next(_serials)
        """Tells handles apart, also from those that are no more."""
        self.kernel = import_module("impinge.convex.closest").closest
        self.size = len(hull.vertices)
        starts, ends = hull.neighbours
        self.body = ConvexBody(
            vertices=hull.vertices,
            starts=starts,
            ends=ends,
            radius=radius_of(hull.vertices),
            map=cube_map(hull.vertices),
            squares=squares_along(len(hull.vertices)),
            **_feature_columns(feature_graph(hull)),
        )
        self.has_cells = False
        self.address: Any = self.body.address

    def need_cells(self) -> HullHandle:
        """With Voronoi cells."""
        if not self.has_cells:
            with _one_at_a_time:  # kernels of another thread may be reading them already
                if not self.has_cells:
                    self._find_cells()
        return self

    @default_float_errors
    def _find_cells(self) -> None:
        cells = voronoi_cells(self._hull)
        body = self.body
        body.cell_features, body.beyond = cells.features, cells.beyond
        body.cell_planes = _in_units(cells.planes, feature_graph(self._hull).exponent)
        body.vertex_cells, body.face_cells = cells.vertex_starts, cells.face_starts
        body.first_edge, body.inside_shift = cells.first_edge, cells.inside_shift
        self.has_cells = True


def hull_handle_of(hull: ConvexHull) -> HullHandle:
    """The handle of a hull, made once."""
    return hull.memo(HANDLE, HullHandle)


HANDLE = "convex handle"


def _feature_columns(graph: FeatureGraph) -> dict[str, Any]:
    columns = {name: getattr(graph, name) for name in _FEATURE_COLUMNS}
    columns["points"] = np.ldexp(graph.local, graph.exponent)
    for name in ("edge_side_planes", "face_planes"):
        columns[name] = _in_units(columns[name], graph.exponent)
    return columns


def _in_units(planes: Floats, exponent: int) -> Floats:
    """Planes of the local frame in centred coordinates."""
    scaled = planes.copy()
    scaled[..., 3] = np.ldexp(scaled[..., 3], exponent)
    return scaled


def radius_of(points: Floats) -> float:
    """How far the farthest point is from the origin, rounded outward; no square overflows or vanishes."""
    largest = np.abs(points).max()
    unit = np.ldexp(1.0, np.frexp(largest)[1])
    return float(np.sqrt(((points / unit) ** 2).sum(axis=1)).max() * unit * (1.0 + 2.0**-50)) + 2.0**-1070
