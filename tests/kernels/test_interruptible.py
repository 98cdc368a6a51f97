from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from impinge.kernels import interruptible
from impinge.kernels.interruptible import Abandoned, in_parts, in_threads, stop_if_abandoned


@given(st.integers(0, 500), st.integers(1, 40), st.lists(st.floats(0.0, 2.0), min_size=1, max_size=8))
def test_parts_follow_each_other(count: int, first: int, taken: list[float]) -> None:
    """Whatever they take."""
    now = [0.0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(interruptible.time, "perf_counter", lambda: now[0])
        end = 0
        for number, part in enumerate(in_parts(count, first)):
            assert part.start == end < part.stop
            end = part.stop
            assert number > 0 or end <= first
            now[0] += taken[number % len(taken)]
    assert end == count


def test_a_small_batch_is_one_part() -> None:
    assert list(in_parts(7, 7)) == [slice(0, 7)]
    assert list(in_parts(0, 7)) == []


def test_parts_become_as_long_as_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    now, sizes = 0.0, []
    monkeypatch.setattr(interruptible.time, "perf_counter", lambda: now)
    for part in in_parts(100_000, 1):
        sizes.append(part.stop - part.start)
        now += 1e-5 * sizes[-1]
    assert sizes[:5] == [1, 8, 64, 512, 4096]
    assert max(sizes) in (4999, 5000)  # 50 ms
    sizes.clear()
    for part in in_parts(100, 64):
        sizes.append(part.stop - part.start)
        now += 0.1 * sizes[-1]
    assert sizes == [64] + 36 * [1]  # never less


def test_threads_give_their_results_in_order() -> None:
    def task(number: int) -> Callable[[], int]:
        def call() -> int:
            time.sleep(0.02 * (3 - number))
            return number

        return call

    assert in_threads([task(number) for number in range(4)]) == [0, 1, 2, 3]


def test_the_first_error_in_order_is_raised_and_the_others_end() -> None:
    started, ended = threading.Event(), threading.Event()

    def fails() -> None:
        started.wait()
        raise ValueError("the first")

    def goes_on() -> None:
        started.set()
        try:
            while True:
                stop_if_abandoned()
                time.sleep(0.001)
        except Abandoned:
            ended.set()
            raise

    with pytest.raises(ValueError, match="the first"):
        in_threads([fails, goes_on])
    assert ended.is_set()
    stop_if_abandoned()  # that was about those threads only


def test_parts_end_where_nobody_waits() -> None:
    parts = []

    def fails() -> None:
        while len(parts) < 3:
            time.sleep(0.001)
        raise ValueError

    def goes_on() -> None:
        for part in in_parts(10**9, 1):
            parts.append(part)
            time.sleep(0.06)

    with pytest.raises(ValueError):
        in_threads([fails, goes_on])
    assert 3 <= len(parts) < 100


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="signals of POSIX")
def test_deferred_signals_come_at_the_end() -> None:
    before = signal.getsignal(signal.SIGINT)
    done = []
    with pytest.raises(KeyboardInterrupt):
        with interruptible.signals_deferred():
            signal.raise_signal(signal.SIGINT)
            with interruptible.signals_deferred():
                signal.raise_signal(signal.SIGINT)
                done.append("inner")
            done.append("outer")
        done.append("after")
    assert done == ["inner", "outer"]
    assert signal.getsignal(signal.SIGINT) is before


def test_signals_are_left_alone_in_other_threads() -> None:
    def work() -> str:
        with interruptible.signals_deferred():
            return "done"

    assert interruptible.in_threads([work, work]) == ["done", "done"]


def test_an_error_passes_through_deferred_signals() -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(ZeroDivisionError), interruptible.signals_deferred():
        _ = 1 // 0
    assert signal.getsignal(signal.SIGINT) is before
