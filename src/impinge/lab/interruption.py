"""Calls that are interrupted at every line: what Ctrl-C does, wherever it comes."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

import impinge

Answer = TypeVar("Answer")

_SOURCES = str(Path(impinge.__file__).parent)


def interruptions(
    call: Callable[[], Answer], *, instructions: bool = False, step: int = 1, everywhere: bool = False
) -> Iterator[Answer | None]:
    """Call again and again, with a KeyboardInterrupt so many lines later each time, until the call ends.

    Lines are those of this library, or all that Python executes ``everywhere``.  Yields None after each call that was
    interrupted, and at last what was returned.  Signals are not handled between any two ``instructions``; an
    interruption at each of them is what no program meets.
    """
    for count in itertools.count(1, step):
        try:
            answer = interrupted(call, count, instructions, everywhere)
        except KeyboardInterrupt:
            yield None
        else:
            yield answer
            return


def interrupted(call: Callable[[], Answer], count: int, instructions: bool = False, everywhere: bool = False) -> Answer:
    """Call with a KeyboardInterrupt at the line with this number, counted from 1, if it comes so far."""
    answer, _ = _traced(call, count, instructions, everywhere)
    return answer


def line_count(call: Callable[[], Any], instructions: bool = False) -> int:
    """How many lines, or instructions, a call executes."""
    _, lines = _traced(call, 0, instructions, False)
    return lines


def _traced(call: Callable[[], Answer], interrupt_at: int, instructions: bool, everywhere: bool) -> tuple[Answer, int]:
    lines, kind = 0, "opcode" if instructions else "line"

    def within(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal lines
        if event == kind:
            lines += 1
            if lines == interrupt_at:
                sys.settrace(None)
                raise KeyboardInterrupt
        return within

    def begin(frame: FrameType, event: str, _: Any) -> Any:
        if not everywhere and not frame.f_code.co_filename.startswith(_SOURCES):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = instructions, not instructions
        return within

    before = sys.gettrace()
    sys.settrace(begin)
    try:
        return call(), lines
    finally:
        sys.settrace(before)
