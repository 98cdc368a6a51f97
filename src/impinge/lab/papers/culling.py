"""Culling: Mirtich (1997), Fig. 4.  Eight coins and the floor: which pairs are left to the narrow phase.

The paper shows two snapshots with a line between the closest points of each pair, with and without a broad phase.
Here are the same, and the number of pairs over time: those with a common cell of the hash table, which the paper hands
on, those whose boxes overlap, and those whose tight boxes do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich.table import Table

import impinge
from impinge.arrays import Floats
from impinge.broadphase.body_boxes.body_boxes import BodyBoxes
from impinge.broadphase.spatial_hashing.spatial_hash import SpatialHash
from impinge.lab.papers import drawing
from impinge.lab.papers.hashing import step_boxes
from impinge.lab.papers.printing import say, titled_console
from impinge.lab.scenes.recordings import Recording, coins

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LENGTH = 0.005
SNAPSHOT = 0.8
"""Seconds after the toss."""

Pairs = list[tuple[int, int]]


@dataclass(frozen=True, eq=False)
class Course:
    """Numbers of pairs in each step."""

    times: Floats
    all_pairs: int
    close: list[int]
    """With a common cell."""
    overlapping: list[int]
    """Boxes around both ends of a step."""
    tight: list[int]
    """Boxes that fit, at the beginning of a step."""
    pairs: list[Pairs]
    """Those that overlap, with the floor after the coins."""


def measure(recording: Recording, steps: int | None = None) -> Course:
    boxes = step_boxes(recording, LENGTH, steps)
    times: Floats = LENGTH * np.arange(len(boxes.moving), dtype=np.float64)
    fitting = BodyBoxes(recording.moving)
    bodies = len(recording.moving) + len(recording.fixed)
    fixed_pairs = len(recording.fixed) * (len(recording.fixed) - 1) // 2
    course = Course(times, bodies * (bodies - 1) // 2 - fixed_pairs, [], [], [], [])
    broad, narrow = SpatialHash(), SpatialHash()
    for phase, first in ((broad, boxes.moving[0]), (narrow, fitting.boxes(recording.poses(times[:1])[0]))):
        phase.add(first)
        phase.add(boxes.fixed, fixed=True)
    for moving, poses in zip(boxes.moving, recording.poses(times), strict=True):
        course.pairs.append([(a, b) for a, b in broad.update(moving).pairs.tolist()])
        course.close.append(broad.statistics.close)
        course.overlapping.append(len(course.pairs[-1]))
        course.tight.append(len(narrow.update(fitting.boxes(poses)).pairs))
    return course


def table(course: Course) -> Table:
    made = Table("pairs for the narrow phase", "mean", "most", "culled", title=f"{len(course.times)} steps")
    named = {
        "without culling": [course.all_pairs],
        "a common cell": course.close,
        "boxes of a step overlap": course.overlapping,
        "tight boxes overlap": course.tight,
    }
    for name, counts in named.items():
        mean = float(np.mean(counts))
        made.add_row(name, f"{mean:.1f}", f"{max(counts)}", f"{1.0 - mean / course.all_pairs:.0%}")
    for column in made.columns[1:]:
        column.justify = "right"
    return made


def findings(course: Course) -> list[str]:
    close, overlapping = float(np.mean(course.close)), float(np.mean(course.overlapping))
    return [
        f"Of {course.all_pairs} pairs {close:.1f} have a common cell and {overlapping:.1f} have boxes that overlap, in "
        f"the mean: {course.all_pairs / max(overlapping, 1.0):.1f} times fewer for the narrow phase. The paper shows "
        "this in a picture, without figures."
    ]


def snapshot(axes: Axes, recording: Recording, time: float, pairs: Sequence[tuple[int, int]]) -> None:
    """Bodies, and a line between the closest points of each of these pairs."""
    bodies = (*recording.moving, *recording.fixed)
    placed = [*recording.poses(np.array([time]))[0], *(np.eye(4) for _ in recording.fixed)]
    colours = [drawing.MOVER] * len(recording.moving) + [drawing.FIXED] * len(recording.fixed)
    view = drawing.View(25.0, 22.0)
    pieces = [drawing.piece_of(*each) for each in zip((body.mesh for body in bodies), placed, colours, strict=True)]
    drawing.draw_pieces(axes, view, pieces)
    for a, b in pairs:
        found = impinge.distance(bodies[a], bodies[b], placed[a], placed[b])
        drawing.draw_line(axes, view, np.stack([found.point_a, found.point_b]), drawing.SIGNAL)


def picture(recording: Recording, course: Course, path: Path) -> Path:
    canvas = drawing.figure(15.0, 8.0)
    grid = canvas.add_gridspec(2, 2, height_ratios=(3.0, 2.0))
    step = int(np.searchsorted(course.times, min(SNAPSHOT, course.times[-1])))
    moment = float(course.times[step])
    bodies = len(recording.moving) + len(recording.fixed)
    everything = [(a, b) for a in range(len(recording.moving)) for b in range(a + 1, bodies)]
    for column, (pairs, what) in enumerate(((course.pairs[step], "with"), (everything, "without"))):
        axes = canvas.add_subplot(grid[0, column])
        snapshot(axes, recording, moment, pairs)
        axes.set_title(f"{what} culling, {moment:.2f} s: {len(pairs)} pairs")
    plot = canvas.add_subplot(grid[1, :])
    plot.axhline(course.all_pairs, color="0.5", linestyle="--", label="without culling")
    plot.step(course.times, course.close, where="post", label="a common cell")
    plot.step(course.times, course.overlapping, where="post", label="boxes of a step overlap")
    plot.step(course.times, course.tight, where="post", label="tight boxes overlap")
    plot.set_ylim(bottom=0.0)
    plot.set_xlabel("seconds")
    plot.set_ylabel("pairs for the narrow phase")
    plot.grid(visible=True, alpha=0.3)
    plot.legend()
    return drawing.save(canvas, path)


def run(steps: int | None, out: Path) -> None:
    """The command; ``steps`` is the length of the recording."""
    console = titled_console("Culling, Mirtich 1997, Fig. 4")
    recording = coins()
    course = measure(recording, steps)
    console.print(table(course))
    say(console, findings(course))
    say(console, [picture(recording, course, out / "culling.png")])
