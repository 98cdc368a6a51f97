"""Convex hulls with exact signs, their features, and the records that kernels read."""
