"""Pictures of the experiments, with matplotlib: flat-shaded triangles from back to front, and plots."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from impinge.arrays import Floats
from impinge.errors import MissingExtra
from impinge.geometry.pose import posed_vertices
from impinge.mesh.mesh import Mesh
from impinge.results import ContactLoop

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FIXED = (0.72, 0.75, 0.79)
MOVER = (0.23, 0.49, 0.75)
SIGNAL = (0.88, 0.06, 0.28)
"""Contacts; nothing else is drawn in it."""


def figure(width: float, height: float) -> Figure:
    """An empty figure, in inches; drawn without a screen."""
    try:
        from matplotlib.figure import Figure
        from matplotlib.layout_engine import ConstrainedLayoutEngine
    except ImportError as error:
        raise MissingExtra("drawing the experiments", "matplotlib", "plots") from error
    room_for_titles = (0.0, 0.0, 1.0, 0.97)  # over pictures, which have no axes, they would be cut off
    return Figure(figsize=(width, height), dpi=110, layout=ConstrainedLayoutEngine(rect=room_for_titles))


def save(drawing: Figure, path: Path) -> Path:
    drawing.savefig(path)
    return path


class View:
    """An orthographic camera."""

    def __init__(self, azimuth: float, elevation: float) -> None:
        """Where the viewer stands, in degrees: azimuth 0 is at -y, 90 at +x."""
        a, e = np.radians(azimuth), np.radians(elevation)
        towards_viewer = np.array([np.sin(a) * np.cos(e), -np.cos(a) * np.cos(e), np.sin(e)])
        right = np.array([np.cos(a), np.sin(a), 0.0])
        self.axes: Floats = np.stack([right, np.cross(towards_viewer, right), towards_viewer])
        """(3, 3) rows: right, up, towards the viewer."""

    def project(self, points: Floats) -> Floats:
        """(..., 3) to the right, up, and nearness."""
        seen: Floats = points @ self.axes.T
        return seen


class Piece(NamedTuple):
    """Triangles of one colour."""

    triangles: Floats
    colour: tuple[float, float, float]


def piece_of(mesh: Mesh, pose: Floats, colour: tuple[float, float, float]) -> Piece:
    return Piece(posed_vertices(pose, mesh.vertices)[mesh.faces], colour)


class Window(NamedTuple):
    """What is seen of the plane of the picture, and how near something may be."""

    centre: Floats
    half_width: float
    nearest: float = np.inf
    """What lies nearer is cut away."""

    def keep(self, seen: Floats) -> np.ndarray:
        """Which projected triangles (n, 3, 3) are in it."""
        low, high = seen.min(axis=1), seen.max(axis=1)
        inside = (low[:, :2] <= self.centre[:2] + self.half_width) & (high[:, :2] >= self.centre[:2] - self.half_width)
        kept: np.ndarray = inside.all(axis=1) & (high[:, 2] <= self.nearest)
        return kept


def _in_short_pieces(triangles: Floats, longest: float) -> Floats:
    """Triangles halved across their longest edge until no edge is longer."""
    rows = np.arange(3)
    for _ in range(12):
        length = np.linalg.norm(triangles - triangles[:, (rows + 1) % 3], axis=2)
        long = length.max(axis=1) > longest
        if not long.any():
            break
        first = length[long].argmax(axis=1)
        # Turned so that the longest edge runs from corner 0 to corner 1.
        turned = np.take_along_axis(triangles[long], ((first[:, None] + rows) % 3)[:, :, None], axis=1)
        middle = turned[:, :2].mean(axis=1)
        one, other = turned.copy(), turned
        one[:, 1] = other[:, 0] = middle
        triangles = np.concatenate([triangles[~long], one, other])
    return triangles


def draw_pieces(axes: Axes, view: View, pieces: Sequence[Piece], window: Window | None = None) -> None:
    """Painter's algorithm: from back to front, in pieces so small that their middles tell the order."""
    from matplotlib.collections import PolyCollection

    everything = np.concatenate([piece.triangles for piece in pieces])
    longest = 0.04 * (float(np.ptp(everything, axis=(0, 1)).max()) if window is None else window.half_width)
    shapes, colours, nearness = [], [], []
    for triangles, colour in pieces:
        seen = view.project(triangles)
        if window is not None:
            seen = seen[window.keep(seen)]
        seen = _in_short_pieces(seen, longest)
        normal = np.cross(seen[:, 1] - seen[:, 0], seen[:, 2] - seen[:, 0])
        length = np.linalg.norm(normal, axis=1)
        facing = np.divide(normal, length[:, None], out=np.zeros_like(normal), where=length[:, None] > 0.0)
        facing *= np.where(facing[:, 2:] < 0.0, -1.0, 1.0)
        light = 0.45 + 0.6 * np.clip(facing @ np.array([-0.35, 0.5, 0.79]), 0.0, 1.0)
        shapes.append(seen[:, :, :2])
        colours.append(np.clip(light[:, None] * np.array(colour), 0.0, 1.0))
        nearness.append(seen[:, :, 2].mean(axis=1))
    order = np.argsort(np.concatenate(nearness), kind="stable")
    painted = np.concatenate(colours)[order]
    # Hair-thin edges of the same colour close the seams between neighbours.
    axes.add_collection(
        PolyCollection(list(np.concatenate(shapes)[order]), facecolors=painted, edgecolors=painted, linewidths=0.4)
    )
    axes.set_aspect("equal")
    axes.set_axis_off()
    if window is None:
        axes.autoscale_view()
    else:
        axes.set_xlim(window.centre[0] - window.half_width, window.centre[0] + window.half_width)
        axes.set_ylim(window.centre[1] - window.half_width, window.centre[1] + window.half_width)


def draw_line(axes: Axes, view: View, points: Floats, colour: tuple[float, float, float], width: float = 1.2) -> None:
    seen = view.project(points)
    axes.plot(seen[:, 0], seen[:, 1], color=colour, linewidth=width, solid_capstyle="round")


def draw_loops(axes: Axes, view: View, loops: Sequence[ContactLoop]) -> None:
    """Contact loops, over whatever hides them."""
    for loop in loops:
        points = np.concatenate([loop.points, loop.points[:1]]) if loop.closed else loop.points
        if len(points) == 1:
            seen = view.project(points)
            axes.plot(seen[:, 0], seen[:, 1], ".", color=SIGNAL)
        else:
            draw_line(axes, view, points, SIGNAL, 1.6)
