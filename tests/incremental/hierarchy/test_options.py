"""Options of a hierarchy: what is refused, and by which name."""

from __future__ import annotations

from typing import Any

import pytest

from impinge.incremental.hierarchy.options import Hierarchy


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"kind": "quadtree"}, "kind 'quadtree' is not one of octree, median"),
        ({"faces": "whole"}, "faces 'whole'"),
        ({"update": "never"}, "update 'never'"),
        ({"cuts": ()}, "cuts"),
        ({"cuts": ((2, 2),)}, "cuts"),
        ({"cuts": ((1, 1, 1),)}, "cuts"),
        ({"cuts": ((2, 2, 0),)}, "cuts"),
        ({"cuts": ((2.0, 2, 2),)}, "cuts"),
        ({"cuts": ((100, 100, 100),)}, "cuts"),
        ({"levels": -1}, "levels is -1"),
        ({"levels": 33}, "levels is 33"),
        ({"levels": True}, "levels is True"),
        ({"threshold": 1.5}, "threshold is 1.5"),
    ],
)
def test_bad_options(options: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        Hierarchy(**options)


def test_options_are_values() -> None:
    chosen: Any = [[3, 2, 2], [2, 2, 2]]
    assert Hierarchy(cuts=chosen) == Hierarchy(cuts=((3, 2, 2), (2, 2, 2)))
    assert hash(Hierarchy(cuts=chosen)) == hash(Hierarchy(cuts=((3, 2, 2), (2, 2, 2))))
    assert Hierarchy(cuts=chosen).parts_at(0) == (3, 2, 2)
