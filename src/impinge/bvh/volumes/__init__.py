"""Bounding volumes: oriented boxes, axis-aligned boxes, spheres."""
