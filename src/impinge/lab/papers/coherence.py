"""Coherence: Mirtich (1997), Fig. 10.  A model of a sphere turns beside a cube, by 1 to 20 degrees from call to call.

The paper says of Lin-Canny that at one degree between calls 16 times as many facets take 15% more time, and in section
3.2 that spheres of over 20,000 facets in place of ones with a few hundred are hardly slower.  Here a ``Pair`` finds
the distance along the whole path in one call, by Lin-Canny, V-Clip and GJK.  The axis
is parallel to the nearest face of the cube; the sphere begins in some odd orientation, so that no two features are in
line by chance.  All paths are whole revolutions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from rich.table import Table

import impinge
from impinge.arrays import Floats
from impinge.convex.hull.convex_hull import ConvexHull
from impinge.lab.bench.timing import interleaved
from impinge.lab.papers import drawing
from impinge.lab.papers.features_passed import features_passed
from impinge.lab.papers.printing import say, titled_console, verdict
from impinge.lab.scenes.polytopes import icosphere
from impinge.lab.scenes.poses import poses, turns
from impinge.queries.method import MethodName

METHODS: tuple[MethodName, ...] = ("lin-canny", "vclip", "gjk")
TRACKERS = ("lin-canny", "vclip")
SUBDIVISIONS = (2, 3, 4, 5)
DEGREES = tuple(range(1, 21))
STEPS = 3600
MOST_AT_16_TIMES = 1.15
MOST_AT_64_TIMES = 1.3

_GAP = 0.3
_ROUNDS = 7
_NAMES = {"lin-canny": "Lin-Canny", "vclip": "V-Clip", "gjk": "GJK"}


@dataclass(frozen=True)
class Cell:
    """One method along one path."""

    method: str
    facets: int
    degrees: int
    seconds: float
    """A pose."""
    passed: float
    """Features (GJK: directions) a pose."""


def turning(degrees: float, steps: int) -> Floats:
    """(steps, 4, 4) a sphere that turns about an axis parallel to the cube's upper face."""
    angle = np.radians(degrees) * np.arange(steps)
    start = turns([0.4, 0.9, 0.2])
    return poses(turns(angle[:, None] * np.array([0.8, 0.6, 0.0])) @ start, [0.0, 0.0, 1.0 + _GAP])


def cube() -> ConvexHull:
    """Its upper face is in the plane z = 0, below the sphere."""
    return ConvexHull([(x, y, z) for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-2.0, 0.0)])


def measure(subdivisions: Sequence[int], degrees: Sequence[int], steps: int, rounds: int = _ROUNDS) -> list[Cell]:
    """All spheres, speeds and methods in turn."""
    fixed = cube()
    spheres = [icosphere(number) for number in subdivisions]
    cells = [(method, sphere, speed) for speed in degrees for sphere in spheres for method in METHODS]
    pairs = {cell: impinge.Pair(cell[1], fixed, cell[0]) for cell in cells}
    paths = {speed: turning(speed, steps) for speed in degrees}
    passed = {cell: features_passed(pair, paths[cell[2]], None) / steps for cell, pair in pairs.items()}
    asked = {str(i): partial(pairs[cell].distance, paths[cell[2]]) for i, cell in enumerate(cells)}
    seconds = interleaved(asked, rounds)
    return [
        Cell(method, len(sphere.starts) - 1, speed, seconds[str(i)] / steps, passed[method, sphere, speed])
        for i, (method, sphere, speed) in enumerate(cells)
    ]


def chosen(cells: Sequence[Cell], method: str, facets: int) -> list[Cell]:
    return [cell for cell in cells if cell.method == method and cell.facets == facets]


def facets_of(cells: Sequence[Cell]) -> list[int]:
    return sorted({cell.facets for cell in cells})


def table(cells: Sequence[Cell]) -> Table:
    speeds = sorted({cell.degrees for cell in cells})
    shown = [speed for speed in speeds if speed in (1, 2, 5, 10, 15, 20)] or speeds
    made = Table(
        "method",
        "facets",
        *(f"{speed} deg" for speed in shown),
        title="us a pose (features passed a pose; GJK: directions)",
    )
    for method in METHODS:
        for facets in facets_of(cells):
            row = {cell.degrees: cell for cell in chosen(cells, method, facets)}
            figures = (f"{1e6 * row[speed].seconds:.3g} ({row[speed].passed:.3g})" for speed in shown)
            made.add_row(_NAMES[method], f"{facets:,}", *figures)
    for column in made.columns[1:]:
        column.justify = "right"
    return made


def growth(cells: Sequence[Cell], method: str, few: int, many: int) -> float:
    """How many times as long the sphere with many facets takes at the lowest speed."""
    slow, fast = (min(chosen(cells, method, facets), key=lambda cell: cell.degrees) for facets in (many, few))
    return slow.seconds / fast.seconds


def findings(cells: Sequence[Cell]) -> list[str]:
    facets = facets_of(cells)
    speed = min(cell.degrees for cell in cells)
    said = []
    for times, most in ((16, MOST_AT_16_TIMES), (64, MOST_AT_64_TIMES)):
        few, many = facets[0], times * facets[0]
        if many not in facets:
            continue
        for method in TRACKERS:
            found = growth(cells, method, few, many)
            said.append(
                f"{_NAMES[method]}, {speed} degree a step: {many:,} facets take {found:.3f} times as long as {few:,}; "
                f"goal at most {most}: {'held' if found <= most else 'NOT held'}."
            )
    gjk = growth(cells, "gjk", facets[0], facets[-1])
    said.append(f"GJK: {facets[-1]:,} facets take {gjk:.3f} times as long as {facets[0]:,}.")
    insensitive = all(growth(cells, method, facets[0], facets[-1]) <= MOST_AT_64_TIMES for method in TRACKERS)
    said.append(f"The paper: insensitive to complexity where coherence is high. This {verdict(insensitive)}.")
    return said


def picture(cells: Sequence[Cell], path: Path) -> Path:
    canvas = drawing.figure(15.0, 5.2)
    plots = canvas.subplots(1, len(METHODS), sharey=True)
    for plot, method in zip(plots, METHODS, strict=True):
        for facets, style in zip(facets_of(cells), ("o-", "s-", "^-", "x--"), strict=False):
            row = sorted(chosen(cells, method, facets), key=lambda cell: cell.degrees)
            degrees = [cell.degrees for cell in row]
            plot.plot(degrees, [1e6 * cell.seconds for cell in row], style, label=f"{facets:,} facets", markersize=4)
        plot.set_title(_NAMES[method])
        plot.set_xlabel("degrees between two poses")
        plot.grid(visible=True, alpha=0.3)
    plots[0].set_ylim(bottom=0.0)  # shared; set only now, as it ends the search for limits
    plots[0].set_ylabel("microseconds a pose")
    plots[0].legend()
    return drawing.save(canvas, path)


def run(steps: int | None, out: Path) -> None:
    """The command; ``steps`` is the number of poses of each path."""
    console = titled_console("Coherence, Mirtich 1997, Fig. 10")
    with console.status("turning"):
        cells = measure(SUBDIVISIONS, DEGREES, min(steps or STEPS, STEPS))
    console.print(table(cells))
    say(console, findings(cells))
    say(console, [picture(cells, out / "coherence.png")])
