"""Convex hulls with exact signs, their features, and how kernels see them."""
