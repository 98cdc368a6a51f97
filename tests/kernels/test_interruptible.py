from __future__ import annotations

import gc
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from impinge.kernels import interruptible
from impinge.kernels.interruptible import Abandoned, in_parts, in_threads, out_of_reach, stop_if_abandoned
from impinge.lab.interruption import interruptions


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


def test_the_error_of_the_first_in_order_is_raised() -> None:
    """Also if another one fails before."""
    failed = threading.Event()

    def fails_late() -> None:
        failed.wait()
        raise ValueError("the first")

    def fails() -> None:
        try:
            raise ValueError("the second")
        finally:
            failed.set()

    with pytest.raises(ValueError, match="the first"):
        in_threads([fails_late, fails])


@pytest.mark.parametrize("instructions", [False, True])
def test_an_interrupted_wait_raises_nothing_but_the_interrupt(instructions: bool) -> None:
    """A handler that raises inside of ``threading`` can leave a lock free, and RuntimeError comes of it."""

    def wait() -> list[int]:
        return [*in_threads([lambda: 1, lambda: 2]), out_of_reach(lambda: 3)]

    gc.disable()  # Hypothesis has a function that is called by it, and an interrupt in there is ignored
    try:
        for answer in interruptions(wait, instructions=instructions, everywhere=True):
            assert answer in (None, [1, 2, 3])
    finally:
        gc.enable()


def test_threads_have_ended_when_the_interrupt_comes_out() -> None:
    at_work = [0]

    def task() -> None:
        at_work[0] += 1
        time.sleep(0.002)
        at_work[0] -= 1

    for _ in interruptions(lambda: in_threads([task]), everywhere=True):
        assert at_work == [0]


def test_what_is_out_of_reach_is_done_once() -> None:
    """However its start is interrupted."""
    done: list[list[int]] = []

    def call() -> int:
        done.append([])
        latest = done[-1]
        return out_of_reach(lambda: latest.append(1) or 4)

    assert list(interruptions(call, everywhere=True))[-1] == 4
    assert len(done) > 5
    assert done[-1] == [1]
    assert all(len(times) <= 1 for times in done)


def test_the_process_ends_after_what_is_out_of_reach() -> None:
    program = (
        "import signal, time\n"
        "from impinge.kernels.interruptible import out_of_reach\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "def task():\n"
        "    signal.raise_signal(signal.SIGINT)\n"
        "    time.sleep(0.5)\n"
        "    print('done')\n"
        "try:\n"
        "    out_of_reach(task)\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted')\n"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["interrupted", "done"]


def test_an_error_of_what_is_out_of_reach_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        out_of_reach(lambda: 1 // 0)


def test_without_more_threads_tasks_are_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(interruptible._thread, "start_new_thread", refuse)
    assert in_threads([lambda: 1, lambda: 2]) == [1, 2]
    assert out_of_reach(lambda: 3) == 3


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


def test_a_deferred_signal_is_handled_after_an_error_too() -> None:
    with pytest.raises(KeyboardInterrupt) as caught, interruptible.signals_deferred():
        signal.raise_signal(signal.SIGINT)
        _ = 1 // 0
    assert isinstance(caught.value.__context__, ZeroDivisionError)


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="signals of POSIX")
def test_no_handler_is_lost_where_another_one_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    """A signal that comes while the handlers are put back: that of Ctrl-C is not the last of them by chance."""
    set_handler, handled = signal.signal, []
    ours = {number: (lambda number, _: handled.append(number)) for number in (signal.SIGALRM, signal.SIGINT)}
    before = {number: set_handler(number, handler) for number, handler in ours.items()}

    def interrupted(number: int, handler: object) -> object:
        if handler is ours.get(number):
            raise TimeoutError
        return set_handler(number, handler)

    try:
        with pytest.raises(TimeoutError), interruptible.signals_deferred():
            monkeypatch.setattr(signal, "signal", interrupted)
            signal.raise_signal(signal.SIGALRM)
        assert handled == [signal.SIGALRM]
        signal.raise_signal(signal.SIGINT)
        assert handled == [signal.SIGALRM, signal.SIGINT]
    finally:
        for number, handler in before.items():
            set_handler(number, handler)
