"""Penetration depth of convex hulls by the expanding polytope algorithm."""
