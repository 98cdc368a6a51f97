"""Diagnosis of meshes, and the repair of what can be mended without a guess."""
