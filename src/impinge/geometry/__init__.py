"""Poses, exact arithmetic and predicates, triangles, contacts: no meshes yet."""
