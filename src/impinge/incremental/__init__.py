"""Incremental solid models: what of a body lies on its convex hull, and what is hidden below it."""
