"""Solids with concavities: the models of Ponamgi, Manocha and Lin (1995) and a few that are harder.

All are closed and wound outward.  ``shapes.torus`` and ``combs.comb`` belong to them too.
"""

from __future__ import annotations

import numpy as np

from impinge.arrays import Floats
from impinge.lab.scenes.polytopes import icosphere
from impinge.lab.scenes.shapes import blocks, lathe
from impinge.mesh.mesh import Mesh


def golf_ball(subdivisions: int = 3, depth: float = 0.1, width: float = 0.35) -> Mesh:
    """A unit sphere with 12 dimples, at the corners of an icosahedron; ``width`` is their radius as an angle."""
    sphere = icosphere(subdivisions).mesh
    points = sphere.vertices.copy()
    centres = points[:12]
    away = np.arccos(np.clip((points @ centres.T).max(axis=1), -1.0, 1.0)) / width
    inside = away < 1.0
    points[inside] *= 1.0 - depth * (1.0 - away[inside, None] ** 2)
    return Mesh(points, sphere.faces, solid=True)


def nested_shells(shells: int = 3, height: float = 4.0, wall: float = 1.0, gap: float = 1.0, sides: int = 16) -> Mesh:
    """Cylindrical shells of one height in each other, joined at the bottom (Fig. 8): all rims lie in one plane."""
    profile = [(0.0, 0.0)]
    outer = shells * wall + (shells - 0.5) * gap  # the innermost shell is open over half a gap
    profile.append((outer, 0.0))
    for _ in range(shells):
        inner = outer - wall
        profile += [(outer, height), (inner, height), (inner, wall)]
        outer = inner - gap
        profile.append((max(outer, 0.0), wall))
    return lathe(profile, sides)


def angle_bar(arm: float = 3.0, thickness: float = 1.0, length: float = 2.0) -> Mesh:
    """An L: one concavity, covered by a slanted face of the hull and a triangle on either side."""
    return blocks((0.0, thickness, arm), (0.0, length), (0.0, thickness, arm), [[[1, 1]], [[1, 0]]])


def channel(width: float = 3.0, thickness: float = 1.0, length: float = 4.0) -> Mesh:
    """A U: one concavity that is open on three sides of the hull."""
    filled = [[[1, 1]], [[1, 0]], [[1, 1]]]
    return blocks((0.0, thickness, width - thickness, width), (0.0, length), (0.0, thickness, width), filled)


def spool(radius: float = 3.0, core: float = 1.0, height: float = 4.0, flange: float = 1.0, sides: int = 16) -> Mesh:
    """A spool of thread: one concavity around, under a ring of caps."""
    profile = [
        (0.0, 0.0),
        (radius, 0.0),
        (radius, flange),
        (core, flange),
        (core, height - flange),
        (radius, height - flange),
        (radius, height),
        (0.0, height),
    ]
    return lathe(profile, sides)


def pitted_plate(pits: np.ndarray | list[list[int]], depth: float = 0.5) -> Mesh:
    """A plate of unit squares, one thick; where ``pits`` is 1, a square is the mouth of a pyramid that points down.

    Neighbouring pits share an edge of their mouths or touch at a corner.
    """
    marks = np.asarray(pits, dtype=bool)
    columns, rows = marks.shape
    index = np.arange((columns + 1) * (rows + 1)).reshape(columns + 1, rows + 1)
    x, y = np.meshgrid(np.arange(columns + 1.0), np.arange(rows + 1.0), indexing="ij")
    top: Floats = np.stack([x, y, np.ones_like(x)], axis=-1).reshape(-1, 3)
    tips = np.argwhere(marks) + 0.5
    vertices = np.concatenate([top, np.column_stack([tips, np.full(len(tips), 1.0 - depth)]), top * [1.0, 1.0, 0.0]])
    ground = len(top) + len(tips)
    polygons: list[list[int]] = []
    tip = len(top)
    for i in range(columns):
        for j in range(rows):
            square = [int(v) for v in (index[i, j], index[i + 1, j], index[i + 1, j + 1], index[i, j + 1])]
            polygons.append([ground + v for v in square[::-1]])
            if marks[i, j]:
                polygons += [[square[k - 1], square[k], tip] for k in range(4)]
                tip += 1
            else:
                polygons.append(square)
    around = [*index[:-1, 0], *index[-1, :-1], *index[:0:-1, -1], *index[0, :0:-1]]
    border = [int(v) for v in around]
    polygons += [[border[k - 1], ground + border[k - 1], ground + border[k], border[k]] for k in range(len(border))]
    return Mesh(vertices, polygons, solid=True)
