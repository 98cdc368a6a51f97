"""Meshes of common shapes: box, sphere, cylinder, cone, capsule, torus, prism and heightfield.

All are centred at the origin, with the z axis as the axis of revolution, and wound so that normals point outward; all
but the open heightfield are solids.  Curved surfaces are inscribed: their vertices lie on the true surface.

Coordinates are as symmetric as the shape.  Vertices that mirror each other do so bit by bit, a vertex in a coordinate
plane has a coordinate of exactly 0.0 there, and whole sizes give whole or half coordinates wherever a quarter or a
twelfth of a turn allows it, so that faces of different shapes can be made to meet exactly.

``Mesh.polygon`` numbers the flat facets: the six sides of a box, the two caps of a cylinder, each trapezoid of a torus.
Spheres and heightfields consist of triangles.
"""

from impinge.mesh.shapes.polyhedra import box, heightfield, prism
from impinge.mesh.shapes.revolution import capsule, cone, cylinder, torus
from impinge.mesh.shapes.subdivision import sphere

__all__ = ["box", "capsule", "cone", "cylinder", "heightfield", "prism", "sphere", "torus"]
