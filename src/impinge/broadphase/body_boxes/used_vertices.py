"""The vertices of a body that its surface has: others bound nothing."""

from __future__ import annotations

import numpy as np

from impinge.arrays import Floats
from impinge.bodies import Body
from impinge.mesh.mesh import Mesh


def used_vertices(body: Body) -> Floats:
    """All vertices that are used."""
    if isinstance(body, Mesh):
        return body.memo("used vertices", lambda mesh: mesh.vertices[np.unique(mesh.faces)])
    return body.vertices
