"""What ``auto`` chooses from: every method for two meshes by their size, and hulls before trees in a world.

``python -m impinge.lab.bench choice [--parts N] [--poses N] [--rounds N]``

The choices that follow from these figures are in ``stages.hull_choice``, ``methods.hulls`` (for convex bodies, measured
by ``bench convex``) and docs/methods/auto.md.  The best of several interleaved rounds counts.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from impinge.arrays import Floats
from impinge.lab.bench.timing import interleaved, machine
from impinge.lab.scenes import shapes
from impinge.lab.scenes.parts_feeder import Feeder, parts_feeder
from impinge.lab.scenes.poses import poses, turns
from impinge.mesh.mesh import Mesh
from impinge.queries import verbs
from impinge.world.world import World

METHODS = ("obb", "incremental", "brute")
HULLS = ("auto", None, "gjk", "vclip", "lin-canny")
RINGS = {64: (8, 4), 256: (16, 8), 1024: (32, 16), 4096: (64, 32)}
"""Sides of tori, by their triangles."""
MOTIONS = {"small steps": 1, "jumps": 37}
"""Frames of the feeder from one measured frame to the next; it turns one degree in each."""
QUERIES: dict[str, Callable[[World], object]] = {
    "collides": lambda world: world.detect(),
    "closer_than": lambda world: world.detect("closer_than"),
    "distance": lambda world: world.detect("distance", within=0.05),
}

_MOST_FOR_BRUTE = 1024
"""Triangles of one mesh; all pairs of larger ones take too long, without a doubt."""
_FRAMES = 8
_WARM = 2


def bodies() -> dict[int, Mesh]:
    """A box and rings, by their triangles; all about one wide."""
    rings = {count: shapes.torus(0.45, 0.15, *sides) for count, sides in RINGS.items()}
    return {12: shapes.box(0.8, 0.8, 0.8).transformed(poses(np.eye(3), [-0.4, -0.4, -0.4]))} | rings


def spool_of(triangles: int) -> Mesh:
    """With about so many triangles."""
    profile = [(0.0, -0.6), (0.5, -0.6), (0.5, -0.4), (0.2, -0.3), (0.2, 0.3), (0.6, 0.5), (0.0, 0.6)]
    return shapes.lathe(profile, sides=4 * max(1, round(triangles / 40)))


def meshes(count: int, rounds: int) -> Table:
    """Two meshes along a path on which they meet half of the time."""
    t = np.linspace(0.0, 1.0, count)[:, None]
    path = poses(turns([1.0, 0.5, 0.0] * t), [0.7, 0.0, 0.0] + [0.7, 0.1, 0.1] * t)
    made = Table("triangles", "query", *METHODS, title="Two meshes along a path: us a pose")
    asked: dict[str, Callable[..., object]] = {
        "collides": verbs.collides, "contacts": verbs.contacts, "distance": verbs.distance,
    }  # fmt: skip
    for triangles, body in bodies().items():
        for name, verb in asked.items():
            ways: dict[str, Callable[[], object]] = {
                method: _asking(verb, body, path, method)
                for method in METHODS
                if method != "brute" or triangles <= _MOST_FOR_BRUTE
            }
            seconds = interleaved(ways, rounds)
            made.add_row(f"{triangles:,}", name, *(_best_bold(seconds, method, 1e6 / count) for method in METHODS))
        made.add_section()
    return _justified(made, len(METHODS))


def _asking(verb: Callable[..., object], body: Mesh, path: Floats, method: str) -> Callable[[], object]:
    return lambda: verb(body, body, None, path, method=method)


def worlds(parts: int, rounds: int) -> Table:
    """Trembling parts of about so many triangles; half of them are spools."""
    names = [str(hulls) for hulls in HULLS]
    made = Table("query", "motion", "triangles", "pairs", "apart", *names)
    made.title = "World(hulls=...): ms a frame"
    for name, ask in QUERIES.items():
        for motion, stride in MOTIONS.items():
            for triangles, body in bodies().items():
                feeder = parts_feeder(parts, kinds=(body, spool_of(triangles)))
                seconds: dict[str, float] = {}
                for _ in range(rounds):
                    for hulls in HULLS:
                        spent, statistics = _frames(feeder, hulls, stride, ask)
                        seconds[str(hulls)] = min(spent, seconds.get(str(hulls), np.inf))
                # Of the last frame, which tests all hulls.
                pairs, apart = statistics.narrow_pairs, statistics.apart_by_hulls
                figures = (_best_bold(seconds, name, 1e3) for name in names)
                made.add_row(name, motion, f"{triangles:,}", f"{pairs:,}", f"{apart:,}", *figures)
            made.add_section()
    return _justified(made, 3 + len(HULLS))


def _frames(feeder: Feeder, hulls: str | None, stride: int, ask: Callable[[World], Any]) -> tuple[float, Any]:
    """Seconds of a frame after the first ones, the mean; and the statistics of the last."""
    world = World(hulls=hulls, clearance=0.05)
    for body, pose in zip(feeder.bodies, feeder.poses(0), strict=True):
        world.add(body, pose)
    spent = []
    for k in range(_WARM + _FRAMES):
        shown = feeder.poses(k * stride)
        start = time.perf_counter()
        world.set_poses(shown)
        frame = ask(world)
        spent.append(time.perf_counter() - start)
    return float(np.mean(spent[_WARM:])), frame.statistics


def _best_bold(seconds: dict[str, float], name: str, scale: float) -> str:
    if name not in seconds:
        return ""
    shown = f"{scale * seconds[name]:.3g}"
    return f"[bold]{shown}[/bold]" if seconds[name] == min(seconds.values()) else shown


def _justified(made: Table, last: int) -> Table:
    for column in made.columns[-last:]:
        column.justify = "right"
    return made


def run(arguments: Sequence[str] = ()) -> int:
    parser = argparse.ArgumentParser(prog="python -m impinge.lab.bench choice", description=__doc__.partition("\n")[0])
    parser.add_argument("--parts", type=int, metavar="N", default=500, help="in the world (500)")
    parser.add_argument("--poses", type=int, metavar="N", default=200, help="on the path of two meshes (200)")
    parser.add_argument("--rounds", type=int, metavar="N", default=3, help="turns of each; the best counts (3)")
    options = parser.parse_args(arguments)
    if min(options.parts, options.poses, options.rounds) < 1:
        parser.error("parts, poses and rounds are at least 1")
    console = Console()
    if not console.is_terminal:
        console = Console(width=150)
    console.print(f"[bold]Choice[/bold]  {machine()}")
    console.print(meshes(options.poses, options.rounds))
    console.print(worlds(options.parts, options.rounds))
    return 0
