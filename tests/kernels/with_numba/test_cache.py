"""The kernel cache: named after all sources, kept between processes, and never believed where it is damaged."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import pytest

import impinge
from impinge.kernels.with_numba import cache as kernel_cache

Python = Callable[..., subprocess.CompletedProcess[str]]

# ---------------------------------------------------------------------- the directory


@pytest.fixture
def copied_package(tmp_path: Path) -> Path:
    """A copy of the package that may be edited, to be put first on the path."""
    source = Path(impinge.__file__).parent
    shutil.copytree(source, tmp_path / "copy" / "impinge", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "copy"


def directory_of(package: Path, cache: Path, python: Python) -> Path:
    program = "import impinge, impinge.kernels.with_numba.cache as c; print(impinge.__file__); print(c.cache_directory)"
    origin, directory = python(program, PYTHONPATH=str(package), IMPINGE_CACHE_DIR=str(cache)).stdout.splitlines()
    assert Path(origin).is_relative_to(package)
    return Path(directory)


def test_directory_changes_with_any_source(copied_package: Path, tmp_path: Path, python: Python) -> None:
    cache = tmp_path / "cache"
    first = directory_of(copied_package, cache, python)
    assert first.parent == cache
    assert first.is_dir()
    assert directory_of(copied_package, cache, python) == first
    helper = copied_package / "impinge" / "geometry" / "exact" / "predicates.py"
    text = helper.read_text()
    helper.write_text(text + "\n# edited\n")
    second = directory_of(copied_package, cache, python)
    (copied_package / "impinge" / "geometry" / "new_file.py").write_text("")
    third = directory_of(copied_package, cache, python)
    assert len({first, second, third}) == 3
    (copied_package / "impinge" / "geometry" / "new_file.py").unlink()
    helper.write_text(text)
    assert directory_of(copied_package, cache, python) == first


def test_directory_does_not_depend_on_the_place_of_the_package(
    copied_package: Path, tmp_path: Path, python: Python
) -> None:
    moved = tmp_path / "elsewhere"
    shutil.copytree(copied_package, moved)
    cache = tmp_path / "cache"
    assert directory_of(moved, cache, python) == directory_of(copied_package, cache, python)


@pytest.mark.skipif(sys.platform != "linux", reason="the place differs from system to system")
def test_default_place_is_the_users_cache(tmp_path: Path, python: Python) -> None:
    program = "import impinge.kernels.with_numba.cache as c; print(c.cache_directory)"
    assert Path(python(program, XDG_CACHE_HOME=str(tmp_path)).stdout.strip()).parent == tmp_path / "impinge"
    assert Path(python(program, HOME=str(tmp_path)).stdout.strip()).parent == tmp_path / ".cache" / "impinge"


def test_only_stale_directories_are_dropped(tmp_path: Path, python: Python) -> None:
    old, recent, foreign = tmp_path / "kernels-old", tmp_path / "kernels-recent", tmp_path / "something"
    for directory in (old, recent, foreign):
        directory.mkdir()
        (directory / "file").write_text("")
    a_while_ago = 1.0e9
    os.utime(old, (a_while_ago, a_while_ago))
    os.utime(foreign, (a_while_ago, a_while_ago))
    python("import impinge.kernels.with_numba.cache", IMPINGE_CACHE_DIR=str(tmp_path))
    assert not old.exists()
    assert recent.exists()
    assert foreign.exists()


SMALL_KERNEL = """
import numpy as np
from numba.core import event

class Counter(event.Listener):
    compiled = 0
    def on_start(self, happening):
        Counter.compiled += 1
    def on_end(self, happening):
        pass

event.register("numba:compile", Counter())
from impinge.apps.shading import stamp_discs
mask = np.zeros((4, 4), dtype=np.bool_)
stamp_discs(np.array([5]), 1, mask)
assert mask.sum() == 5
print(Counter.compiled)
"""


def test_second_process_compiles_nothing(tmp_path: Path, python: Python) -> None:
    first = python(SMALL_KERNEL, IMPINGE_CACHE_DIR=str(tmp_path))
    second = python(SMALL_KERNEL, IMPINGE_CACHE_DIR=str(tmp_path))
    assert int(first.stdout) > 0
    assert int(second.stdout) == 0
    assert first.stderr.count("\n") == 1
    assert "compiling" in first.stderr
    assert second.stderr == ""


def test_cache_that_cannot_be_written_is_one_line(tmp_path: Path, python: Python) -> None:
    blocked = tmp_path / "a file, not a directory"
    blocked.write_text("")
    run = python(SMALL_KERNEL, IMPINGE_CACHE_DIR=str(blocked))
    assert int(run.stdout) > 0
    lines = run.stderr.splitlines()
    assert len([line for line in lines if "cannot be written" in line]) == 1
    assert "IMPINGE_CACHE_DIR" in run.stderr
    assert "Traceback" not in run.stderr


def test_other_packages_keep_their_cache(tmp_path: Path, python: Python) -> None:
    program = (
        "from numba import config; before = config.CACHE_DIR\n"
        "import impinge.geometry.exact.big_integers; print(config.CACHE_DIR == before)"
    )
    assert python(program, IMPINGE_CACHE_DIR=str(tmp_path)).stdout.strip() == "True"


def test_without_jit_nothing_is_compiled(tmp_path: Path, python: Python) -> None:
    program = (
        "import impinge; from impinge.geometry.exact import big_integers; print(type(big_integers.sign).__name__);"
        "m = impinge.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]); print(impinge.collides(m, m))"
    )
    run = python(program, NUMBA_DISABLE_JIT="1", IMPINGE_CACHE_DIR=str(tmp_path))
    assert run.stdout.split() == ["function", "True"]
    assert run.stderr == ""


# ---------------------------------------------------------------------- places that cannot be used


def test_a_directory_that_vanishes_meanwhile_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "kernels-dangling").symlink_to(tmp_path / "nothing")
    (tmp_path / "kernels-loop").symlink_to(tmp_path / "kernels-loop")
    (tmp_path / "kernels-file").write_text("")
    (tmp_path / "kernels-old").mkdir()
    for name in ("kernels-file", "kernels-old"):
        os.utime(tmp_path / name, (1.0e9, 1.0e9))
    kernel_cache._drop_stale(tmp_path, keep=tmp_path / "kernels-new")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kernels-dangling", "kernels-file", "kernels-loop"]
    kernel_cache._drop_stale(tmp_path / "nothing", keep=tmp_path / "kernels-new")
    kernel_cache._drop_stale(tmp_path / "kernels-file", keep=tmp_path / "kernels-new")

    real = os.utime

    def vanishing(path: Path) -> None:
        real(path)
        shutil.rmtree(path)
        raise FileNotFoundError(path)

    monkeypatch.setattr(os, "utime", vanishing)
    directory = tmp_path / "kernels-new"
    directory.mkdir()
    kernel_cache._prepare(directory)
    assert directory.is_dir()


@pytest.mark.parametrize("kind", ["file", "dangling", "loop", "below a file"])
def test_a_place_that_is_no_directory_is_no_error(kind: str, tmp_path: Path) -> None:
    directory = tmp_path / "kernels"
    if kind == "file":
        directory.write_text("")
    elif kind == "below a file":
        directory = tmp_path / "file" / "kernels"
        (tmp_path / "file").write_text("")
    else:
        directory.symlink_to(directory if kind == "loop" else tmp_path / "nothing")
    kernel_cache._prepare(directory)
    assert not directory.is_dir()
    assert not kernel_cache._holds_kernels(directory)


def test_without_a_home_it_is_a_place_for_temporary_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def nowhere() -> Any:
        raise RuntimeError("Could not determine home directory.")

    def not_even_there() -> Any:
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found")

    for variable in ("IMPINGE_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(Path, "home", nowhere)
    monkeypatch.setattr(kernel_cache.tempfile, "gettempdir", lambda: str(tmp_path))
    assert kernel_cache._user_cache().parent == tmp_path
    monkeypatch.setattr(kernel_cache.tempfile, "gettempdir", not_even_there)
    assert kernel_cache._user_cache().name.startswith("impinge")


def test_a_relative_place_stays_where_it_was(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("IMPINGE_CACHE_DIR", "here")
    assert kernel_cache._user_cache() == tmp_path / "here"


def test_another_compiler_has_another_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    before = kernel_cache._compiler_name()
    monkeypatch.setattr(numba, "__version__", "0.0")
    assert kernel_cache._compiler_name() != before
    monkeypatch.undo()
    monkeypatch.setattr(sys.implementation, "cache_tag", "cpython-00")
    assert kernel_cache._compiler_name() != before


# ---------------------------------------------------------------------- sealed files


def test_what_is_written_is_read_for_the_same_purpose_only(tmp_path: Path) -> None:
    path = tmp_path / "kernel.nbc"
    assert kernel_cache._read(path, b"one") is None
    kernel_cache._write(path, b"one", b"content")
    assert kernel_cache._read(path, b"one") == b"content"
    for other in (b"two", b"", b"onec", b"on"):
        assert kernel_cache._read(path, other) is None
    kernel_cache._write(path, b"one", b"")
    assert kernel_cache._read(path, b"one") == b""


def test_every_flipped_bit_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "kernel.nbc"
    kernel_cache._write(path, b"one", b"a few bytes")
    data = path.read_bytes()
    for bit in range(8 * len(data)):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        path.write_bytes(flipped)
        assert kernel_cache._read(path, b"one") is None
    for length in range(len(data)):
        path.write_bytes(data[:length])
        assert kernel_cache._read(path, b"one") is None


def test_readers_and_writers_at_once_see_whole_files(tmp_path: Path) -> None:
    path = tmp_path / "kernel.nbc"
    contents = [bytes([number]) * 50_000 for number in range(4)]
    kernel_cache._write(path, b"one", contents[0])
    done = threading.Event()
    wrong: list[Any] = []

    def read() -> None:
        while not done.is_set():
            found = kernel_cache._read(path, b"one")
            if found not in contents:
                wrong.append(found)

    def write(content: bytes) -> None:
        for _ in range(25):
            kernel_cache._write(path, b"one", content)

    reader = threading.Thread(target=read)
    writers = [threading.Thread(target=write, args=(content,)) for content in contents]
    for thread in (reader, *writers):
        thread.start()
    for thread in writers:
        thread.join()
    done.set()
    reader.join()
    assert not wrong
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("failure", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_a_write_that_fails_leaves_what_was_there(
    failure: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "kernel.nbc"
    kernel_cache._write(path, b"one", b"old")

    def fail(*_: object) -> None:
        raise failure

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(type(failure)):
        kernel_cache._write(path, b"one", b"new")
    assert kernel_cache._read(path, b"one") == b"old"
    assert list(tmp_path.iterdir()) == [path]
