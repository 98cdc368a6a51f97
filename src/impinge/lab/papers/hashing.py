"""Hashing with and without coherence: Mirtich (1997), Table 1.

Four simulations, recorded (``lab.scenes.recordings``): coins, bowling, rattleback top, part feeder chute.  The box of a
body holds a sphere around it at both ends of a step, and so all of a straight motion between them; a body that bounces
within a step may leave it for a moment.  (The paper's boxes hold ballistic motion too.  Here nothing is missed by that,
only the cost of hashing is measured.)  Fixed bodies have boxes that fit.  The paper counts the cycles of the
broad phase and finds that coherence makes it six to seven times faster.

These are scenes of two to two dozen boxes.  Our updates of so few spend their time on the way from Python to
the kernel, with and without coherence; therefore each scene is also put up many times side by side, and cells are
counted: those looked up in every step, or newly entered with coherence.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.progress import track
from rich.table import Table

from impinge.arrays import Floats
from impinge.broadphase.body_boxes.body_boxes import BodyBoxes
from impinge.broadphase.spatial_hashing.spatial_hash import SpatialHash
from impinge.lab.papers import drawing
from impinge.lab.papers.printing import say, titled_console, verdict
from impinge.lab.scenes.recordings import RECORDINGS, Recording

PAPER = {"coins": (361, 58), "bowling": (2188, 314), "rattleback top": (641, 107), "part feeder chute": (409, 57)}
"""Millions of cycles, standard and with coherence."""
LENGTHS = (0.01, 0.003, 0.001)
"""Seconds from one step to the next; the paper does not say."""
BOXES = 1000
"""Scenes are put side by side until there are so many."""

_ROUNDS = 2


@dataclass(frozen=True, eq=False)
class StepBoxes:
    """The boxes of a recording."""

    moving: Floats
    """(steps, n, 2, 3)"""
    fixed: Floats
    """(m, 2, 3)"""

    @property
    def count(self) -> int:
        return len(self.moving[0]) + len(self.fixed)

    def frames(self, copies: int) -> Iterator[Floats]:
        shifts = self._shifts(copies)
        for boxes in self.moving:
            yield _side_by_side(boxes, shifts)

    def fixed_boxes(self, copies: int) -> Floats:
        return _side_by_side(self.fixed, self._shifts(copies))

    def _shifts(self, copies: int) -> Floats:
        """(copies, 3) in a square, so far apart that no two have a cell in common.

        By no simple part of a cell, so that each copy lies differently in the cells.
        """
        everything = np.concatenate([self.moving.reshape(-1, 3), self.fixed.reshape(-1, 3)])
        columns = int(np.ceil(np.sqrt(copies)))
        place = np.arange(copies)
        apart = 3.0377 * float(np.ptp(everything, axis=0).max())
        return np.column_stack([place % columns * apart, place // columns * apart, np.zeros(copies)])


def _side_by_side(boxes: Floats, shifts: Floats) -> Floats:
    return (shifts[:, None, None] + boxes).reshape(-1, 2, 3)


@dataclass(frozen=True)
class Cost:
    """Of all steps of a scene, from scratch and with coherence."""

    standard: float
    coherent: float

    @property
    def ratio(self) -> float:
        return self.standard / self.coherent if self.coherent > 0.0 else np.inf


@dataclass(frozen=True)
class Row:
    """One recording at one length of a step."""

    name: str
    length: float
    steps: int
    boxes: int
    """Of the scene itself."""
    copies: int
    cells: Cost
    seconds: Cost
    """Side by side."""
    alone: Cost
    """Seconds of the scene itself."""


def step_boxes(recording: Recording, length: float, steps: int | None = None) -> StepBoxes:
    """Boxes of all steps, or of the first ones: around a sphere at the beginning and at the end of a step."""
    number = round(recording.seconds / length)
    times: Floats = length * np.arange(1.0 + min(number, number if steps is None else steps))
    cubes = BodyBoxes(recording.moving, kind="cubes")
    ends = np.stack([cubes.boxes(poses) for poses in recording.poses(times)])
    low, high = np.minimum(ends[:-1, :, 0], ends[1:, :, 0]), np.maximum(ends[:-1, :, 1], ends[1:, :, 1])
    still = np.tile(np.eye(4), (len(recording.fixed), 1, 1))
    return StepBoxes(np.stack([low, high], axis=2), BodyBoxes(recording.fixed).boxes(still))


def replayed(boxes: StepBoxes, copies: int, coherent: bool) -> tuple[float, int]:
    """Seconds and cells of all steps; what stores the scene for a first time is not counted."""
    broad = SpatialHash(coherent=coherent)
    broad.add(boxes.fixed_boxes(copies), fixed=True)
    frames = boxes.frames(copies)
    broad.add(next(frames))
    broad.update()
    seconds, cells = 0.0, 0
    for frame in frames:
        begin = time.perf_counter()
        broad.update(frame)
        seconds += time.perf_counter() - begin
        cells += broad.statistics.cells
    return seconds, cells


def measure(recording: Recording, length: float, steps: int | None = None, rounds: int = _ROUNDS) -> Row:
    boxes = step_boxes(recording, length, steps)
    copies = max(1, BOXES // boxes.count)
    seconds, cells = _compared(boxes, copies, rounds)
    alone = _compared(boxes, 1, rounds)[0]
    return Row(recording.name, length, len(boxes.moving), boxes.count, copies, cells, seconds, alone)


def _compared(boxes: StepBoxes, copies: int, rounds: int) -> tuple[Cost, Cost]:
    """Seconds, the best of several rounds in turn; and cells."""
    results = [[replayed(boxes, copies, coherent) for coherent in (False, True)] for _ in range(rounds)]
    best = np.array(results, dtype=np.float64).min(axis=0)
    return Cost(*best[:, 0].tolist()), Cost(*best[:, 1].tolist())


def table(rows: Sequence[Row]) -> Table:
    made = Table("example", "paper: standard", "coherent", "ratio", "step", "boxes", "cells", "anew", "alone: ratio")
    made.add_column("side by side")
    for name in ("standard", "coherent", "ratio"):
        made.add_column(name)
    made.title = "Paper: millions of cycles.  Ours, a step and scene: cells looked up, newly entered; us side by side"
    before = ""
    for row in rows:
        shown = ("", "", "", "")
        if row.name != before:
            standard, coherent = PAPER[row.name]
            shown = (row.name, f"{standard:,}", f"{coherent:,}", f"{standard / coherent:.1f}")
            if before:
                made.add_section()
        times = (
            f"{1e6 * seconds / row.steps / row.copies:.3g}" for seconds in (row.seconds.standard, row.seconds.coherent)
        )
        made.add_row(
            *shown,
            f"{1e3 * row.length:g} ms",
            f"{row.boxes}",
            *(f"{cells / row.steps / row.copies:.3g}" for cells in (row.cells.standard, row.cells.coherent)),
            f"{row.alone.ratio:.2f}",
            f"{row.copies:,}",
            *times,
            f"{row.seconds.ratio:.1f}",
        )
        before = row.name
    for column in made.columns[1:]:
        column.justify = "right"
    return made


def findings(rows: Sequence[Row]) -> list[str]:
    papers = [standard / coherent for standard, coherent in PAPER.values()]
    said = []
    for length in sorted({row.length for row in rows}, reverse=True):
        own = [row for row in rows if row.length == length]
        ratios, alone = [row.seconds.ratio for row in own], [row.alone.ratio for row in own]
        said.append(
            f"Steps of {1e3 * length:g} ms: with coherence hashing is {min(ratios):.1f} to {max(ratios):.1f} times "
            f"faster side by side, {min(alone):.1f} to {max(alone):.1f} times alone. "
            f"The paper: {min(papers):.1f} to {max(papers):.1f}. That it is six times or more "
            f"{verdict(min(ratios) >= 6.0)}."
        )
    return said


def picture(rows: Sequence[Row], path: Path) -> Path:
    canvas = drawing.figure(12.0, 5.2)
    speeds, cells = canvas.subplots(1, 2)
    for (name, (standard, coherent)), style in zip(PAPER.items(), ("o-", "s-", "^-", "x-"), strict=True):
        own = [row for row in rows if row.name == name]
        if not own:
            continue
        lengths = [1e3 * row.length for row in own]
        line = speeds.semilogx(lengths, [row.seconds.ratio for row in own], style, label=name)[0]
        speeds.axhline(standard / coherent, color=line.get_color(), linestyle=":", alpha=0.8)
        cells.loglog(lengths, [row.cells.ratio for row in own], style, label=name)
    speeds.set_ylim(bottom=0.0)
    speeds.set_title("time, standard over coherent (dotted: the paper)")
    cells.set_title("cells looked up over cells newly entered")
    for plot in (speeds, cells):
        plot.set_xlabel("milliseconds a step")
        plot.grid(visible=True, which="both", alpha=0.3)
        plot.legend()
    return drawing.save(canvas, path)


def run(steps: int | None, out: Path) -> None:
    """The command; ``steps`` is the number of steps of each recording."""
    console = titled_console("Hashing with coherence, Mirtich 1997, Table 1")
    recordings = [make() for make in RECORDINGS.values()]
    measure(recordings[0], LENGTHS[0], 3, rounds=1)  # compiles
    cases = [(recording, length) for recording in recordings for length in LENGTHS]
    rows = [measure(*case, steps) for case in track(cases, "hashing", transient=True, console=console)]
    console.print(table(rows))
    say(console, findings(rows))
    say(console, [picture(rows, out / "hashing.png")])
