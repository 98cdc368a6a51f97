"""Convex bodies: exact hulls, their features and Voronoi cells, and closest features."""
