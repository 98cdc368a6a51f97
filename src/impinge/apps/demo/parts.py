"""Closed solids made from numbers: what the demo and the scenes of the lab are built of.

Every shape is a closed mesh with outward winding.  Whole-numbered sizes give
whole-numbered coordinates wherever a quarter of a turn allows it, so that
scenes can make faces, edges and vertices meet exactly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from impinge.arrays import Floats
from impinge.mesh.mesh import Mesh


def unit_circle(sides: int) -> Floats:
    """(sides, 2) points, counter-clockwise from (1, 0); each quarter is an exact turn of the first."""
    if sides % 4 or sides < 4:
        raise ValueError(f"sides is {sides}; it must be a positive multiple of four")
    angle = np.arange(sides // 4) * (2.0 * np.pi / sides)
    quarter = np.column_stack([np.cos(angle), np.sin(angle)])
    turns = [quarter]
    for _ in range(3):
        turns.append(np.column_stack([-turns[-1][:, 1], turns[-1][:, 0]]))
    return np.concatenate(turns) + 0.0  # + 0.0 turns -0.0 into 0.0


def _solid(vertices: Floats, faces: np.ndarray) -> Mesh:
    """A solid Mesh, turned inside out where the winding asks for it."""
    corner = vertices[faces]
    six_volumes = np.einsum("ij,ij->i", corner[:, 0], np.cross(corner[:, 1], corner[:, 2])).sum()
    return Mesh(vertices, faces if six_volumes > 0.0 else faces[:, ::-1], solid=True)


def loft(rings: ArrayLike, closed: bool = False, ends: ArrayLike | None = None) -> Mesh:
    """The solid through a row of rings, (k, n, 3).

    The two ends are closed by fans around ``ends`` (2, 3), by default the middle of the first and
    the last ring, which must be star-shaped seen from there; ``closed`` joins last to first instead.
    """
    ring = np.asarray(rings, dtype=np.float64)
    count, sides, _ = ring.shape
    index = np.arange(count * sides).reshape(count, sides)
    here = index if closed else index[:-1]
    there = np.roll(index, -1, axis=0) if closed else index[1:]
    a, b = here, np.roll(here, -1, axis=1)
    d, c = there, np.roll(there, -1, axis=1)
    faces = [np.stack([a, b, c], axis=-1).reshape(-1, 3), np.stack([a, c, d], axis=-1).reshape(-1, 3)]
    vertices = [ring.reshape(-1, 3)]
    if not closed:
        vertices.append(ring[[0, -1]].mean(axis=1) if ends is None else np.asarray(ends, dtype=np.float64))
        first, last = index[0], index[-1]
        bottom, top = np.full(sides, count * sides), np.full(sides, count * sides + 1)
        faces.append(np.column_stack([bottom, np.roll(first, -1), first]))
        faces.append(np.column_stack([top, last, np.roll(last, -1)]))
    return _solid(np.concatenate(vertices), np.concatenate(faces))


def blocks(
    xs: Sequence[float],
    ys: Sequence[float],
    zs: Sequence[float],
    filled: ArrayLike | None = None,
    bores: Mapping[tuple[int, int, int], float] | None = None,
) -> Mesh:
    """The union of boxes of an uneven grid, without inner walls and without T-vertices.

    ``filled`` (len(xs)-1, len(ys)-1, len(zs)-1) says which cells are solid, all by
    default.  ``bores`` gives cells a hole of that radius along x, through their middle.
    """
    lines = [np.asarray(values, dtype=np.float64) for values in (xs, ys, zs)]
    shape = tuple(len(values) - 1 for values in lines)
    solid = np.ones(shape, dtype=bool) if filled is None else np.asarray(filled, dtype=bool).reshape(shape)
    bored = dict(bores or {})
    corners: list[Floats] = []
    faces: list[np.ndarray] = []

    def emit(points: Floats, triangles: np.ndarray) -> None:
        faces.append(np.asarray(triangles) + sum(len(group) for group in corners))
        corners.append(points)

    for cell in map(tuple, np.argwhere(solid).tolist()):
        low = np.array([lines[axis][cell[axis]] for axis in range(3)])
        high = np.array([lines[axis][cell[axis] + 1] for axis in range(3)])
        for axis in range(3):
            u, v = (axis + 1) % 3, (axis + 2) % 3
            for side, outward in ((low, -1), (high, 1)):
                neighbour = list(cell)
                neighbour[axis] += outward
                if 0 <= neighbour[axis] < shape[axis] and solid[tuple(neighbour)]:
                    continue
                quad = np.tile(side, (4, 1))
                quad[:, u] = low[u], high[u], high[u], low[u]
                quad[:, v] = low[v], low[v], high[v], high[v]
                if axis == 0 and cell in bored:
                    ring = _ring_yz((low + high) / 2.0, side[0], bored[cell])
                    points, triangles = np.concatenate([quad, ring]), _around_hole(len(ring))
                else:
                    points, triangles = quad, np.array([[0, 1, 2], [0, 2, 3]])
                emit(points, triangles if outward > 0 else triangles[:, ::-1])
        if cell in bored:
            near = _ring_yz((low + high) / 2.0, low[0], bored[cell])
            far = _ring_yz((low + high) / 2.0, high[0], bored[cell])
            n = len(near)
            i, j = np.arange(n), np.roll(np.arange(n), -1)
            emit(np.concatenate([near, far]), np.concatenate([np.c_[i, n + j, j], np.c_[i, n + i, n + j]]))
    vertices, merged = np.unique(np.concatenate(corners), axis=0, return_inverse=True)
    return _solid(vertices, merged.reshape(-1)[np.concatenate(faces)])


def _ring_yz(middle: Floats, x: float, radius: float) -> Floats:
    """A 16-gon around a bore along x, starting at the quad's first corner (low y, low z)."""
    circle = np.roll(unit_circle(16), 6, axis=0) * radius  # roll: the first point looks to (-y, -z)
    return np.column_stack([np.full(16, x), middle[1] + circle[:, 0], middle[2] + circle[:, 1]])


def _around_hole(sides: int) -> np.ndarray:
    """Triangles between a quad (0..3) and a ring (4..) whose first point faces corner 0."""
    quarter = sides // 4
    triangles = []
    for corner in range(4):
        for step in range(quarter):
            k = corner * quarter + step
            # Half of a quarter belongs to this corner, half to the next one.
            owner = corner if step < quarter // 2 else (corner + 1) % 4
            triangles.append((owner, 4 + (k + 1) % sides, 4 + k))
        triangles.append((corner, (corner + 1) % 4, 4 + corner * quarter + quarter // 2))
    return np.array(triangles)


def box(x: float, y: float, z: float) -> Mesh:
    """A box from the origin to (x, y, z), 12 triangles."""
    return blocks((0.0, x), (0.0, y), (0.0, z))


def lathe(profile: ArrayLike, sides: int = 24, closed: bool = False) -> Mesh:
    """A profile of (radius, z) points turned around the z axis; ``closed`` profiles make rings.

    A profile that starts or ends at radius 0 has a tip there, a single vertex.
    """
    outline = np.asarray(profile, dtype=np.float64)
    ends = np.array([(0.0, 0.0, outline[0, 1]), (0.0, 0.0, outline[-1, 1])])
    if not closed:
        outline = outline[outline[:, 0] > 0.0]
    circle = unit_circle(sides)
    rings = np.empty((len(outline), sides, 3))
    rings[:, :, :2] = outline[:, 0, None, None] * circle
    rings[:, :, 2] = outline[:, 1, None]
    return loft(rings, closed, ends)


def cylinder(radius: float, height: float, sides: int = 24) -> Mesh:
    """From z = 0 to z = height."""
    return lathe([(radius, 0.0), (radius, height)], sides)


def torus(radius: float, tube_radius: float, sides: int = 24, tube_sides: int = 8) -> Mesh:
    """A ring around the z axis."""
    return lathe(unit_circle(tube_sides) * tube_radius + [radius, 0.0], sides, closed=True)


def wheel(radius: float, width: float, groove_depth: float, groove_width: float, bore: float, sides: int = 24) -> Mesh:
    """A belt wheel around the z axis, in the middle of its width at z = 0."""
    half, groove = width / 2.0, groove_width / 2.0
    bottom = radius - groove_depth
    web = (bore + bottom) / 2.0
    profile = [
        (bore, -half),
        (web, -half / 2.0),
        (radius - groove_depth / 2.0, -half),
        (radius, -half),
        (radius, -groove),
        (bottom, -groove),
        (bottom, groove),
        (radius, groove),
        (radius, half),
        (radius - groove_depth / 2.0, half),
        (web, half / 2.0),
        (bore, half),
    ]
    return lathe(profile, sides, closed=True)


def bolt(head_radius: float, head_height: float, shank_radius: float, shank_length: float) -> Mesh:
    """A hexagon bolt along z: the head stands on the plane z = 0, the shank goes down."""
    circle = unit_circle(12)
    hexagon = circle * np.where(np.arange(12) % 2, np.sqrt(0.75), 1.0)[:, None]
    tip = shank_radius / 4.0
    sections = [
        (circle * (shank_radius - tip), -shank_length),
        (circle * shank_radius, tip - shank_length),
        (circle * shank_radius, 0.0),
        (hexagon * head_radius, 0.0),
        (hexagon * head_radius, head_height * 0.75),
        (circle * (head_radius * 0.75), head_height),
    ]
    return loft([np.column_stack([section, np.full(12, z)]) for section, z in sections])


def prism(outline: ArrayLike, low: float, high: float) -> Mesh:
    """A star-shaped outline in (x, z), extruded along y from ``low`` to ``high``."""
    shape = np.asarray(outline, dtype=np.float64)
    return loft([np.column_stack([shape[:, 0], np.full(len(shape), y), shape[:, 1]]) for y in (low, high)])


def fan(radius: float, hub_radius: float, depth: float, blades: int, twist: float) -> Mesh:
    """A fan around the z axis, from z = 0 to z = depth; ``twist`` (radians) turns the blades over the depth."""
    step = 2.0 * np.pi / blades
    outline = []
    for blade in range(blades):
        for part, reach in ((-0.3, hub_radius), (-0.25, radius), (0.0, radius), (0.25, radius), (0.3, hub_radius)):
            outline.append(((blade + part) * step, reach))
    angle, reach_of = np.array(outline).T
    rings = []
    for z in np.linspace(0.0, depth, 3):
        turned = angle + twist * z / depth
        rings.append(np.column_stack([reach_of * np.cos(turned), reach_of * np.sin(turned), np.full(len(angle), z)]))
    return loft(rings)


def smooth_curve(knots: ArrayLike, steps: int) -> Floats:
    """A Catmull-Rom curve through the knots, ``steps`` points to each gap."""
    knot = np.asarray(knots, dtype=np.float64)
    padded = np.concatenate([2.0 * knot[:1] - knot[1:2], knot, 2.0 * knot[-1:] - knot[-2:-1]])
    t = (np.arange(steps) / steps)[:, None]
    pieces = []
    for p0, p1, p2, p3 in zip(padded[:-3], padded[1:-2], padded[2:-1], padded[3:], strict=True):
        cubic = (3.0 * (p1 - p2) + p3 - p0) * t + (2.0 * p0 - 5.0 * p1 + 4.0 * p2 - p3)
        pieces.append(0.5 * ((cubic * t + (p2 - p0)) * t + 2.0 * p1))
    return np.concatenate([*pieces, knot[-1:]])


def hose(knots: ArrayLike, radius: float, wall: float, sides: int = 12, steps: int = 3) -> Mesh:
    """A hollow hose along a smooth curve through the knots, open at both ends (but a closed solid)."""
    path = smooth_curve(knots, steps)
    tangent = np.gradient(path, axis=0)
    tangent /= np.linalg.norm(tangent, axis=1, keepdims=True)
    # Parallel transport: the section turns with the path but never about it.
    across = np.empty_like(path)
    across[0] = np.cross(tangent[0], np.eye(3)[np.argmin(np.abs(tangent[0]))])
    for i in range(1, len(path)):
        across[i] = across[i - 1] - tangent[i] * (across[i - 1] @ tangent[i])
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    beside = np.cross(tangent, across)
    circle = unit_circle(sides)
    section = circle[None, :, :1] * across[:, None] + circle[None, :, 1:] * beside[:, None]
    outer = path[:, None] + radius * section
    inner = path[:, None] + (radius - wall) * section
    return loft(np.concatenate([outer, inner[::-1]]), closed=True)


def belt(wheels: ArrayLike, width: float, thickness: float, middle: float, arc: float = np.pi / 12.0) -> Mesh:
    """A belt stretched around circles in the plane y = ``middle``.

    ``wheels`` (n, 3) holds x, z and radius of each circle in counter-clockwise order, all on the convex hull.
    """
    circles = np.asarray(wheels, dtype=np.float64)
    following = np.roll(circles, -1, axis=0)
    along = following[:, :2] - circles[:, :2]
    # The outward normal of each outer tangent, seen from the line between the centres.
    normal = np.arctan2(along[:, 1], along[:, 0]) - np.arccos(
        (circles[:, 2] - following[:, 2]) / np.linalg.norm(along, axis=1)
    )
    rings = []
    for (x, z, radius), leave, arrive in zip(circles, normal, np.roll(normal, 1), strict=True):
        turn = (leave - arrive) % (2.0 * np.pi)
        for angle in arrive + np.linspace(0.0, turn, int(np.ceil(turn / arc)) + 1):
            inner = np.array([x + radius * np.cos(angle), z + radius * np.sin(angle)])
            outer = inner + thickness * np.array([np.cos(angle), np.sin(angle)])
            low, high = middle - width / 2.0, middle + width / 2.0
            rings.append([(p[0], y, p[1]) for p, y in ((inner, low), (outer, low), (outer, high), (inner, high))])
    return loft(rings, closed=True)
