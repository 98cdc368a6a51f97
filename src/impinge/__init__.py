"""Exact collision detection for polyhedra.

>>> import impinge
>>> a = impinge.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
>>> a
Mesh(3 vertices, 1 triangle, surface)

The names below are the whole public interface.  They are imported when first
used, so that ``import impinge`` costs a few milliseconds and loads neither
the compiler nor the file readers.
"""

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0.dev0"

if TYPE_CHECKING:
    from impinge.adapters.files import load, load_assembly
    from impinge.convex.hull import ConvexHull
    from impinge.errors import MissingExtra, Unsupported
    from impinge.geometry.assembly import Assembly, Part
    from impinge.geometry.diagnose import Diagnosis
    from impinge.geometry.mesh import Mesh
    from impinge.geometry.repair import Repair
    from impinge.geometry.results import (
        ContactKind,
        ContactLoop,
        Contacts,
        Distance,
        Feature,
        FeatureKind,
        Penetration,
        Relation,
        RelationKind,
    )
    from impinge.trees.convex_pieces import ConvexPieces
    from impinge.world.frame import Frame, FrameStatistics
    from impinge.world.leaf import LeafOperation, Visits, leaf
    from impinge.world.pair import Pair
    from impinge.world.query import closer_than, collides, contact_stream, contacts, distance, penetration, relation
    from impinge.world.traversal import Traversal
    from impinge.world.world import World

_HOME = {
    "Assembly": "impinge.geometry.assembly",
    "ContactKind": "impinge.geometry.results",
    "ContactLoop": "impinge.geometry.results",
    "Contacts": "impinge.geometry.results",
    "ConvexHull": "impinge.convex.hull",
    "ConvexPieces": "impinge.trees.convex_pieces",
    "Diagnosis": "impinge.geometry.diagnose",
    "Distance": "impinge.geometry.results",
    "Feature": "impinge.geometry.results",
    "FeatureKind": "impinge.geometry.results",
    "Frame": "impinge.world.frame",
    "FrameStatistics": "impinge.world.frame",
    "LeafOperation": "impinge.world.leaf",
    "Mesh": "impinge.geometry.mesh",
    "MissingExtra": "impinge.errors",
    "Pair": "impinge.world.pair",
    "Part": "impinge.geometry.assembly",
    "Penetration": "impinge.geometry.results",
    "Relation": "impinge.geometry.results",
    "RelationKind": "impinge.geometry.results",
    "Repair": "impinge.geometry.repair",
    "Traversal": "impinge.world.traversal",
    "Unsupported": "impinge.errors",
    "Visits": "impinge.world.leaf",
    "World": "impinge.world.world",
    "closer_than": "impinge.world.query",
    "collides": "impinge.world.query",
    "contact_stream": "impinge.world.query",
    "contacts": "impinge.world.query",
    "distance": "impinge.world.query",
    "leaf": "impinge.world.leaf",
    "load": "impinge.adapters.files",
    "load_assembly": "impinge.adapters.files",
    "penetration": "impinge.world.query",
    "relation": "impinge.world.query",
}

__all__ = [
    "Assembly",
    "ContactKind",
    "ContactLoop",
    "Contacts",
    "ConvexHull",
    "ConvexPieces",
    "Diagnosis",
    "Distance",
    "Feature",
    "FeatureKind",
    "Frame",
    "FrameStatistics",
    "LeafOperation",
    "Mesh",
    "MissingExtra",
    "Pair",
    "Part",
    "Penetration",
    "Relation",
    "RelationKind",
    "Repair",
    "Traversal",
    "Unsupported",
    "Visits",
    "World",
    "closer_than",
    "collides",
    "contact_stream",
    "contacts",
    "distance",
    "leaf",
    "load",
    "load_assembly",
    "penetration",
    "relation",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'impinge' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
