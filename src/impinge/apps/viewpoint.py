"""Where to look at a finding from: so that most of the contact is seen."""

from __future__ import annotations

import math

import numpy as np

from impinge.apps.clash import Finding, FindingKind
from impinge.apps.rasterise import Camera, hidden, looking_from, trace
from impinge.apps.scene import Scene
from impinge.arrays import Floats

AZIMUTH, ELEVATION = 35.0, 28.0
"""The habitual view of a machine, in degrees."""
_ELEVATIONS = (14.0, 40.0, -20.0)
_TURNS = (0.0, -30.0, 30.0, -60.0, 60.0, -90.0, 90.0, -120.0, 120.0, 150.0, -150.0, 180.0)
_WINDOW = 96
"""Pixels to the side of the small picture on which a direction is judged."""
_SMALLEST_WINDOW = 0.1
"""Of the picture: a contact in a single point is judged with some of its surroundings."""


def fitting_camera(points: Floats, forward: Floats, width: int, height: int, margin: float) -> Camera:
    """The camera whose picture just holds all points."""
    axes = Camera(np.zeros(3), forward, 1.0, width, height).axes
    seen = points @ axes.T
    low, high = seen.min(axis=0), seen.max(axis=0)
    span = max(high[1] - low[1], (high[0] - low[0]) * height / width) * margin
    return Camera((low + high) / 2.0 @ axes, forward, float(span) or 1.0, width, height)


def best_camera(scene: Scene, finding: Finding, width: int, height: int) -> Camera:
    """Of several directions the one from which most of the contact is visible."""
    centre, span = _framing(scene, finding)
    best, best_score = Camera(centre, looking_from(AZIMUTH, ELEVATION), span, width, height), -1.0
    if not len(finding.segments):
        return best
    pair = (finding.part_a, finding.part_b)
    focus, around = scene.clusters_of(pair), scene.clusters_around(pair)
    window = _window(finding, best)
    # What counts as visible here is drawn as visible.
    bias = depth_bias(best) * np.float32(window.height / window.span * best.span / best.height)
    for elevation in _ELEVATIONS:
        for turn in _TURNS:
            forward = looking_from(AZIMUTH + turn, elevation)
            camera = Camera(window.centre, forward, window.span, window.width, window.height)
            # If the nearest point at a pixel is hidden, all others are.
            nearest = trace(camera, finding.segments)
            traced = nearest < np.inf
            nearest[~traced] = -np.inf
            seen = traced & ~hidden(camera, scene.clusters, focus, nearest - bias)
            nearest[~seen] = -np.inf
            clear = seen & ~hidden(camera, scene.clusters, around, nearest)
            # The habitual side of the machine wins unless another shows clearly more.
            habit = 1.0 - 0.25 * abs(turn) / 180.0 - (0.4 if elevation < 0.0 else 0.0)
            score = (0.6 * np.count_nonzero(seen) + 0.4 * np.count_nonzero(clear) + 0.5) * habit
            if score > best_score:
                best, best_score = Camera(centre, forward, span, width, height), score
    return best


def _window(finding: Finding, camera: Camera) -> Camera:
    """The contact alone, as far as it is in the picture: the directions are judged on it."""
    ends = finding.segments.reshape(-1, 3)
    low, high = ends.min(axis=0), ends.max(axis=0)
    contact = 1.1 * _diagonal(low, high)
    side = min(_WINDOW, camera.height)
    if contact > camera.span:
        return camera.resized(side * camera.width // camera.height, side)
    return Camera((low + high) / 2.0, camera.forward, max(contact, _SMALLEST_WINDOW * camera.span), side, side)


def _framing(scene: Scene, finding: Finding) -> tuple[Floats, float]:
    """Centre and span: the contact with the smaller of the two parts around it."""
    boxes = [scene.box([name]) for name in (finding.part_a, finding.part_b)]
    low, high = min(boxes, key=lambda box: _diagonal(*box))
    ends = finding.segments.reshape(-1, 3) if len(finding.segments) else finding.where[None]
    contact = _diagonal(ends.min(axis=0), ends.max(axis=0))
    part = _diagonal(low, high)
    if finding.kind is FindingKind.NESTED:
        # Enough of the outer part to recognise it.
        outer = boxes[1]
        return (finding.where + (outer[0] + outer[1]) / 2.0) / 2.0, 1.1 * _diagonal(*outer) or 1.0
    whole = max(_diagonal(*box) for box in boxes)
    centre = (finding.where + np.clip(finding.where, low, high) + (low + high) / 2.0) / 3.0
    if finding.kind is FindingKind.EQUAL:
        return centre, 2.5 * part or 1.0
    enough = max(1.9 * contact, 1.25 * part, min(2.0 * part, 0.8 * whole))
    # Where both parts are in the picture, from whichever direction, a larger one only makes them small.
    all_of_both = 2.1 * scene.reach((finding.part_a, finding.part_b), centre)
    return centre, min(enough, all_of_both) or 1.0


def _diagonal(low: Floats, high: Floats) -> float:
    return math.hypot(*(high - low))  # squares of tiny lengths would vanish


def depth_bias(camera: Camera) -> np.float32:
    """Contacts lie in the surfaces they are drawn on: two pixels of depth keep them from drowning."""
    return np.float32(2.0 * max(1.0, camera.height / 400.0))
