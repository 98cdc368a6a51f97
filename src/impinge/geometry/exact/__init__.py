"""Exact arithmetic: predicates with floating-point filters, double-double numbers, big integers."""
