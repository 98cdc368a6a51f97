"""What the comparison of broad phases found: tables, fitted growth, and the goals."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np
from rich.table import Table

from impinge.lab.scenes.boxes import EQUAL, MIXED, RESTING

AUTO, HASH, HASH_STANDARD, SWEEP, BRUTE = "auto", "hash", "hash-standard", "sweep", "brute"

TITLES = {EQUAL: "Equal sizes", MIXED: "Sizes 1 to 1000", RESTING: "At rest on a plane"}

_ROUNDED_OUTWARD = 1e-3
"""Part of the pairs that a peer may find in addition: some make boxes a little larger, so as to miss nothing."""
_FASTER = 3.0
_MOST_GROWTH = 0.1
_MOST_BYTES = 200.0
_FROM = 1000
"""Boxes from which on there are goals: with fewer, most of the cost is that of a call."""
_MANY = 100_000


@dataclass(eq=False)
class Row:
    """So many boxes in one world; what is a dictionary has a number for each broad phase that took part."""

    world: str
    count: int
    pairs: float = 0.0
    """A frame."""
    seconds: dict[str, float] = field(default_factory=dict)
    """A frame."""
    frames: dict[str, int] = field(default_factory=dict)
    """Frames that each was measured for."""
    compared: dict[str, int] = field(default_factory=dict)
    """Pairs in all of these frames."""
    missing: dict[str, int] = field(default_factory=dict)
    more: dict[str, int] = field(default_factory=dict)
    """Pairs that do not overlap, or were found twice."""
    only_count: set[str] = field(default_factory=set)
    left_out: set[str] = field(default_factory=set)
    """Those that would take too long."""
    exchanges: float | None = None
    """A frame, of sweep and prune."""
    new_lists: int = 0
    """Frames in which ``auto`` made its tree and its list anew."""
    bytes_a_box: float | None = None
    """Of ``auto``, without the pairs."""

    def is_right(self, name: str) -> bool:
        return self.missing[name] == 0 and self.more[name] <= _ROUNDED_OUTWARD * self.compared[name]

    def cost(self, name: str) -> float:
        """Seconds for each box and pair of a frame."""
        return self.seconds[name] / (self.count + self.pairs)

    def best(self, names: Collection[str]) -> str | None:
        """The quickest of these that is right."""
        right = [name for name in names if name in self.seconds and self.is_right(name)]
        return min(right, key=lambda name: self.seconds[name], default=None)


def exponent(counts: Sequence[int], values: Sequence[float]) -> float:
    """The slope of a line through the logarithms: values grow like counts to this power.

    >>> round(exponent([10, 100, 1000], [3.0, 300.0, 30000.0]), 12)
    2.0
    """
    return float(np.polyfit(np.log(counts), np.log(values), 1)[0])


def growth(rows: Sequence[Row], name: str, fewest: int) -> float | None:
    """The exponent of the cost for each box and pair, from so many boxes on; None if less than two rows have it."""
    used = [row for row in rows if row.count >= fewest and name in row.seconds]
    return exponent([row.count for row in used], [row.cost(name) for row in used]) if len(used) > 1 else None


@dataclass(frozen=True)
class Goal:
    world: str
    what: str
    asked: float
    reached: float
    unit: str
    at_least: bool

    @property
    def held(self) -> bool:
        return self.reached >= self.asked if self.at_least else self.reached <= self.asked


def goals(rows: Sequence[Row], peers: Collection[str]) -> list[Goal]:
    """The goals of these rows; nothing about peers where none is installed."""
    found = []
    for row in rows:
        if row.count >= _FROM and (best := row.best(peers)) is not None:
            what = f"{AUTO} faster than the best peer ({best}), {row.count:,} boxes"
            found.append(Goal(row.world, what, _FASTER, row.seconds[best] / row.seconds[AUTO], "x", True))
    for world in dict.fromkeys(row.world for row in rows):
        here = [row for row in rows if row.world == world]
        for name in (AUTO, HASH):
            if (power := growth(here, name, _FROM)) is not None:
                what = f"{name}: cost / (boxes + pairs) grows like boxes to the power of, from {_FROM:,} on"
                found.append(Goal(world, what, _MOST_GROWTH, power, "", False))
    for row in rows:
        if row.count >= _MANY and row.bytes_a_box is not None:
            what = f"{AUTO}: bytes a box beyond the pairs (sum of its arrays), {row.count:,} boxes"
            found.append(Goal(row.world, what, _MOST_BYTES, row.bytes_a_box, "", False))
    return found


def goal_table(rows: Sequence[Row], peers: Collection[str]) -> Table:
    table = Table("world", "what", "goal", "reached", "held", title="Goals")
    for goal in goals(rows, peers):
        sign = ">=" if goal.at_least else "<="
        reached = f"{goal.reached:.0f}" if goal.asked >= 100.0 else f"{goal.reached:.2f}{goal.unit}"
        table.add_row(goal.world, goal.what, f"{sign} {goal.asked:g}{goal.unit}", reached, "yes" if goal.held else "NO")
    return table


def speed_table(rows: Sequence[Row], names: Sequence[str]) -> Table:
    """One world: a line for each broad phase, a column for each number of boxes."""
    world = TITLES[rows[0].world]
    table = Table("", title=f"{world}: ms a frame; behind it times slower than {AUTO}")
    for row in rows:
        table.add_column(f"{row.count:,} boxes\n{row.pairs:,.0f} pairs", justify="right")
    table.add_column("pairs not as ours")
    table.add_column("growth", justify="right")
    for name in names:
        if any(name in row.seconds or name in row.left_out for row in rows):
            power = growth(rows, name, _FROM)
            shown = "" if power is None else f"{power:.2f}"
            table.add_row(name, *(_cell(row, name) for row in rows), _differences(rows, name), shown)
    lists = ", ".join(f"{row.new_lists} of {row.frames[AUTO]}" for row in rows)
    table.caption = (
        f"growth: exponent of cost / (boxes + pairs), from {_FROM:,} boxes on\n"
        f"frames in which {AUTO} made its list anew: {lists}"
    )
    return table


def _cell(row: Row, name: str) -> str:
    if name in row.left_out:
        return "left out"
    if name not in row.seconds:
        return "-"
    mark = "*" if row.frames[name] < max(row.frames.values()) else ""
    times = row.seconds[name] / row.seconds[AUTO]
    ratio = "" if name == AUTO else f" {times:.1f}x" if times < 10.0 else f" {times:,.0f}x"
    return f"{1e3 * row.seconds[name]:.3g}{ratio}{mark}"


def _differences(rows: Sequence[Row], name: str) -> str:
    """Added up over all numbers of boxes."""
    used = [row for row in rows if name in row.seconds]
    compared = sum(row.compared[name] for row in used)
    kinds = (("missing", "missing"), ("more", "too many"))
    parts = [f"{total:,} {word}" for kind, word in kinds if (total := sum(getattr(row, kind)[name] for row in used))]
    return f"{', '.join(parts)} of {compared:,}" if parts else "none"


def exchange_table(rows: Sequence[Row]) -> Table:
    """What sweep and prune has to put right."""
    used = [row for row in rows if row.exchanges]
    counts = sorted({row.count for row in used})
    table = Table("world", *(f"{count:,} boxes" for count in counts), "grow like boxes to the power of")
    table.title = "Sweep and prune: exchanges a frame"
    for world in dict.fromkeys(row.world for row in used):
        here = {row.count: row.exchanges or 0.0 for row in used if row.world == world}
        power = f"{exponent(list(here), list(here.values())):.2f}" if len(here) > 1 else ""
        table.add_row(world, *(f"{here[count]:,.0f}" if count in here else "-" for count in counts), power)
    for column in table.columns[1:]:
        column.justify = "right"
    return table
