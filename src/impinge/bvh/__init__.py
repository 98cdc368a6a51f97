"""Bounding volume hierarchies over the triangles of a mesh, and the one traversal of two of them."""
