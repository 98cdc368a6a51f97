"""Voronoi cells of features, and the walks over them: V-Clip and Lin-Canny."""
