"""All pairs colliding: Ponamgi, Manocha and Lin (1995), Fig. 1 (a), the worst case of a broad phase.

Every box overlaps every other one, so reporting all pairs takes quadratic time.  What can be expected is that the
time stays in proportion to the pairs.  Boxes move a little from frame to frame, and never out of each other.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.progress import track
from rich.table import Table

from impinge.arrays import Floats
from impinge.broadphase.choice import MEMBERS, broad_phase
from impinge.lab.bench.broad_results import exponent
from impinge.lab.papers import drawing
from impinge.lab.papers.printing import milliseconds, say, titled_console, verdict

BOXES = (50, 100, 200, 500, 1000, 2000)
FRAMES = 6

_ROUNDS = 3
_REACH = 0.4
"""Low corners are within this of the origin, and boxes are of size 1: all of them hold the middle of it all."""


@dataclass(frozen=True)
class Cost:
    """Seconds."""

    first: float
    """Of the frame in which all pairs begin,"""
    frame: float
    """and of one in which all persist."""


@dataclass(frozen=True)
class Row:
    count: int
    costs: dict[str, Cost]
    """Of each broad phase."""

    @property
    def pairs(self) -> int:
        return self.count * (self.count - 1) // 2


def heap(count: int, frames: int, seed: int = 1) -> list[Floats]:
    """Boxes (n, 2, 3) of each frame: they shake by a hundredth of their size."""
    rng = np.random.default_rng([seed, count])
    places = rng.uniform(0.01, _REACH - 0.01, size=(count, 3))
    lows = (places + rng.uniform(-0.01, 0.01, size=(count, 3)) for _ in range(frames))
    return [np.stack([low, low + 1.0], axis=1) for low in lows]


def measure(count: int, frames: int = FRAMES, rounds: int = _ROUNDS) -> Row:
    """All broad phases in turn, the best of several rounds."""
    shown = heap(count, frames + 1)
    results = [{name: _replayed(name, shown) for name in MEMBERS} for _ in range(rounds)]
    costs = {}
    for name in MEMBERS:
        own = np.array([each[name] for each in results])
        costs[name] = Cost(float(own[:, 0].min()), float(own[:, 1:].min(axis=0).mean()))
    return Row(count, costs)


def _replayed(name: str, shown: Sequence[Floats]) -> list[float]:
    """Seconds of each frame."""
    broad = broad_phase(name)
    broad.add(shown[0])
    seconds = []
    for number, boxes in enumerate(shown):
        begin = time.perf_counter()
        broad.update(boxes if number else None)
        pairs = broad.pairs
        seconds.append(time.perf_counter() - begin)
        if 2 * len(pairs) != len(boxes) * (len(boxes) - 1):
            raise RuntimeError(f"{name} finds {len(pairs)} pairs of {len(boxes)} boxes in one heap")
    return seconds


def table(rows: Sequence[Row]) -> Table:
    names = list(rows[0].costs)
    made = Table("boxes", "pairs", *names, title="A frame in which all pairs persist (the one in which all begin)")
    for row in rows:
        costs = (f"{milliseconds(cost.frame)} ({milliseconds(cost.first)})" for cost in row.costs.values())
        made.add_row(f"{row.count:,}", f"{row.pairs:,}", *costs)
    made.add_section()
    last = rows[-1]
    made.add_row("", "a pair", *(f"{1e9 * cost.frame / last.pairs:.3g} ns" for cost in last.costs.values()))
    for column in made.columns:
        column.justify = "right"
    return made


def growth(rows: Sequence[Row], name: str) -> float:
    """The exponent of the number of pairs in the time of a frame, over the larger half of the rows."""
    used = rows[-max(2, len(rows) // 2) :]
    return exponent([row.pairs for row in used], [row.costs[name].frame for row in used])


def findings(rows: Sequence[Row]) -> list[str]:
    if len(rows) < 2:
        return []
    grows = {name: growth(rows, name) for name in rows[0].costs}
    listed = ", ".join(f"{name} {power:.2f}" for name, power in grows.items())
    linear = all(power < 1.2 for power in grows.values())
    fastest = min(grows, key=lambda name: rows[-1].costs[name].frame)
    return [
        "The paper: quadratic time, for any algorithm, where all pairs collide. Time over pairs grows with the "
        f"exponents {listed}: that none is worse than that {verdict(linear)}.",
        f"With {rows[-1].count:,} boxes in one heap the fastest is {fastest}.",
    ]


def picture(rows: Sequence[Row], path: Path) -> Path:
    canvas = drawing.figure(12.0, 5.2)
    persist, a_pair = canvas.subplots(1, 2)
    counts = np.array([row.count for row in rows], dtype=np.float64)
    pairs = np.array([row.pairs for row in rows], dtype=np.float64)
    for name, style in zip(rows[0].costs, ("o-", "s-", "^-", "x-", "d-"), strict=True):
        seconds = np.array([row.costs[name].frame for row in rows])
        persist.loglog(counts, 1e3 * seconds, style, label=name, markersize=5)
        a_pair.loglog(counts, 1e9 * seconds / pairs, style, label=name, markersize=5)
    fastest = min(cost.frame for cost in rows[-1].costs.values())
    persist.loglog(counts, 1e3 * fastest * pairs / pairs[-1], "--", color="0.6", label="in proportion to pairs")
    persist.set_title("milliseconds a frame")
    a_pair.set_title("nanoseconds a pair")
    for plot in (persist, a_pair):
        plot.set_xlabel("boxes, all of which overlap")
        plot.grid(visible=True, which="both", alpha=0.3)
    persist.legend()
    return drawing.save(canvas, path)


def run(steps: int | None, out: Path) -> None:
    """The command; ``steps`` is the number of rows."""
    console = titled_console("All pairs colliding, Ponamgi et al. 1995, Fig. 1 (a)")
    measure(8, 2, rounds=1)  # compiles
    rows = [measure(count) for count in track(BOXES[: steps or len(BOXES)], "a heap", transient=True, console=console)]
    console.print(table(rows))
    say(console, findings(rows))
    say(console, [picture(rows, out / "allpairs.png")])
