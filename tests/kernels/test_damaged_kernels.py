"""Kernels whose files are damaged, missing or not to be written: right answers all the same, and made anew."""

from __future__ import annotations

import errno
import importlib.util
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from impinge.kernels.mode import without_compiler
from impinge.kernels.with_numba import cache as kernel_cache

pytestmark = pytest.mark.skipif(without_compiler(), reason="nothing is compiled in this lane")

FEW_KERNELS = """
from impinge.kernels.jit import cold, kernel

@cold("float64(float64)")
def thrice(x):
    return 3.0 * x

@kernel
def six_times(x):
    return 2.0 * thrice(x)

@kernel
def half(x):
    return 0.5 * x
"""
NAMES = {"thrice", "six_times", "half"}


class FewKernels:
    """Two kernels and a cold function in a cache of their own."""

    def __init__(self, directory: Path) -> None:
        self.source = directory / "few_kernels.py"
        self.source.write_text(FEW_KERNELS)
        self.cache = directory / "kernels-test"

    def imported(self) -> ModuleType:
        """As a new process would do; modules that were imported before go on working."""
        specification = importlib.util.spec_from_file_location("few_kernels", self.source)
        assert specification is not None
        assert specification.loader is not None
        module = importlib.util.module_from_spec(specification)
        sys.modules["few_kernels"] = module  # machine code from the cache names it
        kernel_cache._file_hash.cache_clear()
        specification.loader.exec_module(module)
        return module

    def found(self) -> set[str]:
        """The names of those that a new process finds in the cache; all have to give the right answers."""
        from impinge.kernels.with_numba import compiler as numba_compiler

        module = self.imported()
        thrice = numba_compiler._keep_alive[-1]
        assert module.six_times(7.0) == 42.0
        assert module.half(7.0) == 3.5
        assert thrice.ctypes(7.0) == 21.0
        hits = {name for name in ("six_times", "half") if module.__dict__[name].stats.cache_hits}
        return hits | ({"thrice"} if thrice.cache_hits else set())

    def file(self, name: str) -> Path:
        (path,) = self.cache.glob(f"few_kernels.{name}-*.nbc")
        return path


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache with all of them, to be copied: to compile them for each test would take a minute."""
    kernels = FewKernels(tmp_path_factory.mktemp("filled"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel_cache, "cache_directory", kernels.cache)
        assert kernels.found() == set()
    assert len(list(kernels.cache.iterdir())) == len(NAMES)
    return kernels.cache


@pytest.fixture
def few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FewKernels]:
    kernels = FewKernels(tmp_path)
    monkeypatch.setattr(kernel_cache, "cache_directory", kernels.cache)
    monkeypatch.setattr(kernel_cache, "_why_not_kept", None)
    yield kernels
    sys.modules.pop("few_kernels", None)


@pytest.fixture
def warm(few: FewKernels, filled: Path) -> FewKernels:
    shutil.copytree(filled, few.cache)
    return few


def _flip(path: Path, place: float) -> None:
    data = bytearray(path.read_bytes())
    data[int(place * (len(data) - 1))] ^= 4
    path.write_bytes(data)


def _instead(make: Callable[[Path], object]) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        path.unlink()
        make(path)

    return damage


def _full_directory(path: Path) -> None:
    path.mkdir()
    (path / "file").write_text("")


DAMAGE: dict[str, Callable[[Path], object]] = {
    "removed": Path.unlink,
    "empty": lambda path: path.write_bytes(b""),
    "cut": lambda path: os.truncate(path, path.stat().st_size // 2),
    "cut by one byte": lambda path: os.truncate(path, path.stat().st_size - 1),
    "longer": lambda path: os.truncate(path, path.stat().st_size + 1),
    "zeroed": lambda path: path.write_bytes(bytes(path.stat().st_size)),
    "some text": lambda path: path.write_text("not a kernel"),
    "flipped at the beginning": lambda path: _flip(path, 0),
    "flipped in the middle": lambda path: _flip(path, 0.5),
    "flipped at the end": lambda path: _flip(path, 1),
    "a directory": _instead(Path.mkdir),
    "a full directory": _instead(_full_directory),
    "a loop": _instead(lambda path: path.symlink_to(path)),
    "a link to a directory": _instead(lambda path: path.symlink_to(path.parent)),
    "a dangling link": _instead(lambda path: path.symlink_to(path.parent / "nothing" / "here")),
}
if hasattr(os, "mkfifo"):
    DAMAGE["a pipe"] = _instead(os.mkfifo)
if hasattr(os, "geteuid") and os.geteuid() != 0:
    DAMAGE["unreadable"] = lambda path: path.chmod(0)


@pytest.mark.parametrize("kind", DAMAGE)
@pytest.mark.parametrize("name", ["thrice", "six_times"])
def test_a_damaged_file_is_made_anew(
    kind: str, name: str, warm: FewKernels, capsys: pytest.CaptureFixture[str]
) -> None:
    DAMAGE[kind](warm.file(name))
    assert warm.found() == NAMES - {name}
    assert warm.found() == NAMES
    assert len(list(warm.cache.iterdir())) == len(NAMES)
    assert capsys.readouterr().err == ""


def test_another_process_finds_all(warm: FewKernels) -> None:
    assert warm.found() == NAMES


def test_swapped_files_are_noticed(warm: FewKernels) -> None:
    """Also those of the same signature, which would be called without any error."""
    one, two = warm.file("half"), warm.file("six_times")
    contents = one.read_bytes(), two.read_bytes()
    two.write_bytes(contents[0])
    one.write_bytes(contents[1])
    assert warm.found() == {"thrice"}
    assert warm.found() == NAMES


def test_kernels_of_other_sources_are_not_taken(warm: FewKernels, monkeypatch: pytest.MonkeyPatch) -> None:
    other = warm.cache.with_name("kernels-other")
    shutil.copytree(warm.cache, other)
    monkeypatch.setattr(kernel_cache, "cache_directory", other)
    assert warm.found() == set()


def test_kernels_outside_of_the_package_follow_their_own_file(warm: FewKernels) -> None:
    warm.source.write_text(FEW_KERNELS + "\n# edited\n")
    assert warm.found() == set()
    warm.source.write_text(FEW_KERNELS)
    assert warm.found() == NAMES


def test_right_seal_around_nonsense(warm: FewKernels, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever comes out of a file that is as it was written, it is no reason to fail."""
    with monkeypatch.context() as patch:
        patch.setattr(kernel_cache, "dumps", lambda _: b"no pickle")
        DAMAGE["empty"](warm.file("half"))
        assert warm.found() == NAMES - {"half"}
    assert warm.found() == NAMES - {"half"}
    assert warm.found() == NAMES
    with monkeypatch.context() as patch:
        patch.setattr(kernel_cache.CompileResult, "_rebuild", lambda *_: 1 / 0)
        assert warm.found() == set()
    assert warm.found() == NAMES


def test_a_half_written_file_of_a_killed_process_is_no_obstacle(warm: FewKernels) -> None:
    path = warm.file("half")
    (path.parent / f"{path.name}.0123456789abcdef.tmp").write_bytes(path.read_bytes()[:100])
    path.unlink()
    assert warm.found() == NAMES - {"half"}
    assert warm.found() == NAMES


def test_a_cache_that_is_deleted_meanwhile_is_made_anew(warm: FewKernels, capsys: pytest.CaptureFixture[str]) -> None:
    module = warm.imported()
    shutil.rmtree(warm.cache)
    assert module.half(3.0) == 1.5
    assert warm.file("half").is_file()
    assert capsys.readouterr().err == ""


def _one_line_about(reason: str, said: str) -> None:
    assert said.count("\n") == 1, said
    assert said.startswith("impinge: ")
    assert reason in said
    assert str(kernel_cache.why_not_kept()) in said


def test_a_full_disk_is_one_line(few: FewKernels, capsys: pytest.CaptureFixture[str]) -> None:
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    few.cache.mkdir()
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))  # as a disk that is full after the first bytes
        assert few.found() == set()
        assert few.found() == set()
        said = capsys.readouterr().err
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    _one_line_about(f"{few.cache} cannot be written ({os.strerror(errno.EFBIG)})", said)
    assert list(few.cache.iterdir()) == []
    assert few.found() == set()
    assert few.found() == NAMES


def test_a_file_in_place_of_the_directory_is_one_line(few: FewKernels, capsys: pytest.CaptureFixture[str]) -> None:
    few.cache.write_text("mine")
    assert few.found() == set()
    _one_line_about(f"{few.cache} cannot be written", capsys.readouterr().err)
    assert few.cache.read_text() == "mine"


def test_a_place_that_no_system_call_accepts_is_one_line(
    few: FewKernels, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    place = few.cache.with_name("x" * 1000)
    monkeypatch.setattr(kernel_cache, "cache_directory", place)
    kernel_cache._prepare(place)
    assert not kernel_cache.is_writable()
    assert few.found() == set()
    _one_line_about(f"{place} cannot be written", capsys.readouterr().err)


def test_kernels_are_read_where_nothing_can_be_written(
    warm: FewKernels, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As from the image of a container: no line as long as nothing is missing."""

    def refuse(*_: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(kernel_cache, "_write", refuse)
    assert warm.found() == NAMES
    assert capsys.readouterr().err == ""
    warm.file("half").unlink()
    assert warm.found() == NAMES - {"half"}
    _one_line_about(f"{warm.cache} cannot be written ({os.strerror(errno.EACCES)})", capsys.readouterr().err)


def test_another_process_that_was_first_is_no_failure(
    few: FewKernels, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Windows does not replace a file while somebody reads it."""
    real = os.replace

    def first(temporary: Path, path: Path) -> None:
        real(temporary, path)
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(os, "replace", first)
    assert few.found() == set()
    assert few.found() == NAMES
    assert capsys.readouterr().err == ""


def test_nothing_is_kept_once_the_sources_have_changed(
    few: FewKernels, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(kernel_cache, "source_hash", lambda: "edited")
    assert few.found() == set()
    assert not few.cache.exists()
    _one_line_about("sources of impinge have changed", capsys.readouterr().err)


def test_nothing_is_kept_without_a_source(few: FewKernels, capsys: pytest.CaptureFixture[str]) -> None:
    """An application that was frozen into one file: nothing tells one version from the next."""
    scope: dict[str, Any] = {"__name__": "few_kernels"}
    exec(compile(FEW_KERNELS, "/no/such/file.py", "exec"), scope)
    assert scope["half"](3.0) == 1.5
    assert not few.cache.exists()
    _one_line_about("/no/such/file.py", capsys.readouterr().err)
