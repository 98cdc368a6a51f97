"""Bounding volume trees over the triangles of a mesh, and the one search that descends them in pairs."""
