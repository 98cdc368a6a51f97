"""Ctrl-C in the middle of a question: it ends soon, and the next answers are right."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

import impinge
from impinge import ConvexHull, ConvexPieces, Mesh, Pair, Traversal
from impinge.bvh.workspace import TraversalWorkspace
from impinge.convex.workspace import ConvexWorkspace
from impinge.lab.scenes.poses import poses, random_turns
from impinge.lab.scenes.shapes import box, torus

_SOURCES = str(Path(impinge.__file__).parent)


class _Interrupt(BaseException):
    """What the handler raises; nothing may swallow it."""


# ------------------------------------------------------------------- at every line


@contextmanager
def _interrupted_at(line: int) -> Iterator[list[int]]:
    """Raise at the line of impinge that is executed as the ``line``-th from now; yields how many there were."""
    lines = [0]

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        if not frame.f_code.co_filename.startswith(_SOURCES):
            return None
        if event == "line":
            lines[0] += 1
            if lines[0] == line:
                sys.settrace(None)
                raise _Interrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield lines
    except _Interrupt:
        pass
    finally:
        sys.settrace(before)


def _lines_of(call: Callable[[], Any]) -> int:
    with _interrupted_at(-1) as lines:
        call()
    return lines[0]


def _interrupt_everywhere(call: Callable[[], Any], check: Callable[[], None], step: int) -> None:
    """Interrupt a call at its lines, each time with other ones than in the neighbouring test, and check afterwards."""
    call()  # kernels are compiled, trees are there
    total = _lines_of(call)
    assert total > 10
    for line in range(1, total + 1, step):
        with _interrupted_at(line):
            call()
        check()


# Bodies with few faces: what matters is where a call is interrupted.
_CUBE = box(1, 1, 1)
_RING = torus(1.0, 0.4, 8, 4)
_PIECES = ConvexPieces([ConvexHull(_CUBE.vertices + [shift, 0, 0]) for shift in (0.0, 1.5, 3.0)])
_BODIES: dict[str, tuple[Any, Any, str]] = {
    "surfaces": (Mesh(_RING.vertices, _RING.faces), Mesh(_CUBE.vertices, _CUBE.faces), "auto"),
    "solids": (_RING, box(0.1, 0.1, 0.1), "auto"),
    "hulls": (ConvexHull(_RING), ConvexHull(_CUBE), "auto"),
    "pieces": (_PIECES, ConvexHull(_CUBE), "auto"),
    "incremental": (_RING, _CUBE, "incremental"),
    "brute": (_RING, _CUBE, "brute"),
}


def _path(count: int = 3) -> np.ndarray:
    """From apart to meeting, and inside."""
    path = np.tile(np.eye(4), (count, 1, 1))
    path[:, 0, 3] = np.linspace(2.5, 1.0, count)
    return path


_Ask = Callable[[str, Any], Any]


def _asker(name: str, remembers: bool) -> _Ask:
    a, b, method = _BODIES[name]
    pair = Pair(a, b, method) if remembers else None

    def ask(verb: str, pose: Any) -> Any:
        arguments = (0.25,) if verb == "closer_than" else ()
        if pair is not None:
            found = getattr(pair, verb)(*arguments, None, pose)
        else:
            found = getattr(impinge, verb)(a, b, *arguments, None, pose, method=method)
        if verb == "contacts":
            columns = (found.pose, found.face_a, found.face_b, found.kind)
            return np.stack(columns, axis=1), found.segments, found.normal
        if verb == "distance":
            return found.value
        return (found.depth, found.lower, found.upper) if verb == "penetration" else found

    return ask


def _verbs(name: str) -> tuple[str, ...]:
    verbs: tuple[str, ...] = ("collides", "distance", "closer_than")
    if name == "hulls":
        verbs += ("penetration",)
    return verbs if name == "pieces" else (*verbs, "contacts")


def _same(found: Any, expected: Any) -> bool:
    if isinstance(found, tuple):
        return all(map(np.array_equal, found, expected))
    return bool(np.array_equal(found, expected))


@pytest.mark.nojit_slow
@pytest.mark.parametrize(
    ("name", "remembers"),
    [(name, remembers) for name in _BODIES for remembers in (False, True) if name != "brute" or not remembers],
)
def test_answers_after_an_interrupt_at_any_line(name: str, remembers: bool) -> None:
    path = _path()
    ask = _asker(name, remembers)
    verbs = _verbs(name)
    expected = {verb: _asker(name, False)(verb, path) for verb in verbs}
    single = {verb: _asker(name, False)(verb, path[1]) for verb in verbs}

    for number, verb in enumerate(verbs):
        # The question that was asked last before the interrupt is the first one after it.
        last = verbs[number - 1]

        def check(last: str = last) -> None:
            assert _same(ask(last, path[1]), single[last]), last
            assert _same(ask(last, path), expected[last]), last
            for other in (*verbs, last):
                assert _same(ask(other, path[1]), single[other]), other

        for pose in (path, path[0]):
            _interrupt_everywhere(lambda verb=verb, pose=pose: ask(verb, pose), check, step=1 if pose.ndim == 2 else 13)  # type: ignore[misc]


@pytest.mark.nojit_slow
@pytest.mark.parametrize("question", ["contacts", "distance"])
def test_a_traversal_goes_on_after_an_interrupt_at_any_line(question: Any) -> None:
    ring = torus(1.0, 0.4, 24, 12)
    shifted = _path(1)[0]

    def run(search: Traversal) -> None:
        for tests in (100, 300, None):
            search.run(tests=tests)

    whole = Traversal(ring, ring, None, shifted, question=question)
    for line in range(1, _lines_of(lambda: run(whole)) + 1):
        search = Traversal(ring, ring, None, shifted, question=question)
        with _interrupted_at(line):
            run(search)
        assert search.run()
        if question == "contacts":
            assert np.array_equal(search.contacts.face_a, whole.contacts.face_a)
            assert np.array_equal(search.contacts.face_b, whole.contacts.face_b)
            assert search.statistics.contacts == whole.statistics.contacts > 10
        else:
            assert search.upper == whole.upper


def test_a_workspace_of_trees_has_the_room_that_it_claims() -> None:
    for line in range(1, _lines_of(lambda: TraversalWorkspace().begin(10_000)) + 1):
        work = TraversalWorkspace()
        with _interrupted_at(line):
            work.begin(10_000)
        assert work.stack <= min(len(work.refs), len(work.bounds))
        work.begin(5_000)
        assert 5_000 <= work.stack <= len(work.refs)
        assert work.is_single


def test_a_workspace_of_hulls_has_the_room_that_it_claims() -> None:
    work = ConvexWorkspace()
    for line in range(1, 40):
        with _interrupted_at(line):
            work.need_room(work.room + 1)
        for owners, seen in ((work._owners["queue"], work._c_queue), (work._owners["stamps"], work._c_stamps)):
            assert list(seen) in [[array.ctypes.data, len(array)] for array in owners]
            assert work.room <= seen[1]
        work.room = 64


# -------------------------------------------------------------------------- signals


@contextmanager
def _signal_after(seconds: float) -> Iterator[None]:
    """A signal whose handler raises, as Ctrl-C does."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        pytest.skip("no timers")

    def handle(*_: Any) -> None:
        raise _Interrupt

    before = signal.signal(signal.SIGALRM, handle)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def _some_poses(count: int, offset: float) -> np.ndarray:
    rng = np.random.default_rng(count)
    return poses(random_turns(rng, count), rng.normal(size=(count, 3)) * offset)


_FINE = torus(1.0, 0.4, 160, 80)
_SURFACE = Mesh(_FINE.vertices, _FINE.faces)
_POINTS = ConvexHull(np.random.default_rng(5).normal(size=(300, 3)))


def _soup(count: int, seed: int) -> Mesh:
    rng = np.random.default_rng(seed)
    corners = rng.uniform(size=(count, 1, 3)) + 0.5 * count ** (-1 / 3) * rng.normal(size=(count, 3, 3))
    return Mesh(corners.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3))


_LONG: dict[str, Callable[[], tuple[Callable[[Any], Any], Any]]] = {
    "contacts": lambda: (lambda path: impinge.contacts(_SURFACE, _SURFACE, None, path), _some_poses(20_000, 0.1)),
    "contacts, two threads": lambda: (
        lambda path: impinge.contacts(_SURFACE, _SURFACE, None, path, workers=2),
        _some_poses(40_000, 0.1),
    ),
    "relation": lambda: (lambda path: impinge.relation(_FINE, _FINE, None, path), _some_poses(20_000, 0.1)),
    "Pair": lambda: (lambda path: Pair(_SURFACE, _SURFACE).contacts(None, path), _some_poses(20_000, 0.1)),
    "penetration": lambda: (
        lambda path: impinge.penetration(_POINTS, _POINTS, None, path),
        np.tile(_some_poses(20_000, 0.1), (50, 1, 1)),  # 10 us a pose
    ),
    "brute": lambda: (
        lambda path: impinge.distance(_RING, _RING, None, path, method="brute"),
        _some_poses(400_000, 3.0),
    ),
    "incremental": lambda: (
        lambda path: impinge.contacts(_RING, _RING, None, path, method="incremental"),
        _some_poses(200_000, 0.5),
    ),
}


@pytest.mark.nojit_slow
@pytest.mark.parametrize("name", _LONG)
def test_a_long_batch_ends_soon_after_a_signal(name: str) -> None:
    """All of them take ten seconds or more; a busy machine may take some time to get here."""
    call, path = _LONG[name]()
    expected = call(path[:2])
    with pytest.raises(_Interrupt), _signal_after(0.2):
        began = time.perf_counter()
        call(path)
    assert time.perf_counter() - began < 3.0
    assert threading.active_count() == 1 or not any("ThreadPool" in thread.name for thread in threading.enumerate())
    found = call(path[:2])
    for field in ("pose", "segments", "value", "kind", "depth"):
        if hasattr(expected, field):
            assert np.array_equal(getattr(found, field), getattr(expected, field))


@pytest.mark.nojit_slow
def test_a_single_question_is_interrupted_and_not_gone_on_with() -> None:
    a, b = _soup(60_000, 1), _soup(60_000, 2)
    pair = Pair(a, b)
    away = np.eye(4)
    away[0, 3] = 5.0
    for body in (pair, None):
        ask = body.contacts if body else (lambda *pose: impinge.contacts(a, b, *pose))  # type: ignore[union-attr]
        assert len(ask(None, away)) == 0
        with pytest.raises(_Interrupt), _signal_after(0.02):
            while True:
                ask(None, np.eye(4))
        assert not impinge.collides(a, b, None, away)
        assert not pair.collides(None, away)
        assert impinge.distance(a, b, None, away).value == pair.distance(None, away).value > 2.0
        assert not impinge.closer_than(a, b, 1.0, None, away)
        assert len(ask(None, away)) == 0
