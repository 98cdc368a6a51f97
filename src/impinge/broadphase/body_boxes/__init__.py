"""Bounding boxes of moving bodies, which hold every posed vertex for certain."""
