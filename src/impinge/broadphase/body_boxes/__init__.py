"""Boxes of moving bodies that hold every posed vertex."""
