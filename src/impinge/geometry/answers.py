"""Answers of kernels about two bodies.

Kernels return integers.  Some have more answers, which stand with them: ``bvh.answers`` (trees),
``convex.distance.gjk`` (UNDECIDED).  What a stage of a world says of hulls and of their features is another thing and
has other names.
"""

APART = 0
"""They have no common point; of a question about a clearance: they are farther apart."""
MEETING = 1
"""They have a common point; of a question about a clearance: they are no farther apart."""
