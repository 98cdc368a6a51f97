"""The satellite: Mirtich (1997), section 3.2, a thought experiment about coherence.

A small satellite orbits the Earth, a sphere with N facets: in one orbit a walk over features passes some sqrt(N) of
them.  If it falls straight down it passes none, whatever N.  Counted are the steps from one pair of features to
another, not the test that each pose takes.
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
from impinge.lab.scenes.polytopes import icosphere, random_directions
from impinge.lab.scenes.poses import poses, turns
from impinge.queries.method import MethodName

METHODS: tuple[MethodName, ...] = ("lin-canny", "vclip")
SUBDIVISIONS = (1, 2, 3, 4, 5)
STEPS = 3600
FALLS = 20

_HIGH = 1.2
_LOW = 1.001
_TILT = turns([0.3, 0.5, 0.1])
"""The equator of no symmetry of the icosahedron."""
_ROUNDS = 9


@dataclass(frozen=True)
class Row:
    """One method around one Earth."""

    method: str
    facets: int
    orbit: int
    """Features passed in one revolution,"""
    fall: float
    """and in a fall: the mean of several."""
    seconds: float
    """A pose of the orbit."""


def satellite() -> ConvexHull:
    """A small octahedron whose lowest corner is the origin: the corner that is nearest to the Earth."""
    points = [(0.0, 0.0, 0.0), (0.0, 0.0, 2.0), (1.0, 0.0, 1.0), (-1.0, 0.0, 1.0), (0.0, 1.0, 1.0), (0.0, -1.0, 1.0)]
    return ConvexHull(np.array(points) * 0.02)


def orbit(steps: int) -> Floats:
    """(steps, 4, 4) once around, upright over the ground."""
    angle = np.linspace(0.0, 2.0 * np.pi, steps, endpoint=False)
    around = _TILT @ turns(np.column_stack([angle, np.zeros(steps), np.zeros(steps)]))
    return poses(around, around[:, :, 2] * _HIGH)


def fall(direction: Floats, steps: int) -> Floats:
    """(steps, 4, 4) straight down, the lowest corner first."""
    up = np.array([0.0, 0.0, 1.0])
    axis = np.cross(up, direction)
    sine = float(np.linalg.norm(axis))
    upright = turns(axis / sine * np.arctan2(sine, direction[2])) if sine > 0.0 else np.eye(3)
    return poses(upright, np.linspace(_HIGH, _LOW, steps)[:, None] * direction)


def measure(subdivisions: Sequence[int], steps: int, falls: int = FALLS) -> list[Row]:
    directions = random_directions(np.random.default_rng(3), falls)
    small, path = satellite(), orbit(steps)
    pairs = [impinge.Pair(earth, small, method) for earth in map(icosphere, subdivisions) for method in METHODS]
    features = [features_passed(pair, None, path) for pair in pairs]
    # Coarse and fine Earths take turns, as their times are compared.
    seconds = interleaved({str(i): partial(pair.distance, None, path) for i, pair in enumerate(pairs)}, _ROUNDS)
    rows = []
    for i, pair in enumerate(pairs):
        down = float(np.mean([features_passed(pair, None, fall(direction, steps)) for direction in directions]))
        facets = len(pair.a.starts) - 1
        rows.append(Row(METHODS[i % len(METHODS)], facets, features[i], down, seconds[str(i)] / steps))
    return rows


def exponent(rows: Sequence[Row], method: str) -> float:
    """Of the number of facets, in the number of features passed: a line through the logarithms."""
    own = [row for row in rows if row.method == method]
    slope = np.polyfit(np.log([row.facets for row in own]), np.log([row.orbit for row in own]), 1)[0]
    return float(slope)


def table(rows: Sequence[Row]) -> Table:
    made = Table("method", "facets", "features an orbit", "over sqrt(N)", "features a fall", "us a pose of the orbit")
    for row in sorted(rows, key=lambda row: (row.method, row.facets)):
        over = row.orbit / np.sqrt(row.facets)
        figures = f"{row.orbit:,}", f"{over:.2f}", f"{row.fall:.2g}", f"{1e6 * row.seconds:.3g}"
        made.add_row(row.method, f"{row.facets:,}", *figures)
    for column in made.columns[1:]:
        column.justify = "right"
    return made


def findings(rows: Sequence[Row]) -> list[str]:
    said = []
    for method in METHODS:
        own = sorted((row for row in rows if row.method == method), key=lambda row: row.facets)
        grows = exponent(rows, method)
        said.append(
            f"{method}: features passed in an orbit grow like N^{grows:.3f}; the paper says N^0.5, which "
            f"{verdict(abs(grows - 0.5) < 0.05)}. In a straight fall {own[0].fall:.2g} are passed at {own[0].facets:,} "
            f"facets and {own[-1].fall:.2g} at {own[-1].facets:,}: that it is constant "
            f"{verdict(own[-1].fall <= max(3.0, 2.0 * own[0].fall))}."
        )
        slower = own[-1].seconds / own[0].seconds
        said.append(f"{method}: {own[-1].facets:,} facets take {slower:.2f} times as long as {own[0].facets:,}.")
    return said


def picture(rows: Sequence[Row], path: Path) -> Path:
    canvas = drawing.figure(12.0, 5.0)
    features, cost = canvas.subplots(1, 2)
    for method, style in zip(METHODS, ("o-", "s-"), strict=True):
        own = sorted((row for row in rows if row.method == method), key=lambda row: row.facets)
        n = np.array([row.facets for row in own], dtype=float)
        features.loglog(n, [row.orbit for row in own], style, label=f"{method}, an orbit")
        features.loglog(n, [max(row.fall, 0.1) for row in own], style, alpha=0.5, label=f"{method}, a straight fall")
        cost.semilogx(n, [1e6 * row.seconds for row in own], style, label=method)
    features.loglog(n, own[0].orbit * np.sqrt(n / n[0]), "--", color="0.6", label="square root of N")
    features.set_title("features passed (a tenth stands for none)")
    cost.set_title("microseconds a pose of the orbit")
    cost.set_ylim(0.0, 1.2e6 * max(row.seconds for row in rows))
    for plot in (features, cost):
        plot.set_xlabel("facets of the Earth")
        plot.grid(visible=True, alpha=0.3)
        plot.legend()
    return drawing.save(canvas, path)


def run(steps: int | None, out: Path) -> None:
    """The command; ``steps`` is the number of poses of an orbit, and of a fall."""
    console = titled_console("Satellite, Mirtich 1997, section 3.2")
    with console.status("orbiting"):
        rows = measure(SUBDIVISIONS, min(steps or STEPS, STEPS))
    console.print(table(rows))
    say(console, findings(rows))
    say(console, [picture(rows, out / "satellite.png")])
