"""Where two convex hulls interpenetrate."""
