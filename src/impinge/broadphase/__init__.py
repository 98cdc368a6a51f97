"""Broad phases: which pairs of many moving axis-aligned boxes overlap."""
