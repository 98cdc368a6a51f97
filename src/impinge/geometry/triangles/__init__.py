"""Two triangles: intersection, distance, clearance; and all pairs of two sets by brute force."""
