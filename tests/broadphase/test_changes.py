"""What one update changed, as a value."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from impinge.broadphase.changes import Changes


def test_pairs_are_those_that_began_and_those_that_persist() -> None:
    changes = Changes(np.array([[1, 2], [4, 9]]), np.array([[0, 1]]), np.array([[1, 3], [4, 5]]))
    assert changes.pairs.tolist() == [[1, 2], [1, 3], [4, 5], [4, 9]]
    assert changes.pairs is changes.pairs
    assert repr(changes) == "Changes(2 began, 1 ended, 2 persist)"
    with pytest.raises(dataclasses.FrozenInstanceError):
        changes.began = changes.ended  # type: ignore[misc]
