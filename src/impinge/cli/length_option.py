"""Lengths on the command line: ``0.5`` is in the unit of the coordinates, ``0.5mm`` says its own.

A length is read before the file, so that a mistake in it costs no time, and converted once the unit is known:
in decimal arithmetic, so that ``0.02in`` is the number nearest to 0.508 mm.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from impinge.constants import LARGEST_COORDINATE
from impinge.io.scene import MICROMETRES

UNITS = ", ".join(MICROMETRES)

_LENGTH = re.compile(r"([+-]?)((?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,4})?)\s*([a-z]*)", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True)
class Length:
    """A length as it was given."""

    option: str
    text: str
    number: Decimal
    unit: str | None

    def in_unit(self, unit: str | None, file: str) -> float:
        """The number of units of the coordinates; ``file`` names them where they have no unit."""
        if self.unit is None:
            return float(self.number)
        if unit is None:
            raise ValueError(
                f"{self.option} is {self.text!r}, but {file} names no unit: give a plain number in the unit of its "
                "coordinates, or say with --unit, where the command has it, which one that is"
            )
        return float(self.number * Decimal(MICROMETRES[self.unit]) / _micrometres(unit))


def parse_length(option: str, text: str, also: str = "") -> Length:
    """Read a length; ``also`` names what else the option takes."""
    read = _LENGTH.fullmatch(text.strip())
    if read is None or (read[3] and read[3] not in MICROMETRES):
        raise ValueError(f"{option} is {text!r}; it must be a length such as 0.5 or 0.5mm ({UNITS}){also}")
    sign, digits, unit = read.groups()
    number = Decimal(digits)
    if sign == "-" and number:
        raise ValueError(f"{option} is {text!r}; a length is not negative")
    if number > Decimal(LARGEST_COORDINATE):
        raise ValueError(f"{option} is {text!r}; that is beyond the range of coordinates, {LARGEST_COORDINATE:.2g}")
    return Length(option, text, number, unit or None)


def parse_weld(text: str | None) -> Length | Literal["auto"] | None:
    """Read ``--weld``: a length, ``auto`` or ``none``."""
    if text is None or text.strip() == "none":
        return None
    if text.strip() == "auto":
        return "auto"
    return parse_length("--weld", text, ", 'auto' or 'none'")


def _micrometres(unit: str) -> Decimal:
    """The size of a unit; an unusual one reads "0.5 m"."""
    factor, _, name = unit.rpartition(" ")
    return Decimal(MICROMETRES[name]) * (Decimal(factor) if factor else 1)
