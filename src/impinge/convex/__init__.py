"""Convex bodies: exact hulls, their features and Voronoi cells; GJK, EPA, V-Clip and Lin-Canny."""
