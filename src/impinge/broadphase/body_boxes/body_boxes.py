"""BodyBoxes: bounding boxes of many moving bodies, for a broad phase."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge.arrays import Floats, as_ids, shown
from impinge.bodies import BODY_TYPES, Body, hull_of, require_body
from impinge.broadphase.body_boxes.box_axes import BoxBatch, as_axes, axis_rows
from impinge.broadphase.body_boxes.used_vertices import used_vertices
from impinge.convex.hull.convex_hull import ConvexHull
from impinge.convex.hull.hull_handle import hull_handle_of, radius_of
from impinge.geometry.float_errors import default_float_errors
from impinge.geometry.pose import as_pose
from impinge.kernels.record import addresses


class BodyBoxes:
    """Boxes around bodies that move; they hold every posed vertex, for certain.

    Parameters
    ----------
    bodies
        Meshes, hulls and bodies of convex pieces.  One that occurs many times is stored once.
    kind
        ``tight`` boxes fit; extremal vertices are sought from those of the last call, so small motions are cheap.
        Along the world's axes those of a ConvexHull are the bounds of its posed vertices, bit for bit.  ``cubes``
        have the same size in every orientation (but for rounding), which spares sorted lists many exchanges.  Boxes of
        all ``vertices`` fit and need no hull: for a single frame.
    axes
        Two or three directions to measure along, as the rows of an array; the length of a direction does not matter.
        Boxes are then the intervals of the bodies along them.  Bodies that touch have intervals that overlap, whatever
        the directions are.  With two, the third interval is [0, 0] for all.  See ``body_boxes.box_axes`` for their use.

    Examples
    --------
    >>> cube = ConvexHull([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)])
    >>> away = np.eye(4)
    >>> away[0, 3] = 5.0
    >>> BodyBoxes([cube, cube]).boxes([np.eye(4), away]).tolist()
    [[[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]], [[5.0, 0.0, 0.0], [6.0, 1.0, 1.0]]]
    >>> BodyBoxes([cube], kind="cubes").boxes([np.eye(4)]).round(3).tolist()
    [[[-0.366, -0.366, -0.366], [1.366, 1.366, 1.366]]]
    >>> BodyBoxes([cube], axes=[[1, 1, 0], [0, 0, 1]]).boxes([away]).round(3).tolist()
    [[[3.536, 0.0, 0.0], [4.95, 1.0, 0.0]]]
    """

    @default_float_errors
    def __init__(self, bodies: Iterable[Body], *, kind: str = "tight", axes: ArrayLike | None = None) -> None:
        if isinstance(bodies, BODY_TYPES) or not isinstance(bodies, Iterable):
            raise ValueError(f"bodies: expected a sequence of bodies, got {type(bodies).__name__}")
        self.bodies = tuple(bodies)
        for i, body in enumerate(self.bodies):
            require_body(body, f"bodies[{i}]")
        if not isinstance(kind, str) or kind not in _KINDS:
            raise ValueError(f"kind {shown(kind)} of boxes is not one of {', '.join(_KINDS)}")
        self.kind = kind
        self.axes = as_axes(axes)
        """The directions as they are used: unit vectors."""
        self._given_axes = None if axes is None else np.array(axes)
        self._axis_rows = axis_rows(self.axes)
        self._fill = _KINDS[kind](self.bodies)

    def __len__(self) -> int:
        return len(self.bodies)

    def boxes(self, poses: ArrayLike, which: ArrayLike | None = None) -> Floats:
        """(n, 2, 3) the low and the high corner of each body's box, for poses (n, 4, 4).

        ``which`` are the numbers of bodies, if it is not about all of them.
        """
        array = as_pose(poses, "poses", check=False)
        numbers = np.arange(len(self.bodies)) if which is None else self._numbers(which)
        if array.shape != (len(numbers), 4, 4):
            raise ValueError(f"poses: expected shape ({len(numbers)}, 4, 4), one for each body, got {array.shape}")
        boxes = np.empty((len(array), 2, 3))
        boxes[:, :, len(self.axes) :] = 0.0
        batch = BoxBatch(which=numbers, poses=array, axes=self._axis_rows, boxes=boxes)
        if self._fill(batch) < len(array):
            as_pose(array, "poses")  # says what is wrong
        return boxes

    def _numbers(self, which: ArrayLike) -> NDArray[np.int64]:
        numbers = as_ids(which, "which")
        if numbers.size and not (numbers.min() >= 0 and numbers.max() < len(self.bodies)):
            raise ValueError(f"which: there are {len(self.bodies)} bodies, so {numbers.max()} or less than 0 is none")
        return numbers

    def __reduce__(self) -> tuple[Callable[..., BodyBoxes], tuple[Any, ...]]:
        return _restore, (self.bodies, self.kind, self._given_axes)

    def __repr__(self) -> str:
        count = len(self.bodies)
        return f"BodyBoxes({count} bod{'y' if count == 1 else 'ies'}, {self.kind})"


def _restore(bodies: tuple[Body, ...], kind: str, axes: ArrayLike | None) -> BodyBoxes:
    return BodyBoxes(bodies, kind=kind, axes=axes)


class _TightFill:
    """What ``tight_boxes`` needs, and the extremal vertices of the last call."""

    def __init__(self, bodies: tuple[Body, ...]) -> None:
        from impinge.broadphase.body_boxes.tight_boxes import FEW, UNKNOWN, Hulls, tight_boxes

        self._kernel: Any = tight_boxes
        self._handles = [hull_handle_of(hull_of(body)) for body in bodies]  # addresses are valid as long as they live
        self._hulls = Hulls(
            hulls=addresses([handle.address for handle in self._handles]),
            with_others=np.array([_has_other_vertices(body) for body in bodies], dtype=np.bool_),
            last=np.full((len(bodies), 3, 2), UNKNOWN, dtype=np.int32),
        )
        largest = max((handle.size for handle in self._handles), default=0)
        self._room = largest if largest > FEW else 0

    def __call__(self, batch: BoxBatch) -> int:
        # Of this call: two threads may call at once, and share nothing but hints, which may be any vertices.
        batch.queue, batch.stamps = np.empty(self._room, dtype=np.int64), np.zeros(self._room, dtype=np.int64)
        return int(self._kernel(self._hulls.address, batch.address))


class _CubesFill:
    """What ``fixed_cubes`` needs."""

    def __init__(self, bodies: tuple[Body, ...]) -> None:
        from impinge.broadphase.body_boxes.fixed_cubes import Cube, Cubes, cube_of, fixed_cubes

        self._kernel: Any = fixed_cubes
        numbers = np.array([cube_of(hull_of(body)) for body in bodies], dtype=np.float64)
        self._cubes = Cubes(cubes=numbers.reshape(-1).view(Cube.dtype))

    def __call__(self, batch: BoxBatch) -> int:
        return int(self._kernel(self._cubes.address, batch.address))


class _VertexFill:
    """What ``vertex_boxes`` needs."""

    def __init__(self, bodies: tuple[Body, ...]) -> None:
        from impinge.broadphase.body_boxes.vertex_boxes import Bodies, Vertices, vertex_boxes

        self._kernel: Any = vertex_boxes
        points = [used_vertices(body) for body in bodies]
        # Addresses are valid as long as they live.
        self._vertices = [Vertices(points=some, radius=radius_of(some)) for some in points]
        self._bodies = Bodies(vertices=addresses([vertices.address for vertices in self._vertices]))

    def __call__(self, batch: BoxBatch) -> int:
        return int(self._kernel(self._bodies.address, batch.address))


_KINDS: dict[str, Callable[[tuple[Body, ...]], _TightFill | _CubesFill | _VertexFill]] = {
    "tight": _TightFill,
    "cubes": _CubesFill,
    "vertices": _VertexFill,
}


def _has_other_vertices(body: Body) -> bool:
    """Whether some vertex is no corner of the hull."""
    return not isinstance(body, ConvexHull) and body.memo("vertices beside corners", _count_others) > 0


def _count_others(body: Body) -> int:
    return len(np.unique(used_vertices(body) + 0.0, axis=0)) - len(hull_of(body).vertices)
