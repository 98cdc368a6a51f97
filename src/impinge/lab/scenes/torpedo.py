"""A torpedo of 4,780 triangles at rest among the rollers of its pivot of 44,921 (Gottschalk, Fig. 6).

Metres; the torpedo lies along x.  Both are polygon soups, as models out of a
drawing office are: the fins and bolts stand in other parts, and one gusset of the pivot is a single triangle.
"""

from __future__ import annotations

import numpy as np

from impinge.arrays import Floats
from impinge.lab.scenes import shapes
from impinge.lab.scenes.pair_scene import PairScene
from impinge.lab.scenes.poses import poses, turns
from impinge.mesh.mesh import Mesh

RADIUS = 0.2667
LENGTH = 5.8
STATIONS = 10
"""Each has two rollers under the hull, at 36 degrees to either side: at corners of the hull's 20-sided section."""

_ROLLER_RADIUS = 0.09
_ROLLER_WIDTH = 0.2
_SINK = 0.001
"""How deep the resting hull presses into the rollers; their faces lie up to 0.0005 inside of their radius."""
_ALONG_X = turns([0.0, np.pi / 2.0, 0.0])
_UP = np.array([0.0, 0.0, 1.0])


def torpedo() -> Mesh:
    """The hull with its nose at +x, four fins and a guide lug, the middle of its axis at the origin."""
    # 118 rings: dense where nose and tail are round. A lathe with two tips has 2 * 20 * 118 triangles.
    nose, body, tail = 29, 60, 29
    along = np.concatenate(
        [
            -0.5 + 0.16 * (1.0 - np.cos(np.linspace(0.0, np.pi / 2.0, tail + 1)[1:])),
            np.linspace(-0.34, 0.43, body + 2)[1:-1],
            0.43 + 0.07 * np.sin(np.linspace(0.0, np.pi / 2.0, nose + 1)[:-1]),
        ]
    )
    towards_nose = np.clip((along - 0.43) / 0.07, 0.0, 1.0)
    towards_tail = np.clip((-0.34 - along) / 0.16, 0.0, 1.0)
    reach = RADIUS * np.sqrt(1.0 - towards_nose**2) * (1.0 - towards_tail**2.2)
    profile = np.column_stack([reach, along * LENGTH])
    tips = np.array([[0.0, -0.5 * LENGTH], [0.0, 0.5 * LENGTH]])
    hull = _posed(shapes.lathe(np.concatenate([tips[:1], profile, tips[1:]]), sides=20), _ALONG_X)
    fin = shapes.box(0.3, 0.012, 0.24)
    swept = np.array([[1.0, 0.0, -0.5, -2.7], [0.0, 1.0, 0.0, -0.006], [0.0, 0.0, 1.0, 0.06], [0.0, 0.0, 0.0, 1.0]])
    fins = [_posed(fin.transformed(swept), turns([quarter * np.pi / 2.0, 0.0, 0.0])) for quarter in range(4)]
    lug = _posed(shapes.box(0.12, 0.04, 0.04), np.eye(3), [0.2, -0.02, RADIUS - 0.01])
    return _joined([hull, *fins, lug])


def pivot() -> Mesh:
    """Rollers in forks on cross-beams, two rails and a turntable; the middle of the torpedo rests at the origin."""
    roller, axle, cheek = _roller(), shapes.cylinder(0.02, 0.3, sides=16), _cheek()
    beam, bolt = shapes.box(0.12, 1.1, 0.08), shapes.bolt(0.022, 0.014, 0.012, 0.05)
    parts = []
    for x in np.linspace(-1.6, 2.2, STATIONS):
        for side in (-1.0, 1.0):
            outward = turns([side * np.pi / 5.0, 0.0, 0.0]) @ -_UP
            across = np.cross(outward, [1.0, 0.0, 0.0])
            middle = [x, 0.0, 0.0] + (RADIUS + _ROLLER_RADIUS - _SINK) * outward
            axis_along_z = np.column_stack([[1.0, 0.0, 0.0], -outward, across])
            parts.append(_posed(roller, axis_along_z, middle))
            parts.append(_posed(axle, axis_along_z, middle - 0.15 * across))
            upright = np.column_stack([across, [1.0, 0.0, 0.0], -outward])
            upright = upright if np.linalg.det(upright) > 0.0 else upright * [1.0, -1.0, 1.0]
            parts += [_posed(cheek, upright, middle + end * across) for end in (-0.135, 0.12)]
        parts.append(_posed(beam, np.eye(3), [x - 0.06, -0.55, -0.56]))
        parts += [_posed(bolt, np.eye(3), [x, y, -0.48]) for y in (-0.5, -0.4, 0.4, 0.5)]
    parts += [_posed(shapes.box(4.4, 0.12, 0.14), np.eye(3), [-2.0, y - 0.06, -0.7]) for y in (-0.4, 0.4)]
    return _joined([*parts, *_turntable()])


def at_rest() -> Floats:
    """(4, 4) the pose of the torpedo on the rollers of the pivot: the identity; it presses on all of them."""
    return np.eye(4)


def scene(count: int = 60, steps: int = 2000, seed: int = 7) -> PairScene:
    """Two poses of three lie on the rollers, a little shifted and turned; every third is lifted by up to 5 cm.

    On the path the torpedo is lowered onto the rollers while it slides forward.
    """
    rng = np.random.default_rng(seed)
    shift = rng.normal(size=(count, 3)) * [0.1, 0.0003, 0.0003]
    shift[2::3, 2] += rng.uniform(0.002, 0.05, len(shift[2::3]))
    scattered = poses(turns(rng.normal(size=(count, 3)) * [0.2, 0.0002, 0.0002]), shift)
    t = np.linspace(0.0, 1.0, steps)[:, None]
    path = poses(turns([0.3, 0.0, 0.0] * t), [-0.2, 0.0, 0.02] + [0.2, 0.0, -0.021] * t)
    return PairScene("torpedo", pivot(), torpedo(), scattered, path)


def _roller() -> Mesh:
    """Around z: a tread that is hollow like the hull is round, a little flatter, with chamfers and a bore."""
    half = 0.5 * _ROLLER_WIDTH
    z = np.linspace(-half, half, 13)
    hollow = 1.3 * RADIUS
    tread = np.column_stack([_ROLLER_RADIUS + hollow - np.sqrt(hollow**2 - z**2), z])
    edge = tread[-1, 0]
    side = np.array([[edge - 0.005, half + 0.005], [0.075, half + 0.005], [0.07, half - 0.01], [0.04, half - 0.01]])
    hub = np.array([[0.035, half + 0.005], [0.025, half + 0.005]])
    upper = np.concatenate([side, hub])
    return shapes.lathe(np.concatenate([tread, upper, upper[::-1] * [1.0, -1.0]]), sides=32, closed=True)


def _cheek() -> Mesh:
    """A plate of a fork: thin along x, with a bore for the axle around the origin, long towards -z."""
    return shapes.blocks((0.0, 0.015), (-0.05, 0.05), (-0.22, -0.05, 0.05), bores={(0, 0, 1): 0.025})


def _turntable() -> list[Mesh]:
    """The plate under the rails, its bearing, bolts and ribs, and a gusset without thickness."""
    rim = [(0.0, -0.86), (0.3, -0.86), (0.3, -0.82), (0.62, -0.82), (0.64, -0.8), (0.66, -0.8), (0.68, -0.78)]
    rim += [(0.68, -0.72), (0.66, -0.7), (0.3, -0.7), (0.28, -0.72), (0.1, -0.72), (0.08, -0.7), (0.0, -0.7)]
    column = shapes.lathe([(0.26, -1.4), (0.26, -1.36), (0.2, -1.3), (0.2, -0.86)], sides=16)
    bolt, rib = shapes.bolt(0.03, 0.02, 0.016, 0.08), shapes.box(0.14, 0.03, 0.24)
    around = [turns(sixth * np.pi / 3.0 * _UP) for sixth in range(6)]
    bolts = [_posed(bolt, turn, turn @ [0.45, 0.0, -0.7]) for turn in around]
    ribs = [_posed(rib, turn, turn @ [0.15, -0.015, -1.1]) for turn in around]
    gusset = Mesh([[2.4, -0.46, -0.56], [2.4, -0.34, -0.56], [2.4, -0.4, -0.46]], [[0, 1, 2]])
    return [shapes.lathe(rim, sides=48), column, *bolts, *ribs, gusset]


def _posed(mesh: Mesh, turn: Floats, shift: Floats | list[float] | None = None) -> Mesh:
    return mesh.transformed(poses(turn, [0.0, 0.0, 0.0] if shift is None else shift), solid=False)


def _joined(meshes: list[Mesh]) -> Mesh:
    """One soup of all."""
    start = np.cumsum([0] + [len(mesh.vertices) for mesh in meshes[:-1]])
    faces = [mesh.faces + first for mesh, first in zip(meshes, start, strict=True)]
    return Mesh(np.concatenate([mesh.vertices for mesh in meshes]), np.concatenate(faces))
