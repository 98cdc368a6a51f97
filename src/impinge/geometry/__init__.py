"""Arrays, poses, exact predicates, triangles, meshes and result types."""
