"""Frames of many moving bodies, timed and compared: what the sections of the benchmark ``world`` share."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from impinge.arrays import Floats
from impinge.bodies import Body
from impinge.broadphase.body_boxes.body_boxes import BodyBoxes
from impinge.broadphase.choice import broad_phase
from impinge.lab.bench.world_peers import Frames, Pairs

WARM = 2
"""Frames before those that count."""

_SLOW = 5.0
"""Seconds; a library that takes longer for a frame is measured for one."""


@dataclass(kw_only=True)
class Measured:
    """What a scene was measured to have and to take; a number for each that took part."""

    box_pairs: float = 0.0
    collisions: float = 0.0
    seconds: dict[str, float] = field(default_factory=dict)
    """A frame."""
    different: dict[str, int] = field(default_factory=dict)
    """Pairs that somebody finds otherwise."""


Differing = set[tuple[int, int, int]]
"""(frame, a, b) of pairs that somebody finds otherwise."""


def box_pairs(bodies: Sequence[Body], shown: Sequence[Floats]) -> list[Pairs]:
    """The pairs whose boxes overlap, of each frame; bodies that have no pose in it stay where they are."""
    boxes, broad = BodyBoxes(bodies), broad_phase()
    still = np.broadcast_to(np.eye(4), (len(bodies) - len(shown[0]), 4, 4))
    broad.add(boxes.boxes(np.concatenate([shown[0], still])))
    return [broad.update(boxes.boxes(np.concatenate([poses, still]))).pairs for poses in shown]


def timed(ask: Callable[[Floats], object], shown: Sequence[Floats]) -> Floats:
    """Seconds of each frame after the first ones."""
    spent = []
    for poses in shown:
        start = time.perf_counter()
        ask(poses)
        spent.append(time.perf_counter() - start)
    return np.array(spent[WARM:])


def compared(
    peer: Frames, shown: Sequence[Floats], truth: Sequence[Pairs], overlapping: Sequence[Pairs]
) -> tuple[Floats, Differing]:
    """Seconds of each frame after the first ones; and what the peer finds otherwise."""
    spent: list[float] = []
    differing: Differing = set()
    for number, poses in enumerate(shown):
        start = time.perf_counter()
        found = peer(poses, overlapping[number])
        spent.append(time.perf_counter() - start)
        theirs, ours = ({(min(pair), max(pair)) for pair in pairs.tolist()} for pairs in (found, truth[number]))
        differing |= {(number, a, b) for a, b in theirs ^ ours}
        if len(spent) > WARM and spent[-1] > _SLOW:
            break
    seconds = np.array(spent[WARM:])
    return (seconds if len(spent) == len(shown) else np.full(len(shown) - WARM, seconds.mean())), differing
