"""The types of bodies that queries accept: meshes, convex hulls and bodies of convex pieces."""

from __future__ import annotations

from typing import Any, get_args

from impinge.bvh.pieces.convex_pieces import ConvexPieces
from impinge.convex.hull.convex_hull import ConvexHull
from impinge.errors import Unsupported
from impinge.mesh.mesh import Mesh

Body = Mesh | ConvexHull | ConvexPieces
"""A body has ``solid``, ``bounds``, ``vertices``, whose convex hull holds it, and ``memo``; it pickles."""

BODY_TYPES: tuple[type, ...] = get_args(Body)


def require_body(body: Any, name: str) -> None:
    """A ValueError for anything else."""
    if not isinstance(body, BODY_TYPES):
        *others, last = (kind.__name__ for kind in BODY_TYPES)
        raise ValueError(f"{name}: expected {', '.join(others)} or {last}, got {type(body).__name__}")


def has_triangles(body: Any) -> bool:
    """Whether it is a mesh, or has one (``surface_of``)."""
    return isinstance(body, Mesh | ConvexHull)


def surface_of(body: Mesh | ConvexHull) -> Mesh:
    """A hull takes part in queries about triangles as the mesh of its faces."""
    return body.mesh if isinstance(body, ConvexHull) else body


def require_triangles(body: Any, name: str, where: str) -> None:
    """An Unsupported for bodies that only stand for triangles, or have none: what is found would be about others."""
    require_body(body, name)
    if isinstance(body, Mesh):
        return
    if isinstance(body, ConvexHull):
        raise Unsupported(f"{where}: {name} is a ConvexHull; for the triangles of its faces pass {name}.mesh")
    hint = f"; for those of a piece pass {name}.pieces[i].mesh" if isinstance(body, ConvexPieces) else ""
    raise Unsupported(f"{where}: {name} is {type(body).__name__}, which has no triangles{hint}")


def hull_of(body: Body) -> ConvexHull:
    """The convex hull of a body, made once."""
    if isinstance(body, Mesh | ConvexHull):
        return ConvexHull(body)
    return body.memo("convex_hull", lambda body: ConvexHull(body.vertices))
