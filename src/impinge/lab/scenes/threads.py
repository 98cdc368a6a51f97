"""A bolt in a nut with nine turns of thread: a small clearance everywhere, along two long helices.

The threaded insertion of Ponamgi, Manocha and Lin (section 5.1).  Its thread
profile with rounded crest and root is that of Nicolson and Fearing: pitch,
major diameter and allowance say everything.
"""

from __future__ import annotations

import numpy as np

from impinge.arrays import Floats, Ints
from impinge.lab.scenes.pair_scene import PairScene
from impinge.lab.scenes.poses import poses, turns
from impinge.mesh.mesh import Mesh

TURNS = 9
PITCH = 0.25
RADIUS = 1.0
"""Of the bolt's crest."""
ALLOWANCE = 0.03
"""The nut's thread is the bolt's with all radii larger by this."""

_DEPTH = 0.15
_CORNERS = 24
"""Of one turn."""
# One pitch from crest to crest: a cosine, sharpened so that the flanks are steep while crest and root stay round.
_PROFILE = 0.5 + 0.5 * np.clip(1.3 * np.cos(np.arange(6) * (np.pi / 3.0)), -1.0, 1.0)
_ANGLES = np.arange(_CORNERS) * (2.0 * np.pi / _CORNERS)
_LENGTH = (TURNS + 1) * PITCH
"""A turn more than TURNS: the lower edge of a thread climbs a pitch on its way round, and so does the upper edge."""


def bolt() -> Mesh:
    """The bolt along the z axis with its tip down and a hexagon head on top; in place in the nut at the identity."""
    # Row 0 is the root of the thread; the ridge rises from it in the first half turn and sinks back in the last.
    ridge = np.roll(_PROFILE, len(_PROFILE) // 2) * _fade()[:, None]
    vertices, faces, bottom, top = _helicoid(RADIUS - _DEPTH * (1.0 - ridge))
    root = RADIUS - _DEPTH
    under, over = _LENGTH + 0.25, _LENGTH + 0.75
    rings = [_ring(0.8 * root, -0.1), _ring(0.9 * root, under)]
    rings += [_ring(1.5 * RADIUS * _hexagon(), under), _ring(1.5 * RADIUS * _hexagon(), over)]
    tips = np.array([[0.0, 0.0, -0.1], [0.0, 0.0, over]])
    points = np.concatenate([vertices, *rings, tips])
    tip, shank, brim, crown = _numbers(len(vertices), 4)
    parts = [faces, _collar(bottom, tip, below=True), _collar(top, shank, below=False)]
    parts += [_band(shank, brim), _band(brim, crown)]
    parts += [_fan(len(points) - 2, tip[::-1]), _fan(len(points) - 1, crown)]
    return Mesh(points, np.concatenate(parts))


def nut() -> Mesh:
    """The nut around the z axis, open at both ends."""
    # Row 0 is the bottom of the groove; the ridge between the grooves starts and ends with nothing, as if countersunk.
    ridge = (1.0 - _PROFILE) * _fade()[:, None]
    vertices, faces, bottom, top = _helicoid(RADIUS + ALLOWANCE - _DEPTH * ridge)
    vertices[:, 2] += 0.5 * PITCH  # half a pitch: groove on ridge
    outside = 1.6 * RADIUS * _hexagon()
    points = np.concatenate([vertices, _ring(outside, 0.0), _ring(outside, _LENGTH)])
    lower, upper = _numbers(len(vertices), 2)
    parts = [faces, _collar(bottom, lower, below=True), _collar(top, upper, below=False), _band(upper, lower)]
    return Mesh(points, np.concatenate(parts)[:, ::-1])


def screwed(angle: float | Floats) -> Floats:
    """(..., 4, 4) the pose of the bolt after a turn by ``angle`` (radians) in its thread, upward where positive."""
    along = np.asarray(angle, dtype=np.float64)[..., None] * [0.0, 0.0, 1.0]
    return poses(turns(along), along * (PITCH / (2.0 * np.pi)))


def scene(count: int = 100, steps: int = 2000, seed: int = 7) -> PairScene:
    """The bolt anywhere on its way in, off the ideal pose by up to about the clearance: a quarter of the poses touch.

    On the path it is driven home by half a turn with a slight wobble.
    """
    rng = np.random.default_rng(seed)
    wobble = poses(turns(0.003 * rng.normal(size=(count, 3))), 0.004 * rng.normal(size=(count, 3)))
    scattered = screwed(rng.uniform(0.0, 2.0 * np.pi * (TURNS - 1), count)) @ wobble
    t = np.linspace(0.0, 1.0, steps)
    circling = np.column_stack([np.cos(12.0 * t), np.sin(12.0 * t), np.zeros(steps)])
    path = screwed(np.pi * (1.0 - t)) @ poses(turns(0.004 * circling), 0.01 * circling)
    return PairScene("bolt in nut", nut(), bolt(), scattered, path)


def _fade() -> Floats:
    """(TURNS * _CORNERS + 1,) how much of the ridge is there: all of it except on half a turn at either end."""
    from_end = np.minimum(np.arange(TURNS * _CORNERS + 1), np.arange(TURNS * _CORNERS + 1)[::-1])
    faded: Floats = np.minimum(from_end / (_CORNERS / 2.0), 1.0)
    return faded


def _hexagon() -> Floats:
    """(_CORNERS,) the radius of a hexagon of inner radius 1 in every direction."""
    radius: Floats = 1.0 / np.cos((_ANGLES + np.pi / 6.0) % (np.pi / 3.0) - np.pi / 6.0)
    return radius


def _ring(radius: float | Floats, z: float) -> Floats:
    return np.column_stack([radius * np.cos(_ANGLES), radius * np.sin(_ANGLES), np.full(_CORNERS, z)])


def _numbers(first: int, rings: int) -> Ints:
    """(rings, _CORNERS) vertex numbers from ``first`` on."""
    return np.arange(first, first + rings * _CORNERS, dtype=np.int32).reshape(rings, _CORNERS)


def _helicoid(radius: Floats) -> tuple[Floats, Ints, tuple[Ints, Ints], tuple[Ints, Ints]]:
    """A helical strip one pitch high whose turns join: vertices, faces (outward), and the two edges.

    ``radius`` (TURNS * _CORNERS + 1, m) follows the helix and, for each of its corners, the profile upward;
    the first column must be constant.  An edge is the row of corners around the axis and the
    column of the profile that joins its ends.
    """
    along, up = radius.shape
    index = np.empty((along, up + 1), dtype=np.int32)
    index[:, :up] = np.arange(along * up).reshape(along, up)
    # The upper edge of the strip is the lower edge one turn later; the last turn has an upper edge of its own.
    own = _CORNERS
    index[:-own, up] = index[own:, 0]
    index[-own:, up] = along * up + np.arange(own)
    step = np.concatenate([np.repeat(np.arange(along), up), along + np.arange(own)])
    height = step / _CORNERS
    height[: along * up] += np.tile(np.arange(up) / up, along)
    reach = np.concatenate([radius.reshape(-1), np.full(own, radius[0, 0])])
    angle = _ANGLES[step % _CORNERS]
    vertices = np.column_stack([reach * np.cos(angle), reach * np.sin(angle), PITCH * height])
    a, b, c, d = index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]
    faces = np.concatenate([np.stack([a, b, c], axis=-1).reshape(-1, 3), np.stack([a, c, d], axis=-1).reshape(-1, 3)])
    return vertices, faces, (index[: own + 1, 0], index[0]), (index[-own - 1 :, up], index[-1])


def _collar(edge: tuple[Ints, Ints], ring: Ints, below: bool) -> Ints:
    """Faces between an edge of the helicoid and a closed ring of the same corners."""
    row, column = edge
    around = np.append(ring, ring[0])
    lower, upper = (around, row) if below else (row, around)
    band = [np.column_stack([lower[:-1], lower[1:], upper[1:]]), np.column_stack([lower[:-1], upper[1:], upper[:-1]])]
    start, end = (column[:-1], column[1:]) if below else (column[1:], column[:-1])
    return np.concatenate([*band, np.column_stack([start, end, np.full(len(start), ring[0])])])


def _band(lower: Ints, upper: Ints) -> Ints:
    """Faces between two rings."""
    a, b, c, d = lower, np.roll(lower, -1), np.roll(upper, -1), upper
    return np.concatenate([np.column_stack([a, b, c]), np.column_stack([a, c, d])])


def _fan(middle: int, ring: Ints) -> Ints:
    return np.column_stack([np.full(len(ring), middle), ring, np.roll(ring, -1)])
