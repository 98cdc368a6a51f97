"""Oriented boxes against axis-aligned boxes and spheres, as two surfaces approach in parallel.

Lin, Manocha, Cohen and Gottschalk (1996), section 5: "the algorithms based on OBBs asymptotically perform much better
than hierarchies based on sphere trees or axis-aligned bounding boxes".  A box that lies along a smooth surface is
thinner than it is long by its length over the radius of curvature, so it is small enough for a gap when its
length is the square root of the gap; a sphere or an axis-aligned box must be as small as the gap itself.  In tests over
the inverse gap that is an exponent of 1 against 2.

All trees have the same splits, and go through the same traversal; the query is whether the surfaces touch, and
the answer is no.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from rich.progress import track
from rich.table import Table

from impinge.bvh.search import TreeSearch
from impinge.bvh.tree import Tree
from impinge.bvh.volumes.aabb import AABBTree
from impinge.bvh.volumes.obb import OBBTree
from impinge.bvh.volumes.sphere import SphereTree
from impinge.lab.papers import drawing
from impinge.lab.papers.printing import milliseconds, say, titled_console
from impinge.lab.scenes.poses import poses, turns
from impinge.mesh.mesh import Mesh

OBB, AABB, SPHERE = "oriented boxes", "axis-aligned boxes", "spheres"
VOLUMES: Final[dict[str, type[Tree]]] = {OBB: OBBTree, AABB: AABBTree, SPHERE: SphereTree}
CELLS = 220
"""Squares along each side of the sheets: 96,800 triangles."""
GAPS = (0.3, 0.1, 0.05, 0.03, 0.02, 0.01, 0.005, 0.003)
"""As parts of the width of the sheets; the smallest are near the size of a triangle, 0.0045."""

_TILT = turns([0.7, -0.4, 0.3])
_ROUNDS = 3
_PATIENCE = 1.0
"""Seconds after which a query is not repeated."""


def sheet(cells: int) -> Mesh:
    """A smooth wavy square of unit width, tilted so that no axis is favoured."""
    x = np.linspace(-0.5, 0.5, cells + 1)
    z = 0.04 * np.sin(7.0 * x[:, None] + 1.0) * np.cos(5.0 * x)
    points = np.stack([*np.meshgrid(x, x, indexing="ij"), z], axis=-1).reshape(-1, 3) @ _TILT.T
    index = np.arange(len(points)).reshape(cells + 1, cells + 1)
    a, b, c, d = (part.ravel() for part in (index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]))
    return Mesh(points, np.concatenate([np.column_stack([a, b, c]), np.column_stack([a, c, d])]))


@dataclass(frozen=True)
class Row:
    """What a yes or no took at one gap."""

    gap: float
    volume: str
    box_tests: int
    triangle_tests: int
    seconds: float
    touching: bool


def measure(mesh: Mesh, gap: float, volume: str) -> Row:
    tree = VOLUMES[volume].of(mesh)
    search = TreeSearch(tree, tree)
    apart, rest = poses(np.eye(3), gap * _TILT[:, 2])[None].copy(), np.eye(4)[None].copy()
    search.collides(apart, rest)  # compiles
    best, begin = np.inf, time.perf_counter()
    for _ in range(_ROUNDS):
        start = time.perf_counter()
        answer = search.collides(apart, rest)
        best = min(best, time.perf_counter() - start)
        if time.perf_counter() - begin > _PATIENCE:
            break
    taken = search.statistics
    return Row(gap, volume, taken.box_tests, taken.triangle_tests, best, bool(answer[0] == 1))


def exponent(rows: list[Row], volume: str) -> float:
    """How box tests grow with the inverse gap.

    Over the two smallest gaps that no volume needed triangles for: below them, trees end too early.
    """
    too_small = {row.gap for row in rows if row.triangle_tests > 0}
    mine = sorted((row.gap, row.box_tests) for row in rows if row.volume == volume and row.gap not in too_small)
    if len(mine) < 2:
        return float("nan")
    (small, many), (large, few) = mine[:2]
    return float(np.log(many / few) / np.log(large / small))


def table(rows: list[Row]) -> Table:
    headings = ["gap / width", "volumes", "box tests", "triangle tests", "time", "a box test"]
    made = Table(*headings, "tests, times oriented", "time, times oriented")
    oriented = {row.gap: row for row in rows if row.volume == OBB}
    for row in rows:
        best = oriented[row.gap]
        made.add_row(
            f"{row.gap:g}" if row is best else "",
            row.volume,
            f"{row.box_tests:,}",
            f"{row.triangle_tests:,}",
            milliseconds(row.seconds),
            f"{1e9 * row.seconds / row.box_tests:.1f} ns",
            f"{row.box_tests / best.box_tests:,.1f}",
            f"{row.seconds / best.seconds:.1f}",
            end_section=row.volume == SPHERE,
        )
    for column in (0, *range(2, 8)):
        made.columns[column].justify = "right"
    return made


def findings(rows: list[Row]) -> list[str]:
    """What the paper says, and whether it holds for ours."""
    smallest = min(row.gap for row in rows)
    last = {row.volume: row for row in rows if row.gap == smallest}
    fewer = all(last[OBB].box_tests < last[other].box_tests for other in (AABB, SPHERE))
    faster = all(last[OBB].seconds < last[other].seconds for other in (AABB, SPHERE))
    holds = (
        "holds" if fewer and faster else "holds here for the tests, not for the time" if fewer else "does not hold here"
    )
    compared = ", ".join(
        f"{other} take {last[other].box_tests / last[OBB].box_tests:,.1f} times the tests and "
        f"{last[other].seconds / last[OBB].seconds:.1f} times the time"
        for other in (AABB, SPHERE)
    )
    said = [f'The paper: OBBs "asymptotically perform much better". This {holds}: at a gap of {smallest:g} {compared}.']
    grown = {volume: exponent(rows, volume) for volume in VOLUMES}
    if not np.isnan(list(grown.values())).any():
        text = ", ".join(f"{value:.2f} for {volume}" for volume, value in grown.items())
        said.append(f"Box tests grow with the inverse gap to the power of {text} (expected: 1 against 2 and 2).")
    return said


def picture(rows: list[Row], path: Path) -> Path:
    canvas = drawing.figure(12.0, 5.2)
    for axes, what, label in zip(
        canvas.subplots(1, 2), ("box_tests", "seconds"), ("box tests of a query", "seconds of a query"), strict=True
    ):
        for volume, mark in zip(VOLUMES, "os^", strict=True):
            mine = [row for row in rows if row.volume == volume]
            axes.loglog([row.gap for row in mine], [getattr(row, what) for row in mine], f"{mark}-", label=volume)
        axes.invert_xaxis()
        axes.set_xlabel("gap between the sheets, as a part of their width")
        axes.set_ylabel(label)
        axes.grid(visible=True, alpha=0.3)
        axes.legend()
    return drawing.save(canvas, path)


def run(steps: int | None, out: Path) -> None:
    """The command; ``steps`` is the number of gaps."""
    console = titled_console("Volumes")
    mesh = sheet(CELLS)
    asked = [(gap, volume) for gap in GAPS[: steps or len(GAPS)] for volume in VOLUMES]
    rows = [measure(mesh, *query) for query in track(asked, "volumes", transient=True)]
    say(console, [f"Two sheets of {len(mesh.faces):,} triangles, one above the other."])
    console.print(table(rows))
    say(console, findings(rows))
    say(console, [picture(rows, out / "volumes.png")])
