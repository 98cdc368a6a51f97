"""Warming up compiles what is behind every verb once, and reports how far it is."""

from __future__ import annotations

import subprocess
import sys
from typing import ClassVar

import pytest
from numba.core import config

import impinge
from impinge.apps import warmup


class _NoProcess:
    commands: ClassVar[list[list[str]]] = []

    def __init__(self, command: list[str], **_: object) -> None:
        self.commands.append(command[1:])

    def __enter__(self) -> _NoProcess:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def wait(self) -> int:
        return 0

    def terminate(self) -> None:
        pass


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The parts that are compiled, without compiling them."""
    parts: list[str] = []
    for name in warmup.PARTS:
        monkeypatch.setitem(warmup.PARTS, name, lambda name=name: parts.append(name))
    monkeypatch.setattr(warmup.subprocess, "Popen", _NoProcess)
    _NoProcess.commands.clear()
    return parts


def test_all_parts_once(compiled: list[str]) -> None:
    steps: list[tuple[int, int]] = []
    warmup.compile_everything(lambda done, total: steps.append((done, total)))
    assert sorted(compiled) == sorted(warmup.PARTS)
    assert steps == [(i, len(compiled)) for i in range(len(compiled) + 1)]
    assert _NoProcess.commands == [["-m", "impinge.apps.warmup", *warmup._MEANWHILE]]
    # The second process works while the first one has something of its own to do.
    places = [compiled.index(name) for name in warmup._MEANWHILE]
    assert places == list(range(places[0], places[0] + len(places)))
    assert places[0] > len(compiled) // 3


def test_only_what_a_verb_needs(compiled: list[str]) -> None:
    warmup.compile_everything(verbs=("contacts",))
    assert sorted(compiled) == ["construction", "contacts", "trees"]
    assert _NoProcess.commands == [["-m", "impinge.apps.warmup", "contacts"]]


def test_every_verb_is_there() -> None:
    verbs = {"collides", "contacts", "distance", "closer_than", "relation", "penetration"}
    assert verbs <= set(impinge.__all__)
    assert set(warmup.VERBS) == verbs | {"broad_phase", "World", "check", "incremental"}


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled without the compiler")
def test_nothing_is_left_to_compile() -> None:
    """A new process that asks every verb finds all kernels in the cache that the warm-up filled."""
    warmup.compile_everything()
    program = """
import numba.core.event as event
from impinge import ConvexHull, Mesh, World, closer_than, collides, contacts, distance, penetration, relation
with event.install_recorder("numba:compile") as recorder:
    cube = Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]], solid=True)
    for verb in (collides, contacts, distance, relation):
        verb(cube, cube)
    closer_than(cube, cube, 0.5)
    hull = ConvexHull(cube)
    for verb in (collides, distance, penetration):
        verb(hull, hull)
    world = World()
    for body in (cube, cube, hull):
        world.add(body)
    for query in ("collides", "contacts", "closer_than", "distance"):
        world.detect(query)
print(sum(happening.is_start for _, happening in recorder.buffer))
"""
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert shown.stdout.split()[-1] == "0", shown
