"""Frames: what one detection of a world found in many configurations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Bools
from impinge.results import Contacts, Distance


@dataclass(frozen=True, eq=False)
class Frames:
    """The pairs of objects for which a query of a world has the answer yes, in each of many configurations.

    It has a length, the number of configurations.

    Examples
    --------
    >>> import numpy as np
    >>> from impinge import World, shapes
    >>> world = World()
    >>> for name in ("left", "right"):
    ...     _ = world.add(shapes.box(1, 1, 1), name=name)
    >>> poses = np.tile(np.eye(4), (4, 2, 1, 1))
    >>> poses[:, 1, 0, 3] = 0.0, 0.5, 1.0, 1.5
    >>> frames = world.detect(poses=poses)
    >>> frames
    Frames(collides: 4 configurations, 3 with a pair)
    >>> frames.colliding.tolist(), frames.frame.tolist()
    ([True, True, True, False], [0, 1, 2])
    """

    query: str
    """The query, as it was given to ``World.detect``."""
    colliding: Bools
    """(n,) whether any pair of a configuration has the answer yes."""
    frame: NDArray[np.int64]
    """(m,) the configuration of each such pair, ascending;"""
    pairs: NDArray[np.int64]
    """(m, 2) its ids, the smaller one first; sorted within a configuration."""
    contacts: Contacts | None
    """For ``contacts``: ``contacts.pose`` is an index into ``pairs``, and so into ``frame``."""
    distance: Distance | None
    """For ``distance``: one value, two witness points and two faces for each pair."""

    def __len__(self) -> int:
        return len(self.colliding)

    def __repr__(self) -> str:
        return f"Frames({self.query}: {len(self)} configurations, {np.count_nonzero(self.colliding)} with a pair)"
