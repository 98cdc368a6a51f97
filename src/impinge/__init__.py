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
    from impinge.bvh.pieces.convex_pieces import ConvexPieces
    from impinge.convex.hull.convex_hull import ConvexHull
    from impinge.errors import MissingExtra, Unsupported
    from impinge.io.files import load, load_assembly
    from impinge.mesh import shapes
    from impinge.mesh.assembly import Assembly, Part
    from impinge.mesh.mesh import Mesh
    from impinge.mesh.repair.diagnose import Diagnosis
    from impinge.mesh.repair.repair import Repair
    from impinge.queries.leaf import LeafOperation, Visits, leaf
    from impinge.queries.pair import Pair
    from impinge.queries.traversal import Traversal
    from impinge.queries.verbs import closer_than, collides, contact_stream, contacts, distance, penetration, relation
    from impinge.results import (
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
    from impinge.world.frame import Frame, FrameStatistics
    from impinge.world.frames import Frames
    from impinge.world.world import World

_HOME = {
    "Assembly": "impinge.mesh.assembly",
    "ContactKind": "impinge.results",
    "ContactLoop": "impinge.results",
    "Contacts": "impinge.results",
    "ConvexHull": "impinge.convex.hull.convex_hull",
    "ConvexPieces": "impinge.bvh.pieces.convex_pieces",
    "Diagnosis": "impinge.mesh.repair.diagnose",
    "Distance": "impinge.results",
    "Feature": "impinge.results",
    "FeatureKind": "impinge.results",
    "Frame": "impinge.world.frame",
    "FrameStatistics": "impinge.world.frame",
    "Frames": "impinge.world.frames",
    "LeafOperation": "impinge.queries.leaf",
    "Mesh": "impinge.mesh.mesh",
    "MissingExtra": "impinge.errors",
    "Pair": "impinge.queries.pair",
    "Part": "impinge.mesh.assembly",
    "Penetration": "impinge.results",
    "Relation": "impinge.results",
    "RelationKind": "impinge.results",
    "Repair": "impinge.mesh.repair.repair",
    "Traversal": "impinge.queries.traversal",
    "Unsupported": "impinge.errors",
    "Visits": "impinge.queries.leaf",
    "World": "impinge.world.world",
    "closer_than": "impinge.queries.verbs",
    "collides": "impinge.queries.verbs",
    "contact_stream": "impinge.queries.verbs",
    "contacts": "impinge.queries.verbs",
    "distance": "impinge.queries.verbs",
    "leaf": "impinge.queries.leaf",
    "load": "impinge.io.files",
    "load_assembly": "impinge.io.files",
    "penetration": "impinge.queries.verbs",
    "relation": "impinge.queries.verbs",
}
_MODULES = {"shapes": "impinge.mesh.shapes"}

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
    "Frames",
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
    "shapes",
]


def __getattr__(name: str) -> object:
    if name in _MODULES:
        value: object = import_module(_MODULES[name])
    elif name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
    else:
        raise AttributeError(f"module 'impinge' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
