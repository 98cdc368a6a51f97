"""Closed surfaces as solids: ray parity, and the cells that meet at a contact."""
