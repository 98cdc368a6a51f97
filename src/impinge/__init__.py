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
    from impinge.errors import MissingExtra, Unsupported
    from impinge.geometry.assembly import Assembly, Part
    from impinge.geometry.diagnose import Diagnosis
    from impinge.geometry.mesh import Mesh
    from impinge.geometry.results import ContactKind, Contacts, Distance, Relation, RelationKind
    from impinge.world.query import closer_than, collides, contacts, distance, relation

_HOME = {
    "Assembly": "impinge.geometry.assembly",
    "ContactKind": "impinge.geometry.results",
    "Contacts": "impinge.geometry.results",
    "Diagnosis": "impinge.geometry.diagnose",
    "Distance": "impinge.geometry.results",
    "Mesh": "impinge.geometry.mesh",
    "MissingExtra": "impinge.errors",
    "Part": "impinge.geometry.assembly",
    "Relation": "impinge.geometry.results",
    "RelationKind": "impinge.geometry.results",
    "Unsupported": "impinge.errors",
    "closer_than": "impinge.world.query",
    "collides": "impinge.world.query",
    "contacts": "impinge.world.query",
    "distance": "impinge.world.query",
    "load": "impinge.adapters.files",
    "load_assembly": "impinge.adapters.files",
    "relation": "impinge.world.query",
}

__all__ = [
    "Assembly",
    "ContactKind",
    "Contacts",
    "Diagnosis",
    "Distance",
    "Mesh",
    "MissingExtra",
    "Part",
    "Relation",
    "RelationKind",
    "Unsupported",
    "closer_than",
    "collides",
    "contacts",
    "distance",
    "load",
    "load_assembly",
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
