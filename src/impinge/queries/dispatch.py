"""The dispatch table: which method answers a query about two bodies, by their types.

``TABLE`` names, for the types of a and b, the families of methods that answer about such bodies; of these the first one
that has the query is taken.  In the family of meshes a convex hull takes part as the mesh of its faces.  A new type of
body is one ``Family`` here, and its methods in a file of ``queries.methods``.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from itertools import product
from typing import Any, NamedTuple

from impinge.arrays import shown
from impinge.bodies import BODY_TYPES, require_body, surface_of
from impinge.bvh.pieces.convex_pieces import ConvexPieces
from impinge.convex.hull.convex_hull import ConvexHull
from impinge.errors import Unsupported
from impinge.mesh.mesh import Mesh
from impinge.queries.method import Method


class Family(NamedTuple):
    """Methods for bodies of the same kind, by name."""

    bodies: str
    pairs: tuple[tuple[type, type], ...]
    """The types of bodies that it answers about, in either order."""
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


HULLS = Family(
    "two convex hulls, impinge.ConvexHull(mesh)",
    ((ConvexHull, ConvexHull),),
    frozenset({"collides", "closer_than", "distance", "penetration"}),
    {"auto": "hulls:AutoHulls", "gjk": "hulls:GJK", "vclip": "hulls:VClip", "lin-canny": "hulls:LinCanny"},
)
PIECES = Family(
    "ConvexPieces",
    ((ConvexPieces, ConvexPieces), (ConvexPieces, ConvexHull)),
    frozenset({"collides", "closer_than", "distance"}),
    {"auto": "pieces:Pieces", "gjk": "pieces:Pieces"},
)
MESHES = Family(
    "meshes",
    ((Mesh, Mesh), (Mesh, ConvexHull), (ConvexHull, ConvexHull)),
    frozenset({"collides", "closer_than", "distance", "contacts", "relation"}),
    {
        "auto": "bvh:BVH",
        "obb": "bvh:BVH",
        "incremental": "incremental:Incremental",
        "brute": "brute_force:BruteForce",
    },
)
FAMILIES = (HULLS, PIECES, MESHES)
"""The first that has a query answers it: hulls are asked about as hulls, and only about triangles as meshes."""

TABLE: dict[tuple[type, type], tuple[Family, ...]] = {
    (a, b): tuple(family for family in FAMILIES if (a, b) in family.pairs or (b, a) in family.pairs)
    for a, b in product(BODY_TYPES, repeat=2)
}


class Route(NamedTuple):
    """The method that answers, and the bodies that take part."""

    method: type[Method]
    a: Any
    b: Any


Direct = dict[tuple[type, type, Any], tuple[type[Method], Callable[..., Any]]]
"""By the types of a and b and the name of a method: the method, and its way for one pose of each body."""
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
        direct(verb)[type(a), type(b), method] = chosen, getattr(chosen, f"{verb}_once", chosen)
    return found


def _family(verb: str, a: Any, b: Any) -> Family:
    for family in TABLE[_type_of(a), _type_of(b)]:
        if verb in family.verbs:
            return family
    raise _unsupported(verb, a, b)


def _type_of(body: Any) -> type:
    """The type of a body in the table, which may be a base class."""
    return next(kind for kind in BODY_TYPES if isinstance(body, kind))


def _unsupported(verb: str, a: Any, b: Any) -> Unsupported:
    """Name the body that is in the way, and what there is for it."""
    families = [family for family in FAMILIES if verb in family.verbs]
    able = {frozenset(pair) for family in families for pair in family.pairs}
    kinds = {kind for pair in able for kind in pair}
    name, body = next(
        ((name, body) for name, body in (("a", a), ("b", b)) if _type_of(body) not in kinds),
        ("a", a) if isinstance(a, ConvexPieces) else ("b", b),
    )
    hint = f", as {name}.pieces are" if isinstance(body, ConvexPieces) else f", impinge.ConvexHull({name})"
    if verb == "penetration":
        return Unsupported(f"penetration: {name} is {_called(body)}; it is defined for convex hulls{hint}")
    partners = sorted({other.__name__ for pair in able if _type_of(body) in pair for other in pair})
    answers = sorted(
        {each for pair, found in TABLE.items() if _type_of(body) in pair for f in found for each in f.verbs}
    )
    return Unsupported(
        f"{verb}: {name} is {_called(body)}; it answers {', '.join(answers)}"
        + (f", {verb} only together with {' or '.join(partners)}" if partners else "")
    )


def _called(body: Any) -> str:
    return "a mesh" if isinstance(body, Mesh) else type(body).__name__
