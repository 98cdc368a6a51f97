"""Counts the arithmetic of V-Clip and GJK; to be run in plain Python: ``NUMBA_DISABLE_JIT=1 python -m ...``.

The kernels of impinge are run as they are, on floats that count.  Along a path, both begin each pose where the last one
ended.  Counted are, apart from each other:

- *placement*: what carries one body into the frame of the other, for V-Clip (GJK poses its vertices one by one);
- *V-Clip*: the walk over features, to its end;
- *GJK*: the last simplex posed anew, and the steps until the bounds meet (hill climbing, signed volumes);
- *proof*: what impinge adds to either so that the answer is certain and rounded once: for V-Clip a simplex from its
  features and a step of GJK, for both the proof that the simplex is the nearest one and its distance in
  double-doubles.
"""

from __future__ import annotations

import json
import sys
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np
from numba.core import config

from impinge.arrays import Floats
from impinge.convex.distance.certified_finish import finish_surely
from impinge.convex.distance.gjk import gjk
from impinge.convex.distance.simplex import pose_anew
from impinge.convex.distance.simplex_of_pair import simplex_of_pair
from impinge.convex.distance.support import pose_of
from impinge.convex.features.feature_pair import placements
from impinge.convex.features.vclip import vclip
from impinge.convex.hull.convex_hull import ConvexHull
from impinge.convex.hull.hull_handle import hull_handle_of
from impinge.convex.workspace import DISTANCE, GJK, VCLIP, ConvexWorkspace
from impinge.lab.papers import coherence, counted_floats
from impinge.lab.papers.counted_floats import CountingMath, Tally, counted
from impinge.lab.scenes.polytopes import ellipsoid, icosphere, random_directions
from impinge.lab.scenes.poses import poses, turns

PARTS = ("placement", "vclip", "vclip proof", "gjk", "gjk proof")
PATHS = ("cube beside a sphere of 320 facets", "boxes", "50 vertices", "200 vertices")


class Counter:
    """Both methods along a path."""

    def __init__(self, a: ConvexHull, b: ConvexHull) -> None:
        self._bodies = [_counting_body(hull) for hull in (a, b)]
        self._works = {method: _counting_work(method, max(len(a.vertices), len(b.vertices))) for method in (VCLIP, GJK)}
        self.totals = {part: Tally() for part in PARTS}
        self.unproved = 0
        """Ends that would go on with the careful walk, which is not counted."""

    def walk(self, path_a: Floats, path_b: Floats) -> None:
        """The first pose, a walk from scratch, is not counted."""
        for i in range(len(path_b)):
            placed = [pose_of(counted(path[i : i + 1]), 0) for path in (path_a, path_b)]
            totals = self.totals if i else {part: Tally() for part in PARTS}
            self._track(totals, *placed)
            self._climb(totals, *placed)

    def _track(self, totals: dict[str, Tally], pose_a: Any, pose_b: Any) -> None:
        a, b = self._bodies
        work = self._works[VCLIP]
        counted_floats.tally = totals["placement"]
        across = placements(a, b, pose_a, pose_b)
        counted_floats.tally = totals["vclip"]
        vclip(a, b, across[0], across[1], work.kept.features)
        counted_floats.tally = totals["vclip proof"]
        simplex_of_pair(work, a, b, pose_a, pose_b, *across)
        gjk(work, a, b, pose_a, pose_b, DISTANCE, 0.0)
        self.unproved += not finish_surely(work, a, b, pose_a, pose_b)

    def _climb(self, totals: dict[str, Tally], pose_a: Any, pose_b: Any) -> None:
        a, b = self._bodies
        work = self._works[GJK]
        counted_floats.tally = totals["gjk"]
        work.kept.count = min(work.kept.count, 3)
        pose_anew(work, a, b, pose_a, pose_b)
        gjk(work, a, b, pose_a, pose_b, DISTANCE, 0.0)
        counted_floats.tally = totals["gjk proof"]
        self.unproved += not finish_surely(work, a, b, pose_a, pose_b)


def _counting_body(hull: ConvexHull) -> Any:
    return SimpleNamespace(**_counting_fields(hull_handle_of(hull).body))


def _counting_work(method: int, vertices: int) -> Any:
    space = ConvexWorkspace(coherent=True)
    space.need_room(vertices)
    space.ask_for(DISTANCE, method)
    space.kept.count = 1
    return SimpleNamespace(**_counting_fields(space))


def _counting_fields(record: Any) -> dict[str, Any]:
    """The fields of a record, with floats that count."""
    fields = {name: getattr(record, name) for name in record.fields}
    for name, value in fields.items():
        if isinstance(value, float):
            fields[name] = counted_floats.CountedFloat(value)
        elif isinstance(value, np.ndarray):
            fields[name] = counted(value)
    return fields


def scene(name: str, steps: int) -> tuple[ConvexHull, ConvexHull, Floats, Floats]:
    """Bodies and a coherent path: one degree a step, never touching."""
    still = np.broadcast_to(np.eye(4), (steps, 4, 4)).copy()
    if name == PATHS[0]:
        return icosphere(2), coherence.cube(), coherence.turning(1.0, steps), still
    rng = np.random.default_rng(len(name))
    if name == "boxes":
        a, b = coherence.cube(), coherence.cube()
        spacing = 4.2
    else:
        count = int(name.split()[0])
        a, b = ellipsoid(rng, count, [1.0, 0.8, 0.6]), ellipsoid(rng, count, [0.9, 1.0, 0.7])
        spacing = 2.2
    angle = np.radians(1.0) * np.arange(steps)[:, None]
    spin, around = random_directions(rng, 2)
    away = turns(angle * around) @ random_directions(rng, 1)[0] * spacing
    return a, b, still, poses(turns(angle * spin), away)


def count(name: str, steps: int) -> dict[str, Any]:
    """Operations a pose, for each part: arithmetic and comparisons."""
    if not config.DISABLE_JIT:
        raise RuntimeError("operations can only be counted in plain Python: set NUMBA_DISABLE_JIT=1")
    a, b, path_a, path_b = scene(name, steps)
    counter = Counter(a, b)
    # The module's own sqrt would give back floats that do not count.
    with patch("impinge.convex.distance.gjk.math", CountingMath), np.errstate(all="ignore"):
        counter.walk(path_a, path_b)
    each = {part: [t.arithmetic / (steps - 1), t.comparisons / (steps - 1)] for part, t in counter.totals.items()}
    return {"path": name, "steps": steps, "unproved": counter.unproved, "operations": each}


if __name__ == "__main__":
    print(json.dumps([count(name, int(sys.argv[1])) for name in PATHS]))
