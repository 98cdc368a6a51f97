# mypy: allow-untyped-defs, allow-incomplete-defs
"""Whether the hulls of a pair are tested before its trees: a rule for each pair, from measurements.

``python -m impinge.lab.bench choice`` measures what is said here; docs/methods/auto.md has the figures.

- Where distances up to a limit are asked for, always, once both are there: hulls take the place of the long search for
  the nearest triangles, and make a frame four to eleven times as fast.
- For yes or no they pay as long as the kept plane answers.  Trees tell in about the same time that small bodies are
  apart, and quicker than hulls whose plane no longer separates.  So pairs of small meshes go to the trees, as do pairs
  with a yes in the last frame (their two triangles probably meet again), those that are new, and for some frames those
  for which no kept plane was enough twice in a row: they move too far from frame to frame, or their hulls overlap.

A hull is built when trees have spent as much on pairs of its body that were apart as it costs (``object_table``): so no
frame waits for hulls of bodies that seldom come near others.
"""

from __future__ import annotations

from impinge.kernels.jit import inner

FEWEST_TRIANGLES = 200
"""Of the larger one of two meshes."""
PAUSE = 8
"""Frames; a world that jumps then asks hulls twice in ten frames for nothing."""


@inner
def hulls_are_worth_it(row, triangles):
    """Whether a pair asks its hulls first, for yes or no; ``triangles`` are those of the larger body."""
    waits = row.hull_waits
    row.hull_waits = max(waits - 1, 0)
    return waits == 0 and not row.yes and triangles >= FEWEST_TRIANGLES


@inner
def learn(row, plane_held):
    """Remember whether a kept plane was enough (there was none, or it failed)."""
    again = row.hull_missed and not plane_held
    if again:
        row.hull_waits = PAUSE
    row.hull_missed = not plane_held and not again
