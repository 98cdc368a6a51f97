"""What the verbs take: meshes and convex hulls."""

from __future__ import annotations

from typing import Any

from impinge.convex.hull import ConvexHull
from impinge.geometry.mesh import Mesh

Body = Mesh | ConvexHull


def require_body(body: Any, name: str) -> None:
    """A ValueError for anything else."""
    if not isinstance(body, Mesh | ConvexHull):
        raise ValueError(f"{name}: expected a Mesh or a ConvexHull, got {type(body).__name__}")


def as_mesh(body: Body, name: str) -> Mesh:
    """A hull takes part in questions about triangles as the mesh of its faces."""
    require_body(body, name)
    return body.mesh if isinstance(body, ConvexHull) else body
