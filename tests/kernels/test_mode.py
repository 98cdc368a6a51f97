"""How kernels run is told by the environment, without Numba."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from impinge import MissingExtra
from impinge.kernels import mode
from impinge.kernels.library.loader import Library, Unusable


@pytest.fixture(autouse=True)
def undecided(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As in a new process, in which Numba was not imported."""
    monkeypatch.delitem(sys.modules, "numba.core.config", raising=False)
    for variable in ("NUMBA_DISABLE_JIT", "NUMBA_BOUNDSCHECK", "IMPINGE_KERNELS"):
        monkeypatch.delenv(variable, raising=False)
    decisions = (mode.without_compiler, mode.with_bounds_checks, mode.library)
    for decision in decisions:
        decision.cache_clear()
    yield
    for decision in decisions:
        decision.cache_clear()


@pytest.mark.parametrize(
    ("value", "expected"), [("1", True), ("0", False), ("", False), ("2", True), ("yes", False), ("false", False)]
)
def test_variables_of_numba(monkeypatch: pytest.MonkeyPatch, value: str, expected: bool) -> None:
    monkeypatch.setenv("NUMBA_DISABLE_JIT", value)
    assert mode.without_compiler() is expected
    assert mode.with_bounds_checks() is False


def test_what_was_decided_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    assert mode.without_compiler() is False
    monkeypatch.setitem(sys.modules, "numba.core.config", SimpleNamespace(DISABLE_JIT=1, BOUNDSCHECK=1))
    assert mode.without_compiler() is False
    assert mode.with_bounds_checks() is True  # asked for the first time


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str | None]:
    """The feature levels for which a library was loaded."""
    levels: list[str | None] = []

    def load(level: str | None) -> Library:
        levels.append(level)
        return Library(str(level), SimpleNamespace(names=list))

    monkeypatch.setattr(mode, "load", load)
    return levels


@pytest.mark.parametrize(("choice", "level"), [("", None), ("library", None), ("x86-64", "x86-64")])
def test_a_library_is_used_where_there_is_one(
    monkeypatch: pytest.MonkeyPatch, asked: list[str | None], choice: str, level: str | None
) -> None:
    monkeypatch.setenv("IMPINGE_KERNELS", choice)
    assert mode.library() is mode.library() is not None
    assert asked == [level]


@pytest.mark.parametrize("variable", ["IMPINGE_KERNELS", "NUMBA_DISABLE_JIT", "NUMBA_BOUNDSCHECK"])
def test_it_is_left_alone_where_it_would_not_do(
    monkeypatch: pytest.MonkeyPatch, asked: list[str | None], variable: str
) -> None:
    monkeypatch.setenv(variable, "jit" if variable == "IMPINGE_KERNELS" else "1")
    assert mode.library() is None
    assert asked == []


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(level: str | None) -> Library:
        raise Unusable("it is Tuesday")

    monkeypatch.setattr(mode, "load", load)


def test_numba_compiles_where_a_library_is_refused(
    monkeypatch: pytest.MonkeyPatch, refused: None, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(mode, "_numba_is_installed", lambda: True)
    assert mode.library() is None
    assert capsys.readouterr().err == "impinge: kernels are compiled by Numba, because it is Tuesday\n"


def test_without_numba_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch, refused: None) -> None:
    monkeypatch.setattr(mode, "_numba_is_installed", lambda: False)
    with pytest.raises(MissingExtra, match=r'it is Tuesday.*pip install "impinge\[jit\]"'):
        mode.library()


def test_who_insists_is_told_why_not(monkeypatch: pytest.MonkeyPatch, refused: None) -> None:
    monkeypatch.setenv("IMPINGE_KERNELS", "library")
    with pytest.raises(ImportError, match="IMPINGE_KERNELS=library, but it is Tuesday"):
        mode.library()
