"""Hierarchical sweep and prune over two box hierarchies."""
