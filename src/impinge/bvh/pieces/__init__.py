"""Unions of convex pieces, as leaves of the one traversal."""
