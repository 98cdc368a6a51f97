"""Lengths carry their unit, an unusual one too."""

from __future__ import annotations

import pytest

from impinge.apps.length_text import extent_text, length_text


@pytest.mark.parametrize(("unit", "text"), [(None, "0.125"), ("in", "0.125 in"), ("0.5 m", "0.125 x 0.5 m")])
def test_length(unit: str | None, text: str) -> None:
    assert length_text(0.125, unit) == text


def test_extent() -> None:
    assert extent_text([1, 2, 0.5], "mm") == "1 x 2 x 0.5 mm"
    assert extent_text([1, 2, 0.5], None) == "1 x 2 x 0.5"
