"""A KeyboardInterrupt at every line of a question to a Pair: its next answers are those from scratch."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import impinge
from impinge import ConvexHull, ConvexPieces, Pair
from impinge.arrays import Floats
from impinge.lab.interruption import interruptions
from impinge.lab.scenes.shapes import box, torus

BOX, RING = box(1, 1, 1), torus(0.6, 0.2, 8, 4)
PIECES = ConvexPieces([BOX, ConvexHull(RING)])
PAIRS: dict[str, Callable[[], Pair]] = {
    "trees": lambda: Pair(BOX, RING),
    "hulls": lambda: Pair(ConvexHull(BOX), ConvexHull(RING)),
    "features": lambda: Pair(ConvexHull(BOX), ConvexHull(RING), "lin-canny"),
    "pieces": lambda: Pair(PIECES, ConvexHull(BOX)),
    "incremental": lambda: Pair(BOX, RING, "incremental"),
}
VERBS = ("collides", "distance", "closer_than")


def at(x: float) -> Floats:
    pose = np.eye(4)
    pose[0, 3] = x
    return pose


def ask(bodies: Any, verb: str, x: float) -> Any:
    """A pair, or the verbs of two bodies."""
    limit = (0.25,) if verb == "closer_than" else ()
    if isinstance(bodies, Pair):
        answer = getattr(bodies, verb)(*limit, None, at(x))
    else:
        answer = getattr(impinge, verb)(*bodies, *limit, None, at(x))
    return answer.value if verb == "distance" else answer


@pytest.mark.nojit_slow
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("name", PAIRS)
def test_a_question_may_be_interrupted(name: str, verb: str) -> None:
    pair = PAIRS[name]()
    places = [2.0, 0.4, 1.2, 0.9, 1.7, 3.0]
    expected = {x: {each: ask((pair.a, pair.b), each, x) for each in VERBS} for x in places}
    for x in places:
        ask(pair, verb, x)  # whatever has to be compiled is compiled
    following = itertools.cycle(places)
    count = 0
    for _ in interruptions(lambda: ask(pair, verb, next(following))):
        count += 1
        for each in VERBS:
            x = next(following)
            assert ask(pair, each, x) == expected[x][each]
    assert count > 5
