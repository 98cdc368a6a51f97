"""Polygon meshes and what is derived from them: topology, mass, diagnosis, repair, assemblies, contact loops."""
