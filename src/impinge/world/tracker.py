"""Temporal coherence of one query of a world, from frame to frame, whatever interrupts it."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from impinge.world.filters import Filters
from impinge.world.frame import Frame, FrameStatistics
from impinge.world.objects import Objects
from impinge.world.pipeline import NO_PAIRS, Detection, Pipeline, Query


class Tracker:
    """What a world keeps for one query: the last detection whose frame was handed out, and a pipeline.

    The pipeline only saves work, and is not kept unless it is whole: it is taken away before it is used, and put
    back when all is done.  After an interruption there is none, and the next detection begins with a new one.

    What began and what ended refers to ``last``, which is set by one assignment when nothing is left to do but to hand
    out the frame (see ``World.detect``).
    """

    def __init__(self, query: Query, broadphase: str, hull_method: str | None) -> None:
        self._options = query, broadphase, hull_method
        self._pipeline: Pipeline | None = None
        self.last: Detection | None = None
        self._still: Detection | None = None
        """The detection after the last one, as long as nothing moves."""

    def detect(self, objects: Objects, filters: Filters, reach: float, now: int) -> Detection:
        """The next one, see ``Pipeline.detect``."""
        last = self.last
        if last is not None and last.time == now and last.state == (objects.edits, filters.version, reach):
            if self._still is not last:
                self._still = _unchanged(last)
            return self._still
        pipeline = self._pipeline or Pipeline(*self._options)
        self._pipeline = None
        found = pipeline.detect(objects, filters, reach, now, last)
        self._pipeline = pipeline
        return found

    def hand_out(self, detection: Detection) -> None:
        """Note that the frame is on its way to the caller."""
        self.last = detection


_COUNTED = ("objects", "box_pairs", "filtered_pairs")
"""What statistics say of a frame for which nothing was done; all else is zero."""
_NOTHING_DONE: dict[str, Any] = {
    **{each.name: 0 for each in fields(FrameStatistics) if each.name not in _COUNTED},
    "seconds": {},
}


def _unchanged(last: Detection) -> Detection:
    """Nothing moved: the same pairs, and none of them is new."""
    frame, none = last.frame, NO_PAIRS
    statistics = replace(frame.statistics, **_NOTHING_DONE)
    still: Frame = replace(frame, began=none, ended=none, persist=frame.pairs, statistics=statistics)
    return last._replace(frame=still)
