"""Sweep and prune where bodies have come to rest: Mirtich (1997), section 2.3, Fig. 6.

On a table the ends of all boxes cluster along the vertical, and a small tremble exchanges nearly all of them: O(N^2).
The paper names two remedies, axes that are skewed to the table (at the price of larger boxes) and a reduction
to two dimensions instead of one; fixed cubes are those of I-COLLIDE.  Counted are the exchanges a frame.  In a layer of
constant density even the lists along the floor grow denser with its side: N^1.5 is as good as they can do.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import track
from rich.table import Table

from impinge.broadphase.body_boxes.body_boxes import BodyBoxes
from impinge.broadphase.sweep_prune import SweepAndPrune
from impinge.lab.bench.broad_results import exponent
from impinge.lab.papers import drawing
from impinge.lab.papers.printing import milliseconds, say, titled_console, verdict
from impinge.lab.scenes.crates import Layer, layer

BODIES = (100, 300, 1000, 3000)
FRAMES = 10

_UP = np.sqrt(1.0 / 3.0)
SKEWED = np.array(
    [
        [np.sqrt(2.0 / 3.0), 0.0, _UP],
        [-np.sqrt(1.0 / 6.0), np.sqrt(0.5), _UP],
        [-np.sqrt(1.0 / 6.0), -np.sqrt(0.5), _UP],
    ]
)
"""A cube that stands on its corner: all axes are equally far from the vertical."""
FLOOR = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]

TIGHT, CUBES, ASKEW, TWO = "tight boxes", "fixed cubes", "skewed axes", "two axes"
REMEDIES: dict[str, dict[str, Any]] = {
    TIGHT: {},
    CUBES: {"kind": "cubes"},
    ASKEW: {"axes": SKEWED},
    TWO: {"axes": FLOOR},
}
"""Options of ``BodyBoxes``."""
MIXED, EQUAL = "sides from 0.5 to 1.5", "all alike"


@dataclass(frozen=True)
class Cell:
    """One remedy in one layer; for a frame, in the mean."""

    crates: str
    count: int
    remedy: str
    exchanges: float
    pairs: float
    seconds: float
    """Of boxes and sweep and prune."""


def measure(count: int, crates: str, frames: int = FRAMES) -> list[Cell]:
    scene = layer(count, equal=crates == EQUAL)
    return [_measured(scene, crates, remedy, frames) for remedy in REMEDIES]


def _measured(scene: Layer, crates: str, remedy: str, frames: int) -> Cell:
    boxes = BodyBoxes(scene.bodies, **REMEDIES[remedy])
    broad = SweepAndPrune()
    broad.add(boxes.boxes(scene.poses(0)))
    broad.update()
    exchanges, pairs, seconds = [], [], []
    for number in range(1, frames + 1):
        poses = scene.poses(number)
        begin = time.perf_counter()
        broad.update(boxes.boxes(poses))
        seconds.append(time.perf_counter() - begin)
        exchanges.append(broad.statistics.exchanges)
        pairs.append(broad.statistics.overlapping)
    return Cell(
        crates, len(scene.bodies), remedy, float(np.mean(exchanges)), float(np.mean(pairs)), float(np.median(seconds))
    )


def chosen(cells: Sequence[Cell], crates: str, remedy: str) -> list[Cell]:
    own = (cell for cell in cells if cell.crates == crates and cell.remedy == remedy)
    return sorted(own, key=lambda cell: cell.count)


def kinds_of(cells: Sequence[Cell]) -> list[str]:
    return list(dict.fromkeys(cell.crates for cell in cells))


def growth(cells: Sequence[Cell]) -> float | None:
    """The power of the number of bodies that the exchanges grow with."""
    if len(cells) < 2:
        return None
    return exponent([cell.count for cell in cells], [max(cell.exchanges, 1.0) for cell in cells])


def table(cells: Sequence[Cell]) -> Table:
    counts = sorted({cell.count for cell in cells})
    made = Table("crates", "boxes", *(f"{count:,}" for count in counts), "grow like", "pairs", "time")
    made.title = f"Sweep and prune at rest: exchanges a frame; pairs and time of {counts[-1]:,} bodies"
    for crates in kinds_of(cells):
        for remedy in REMEDIES:
            own = chosen(cells, crates, remedy)
            power = growth(own)
            made.add_row(
                crates if remedy == TIGHT else "",
                remedy,
                *(f"{cell.exchanges:,.0f}" for cell in own),
                "" if power is None else f"N^{power:.2f}",
                f"{own[-1].pairs:,.0f}",
                milliseconds(own[-1].seconds),
            )
        made.add_section()
    for column in made.columns[2:]:
        column.justify = "right"
    return made


def findings(cells: Sequence[Cell]) -> list[str]:
    said = []
    for crates in kinds_of(cells):
        tight = chosen(cells, crates, TIGHT)
        power = growth(tight)
        if power is None:
            continue
        said.append(
            f"Crates, {crates}: with tight boxes exchanges grow like N^{power:.2f}; that it is quadratic "
            f"{verdict(power > 1.8)}."
        )
        for remedy in (CUBES, ASKEW, TWO):
            own = chosen(cells, crates, remedy)
            fewer = tight[-1].exchanges / max(own[-1].exchanges, 1.0)
            more = own[-1].pairs / max(tight[-1].pairs, 1.0)
            said.append(
                f"  {remedy}: {fewer:.1f} times fewer exchanges with {own[-1].count:,} bodies, {more:.2f} times the "
                f"pairs; N^{growth(own):.2f}."
            )
    return said


def picture(cells: Sequence[Cell], path: Path) -> Path:
    canvas = drawing.figure(13.0, 5.4)
    kinds = kinds_of(cells)
    plots = canvas.subplots(1, len(kinds), sharey=True, squeeze=False)[0]
    for plot, crates in zip(plots, kinds, strict=True):
        for remedy, style in zip(REMEDIES, ("o-", "s-", "^-", "x-"), strict=True):
            own = chosen(cells, crates, remedy)
            plot.loglog([cell.count for cell in own], [max(cell.exchanges, 1.0) for cell in own], style, label=remedy)
        counts = np.array(sorted({cell.count for cell in cells}), dtype=np.float64)
        first = chosen(cells, crates, TIGHT)[0].exchanges
        plot.loglog(counts, first * (counts / counts[0]) ** 2, "--", color="0.6", label="quadratic")
        plot.set_title(f"crates, {crates}")
        plot.set_xlabel("bodies at rest")
        plot.grid(visible=True, which="both", alpha=0.3)
    plots[0].set_ylabel("exchanges a frame")
    plots[0].legend()
    return drawing.save(canvas, path)


def run(steps: int | None, out: Path) -> None:
    """The command; ``steps`` is the number of frames."""
    console = titled_console("Sweep and prune at rest, Mirtich 1997, section 2.3")
    cases = [(count, crates) for crates in (MIXED, EQUAL) for count in BODIES]
    measure(10, MIXED, 1)  # compiles
    frames = min(steps or FRAMES, FRAMES)
    tried = track(cases, "resting", transient=True, console=console)
    cells = [cell for count, crates in tried for cell in measure(count, crates, frames)]
    console.print(table(cells))
    say(console, findings(cells))
    say(console, [picture(cells, out / "resting.png")])
