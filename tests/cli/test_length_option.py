"""Lengths with and without units, converted without an error of rounding."""

from __future__ import annotations

import pytest

from impinge.cli.length_option import Length, parse_length, parse_weld


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("0.5", None, 0.5),
        ("0.5", "in", 0.5),
        ("0.02in", "mm", 0.508),
        ("25.4mm", "in", 1.0),
        ("  .5 mm ", "um", 500.0),
        ("+3.ft", "in", 36.0),
        ("1e-3m", "mm", 1.0),
        ("0.1mm", "m", 0.0001),
        ("1m", "0.5 m", 2.0),
        ("-0", "mm", 0.0),
    ],
)
def test_conversion(text: str, unit: str | None, value: float) -> None:
    assert parse_length("--clearance", text).in_unit(unit, "a.stl") == value


@pytest.mark.parametrize("text", ["", "mm", "1,5", "1 2", "0x10", "1_000", "5 MM", "nan", "infinity", "1/2in", "٣"])
def test_what_is_no_length(text: str) -> None:
    with pytest.raises(ValueError, match=r"--clearance is .* such as 0.5 or 0.5mm"):
        parse_length("--clearance", text)


def test_no_unit_to_convert_to() -> None:
    with pytest.raises(ValueError, match=r"'1mm', but a\.stl names no unit"):
        parse_length("--clearance", "1mm").in_unit(None, "a.stl")


def test_weld() -> None:
    assert parse_weld(None) is None
    assert parse_weld("none") is None
    assert parse_weld(" auto") == "auto"
    assert isinstance(parse_weld("1um"), Length)
    with pytest.raises(ValueError, match="'auto' or 'none'"):
        parse_weld("ulps")
