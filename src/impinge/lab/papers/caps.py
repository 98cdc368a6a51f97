"""Ponamgi, Manocha and Lin (1995), Figs. 7 to 9: hull features, concavities, boundary loops and caps of some models."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.progress import track
from rich.table import Table

from impinge.arrays import Floats
from impinge.incremental.solids.solid_features import Kind, SolidFeatures, solid_features
from impinge.lab.papers import drawing
from impinge.lab.papers.printing import milliseconds, say, titled_console, verdict
from impinge.lab.scenes import shapes
from impinge.lab.scenes.combs import comb
from impinge.lab.scenes.hollows import angle_bar, golf_ball, nested_shells, spool
from impinge.mesh.mesh import Mesh

MODELS: dict[str, Callable[[], Mesh]] = {
    "angle bar": angle_bar,
    "nested shells": nested_shells,
    "golf ball": lambda: golf_ball(4),
    "torus": lambda: shapes.torus(3.0, 1.0, sides=40, tube_sides=20),
    "spool": spool,
    "comb": lambda: comb(20),
}
_DRAWN = ("angle bar", "nested shells", "golf ball")


@dataclass(frozen=True)
class Row:
    """A model and what was found."""

    name: str
    mesh: Mesh
    features: SolidFeatures
    seconds: dict[str, float]
    """By each method, from a new mesh on."""
    apart: float
    """The part of the hull's area by which hull features and caps differ from it; the worse of both methods."""


def measure(name: str) -> Row:
    make = MODELS[name]
    solid_features(shapes.box(1.0, 1.0, 1.0))  # hulls are compiled, or read from the cache
    seconds, apart = {}, 0.0
    for method in ("subtraction", "triangulation"):
        mesh = make()
        start = time.perf_counter()
        features = solid_features(mesh, method)
        seconds[method] = time.perf_counter() - start
        hull = features.hull.mesh.area
        parts = area(mesh.triangles[features.hull_face >= 0]) + sum(
            area(mesh.vertices[cap.triangles]) for cap in features.caps
        )
        apart = max(apart, abs(parts - hull) / hull)
    return Row(name, mesh, features, seconds, apart)


def area(triangles: Floats) -> float:
    """The sum of the areas of triangles (n, 3, 3)."""
    across = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    return 0.5 * float(np.linalg.norm(across, axis=1).sum())


def table(rows: list[Row]) -> Table:
    made = Table(
        "model",
        "triangles",
        "hull subsets",
        "concavities",
        "coarse subsets",
        "loops",
        "caps",
        "openings",
        "subtraction",
        "triangulation",
    )
    for row in rows:
        kinds = [subset.kind for subset in row.features.subsets]
        counts = (
            len(row.mesh.faces),
            kinds.count(Kind.HULL),
            kinds.count(Kind.CONCAVITY),
            len(row.features.coarse_subsets),
            len(row.features.loops),
            len(row.features.caps),
            len({cap.opening for cap in row.features.caps}),
        )
        made.add_row(row.name, *(f"{count:,}" for count in counts), *map(milliseconds, row.seconds.values()))
    for column in made.columns[1:]:
        column.justify = "right"
    return made


def findings(rows: list[Row]) -> list[str]:
    """What the paper says, and whether it holds for ours."""
    worst = max(row.apart for row in rows)
    fits = worst < 1e-12
    said = [f"The paper: CAP = hull - model. This {verdict(fits)}: areas differ by {worst:.0e} of the hull at most."]
    balls = [row for row in rows if row.name == "golf ball"]
    for row in balls:
        dimples = sum(subset.kind == Kind.CONCAVITY for subset in row.features.subsets)
        said.append(
            f"The paper: a golf ball has many disjoint concavities, joined by one hull feature set. This "
            f"{verdict(dimples == 12)}: {dimples} concavities for 12 dimples."
        )
    return said


def picture(rows: list[Row], path: Path) -> Path:
    canvas = drawing.figure(13.0, 5.0)
    chosen = [row for row in rows if row.name in _DRAWN]
    for axes, row in zip(np.atleast_1d(canvas.subplots(1, len(chosen))), chosen, strict=True):
        view = drawing.View(25.0, 40.0)
        on_hull = row.features.hull_face >= 0
        pieces = [(row.mesh.triangles[on_hull], drawing.FIXED), (row.mesh.triangles[~on_hull], drawing.MOVER)]
        drawing.draw_pieces(axes, view, [drawing.Piece(*piece) for piece in pieces if len(piece[0])])
        for cap in row.features.caps:
            for triangle in row.mesh.vertices[cap.triangles]:
                if view.project(np.cross(triangle[1] - triangle[0], triangle[2] - triangle[0]))[2] > 0.0:
                    drawing.draw_line(axes, view, triangle[[0, 1, 2, 0]], drawing.SIGNAL, 0.5)
        axes.set_title(row.name)
    return drawing.save(canvas, path)


def run(steps: int | None, out: Path) -> None:
    """The command; ``steps`` is the number of models."""
    console = titled_console("Caps")
    rows = [measure(name) for name in track(list(MODELS)[: steps or len(MODELS)], "caps", transient=True)]
    console.print(table(rows))
    say(console, findings(rows))
    say(console, [picture(rows, out / "caps.png")])
