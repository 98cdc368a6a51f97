"""Interruption of long queries: no call of a kernel takes more than a fraction of a second.

Python runs signal handlers, that of Ctrl-C among them, in the main thread and between two of its instructions; the
call of a kernel is one.  So a kernel gets a large batch in parts (``in_parts``), and where one pose may take long by
itself it stops by a budget and goes on when it is called again (``bvh.workspace``).  Threads that work on parts of one
batch (``in_threads``) check between two calls whether the caller still waits for them.  What must not be interrupted
is done in a thread as well (``out_of_reach``), or with signals deferred (``signals_deferred``).
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

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
    """Call every task in a thread of its own; where one fails or the wait is interrupted, the others end soon."""
    from concurrent.futures import ThreadPoolExecutor, wait

    errand = _Errand()

    def call(task: Callable[[], Result]) -> Result:
        _here.errand = errand
        stop_if_abandoned()
        return task()

    with ThreadPoolExecutor(len(tasks)) as pool:  # leaving it waits for the threads
        try:
            results = []
            for future in [pool.submit(call, task) for task in tasks]:
                while wait([future], _POLL_INTERVAL).not_done:
                    pass
                results.append(future.result())
            return results
        except BaseException:
            errand.abandoned = True
            raise


def out_of_reach(task: Callable[[], Result]) -> Result:
    """Call a task where no signal handler runs: if the wait for it is interrupted, it is finished all the same.

    The process does not end before that.
    """
    if threading.current_thread() is not threading.main_thread():
        return task()
    results: list[Result] = []
    errors: list[BaseException] = []
    done = threading.Event()

    def call() -> None:
        try:
            results.append(task())
        except BaseException as error:
            errors.append(error)
        finally:
            done.set()

    try:
        threading.Thread(target=call, name="impinge", daemon=False).start()
    except RuntimeError:  # there can be no more threads
        return task()
    while not done.wait(_POLL_INTERVAL):
        pass
    if errors:
        raise errors[0]
    return results[0]


_DEFERRED = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGALRM", "SIGINT") if hasattr(signal, name))


@contextmanager
def signals_deferred() -> Iterator[None]:
    """Handle signals that arrive meanwhile at the end.

    For what can neither be interrupted nor done in another thread, because it is part of an import.
    """
    handlers: dict[int, Callable[..., object]] = {}
    arrived: list[tuple[int, object]] = []
    if threading.current_thread() is threading.main_thread():
        handlers = {number: handler for number in _DEFERRED if callable(handler := signal.getsignal(number))}
    try:
        for number in handlers:
            signal.signal(number, lambda *what: arrived.append(what))
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    for number, frame in arrived:
        handlers[number](number, frame)
