"""The library of compiled kernels: what is refused, and, where there is one, that it answers and cannot be harmed."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import impinge
from impinge.kernels.library import loader
from impinge.kernels.library.loader import FORMAT, MANIFEST, Unusable, load, seal
from impinge.kernels.sources import source_hash


def write_manifest(folder: Path, **changes: Any) -> None:
    library = folder / "kernels.so"
    if not library.exists():
        library.write_bytes(b"no library at all")
    manifest = {
        "format": FORMAT,
        "platform": sysconfig.get_platform(),
        "sources": source_hash(),
        "libraries": {"x86-64": {"file": library.name, "sha256": hashlib.sha256(library.read_bytes()).hexdigest()}},
        **changes,
    }
    manifest["seal"] = seal(manifest)
    (folder / MANIFEST).write_text(json.dumps(manifest))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where libraries are looked for: empty."""
    monkeypatch.setattr(loader, "FOLDER", tmp_path)
    return tmp_path


def refusal(level: str | None = None) -> Unusable:
    with pytest.raises(Unusable) as refused:
        load(level)
    return refused.value


def test_an_install_from_source_has_no_library_and_nothing_is_said(folder: Path) -> None:
    assert not refusal().is_worth_telling


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"format": FORMAT + 1}, "made for another version"),
        ({"platform": "plan9-vax"}, "for plan9-vax, and this is"),
        ({"sources": "0" * 64}, "built from other sources"),
        ({"libraries": {}}, "cannot run"),
    ],
)
def test_a_manifest_that_does_not_fit_is_refused(folder: Path, changes: dict[str, Any], reason: str) -> None:
    write_manifest(folder, **changes)
    assert reason in str(refusal())
    assert refusal().is_worth_telling


@pytest.mark.parametrize("damage", [b"", b"{", b"null", b"[]", b"{}", b'{"seal": "x"}', b"\xff\xfe", b"[" * 100_000])
def test_a_damaged_manifest_is_refused(folder: Path, damage: bytes) -> None:
    (folder / MANIFEST).write_bytes(damage)
    assert "manifest of the kernel library is damaged" in str(refusal())


def test_each_changed_byte_of_a_manifest_is_noticed(folder: Path) -> None:
    write_manifest(folder)
    content = (folder / MANIFEST).read_bytes()
    for place in range(0, len(content), 7):
        changed = bytearray(content)
        changed[place] ^= 1
        (folder / MANIFEST).write_bytes(changed)
        assert "damaged" in str(refusal())


def test_a_folder_in_the_place_of_the_manifest_is_refused(folder: Path) -> None:
    (folder / MANIFEST).mkdir()
    assert "cannot be read" in str(refusal())


def test_what_is_no_library_is_refused(folder: Path) -> None:
    write_manifest(folder)
    assert "kernels.so cannot be loaded" in str(refusal())
    (folder / "kernels.so").write_bytes(b"something else")
    assert "kernels.so is damaged" in str(refusal())
    (folder / "kernels.so").unlink()
    assert "kernels.so cannot be read" in str(refusal())


def test_a_feature_level_that_is_not_there_is_named(folder: Path) -> None:
    write_manifest(folder)
    assert "no kernel library for x86-64-v9 (but for x86-64)" in str(refusal("x86-64-v9"))


# ------------------------------------------------------- with an installation that has a library

WITHOUT_NUMBA = "import sys; sys.modules['numba'] = None\n"
ANSWER = f"""{WITHOUT_NUMBA}
import impinge
from impinge.kernels.mode import library
cube = impinge.shapes.box(1, 1, 1)
print(impinge.collides(cube, cube), library() and library().level)
"""
WARMUP = f"""{WITHOUT_NUMBA}
sys.argv[1:] = ["warmup"]
from impinge.cli.entry import run
run()
"""
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def installation(tmp_path: Path) -> Path:
    """A copy of the installed package, to be damaged."""
    shutil.copytree(Path(impinge.__file__).parent, tmp_path / "impinge", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "impinge"


@pytest.fixture
def run(installation: Path) -> Run:
    """The answer to a first question, with the copy."""

    def run(program: str = ANSWER, **environment: str) -> subprocess.CompletedProcess[str]:
        variables = {"PYTHONPATH": str(installation.parent), "PYTHONDONTWRITEBYTECODE": "1", **environment}
        return subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, env=variables, timeout=60
        )

    return run


def built(installation: Path) -> Path:
    return installation / "kernels" / "library" / "built"


def libraries(installation: Path) -> list[Path]:
    return sorted(built(installation).glob("*.so"))


def test_the_copy_of_an_installation_works(run: Run, installation: Path) -> None:
    """Whether it has a library or not."""
    done = run(ANSWER, NUMBA_DISABLE_JIT="1")
    assert (done.stdout, done.returncode) == ("True None\n", 0), done.stderr


@pytest.mark.library
def test_the_library_answers_without_numba(run: Run) -> None:
    done = run()
    assert (done.stdout.split()[0], done.stderr, done.returncode) == ("True", "", 0)
    assert done.stdout.split()[1].startswith("x86-64")


@pytest.mark.library
def test_each_feature_level_can_be_chosen(run: Run, installation: Path) -> None:
    manifest = json.loads((built(installation) / MANIFEST).read_text())
    assert len(manifest["libraries"]) == len(libraries(installation)) == 2
    for level in manifest["libraries"]:
        done = run(IMPINGE_KERNELS=level)
        assert done.stdout == f"True {level}\n" or f"cannot run the kernel library for {level}" in done.stderr


@pytest.mark.library
@pytest.mark.parametrize("damage", ["cut", "empty", "flipped", "missing", "folder", "source", "manifest"])
def test_damage_is_told_in_one_line_and_never_run(run: Run, installation: Path, damage: str) -> None:
    """There is no Numba that could compile the kernels instead."""
    for library in libraries(installation):
        content = bytearray(library.read_bytes())
        if damage == "cut":
            library.write_bytes(content[: len(content) // 2])
        elif damage == "empty":
            library.write_bytes(b"")
        elif damage == "flipped":
            content[len(content) // 2] ^= 1
            library.write_bytes(content)
        elif damage in ("missing", "folder"):
            library.unlink()
        if damage == "folder":
            library.mkdir()
    if damage == "source":
        with (installation / "geometry" / "posing.py").open("a") as source:
            source.write("# changed\n")
    if damage == "manifest":
        (built(installation) / MANIFEST).unlink()
    done = run()
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith("impinge.errors.MissingExtra: ")
    assert "kernel library" in last
    assert 'pip install "impinge[jit]"' in last


@pytest.mark.library
def test_the_command_tells_it_in_one_line(run: Run, installation: Path) -> None:
    for library in libraries(installation):
        library.unlink()
    done = run(
        "import sys; sys.modules['numba'] = None; sys.argv[1:] = ['warmup']; import impinge.cli.entry as e; e.run()"
    )
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "needs the package 'numba'" in done.stderr


@pytest.mark.library
def test_a_read_only_installation_works_from_two_processes(run: Run, installation: Path) -> None:
    for path in [*installation.rglob("*"), installation]:
        os.chmod(path, 0o555)
    program = [sys.executable, "-c", ANSWER]
    environment = {"PYTHONPATH": str(installation.parent)}
    both = [subprocess.Popen(program, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert [process.communicate(timeout=60)[0].split()[0] for process in both] == ["True", "True"]
    for path in [installation, *installation.rglob("*")]:
        os.chmod(path, 0o755)


@pytest.mark.library
def test_wrong_arguments_are_refused_before_anything_is_run() -> None:
    from impinge.broadphase.boxes import first_bad_box
    from impinge.bvh.volumes.obb_kernels import collides
    from impinge.convex.hull.red_features import mark_red

    good = np.zeros((2, 6))
    assert isinstance(first_bad_box(good), int)
    for bad in (good[0], good[:, ::2], np.float32(good), np.int64(good), good.tolist(), None, good.astype(">f8")):
        with pytest.raises(TypeError, match="first_bad_box is not a C-contiguous array of f8 numbers"):
            first_bad_box(bad)
    for arguments in ((), (1, 2), (1, 2, 3, 4)):
        with pytest.raises(TypeError, match=f"does not take {len(arguments)} arguments"):
            collides(*arguments)
    for wrong in (1.5, "1", None, 1 << 70):
        with pytest.raises((TypeError, OverflowError)):
            collides(1, 2, wrong)
    integers, truths = np.zeros((1, 2), np.int32), np.zeros(1, np.bool_)
    rows = good[:, :3].copy()
    for polygons in (None, (), (integers,), (integers[0],) * 4):
        with pytest.raises(TypeError, match="mark_red"):
            mark_red(rows, integers, integers, integers, integers[0], polygons, truths, truths)


@pytest.mark.library
def test_a_kernel_that_finds_no_memory_says_so() -> None:
    from impinge.broadphase.brute_force import overlaps_from

    ids, rows, fixed = np.arange(2), np.zeros((2, 6)), np.zeros(2, np.bool_)
    assert len(overlaps_from(0, 2, ids, rows, fixed, 0.0, 4)[0]) == 1
    for guess in (1 << 45, 1 << 58):
        with pytest.raises(MemoryError, match="overlaps_from found no memory"):
            overlaps_from(0, 2, ids, rows, fixed, 0.0, guess)


REFUSE_MEMORY = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

int refusing, refused;

void *malloc(size_t size)
{
    static void *(*real)(size_t);
    Dl_info caller;
    if (real == NULL)
        real = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
    if (refusing && dladdr(__builtin_return_address(0), &caller) && strstr(caller.dli_fname, "kernels-x86")) {
        refused++;
        return NULL;
    }
    return real(size);
}
"""
WITH_LITTLE_MEMORY = f"""{WITHOUT_NUMBA}
import ctypes
import numpy as np, impinge
preloaded = ctypes.CDLL(None)
refusing, refused = (ctypes.c_int.in_dll(preloaded, name) for name in ("refusing", "refused"))
rng = np.random.default_rng(1)
said = wrong = 0
for _ in range(1000):
    a, b = (impinge.Mesh((rng.integers(-3, 4, (3, 3)) + 7.3) * 0.1, [[0, 1, 2]]) for _ in range(2))
    expected = impinge.collides(a, b)
    before, refusing.value = refused.value, 1
    try:
        wrong += impinge.collides(a, b) != expected or refused.value > before
    except MemoryError:
        said += 1
    finally:
        refusing.value = 0
print(wrong, said > 10)
"""


@pytest.mark.library
def test_exact_arithmetic_without_memory_is_an_error_and_never_a_guess(run: Run, tmp_path: Path) -> None:
    source, preloaded = tmp_path / "refuse.c", tmp_path / "refuse.so"
    source.write_text(REFUSE_MEMORY)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(preloaded), str(source), "-ldl"], check=True)
    done = run(WITH_LITTLE_MEMORY, LD_PRELOAD=str(preloaded))
    assert (done.stdout, done.stderr) == ("0 True\n", "")


@pytest.mark.library
def test_arrays_of_kernels_are_released_when_nobody_has_them() -> None:
    """A gigabyte is made in the loop; what is kept of it, a part of an array, stays as it is."""
    import resource

    from impinge.broadphase.aabb_tree.kept_pairs import merged

    keys = np.arange(1 << 17)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for i in range(1000):
        part = merged(keys, keys[:0])[i:]
        assert part[0] == i
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # kilobytes
    assert np.array_equal(part, keys[999:])
