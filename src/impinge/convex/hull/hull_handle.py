# mypy: allow-untyped-defs, allow-incomplete-defs
"""Convex hulls as kernels read them: the handle of a hull, and the records behind its address.

A body has three parts.  ``convex_body`` is what support mappings need, ``body_features`` the feature graph
(``hull.feature_graph``), ``body_cells`` the divided Voronoi cells (``voronoi_cells``), which are made when Lin-Canny
first asks for them.  Planes and points of features and cells are in *centred* coordinates, x - centre: those of the
local frame in the units of the body, so that two bodies have one unit.

The graph of a ConvexHull holds every edge of the exact hull of its vertices; so no vertex but the highest one lies
above all of its neighbours, in exact arithmetic, which is all that hill climbing needs (``convex.distance.support``).
"""

from __future__ import annotations

import itertools
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numba.core import config

from impinge.arrays import Floats
from impinge.convex.features.voronoi_cells import MOST_SIDES, voronoi_cells
from impinge.convex.hull.convex_hull import ConvexHull
from impinge.convex.hull.cube_map import cube_map, squares_along
from impinge.convex.hull.feature_graph import FeatureGraph, feature_graph
from impinge.geometry.float_errors import default_float_errors
from impinge.kernels.jit import inlined
from impinge.kernels.memory import address_of, table


class ConvexBody(NamedTuple):
    """Vertices, as given, and their neighbours."""

    vertices: Any
    """(v, 3)"""
    starts: Any
    """(v + 1,) the neighbours of vertex i are ends[starts[i]] to ends[starts[i + 1] - 1]."""
    ends: Any
    size: int
    """How many vertices there are."""
    radius: float
    """No vertex is farther than this from the origin of its own frame."""
    map: Any
    """Vertices to begin a climb with (``convex.hull.cube_map``),"""
    squares: int
    """and the number of squares along an edge of that cube."""


class BodyFeatures(NamedTuple):
    """The columns of FeatureGraph, in centred coordinates."""

    points: Any
    vertex_starts: Any
    vertex_ends: Any
    vertex_edges: Any
    vertex_faces: Any
    edge_vertices: Any
    edge_faces: Any
    edge_side_planes: Any
    face_starts: Any
    face_vertices: Any
    face_edges: Any
    face_planes: Any
    centre: Any


class BodyCells(NamedTuple):
    """The columns of Cells, in centred coordinates."""

    points: Any
    edge_vertices: Any
    face_starts: Any
    face_vertices: Any
    features: Any
    planes: Any
    beyond: Any
    vertex_cells: Any
    face_cells: Any
    first_edge: int
    inside_shift: int
    centre: Any


# The header: sizes, then addresses.
_VERTICES = 0
_ENDS = 1
_EDGES = 2
_FACES = 3
_CORNERS = 4
_CELLS = 5
_FIRST_EDGE = 6
_INSIDE_SHIFT = 7
_SQUARES = 8
_CONVEX_AT = 9
_FEATURES_AT = _CONVEX_AT + 5
_CELLS_AT = _FEATURES_AT + len(BodyFeatures._fields)
_HEADER = _CELLS_AT + 5


_serials = itertools.count()


class HullHandle:
    """The header of a convex body, and what must stay alive as long as its address is used."""

    __slots__ = ("_header", "_hull", "_keep", "address", "cells", "convex", "features", "kernel", "serial", "size")

    def __init__(self, hull: ConvexHull) -> None:
        self._hull = hull
        self.serial = next(_serials)
        """Tells handles apart, also from those that are no more."""
        self.kernel = import_module("impinge.convex.closest").closest
        self.size = len(hull.vertices)
        starts, ends = hull.neighbours
        radius = radius_of(hull.vertices)
        squares, first = squares_along(len(hull.vertices)), cube_map(hull.vertices)
        self.convex = ConvexBody(hull.vertices, starts, ends, len(hull.vertices), radius, first, squares)
        graph = feature_graph(hull)
        self.features = BodyFeatures(**_feature_columns(graph))
        self.cells: BodyCells | None = None
        self._header = np.zeros(_HEADER, dtype=np.int64)
        self._header[[_VERTICES, _ENDS, _SQUARES]] = len(hull.vertices), len(ends), squares
        self._header[[_EDGES, _FACES, _CORNERS]] = (
            len(graph.edge_vertices), len(graph.face_planes), len(graph.face_vertices),
        )  # fmt: skip
        self._keep: list[Any] = []
        self._put(_CONVEX_AT, hull.vertices, starts, ends, np.array([radius]), first)
        self._put(_FEATURES_AT, *self.features)
        self.address: Any = self if config.DISABLE_JIT else address_of(self._header)

    def _put(self, place: int, *arrays: Any) -> None:
        self._keep += arrays
        if not config.DISABLE_JIT:
            self._header[place : place + len(arrays)] = [address_of(array) for array in arrays]

    def need_cells(self) -> HullHandle:
        """With Voronoi cells."""
        if self.cells is None:
            self._find_cells()
        return self

    @default_float_errors
    def _find_cells(self) -> None:
        cells = voronoi_cells(self._hull)
        planes = _in_units(cells.planes, feature_graph(self._hull).exponent)
        columns = (cells.features, planes, cells.beyond, cells.vertex_starts, cells.face_starts)
        self._header[[_CELLS, _FIRST_EDGE, _INSIDE_SHIFT]] = len(planes), cells.first_edge, cells.inside_shift
        self._put(_CELLS_AT, *columns)
        graph = self.features
        shared = (graph.points, graph.edge_vertices, graph.face_starts, graph.face_vertices)
        self.cells = BodyCells(*shared, *columns, cells.first_edge, cells.inside_shift, graph.centre)


def hull_handle_of(hull: ConvexHull) -> HullHandle:
    """The handle of a hull, made once."""
    return hull.memo(HANDLE, HullHandle)


HANDLE = "convex handle"


def _feature_columns(graph: FeatureGraph) -> dict[str, Any]:
    columns = {name: getattr(graph, name) for name in BodyFeatures._fields if name != "points"}
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


if config.DISABLE_JIT:

    def convex_body(address: Any) -> Any:
        return address.convex

    def body_features(address: Any) -> Any:
        return address.features

    def body_cells(address: Any) -> Any:
        return address.cells

else:
    _header = table(np.int64)
    _numbers = table(np.int32)
    _pairs = table(np.int32, 2)
    _sides = table(np.int32, MOST_SIDES + 1)
    _doubles = table(np.float64)
    _points = table(np.float64, 3)
    _planes = table(np.float64, 4)
    _plane_pairs = table(np.float64, 2, 4)
    _cell_planes = table(np.float64, MOST_SIDES + 1, 4)

    @inlined
    def convex_body(address):
        header = _header(address, _HEADER)
        count = header[_VERTICES]
        return ConvexBody(
            _points(header[_CONVEX_AT], count),
            _numbers(header[_CONVEX_AT + 1], count + 1),
            _numbers(header[_CONVEX_AT + 2], header[_ENDS]),
            count,
            _doubles(header[_CONVEX_AT + 3], 1)[0],
            _numbers(header[_CONVEX_AT + 4], 6 * header[_SQUARES] * header[_SQUARES]),
            header[_SQUARES],
        )

    @inlined
    def _centre(header):
        centre = _doubles(header[_FEATURES_AT + 12], 3)
        return (centre[0], centre[1], centre[2])

    @inlined
    def body_features(address):
        header = _header(address, _HEADER)
        vertices, ends = header[_VERTICES], header[_ENDS]
        edges, faces, corners = header[_EDGES], header[_FACES], header[_CORNERS]
        return BodyFeatures(
            _points(header[_FEATURES_AT], vertices),
            _numbers(header[_FEATURES_AT + 1], vertices + 1),
            _numbers(header[_FEATURES_AT + 2], ends),
            _numbers(header[_FEATURES_AT + 3], ends),
            _numbers(header[_FEATURES_AT + 4], ends),
            _pairs(header[_FEATURES_AT + 5], edges),
            _pairs(header[_FEATURES_AT + 6], edges),
            _plane_pairs(header[_FEATURES_AT + 7], edges),
            _numbers(header[_FEATURES_AT + 8], faces + 1),
            _numbers(header[_FEATURES_AT + 9], corners),
            _numbers(header[_FEATURES_AT + 10], corners),
            _planes(header[_FEATURES_AT + 11], faces),
            _centre(header),
        )

    @inlined
    def body_cells(address):
        header = _header(address, _HEADER)
        vertices, edges, faces = header[_VERTICES], header[_EDGES], header[_FACES]
        cells = header[_CELLS]
        return BodyCells(
            _points(header[_FEATURES_AT], vertices),
            _pairs(header[_FEATURES_AT + 5], edges),
            _numbers(header[_FEATURES_AT + 8], faces + 1),
            _numbers(header[_FEATURES_AT + 9], header[_CORNERS]),
            _numbers(header[_CELLS_AT], cells),
            _cell_planes(header[_CELLS_AT + 1], cells),
            _sides(header[_CELLS_AT + 2], cells),
            _numbers(header[_CELLS_AT + 3], vertices + 1),
            _numbers(header[_CELLS_AT + 4], faces + 1),
            header[_FIRST_EDGE],
            header[_INSIDE_SHIFT],
            _centre(header),
        )
