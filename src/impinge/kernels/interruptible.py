"""Interruption of long queries: no call of a kernel takes more than a fraction of a second.

Python runs signal handlers, that of Ctrl-C among them, in the main thread and between two of its instructions; the
call of a kernel is one.  So a kernel gets a large batch in parts (``in_parts``), and where one pose may take long by
itself it stops by a budget and goes on when it is called again (``bvh.workspace``).  Threads that work on parts of one
batch (``in_threads``) check between two calls whether the caller still waits for them.  What must not be interrupted
is done in a thread as well (``out_of_reach``), or with signals deferred (``signals_deferred``).
"""

from __future__ import annotations

import _thread
import atexit
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from types import FrameType
from typing import Any, Generic, TypeVar, cast

Result = TypeVar("Result")

_SECONDS = 0.05
"""What one part should take: soon enough for Ctrl-C, and ten thousand times as long as a call."""

_GROWTH = 8
"""How much larger than the last a part may be: rows that come next may take longer."""

_POLL_INTERVAL = 0.1
"""Seconds.  On Windows Ctrl-C does not end the wait for a thread: the handler runs when that has ended by itself."""


class Abandoned(BaseException):
    """The caller no longer waits for the answer; ends the work of a thread, and never leaves this module."""


class _Errand:
    """The threads that work for one query."""

    abandoned = False


class _Here(threading.local):
    errand: _Errand | None = None


_here = _Here()


def stop_if_abandoned() -> None:
    """To be called between two calls of kernels."""
    if _here.errand is not None and _here.errand.abandoned:
        raise Abandoned


def in_parts(count: int, first: int) -> Iterable[slice]:
    """Consecutive parts of so many rows, at most ``first`` at the beginning; then what takes a twentieth of a second.

    What is done between two parts is what is measured.

    Examples
    --------
    >>> [part.indices(10)[:2] for part in in_parts(10, 16)]
    [(0, 10)]
    >>> [next(iter(in_parts(1000, 16))), sum(part.stop - part.start for part in in_parts(1000, 16))]
    [slice(0, 16, None), 1000]
    """
    if count <= first:
        return (slice(0, count),) if count else ()
    return _measured_parts(count, first)


def _measured_parts(count: int, size: int) -> Iterator[slice]:
    start = 0
    while start < count:
        stop_if_abandoned()
        stop = min(start + size, count)
        began = time.perf_counter()
        yield slice(start, stop)
        taken = time.perf_counter() - began
        size = max(1, int(size * min(_GROWTH, _SECONDS / max(taken, 1e-9))))
        start = stop


def in_threads(tasks: Sequence[Callable[[], Result]]) -> list[Result]:
    """Call every task in a thread of its own; where one fails or the wait is interrupted, the others end soon.

    Where several fail, the error of the first in order is raised.
    """
    errand = _Errand()
    calls = [_Call(task, errand) for task in tasks]
    try:
        for call in calls:
            call.start()
        return [call.answer() for call in calls]
    except BaseException:
        errand.abandoned = True
        for call in calls:
            if call.begun:  # otherwise it begins later, and ends at once, or never
                call.wait()
        raise
    finally:
        calls.clear()  # an error refers to this frame


def out_of_reach(task: Callable[[], Result]) -> Result:
    """Call a task where no signal handler runs: if the wait for it is interrupted, it is finished all the same.

    The process does not end before that.
    """
    if threading.get_ident() != threading.main_thread().ident:
        return task()
    call = _Call(task)
    call.start()
    return call.answer()


class _Call(Generic[Result]):
    """The call of a task in a thread of its own.

    ``threading`` is Python code: a signal handler that raises inside of it, while a Thread starts or an Event is
    waited for, can leave one of its locks free that it then releases.  A RuntimeError comes out instead of
    KeyboardInterrupt, once in some thousand interruptions.  So these are threads of ``_thread``, whose functions are C.
    """

    def __init__(self, task: Callable[[], Result], errand: _Errand | None = None) -> None:
        self.begun = self._over = False
        self._task, self._errand = task, errand
        self._result: Result | None = None
        self._error: BaseException | None = None
        self._lock = _thread.allocate_lock()
        self._lock.acquire()

    def start(self) -> None:
        _end_with_process()
        try:
            _thread.start_new_thread(self._run, ())
        except RuntimeError:  # there can be no more threads
            self._run()

    def _run(self) -> None:
        self.begun = True
        _unfinished.add(self)
        before, _here.errand = _here.errand, self._errand
        try:
            stop_if_abandoned()
            self._result = self._task()
        except BaseException as error:
            self._error = error
        finally:
            _here.errand = before
            self._over = True
            _unfinished.discard(self)
            self._lock.release()

    def wait(self) -> None:
        """May be called again after an interruption, which can come when the lock was just acquired."""
        while not self._over:
            self._lock.acquire(True, _POLL_INTERVAL)

    def answer(self) -> Result:
        self.wait()
        if self._error is not None:
            raise self._error
        return cast(Result, self._result)


_unfinished: set[_Call[Any]] = set()


def _wait_for_all() -> None:
    for call in _unfinished.copy():
        call.wait()


@cache
def _end_with_process() -> None:
    """Let the process wait for its threads: the machine code that they run must not go away before.

    Functions that are registered last are called first, so this comes after the import of Numba.
    """
    atexit.register(_wait_for_all)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_unfinished.clear)


_DEFERRED = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGALRM", "SIGINT") if hasattr(signal, name))


@contextmanager
def signals_deferred() -> Iterator[None]:
    """Handle signals that arrive meanwhile at the end, also where an error ends it.

    For what can neither be interrupted nor done in another thread, because it is part of an import.
    """
    handlers: dict[int, Callable[..., object]] = {}
    arrived: list[tuple[int, FrameType | None]] = []
    deferring = True

    def handle(number: int, frame: FrameType | None) -> None:
        if deferring:
            arrived.append((number, frame))
        else:
            handlers[number](number, frame)

    if threading.get_ident() == threading.main_thread().ident:
        handlers.update((number, found) for number in _DEFERRED if callable(found := signal.getsignal(number)))
    try:
        for number in handlers:
            signal.signal(number, handle)
        yield
    finally:
        # A handler that is back may raise before the next one is; then that one is still called, by ``handle``.
        deferring = False
        try:
            for number, handler in handlers.items():
                signal.signal(number, handler)
        finally:
            _call_all([partial(handlers[number], number, frame) for number, frame in arrived])


def _call_all(handlers: Sequence[Callable[[], object]]) -> None:
    """Call every signal handler, whatever the others raise."""
    if handlers:
        try:
            handlers[0]()
        finally:
            _call_all(handlers[1:])
