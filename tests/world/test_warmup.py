"""Warming up asks every verb once, and reports how far it is."""

from __future__ import annotations

import pytest

import impinge
from impinge.world import warmup


def test_every_verb_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    for name in warmup.QUESTIONS:
        monkeypatch.setitem(warmup.QUESTIONS, name, lambda name=name: asked.append(name))
    monkeypatch.setattr(warmup.subprocess, "Popen", _NoProcess)
    steps: list[tuple[int, int]] = []
    warmup.compile_everything(lambda done, total: steps.append((done, total)))
    verbs = {"collides", "contacts", "distance", "closer_than", "relation"}
    assert set(asked) == verbs <= set(impinge.__all__)
    assert steps == [(i, len(verbs)) for i in range(len(verbs) + 1)]


class _NoProcess:
    def __init__(self, command: list[str], **_: object) -> None:
        assert command[1:] == ["-m", "impinge.world.warmup", "distance", "closer_than"]

    def wait(self) -> int:
        return 0

    def terminate(self) -> None:
        pass
