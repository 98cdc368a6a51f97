"""OneUser: a world is used by one call at a time."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

_get_frame = sys._getframe


class OneUser:
    """A context manager that refuses a call while another one is inside, and never stays locked.

    A lock can stay held for ever: KeyboardInterrupt may come after it was acquired and before the ``with`` block has
    begun, or in ``__exit__`` before it is released.  So what is kept here is the frame of the call that is inside,
    entered and noted by one step (``setdefault``).  As long as a call goes on, its frame is on the stack of its thread;
    a frame that is on no stack belongs to a call that was interrupted on its way in or out, and counts no more.

    Two threads may find such a frame at once.  Each sees the other in ``__enter__``, so at most one of them gets in.
    """

    def __init__(self) -> None:
        self._inside: dict[str, FrameType] = {}

    def __enter__(self) -> None:
        frame = _get_frame(1)
        if self._inside.setdefault("frame", frame) is not frame:
            self._succeed(frame)

    def __exit__(self, *_: object) -> None:
        self._inside.clear()

    def _succeed(self, frame: FrameType) -> None:
        """Take the place of a call that was interrupted; a RuntimeError if it still goes on."""
        stacks = list(_frames_of_all_threads())
        inside = self._inside.get("frame")
        own = _get_frame(1)
        for other in stacks:
            if inside is None or other is inside or (other is not own and self._is_entered_by(other)):
                raise RuntimeError(
                    "this World is being used by another thread, or by a call that a signal handler has interrupted; it"
                    " belongs to one call at a time (several worlds may share their bodies)"
                )
        self._inside["frame"] = frame

    def _is_entered_by(self, frame: FrameType) -> bool:
        return frame.f_code is OneUser.__enter__.__code__ and frame.f_locals.get("self") is self


def _frames_of_all_threads() -> Iterator[Any]:
    frame: FrameType | None
    for frame in sys._current_frames().values():
        while frame is not None:
            yield frame
            frame = frame.f_back
