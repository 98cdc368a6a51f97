"""World: many moving objects, tested frame by frame by a broad phase, filters and a narrow phase."""
