"""Hierarchies of boxes that follow a moving body."""
