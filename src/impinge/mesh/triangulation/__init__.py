"""Polygons of any size, cut into triangles."""
