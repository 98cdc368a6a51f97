"""Mesh and what is derived from it: topology, mass properties, assemblies, outlines of contacts."""
