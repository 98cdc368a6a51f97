"""The types of bodies that queries accept: meshes, convex hulls and bodies of convex pieces."""

from __future__ import annotations

from typing import Any

import numpy as np

from impinge.bvh.pieces.convex_pieces import ConvexPieces
from impinge.convex.hull.convex_hull import ConvexHull
from impinge.errors import Unsupported
from impinge.mesh.mesh import Mesh

Body = Mesh | ConvexHull | ConvexPieces


def require_body(body: Any, name: str) -> None:
    """A ValueError for anything else."""
    if not isinstance(body, Mesh | ConvexHull | ConvexPieces):
        raise ValueError(f"{name}: expected a Mesh, a ConvexHull or ConvexPieces, got {type(body).__name__}")


def surface_of(body: Mesh | ConvexHull) -> Mesh:
    """A hull takes part in queries about triangles as the mesh of its faces."""
    return body.mesh if isinstance(body, ConvexHull) else body


def require_triangles(body: Any, name: str, where: str) -> None:
    """An Unsupported for bodies that only stand for triangles, or have none: what is found would be about others."""
    require_body(body, name)
    if isinstance(body, ConvexHull):
        raise Unsupported(f"{where}: {name} is a ConvexHull; for the triangles of its faces pass {name}.mesh")
    if isinstance(body, ConvexPieces):
        raise Unsupported(
            f"{where}: {name} is ConvexPieces, which has no triangles; for those of a piece pass {name}.pieces[i].mesh"
        )


def hull_of(body: Body) -> ConvexHull:
    """The convex hull of a body, made once."""
    if isinstance(body, ConvexPieces):
        return body.memo("convex_hull", _hull_of_pieces)
    return ConvexHull(body)


def _hull_of_pieces(body: ConvexPieces) -> ConvexHull:
    return ConvexHull(np.concatenate([piece.vertices for piece in body.pieces]))
