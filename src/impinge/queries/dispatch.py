"""The dispatch table: which method answers a query about two bodies, by their types.

``TABLE`` names, for the types of a and b, the families of methods that answer about such bodies; of these the first one
that has the query is taken.  In the family of meshes a convex hull takes part as the mesh of its faces.  A new type of
body is a family in a file of its own, and its entries here.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

from impinge.arrays import shown
from impinge.bodies import require_body, surface_of
from impinge.bvh.pieces.convex_pieces import ConvexPieces
from impinge.convex.hull.convex_hull import ConvexHull
from impinge.errors import Unsupported
from impinge.mesh.mesh import Mesh
from impinge.queries.method import Method


class Family(NamedTuple):
    """Methods for bodies of the same kind, by name."""

    bodies: str
    verbs: frozenset[str]
    """The queries that they answer."""
    methods: dict[str, str]
    """Name -> module and class; a module is imported when its method is first used, because of its kernels."""

    def method(self, name: Any) -> type[Method]:
        """The method of this name; a ValueError for others."""
        if not isinstance(name, str) or name not in self.methods:
            meant = next((family for family in FAMILIES if isinstance(name, str) and name in family.methods), None)
            raise ValueError(
                f"method {shown(name)} is not one of {', '.join(self.methods)}, which are for {self.bodies}"
                + (f"; it is one for {meant.bodies}" if meant else "")
            )
        module, _, cls = self.methods[name].partition(":")
        found: type[Method] = getattr(import_module(f"impinge.queries.methods.{module}"), cls)
        return found


MESHES = Family(
    "meshes",
    frozenset({"collides", "closer_than", "distance", "contacts", "relation"}),
    {
        "auto": "bvh:BVH",
        "obb": "bvh:BVH",
        "incremental": "incremental:Incremental",
        "brute": "brute_force:BruteForce",
    },
)
HULLS = Family(
    "two convex hulls, impinge.ConvexHull(mesh)",
    frozenset({"collides", "closer_than", "distance", "penetration"}),
    {"auto": "hulls:AutoHulls", "gjk": "hulls:GJK", "vclip": "hulls:VClip", "lin-canny": "hulls:LinCanny"},
)
PIECES = Family(
    "ConvexPieces",
    frozenset({"collides", "closer_than", "distance"}),
    {"auto": "pieces:Pieces", "gjk": "pieces:Pieces"},
)
FAMILIES = (MESHES, HULLS, PIECES)

TABLE: dict[tuple[type, type], tuple[Family, ...]] = {
    (Mesh, Mesh): (MESHES,),
    (ConvexHull, ConvexHull): (HULLS, MESHES),
    (Mesh, ConvexHull): (MESHES,),
    (ConvexHull, Mesh): (MESHES,),
    (ConvexPieces, ConvexPieces): (PIECES,),
    (ConvexPieces, ConvexHull): (PIECES,),
    (ConvexHull, ConvexPieces): (PIECES,),
}
"""Bodies that are not here have no method in common."""

_TYPES = tuple(dict.fromkeys(kind for kinds in TABLE for kind in kinds))


class Route(NamedTuple):
    """The method that answers, and the bodies that take part."""

    method: type[Method]
    a: Any
    b: Any


Direct = dict[tuple[type, type, Any], type[Method]]
_direct: dict[str, Direct] = {}


def direct(verb: str) -> Direct:
    """Methods that were chosen before, by the types of bodies that take part as they are."""
    return _direct.setdefault(verb, {})


def route(verb: str, a: Any, b: Any, method: Any = "auto") -> Route:
    """Choose the method of a query; what is no body at all is named first."""
    require_body(a, "a")
    require_body(b, "b")
    family = _family(verb, a, b)
    chosen = family.method(method)
    found = Route(chosen, surface_of(a), surface_of(b)) if family is MESHES else Route(chosen, a, b)
    if found.a is a and found.b is b:
        direct(verb)[type(a), type(b), method] = chosen
    return found


def _family(verb: str, a: Any, b: Any) -> Family:
    families = TABLE.get((_type_of(a), _type_of(b)), ())
    for family in families:
        if verb in family.verbs:
            return family
    raise _unsupported(verb, a, b)


def _type_of(body: Any) -> type:
    """The type of a body in the table, which may be a base class."""
    return next(kind for kind in _TYPES if isinstance(body, kind))


def _unsupported(verb: str, a: Any, b: Any) -> Unsupported:
    for name, body in (("a", a), ("b", b)):
        if verb == "penetration":
            if isinstance(body, ConvexPieces):
                return Unsupported(
                    f"penetration: {name} is ConvexPieces; it is defined for convex hulls, as {name}.pieces are"
                )
            if isinstance(body, Mesh):
                return Unsupported(
                    f"penetration: {name} is a mesh; it is defined for convex hulls, impinge.ConvexHull({name})"
                )
        elif isinstance(body, ConvexPieces):
            return Unsupported(
                f"{name} is ConvexPieces, which has no triangles: it answers collides, distance and closer_than, and"
                " only together with another ConvexPieces or a ConvexHull"
            )
    return Unsupported(f"{verb} of {type(a).__name__} and {type(b).__name__}")
