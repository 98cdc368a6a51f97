"""Lengths as text, with their unit where there is one."""

from __future__ import annotations

from collections.abc import Iterable


def length_text(value: float, unit: str | None) -> str:
    """A length with its unit.

    Examples
    --------
    >>> length_text(0.25, "mm"), length_text(0.25, None), length_text(3, "0.5 m")
    ('0.25 mm', '0.25', '3 x 0.5 m')
    """
    return with_unit(f"{value:.4g}", unit)


def extent_text(sides: Iterable[float], unit: str | None) -> str:
    """The sides of a box with their unit.

    Examples
    --------
    >>> extent_text([1.0, 0.5, 0.0], "in")
    '1 x 0.5 x 0 in'
    """
    return with_unit(" x ".join(f"{side:.3g}" for side in sides), unit)


def with_unit(text: str, unit: str | None) -> str:
    """A number and its unit; an unusual unit such as "0.5 m" starts with a number of its own."""
    if not unit:
        return text
    return f"{text} x {unit}" if unit[0].isdigit() else f"{text} {unit}"
