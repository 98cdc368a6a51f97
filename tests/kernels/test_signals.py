"""Ctrl-C while a kernel works: KeyboardInterrupt when it has ended, whatever it returns, and nothing worse."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable

import pytest

from impinge.kernels.mode import without_compiler
from impinge.kernels.with_numba.cache import cache_directory

Python = Callable[..., subprocess.CompletedProcess[str]]

needs_signals = pytest.mark.skipif(
    without_compiler() or not hasattr(signal, "setitimer"), reason="about machine code, and with timers of POSIX"
)

INTERRUPTED = """
import random, signal, time
import numpy as np
import impinge
from impinge.broadphase.choice import MEMBERS, broad_phase
from impinge.bvh.volumes.obb import OBBTree

def interrupt(*_):
    raise KeyboardInterrupt

signal.signal(signal.SIGALRM, interrupt)
chance = random.Random(1)
rng = np.random.default_rng(1)

class Moving:
    def __init__(self, name, count):
        low = rng.random((count, 3)) * count ** (1 / 3)
        low = np.stack([low, low + 0.01 * rng.random((count, 3))])
        self.name, self.boxes = name, np.stack([low, low + 1.0], axis=2)
    def begin(self):
        self.broad = broad_phase(self.name)
        self.broad.add(self.boxes[0])
    def work(self):
        for boxes in self.boxes:
            self.broad.update(boxes)
    def answer(self):
        return self.broad.pairs.tobytes()

class Tree:
    def __init__(self, side):
        x, y = np.divmod(np.arange(side * side), side)
        first = np.flatnonzero((x < side - 1) & (y < side - 1))
        points = np.stack([x, y, rng.random(side * side)], axis=1)
        self.mesh = impinge.Mesh(points, np.stack([first, first + side, first + 1], axis=1))
    def begin(self):
        pass
    def work(self):
        self.tree = OBBTree(self.mesh)
    def answer(self):
        return b"".join(part.tobytes() for part in vars(self.tree).values() if isinstance(part, np.ndarray))

class Hull:
    def __init__(self, count):
        self.points = rng.normal(size=(count, 3))
    def begin(self):
        pass
    def work(self):
        self.hull = impinge.ConvexHull(self.points)
    def answer(self):
        return self.hull.vertices.tobytes()

def tasks(boxes, side, points):
    return [Moving(name, boxes // 5 if name == "brute" else boxes) for name in MEMBERS] + [Tree(side), Hull(points)]

for task in tasks(60, 5, 40):
    task.begin(), task.work(), task.answer()  # all kernels are loaded or compiled

interrupted = 0
for task in tasks(20_000, 150, 20_000):
    task.begin()
    began = time.perf_counter()
    task.work()
    taken, right = time.perf_counter() - began, task.answer()
    for _ in range(6):
        task.begin()
        try:
            signal.setitimer(signal.ITIMER_REAL, max(1e-6, taken * chance.random()))
            task.work()
            signal.setitimer(signal.ITIMER_REAL, 0)
        except KeyboardInterrupt:
            interrupted += 1
            task.work()
        assert task.answer() == right
print(interrupted)
"""


@needs_signals
def test_only_keyboard_interrupts_come_of_signals(python: Python) -> None:
    """Boxing what a kernel returns runs no Python code, where a signal that is pending would raise."""
    done = python(INTERRUPTED, IMPINGE_CACHE_DIR=str(cache_directory.parent))
    assert int(done.stdout) >= 8  # of 48 tries; how many depends on the machine


COMPILING = """
import os, signal, time
import numba
from numba.core import event
from impinge.kernels import interruptible
from impinge.kernels.jit import kernel

def interrupt(*_):
    raise KeyboardInterrupt

signal.signal(signal.SIGALRM, interrupt)

class Interrupting(event.Listener):
    \"\"\"Sends the signal when the compiler has begun, and lets it arrive.\"\"\"
    first = True
    def on_start(self, happening):
        if Interrupting.first:
            Interrupting.first = False
            os.kill(os.getpid(), signal.SIGALRM)
            time.sleep(1.0)
    def on_end(self, happening):
        pass

event.register("numba:compile", Interrupting())

@kernel
def total(values):
    return values.sum()

@numba.njit
def caller(values):
    return total(values)

@kernel
def fails(values):
    return values.no_such_thing

import numpy as np
values = np.arange(5.0)
try:
    total(values)
    print("no signal")
except KeyboardInterrupt:
    print(len(total.signatures), len(interruptible._unfinished))
print(caller(values), total(values), len(interruptible._unfinished), len(total.signatures))
try:
    fails(values)
except numba.TypingError:
    print("said")
"""


@needs_signals
def test_compiling_goes_on_when_it_is_interrupted(python: Python) -> None:
    """LLVM may crash if it is left in the middle."""
    done = python(COMPILING, IMPINGE_CACHE_DIR=str(cache_directory.parent))
    assert done.stdout.splitlines() == ["0 1", "10.0 10.0 0 1", "said"]
