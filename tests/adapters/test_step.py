"""STEP through cascadio."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import impinge
from impinge.errors import MissingExtra


@pytest.fixture
def pair(tmp_path: Path, builders: Any) -> Path:
    path = tmp_path / "pair.stp"
    path.write_bytes(builders.step())
    return path


def test_product_names_where_instances_have_none(pair: Path) -> None:
    assert [part.name for part in impinge.load_assembly(pair)] == ["cube", "cube_1"]


def test_names_of_instances(pair: Path) -> None:
    pair.write_bytes(pair.read_bytes().replace(b"'NAUO2'", b"'spare cube'"))
    assert [part.name for part in impinge.load_assembly(pair)] == ["cube", "spare cube"]


def test_millimetres(pair: Path) -> None:
    assembly = impinge.load_assembly(pair, unit="mm")
    assert assembly.unit == "mm"
    np.testing.assert_allclose(assembly.parts[0].mesh.volume, 1.0, rtol=1e-6)


def test_nothing_is_printed(pair: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pair.write_bytes(pair.read_bytes().replace(b"ADVANCED_FACE", b"NO_SUCH_FACE"))
    with pytest.raises(ValueError, match=r"pair\.stp: "):
        impinge.load(pair)
    assert capfd.readouterr() == ("", "")


def test_missing_package(pair: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cascadio", None)
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
    with pytest.raises(ValueError, match=r"Open CASCADE cannot read this IGES file|it holds no triangles"):
        impinge.load(other)
