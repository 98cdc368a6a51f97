"""Where two triangles touch: points, segments, normals, and what neighbouring contacts share."""
