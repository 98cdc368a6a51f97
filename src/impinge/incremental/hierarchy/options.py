"""Hierarchy: how the boxes over the faces of a body are arranged, divided and moved.

Ponamgi, Manocha and Lin (1995), 4.5: the number of cuts along each axis, how deep, and how many vertices a box may
hold undivided are the user's to set.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

KINDS = ("octree", "median")
FACES = ("divided", "trimmed")
UPDATES = ("exact", "rotating", "interpolated")

MOST_LEVELS = 32
_MOST_PARTS = 4096
"""Children of one box."""


@dataclass(frozen=True)
class Hierarchy:
    """Options; ``Hierarchy(levels=0)`` is no hierarchy, one list of all faces.

    The defaults were the quickest, or close to it, on interlocked tori of 384 to 2,560 triangles.  There boxes for
    every orientation (``rotating``) took five to eight times as long as ``interpolated`` ones, and trimmed faces up to
    twice as long as divided ones.

    >>> Hierarchy("median", cuts=((3, 2, 2), (2, 2, 2)), levels=2).parts_at(5)
    (2, 2, 2)
    """

    kind: str = "octree"
    """``octree`` cuts a box at uniform distances; ``median`` at medians of vertices, x first, then y in each part, then
    z."""
    cuts: tuple[tuple[int, int, int], ...] = ((2, 2, 2),)
    """Parts along x, y and z for each level; the last holds for all that follow."""
    levels: int = 8
    """How often a box may be divided, at most 32."""
    threshold: int = 8
    """A box with no more vertices than this stays whole."""
    faces: str = "divided"
    """``divided``: each face in one box, which grows to hold it; ``trimmed``: a piece of it in every box it meets."""
    update: str = "interpolated"
    """How boxes follow a rotation, see ``incremental.hierarchy.box_updates``."""

    def __post_init__(self) -> None:
        for name, value, known in (
            ("kind", self.kind, KINDS), ("faces", self.faces, FACES), ("update", self.update, UPDATES),
        ):  # fmt: skip
            if value not in known:
                raise ValueError(f"{name} {value!r} is not one of {', '.join(known)}")
        object.__setattr__(self, "cuts", tuple(_as_parts(parts) for parts in self.cuts))
        if not self.cuts:
            raise ValueError("cuts: at least one level is needed, as in ((2, 2, 2),)")
        for name, number, most in (("levels", self.levels, MOST_LEVELS), ("threshold", self.threshold, 2**31)):
            if type(number) is not int or not 0 <= number <= most:
                raise ValueError(f"{name} is {number!r}; it must be a whole number from 0 to {most}")

    def parts_at(self, level: int) -> tuple[int, int, int]:
        """Into how many parts along each axis a box of this level is divided."""
        return self.cuts[min(level, len(self.cuts) - 1)]


def _as_parts(parts: Sequence[int]) -> tuple[int, int, int]:
    whole = len(parts) == 3 and all(type(part) is int and part >= 1 for part in parts)
    if not whole or not 2 <= prod(parts) <= _MOST_PARTS:
        raise ValueError(f"cuts: {parts!r} must be three whole numbers, with a product from 2 to {_MOST_PARTS}")
    x, y, z = parts
    return x, y, z
