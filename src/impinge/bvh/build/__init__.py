"""From triangles to nodes of eight slots."""
