"""How many features a Pair of convex bodies passes along a path."""

from __future__ import annotations

from typing import Any

import impinge
from impinge.arrays import Floats


def features_passed(pair: impinge.Pair, path_a: Floats | None, path_b: Floats | None) -> int:
    """Steps from one pair of features to another, or support directions of GJK; one path is (k, 4, 4), or both are.

    The walk to the features of the first pose does not count.
    """
    hulls: Any = pair
    path = path_a if path_a is not None else path_b
    assert path is not None
    hulls.distance(_first(path_a), _first(path_b))
    before = hulls.statistics.effort
    hulls.distance(path_a, path_b)
    after = hulls.statistics.effort
    if hulls.method == "gjk":
        return int(after.gjk_steps - before.gjk_steps)
    # V-Clip counts the test that tells that the features are still the nearest ones, Lin-Canny does not.
    tests = len(path) if hulls.method == "vclip" else 0
    return int(after.feature_steps - before.feature_steps) - tests


def _first(path: Floats | None) -> Floats | None:
    return None if path is None else path[0]
