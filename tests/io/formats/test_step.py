"""STEP through Open CASCADE."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import impinge
from impinge.errors import MissingExtra
from impinge.io.formats import step


@pytest.fixture
def pair(tmp_path: Path, builders: Any) -> Path:
    path = tmp_path / "pair.stp"
    path.write_bytes(builders.step())
    return path


def test_names(pair: Path) -> None:
    """That of the product where the instance has none."""
    pair.write_bytes(pair.read_bytes().replace(b"'NAUO2'", b"'spare cube'"))
    assert [part.name for part in impinge.load_assembly(pair)] == ["cube", "spare cube"]


@pytest.mark.parametrize(
    ("unit", "name"),
    [
        ("SI_UNIT(.MILLI., .METRE.)", "mm"),
        ("SI_UNIT(.KILO., .METRE.)", "1000.0 m"),
        ("0.0254", "in"),
    ],
)
def test_coordinates_are_those_of_the_file(pair: Path, builders: Any, unit: str, name: str) -> None:
    """In its unit, bit by bit."""
    pair.write_bytes(builders.step(unit=unit, size=(0.1, 0.7)))
    assembly = impinge.load_assembly(pair)
    assert assembly.unit == name
    assert all(part.mesh.solid for part in assembly)
    assert np.unique(assembly.parts[0].mesh.vertices).tolist() == [0.1, 0.7]
    assert assembly.parts[1].pose.tolist() == [[0, -1, 0, 5], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]


def test_faces_that_touch_in_the_file_touch(pair: Path, builders: Any) -> None:
    """In float32 metres they would be 9e-7 mm apart."""
    pair.write_bytes(builders.step(size=(33.3, 70.1)))
    cube = impinge.load_assembly(pair).parts[0].mesh
    other = impinge.Mesh([[33.3, 40, 40], [33.3, 50, 40], [33.3, 40, 50], [1, 40, 40]], [[0, 1, 2], [0, 2, 3]])
    assert impinge.collides(cube, other)
    assert impinge.distance(cube, other).value == 0.0


def test_more_instances_than_can_be_placed(pair: Path, builders: Any) -> None:
    pair.write_bytes(builders.step(doublings=4))
    assembly = impinge.load_assembly(pair)
    assert [part.name for part in assembly] == ["cube"] + [f"cube_{k}" for k in range(1, 16)]
    # each level turns by 90 degrees or not at all
    assert len({part.pose.tobytes() for part in assembly}) == 4
    pair.write_bytes(builders.step(doublings=60))
    with pytest.raises(ValueError, match=r"pair\.stp: it places .* parts and groups"):
        impinge.load(pair)


def test_parts_in_other_files_are_not_opened(pair: Path, tmp_path: Path, builders: Any) -> None:
    other = tmp_path / "other.stp"
    other.write_bytes(builders.step())
    text = pair.read_text()
    product = text.partition("= PRODUCT_DEFINITION(")[0].rpartition("#")[2].strip()
    document = (
        "#9001 = DOCUMENT_TYPE('geometry');\n"
        f"#9002 = DOCUMENT_FILE('{other.as_posix()}', '', '', #9001, '', '');\n"
        f"#9003 = APPLIED_DOCUMENT_REFERENCE(#9002, '', (#{product}));\n"
        f"#9004 = APPLIED_EXTERNAL_IDENTIFICATION_ASSIGNMENT('{other.as_posix()}', #9005, #9006, (#9002));\n"
        "#9005 = IDENTIFICATION_ROLE('external document id and location', '');\n"
        "#9006 = EXTERNAL_SOURCE(IDENTIFIER(''));\n"
        "#9007 = DOCUMENT_REPRESENTATION_TYPE('digital', #9002);\n"
        "#9008 = ROLE_ASSOCIATION(#9009, #9003);\n"
        "#9009 = OBJECT_ROLE('mandatory', '');\n"
    )
    pair.write_text(text.replace("ENDSEC;\nEND-ISO", f"{document}ENDSEC;\nEND-ISO"))
    with pytest.raises(ValueError, match=r"pair\.stp: it takes parts from other files \('.*other\.stp'\)"):
        impinge.load(pair)


def test_nothing_is_printed(pair: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pair.write_bytes(pair.read_bytes().replace(b"ADVANCED_FACE", b"NO_SUCH_FACE"))
    with pytest.raises(ValueError, match=r"pair\.stp: "):
        impinge.load(pair)
    assert capfd.readouterr() == ("", "")


def test_missing_package(pair: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "OCP", None)
    with pytest.raises(MissingExtra, match=r'pip install "impinge\[cad\]"'):
        impinge.load(pair)


@pytest.mark.parametrize("tolerance", [0.0, -1.0, float("nan"), float("inf")])
def test_bad_tolerances(pair: Path, tolerance: float) -> None:
    with pytest.raises(ValueError, match="linear_tolerance is"):
        impinge.load(pair, linear_tolerance=tolerance)
    with pytest.raises(ValueError, match="angular_tolerance is"):
        impinge.load(pair, angular_tolerance=tolerance)


def test_not_step(pair: Path, tmp_path: Path) -> None:
    whole = pair.read_bytes()
    pair.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match="it is truncated"):
        impinge.load(pair)
    pair.write_bytes(b"solid")
    with pytest.raises(ValueError, match="does not start with ISO-10303-21"):
        impinge.load(pair)
    other = tmp_path / "a.igs"
    other.write_bytes(b"not an IGES file")
    with pytest.raises(ValueError, match=r"Open CASCADE (cannot read|finds no shape in) this IGES file"):
        impinge.load(other)


@pytest.fixture
def endless(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Instead of Open CASCADE a program that never ends; the file that it writes its number to."""
    if os.name != "posix":
        pytest.skip("a shell script")
    number, program = tmp_path / "number", tmp_path / "program"
    program.write_text(f'#!/bin/sh\necho $$ > "{number}.new"\nmv "{number}.new" "{number}"\nexec sleep 1000\n')
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    return number


def is_running(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return True


def test_files_that_take_too_long(pair: Path, endless: Path) -> None:
    with pytest.raises(
        ValueError, match=r"pair\.stp: Open CASCADE was not done with it after 2 seconds; .* max_seconds"
    ):
        impinge.load_assembly(pair, max_seconds=2.0)
    assert not is_running(int(endless.read_text()))


def test_ctrl_c_ends_the_child(pair: Path, endless: Path) -> None:
    def press_when_it_runs(*_: object) -> None:
        if endless.exists():
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, press_when_it_runs)
    signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
    try:
        with pytest.raises(KeyboardInterrupt):
            impinge.load(pair, max_seconds=float("inf"))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert not is_running(int(endless.read_text()))


@pytest.mark.parametrize("limit", [0.0, -1.0, float("nan")])
def test_bad_limits_of_time(pair: Path, limit: float) -> None:
    with pytest.raises(ValueError, match=r"pair\.stp: max_seconds is .*; it must be positive"):
        impinge.load(pair, max_seconds=limit)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux keeps the limit")
def test_limits_of_memory(pair: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(impinge.load(pair, max_expanded=100_000).faces) == 24
    with pytest.raises(ValueError, match=r"its triangles would take more than 1,000 bytes"):
        impinge.load(pair, max_expanded=1_000)
    monkeypatch.setattr(step, "_MEMORY", 2**26)
    with pytest.raises(ValueError, match=r"needs more memory than 67,508,864 bytes \(the argument max_expanded"):
        impinge.load(pair, max_expanded=100_000)
