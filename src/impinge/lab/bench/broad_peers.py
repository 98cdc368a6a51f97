"""The libraries that a Python user would pick to find overlapping boxes, called as such a user would.

From the boxes of a frame, a numpy array (n, 2, 3), to the pairs, an array (k, 2) in any order.  What lasts for more
than a frame (shapes, bodies, managers, buffers) is made beforehand, from the boxes of a first frame.  Libraries that
take bodies get boxes of the right size, moved by translations, one call for each.  One thread.  Whoever is not
installed is left out.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Floats

Pairs = NDArray[np.integer[Any]]
"""(k, 2) numbers of boxes."""

_CHUNK = 1 << 22
"""Candidates that numpy compares at once: 100,000 boxes have 10**8, which would need gigabytes."""


class Finder(Protocol):
    """Made from the boxes of a first frame, and updated with later ones."""

    def __call__(self, boxes: Floats) -> Pairs | int:
        """The pairs of this frame; their number from those that give no more."""
        ...


def compared(boxes: Floats, first: NDArray[np.integer[Any]], second: NDArray[np.integer[Any]]) -> Pairs:
    """Those of the candidates that overlap."""
    low, high = boxes[:, 0], boxes[:, 1]
    overlap = (low[first] <= high[second]).all(axis=1)
    overlap &= (low[second] <= high[first]).all(axis=1)
    return np.column_stack([first[overlap], second[overlap]])


class NumpySort:
    """Boxes sorted along the axis with the widest spread; those that begin within another one are compared with it."""

    def __init__(self, boxes: Floats) -> None:
        pass

    def __call__(self, boxes: Floats) -> Pairs:
        axis = int(np.ptp(boxes[:, 0], axis=0).argmax())
        order = np.argsort(boxes[:, 0, axis])
        placed = boxes[order]
        after = np.arange(1, len(boxes) + 1)
        counts = np.searchsorted(placed[:, 0, axis], placed[:, 1, axis], side="right") - after
        total = np.cumsum(counts)
        found = []
        begin = 0
        while begin < len(boxes):
            done = int(total[begin - 1]) if begin else 0
            end = max(int(np.searchsorted(total, done + _CHUNK, side="right")), begin + 1)
            share = counts[begin:end]
            first = np.repeat(np.arange(begin, end), share)
            nth = np.arange(len(first)) - np.repeat(np.cumsum(share) - share, share)
            found.append(compared(placed, first, first + 1 + nth))
            begin = end
        pairs: Pairs = order[np.concatenate(found)]
        return pairs


class ScipyTree:
    """scipy's kd-tree of the centres: all pairs within the largest side on each axis, and then a comparison."""

    def __init__(self, boxes: Floats) -> None:
        self._tree = import_module("scipy.spatial").cKDTree

    def __call__(self, boxes: Floats) -> Pairs:
        largest = float((boxes[:, 1] - boxes[:, 0]).max())
        rounding = 4.0 * float(np.spacing(np.abs(boxes).max()))
        tree = self._tree(boxes.mean(axis=1))
        near = tree.query_pairs(largest + rounding, p=np.inf, output_type="ndarray")
        return compared(boxes, near[:, 0], near[:, 1])


class FclTree:
    """python-fcl's only manager, a dynamic tree.

    Its callback gets objects that are not those that were registered; what tells them apart is where they are.
    """

    def __init__(self, boxes: Floats) -> None:
        fcl: Any = import_module("fcl")
        self._bodies = [fcl.CollisionObject(fcl.Box(*sides)) for sides in (boxes[:, 1] - boxes[:, 0]).tolist()]
        self._place(boxes.mean(axis=1))
        self._manager = fcl.DynamicAABBTreeCollisionManager()
        self._manager.registerObjects(self._bodies)
        self._manager.setup()

    def _place(self, centres: Floats) -> None:
        for body, centre in zip(self._bodies, centres, strict=True):
            body.setTranslation(centre)

    def __call__(self, boxes: Floats) -> Pairs:
        centres = boxes.mean(axis=1)
        self._place(centres)
        self._manager.update()
        places: list[bytes] = []
        self._manager.collide(places, _note_places)
        number_at = {centre.tobytes(): number for number, centre in enumerate(centres)}
        return np.array([number_at[place] for place in places], dtype=np.int64).reshape(-1, 2)


def _note_places(a: Any, b: Any, places: list[bytes]) -> bool:
    places.append(a.getTranslation().tobytes())
    places.append(b.getTranslation().tobytes())
    return False


class CoalManager:
    """One of coal's managers.  It only counts: no callback can be written in Python, and its own list of pairs
    (``getCollisionPairs``) has no conversion.

    Its spatial hash is left out: it hands over every pair of a cell without a comparison, a hundred times too many.
    """

    def __init__(self, boxes: Floats, *, manager: str) -> None:
        coal: Any = import_module("coal")
        self._bodies = [coal.CollisionObject(coal.Box(*sides)) for sides in (boxes[:, 1] - boxes[:, 0]).tolist()]
        self._manager = getattr(coal, manager)()
        self._place(boxes)
        for body in self._bodies:
            self._manager.registerObject(body)
        self._manager.setup()
        self._collect = partial(coal.CollisionCallBackCollect, 100 * len(boxes))

    def _place(self, boxes: Floats) -> None:
        for body, centre in zip(self._bodies, boxes.mean(axis=1), strict=True):
            body.setTranslation(centre)
            body.computeAABB()

    def __call__(self, boxes: Floats) -> int:
        self._place(boxes)
        self._manager.update()
        found = self._collect()
        self._manager.collide(found)
        return int(found.numCollisionPairs())


class IpcToolkit:
    """One of the broad phases of the IPC toolkit: boxes are points that move from the low corner to the high one."""

    def __init__(self, boxes: Floats, *, method: str) -> None:
        ipctk: Any = import_module("ipctk")
        ipctk.set_num_threads(1)
        self._phase = getattr(ipctk, method)()
        self._no_edges, self._no_faces = np.empty((0, 2), dtype=np.int32), np.empty((0, 3), dtype=np.int32)

    def __call__(self, boxes: Floats) -> Pairs:
        self._phase.build(boxes[:, 0], boxes[:, 1], self._no_edges, self._no_faces, 0.0)
        found = self._phase.detect_vertex_vertex_candidates()
        return np.array([(pair.vertex0_id, pair.vertex1_id) for pair in found], dtype=np.int64).reshape(-1, 2)


class WarpTree:
    """warp's tree of boxes on the processor, made anew or refitted in each frame.

    It is in single precision: boxes are rounded outward, and the kernel compares those that it finds in double.  Made
    by "cubql", the quickest of its three builders here, and by "sah" where it is only refitted.
    """

    def __init__(self, boxes: Floats, *, refit: bool) -> None:
        warp, self._find = _warp_kernel()
        self._warp = warp
        self._refit = refit
        count = len(boxes)
        self._lows, self._highs = (warp.empty(count, dtype=warp.vec3, device="cpu") for _ in range(2))
        self._lows_seen, self._highs_seen = self._lows.numpy(), self._highs.numpy()
        self._total = warp.zeros(1, dtype=warp.int32, device="cpu")
        self._found = warp.empty(4 * count, dtype=warp.vec2i, device="cpu")
        self._take(boxes)
        self._tree = warp.Bvh(self._lows, self._highs, constructor="sah")

    def _take(self, boxes: Floats) -> None:
        for corner, seen, outward in ((0, self._lows_seen, -np.inf), (1, self._highs_seen, np.inf)):
            seen[:] = boxes[:, corner]
            np.nextafter(seen, np.float32(outward), out=seen)

    def __call__(self, boxes: Floats) -> Pairs:
        self._take(boxes)
        if self._refit:
            self._tree.refit()
        else:
            self._tree = self._warp.Bvh(self._lows, self._highs, constructor="cubql")
        rows = self._warp.array(boxes.reshape(-1, 6), dtype=self._warp.float64, device="cpu", copy=False)
        total = self._launch(rows)
        if total > len(self._found):
            self._found = self._warp.empty(2 * total, dtype=self._warp.vec2i, device="cpu")
            self._launch(rows)
        found: Pairs = self._found.numpy()[:total].copy()
        return found

    def _launch(self, rows: Any) -> int:
        self._total.zero_()
        given = [self._tree.id, rows, self._lows, self._highs, self._total, self._found]
        self._warp.launch(self._find, dim=len(self._lows), inputs=given, device="cpu")
        return int(self._total.numpy()[0])


@cache
def _warp_kernel() -> tuple[Any, Any]:
    """warp, and its kernel: pairs of boxes, counted and listed as far as there is room."""
    wp: Any = import_module("warp")
    wp.config.log_level = wp.LOG_ERROR

    def find(tree: Any, rows: Any, lows: Any, highs: Any, total: Any, found: Any) -> None:
        i = wp.tid()
        query = wp.bvh_query_aabb(tree, lows[i], highs[i])
        j = wp.int32(0)
        while wp.bvh_query_next(query, j):
            if j > i:
                if (
                    rows[i, 0] <= rows[j, 3]
                    and rows[j, 0] <= rows[i, 3]
                    and rows[i, 1] <= rows[j, 4]
                    and rows[j, 1] <= rows[i, 4]
                    and rows[i, 2] <= rows[j, 5]
                    and rows[j, 2] <= rows[i, 5]
                ):
                    place = wp.atomic_add(total, 0, 1)
                    if place < found.shape[0]:
                        found[place] = wp.vec2i(i, j)

    # Its types are no annotations that a type checker takes.
    find.__annotations__ = {
        "tree": wp.uint64,
        "rows": wp.array2d(dtype=wp.float64),
        "lows": wp.array(dtype=wp.vec3),
        "highs": wp.array(dtype=wp.vec3),
        "total": wp.array(dtype=wp.int32),
        "found": wp.array(dtype=wp.vec2i),
    }
    return wp, wp.kernel(find, enable_backward=False)


class Pybullet:
    """pybullet: it lists no pairs of boxes, but ``getOverlappingObjects`` queries its broad phase for one box.

    Its own boxes are a little larger, so what it finds is compared.
    """

    def __init__(self, boxes: Floats) -> None:
        bullet: Any = import_module("pybullet")
        client = bullet.connect(bullet.DIRECT)
        weakref.finalize(self, bullet.disconnect, client)
        self._move = partial(bullet.resetBasePositionAndOrientation, physicsClientId=client)
        self._ask = partial(bullet.getOverlappingObjects, physicsClientId=client)
        self._bodies = []
        halves, centres = 0.5 * (boxes[:, 1] - boxes[:, 0]), boxes.mean(axis=1)
        for half, centre in zip(halves.tolist(), centres.tolist(), strict=True):
            shape = bullet.createCollisionShape(bullet.GEOM_BOX, halfExtents=half, physicsClientId=client)
            body = bullet.createMultiBody(0.0, shape, basePosition=centre, physicsClientId=client)
            self._bodies.append(int(body))
        if self._bodies != list(range(len(boxes))):
            raise ImportError(f"pybullet takes no {len(boxes)} bodies")

    def __call__(self, boxes: Floats) -> Pairs:
        unturned = (0.0, 0.0, 0.0, 1.0)
        for body, centre in zip(self._bodies, boxes.mean(axis=1).tolist(), strict=True):
            self._move(body, centre, unturned)
        first, second = [], []
        for body, (low, high) in enumerate(boxes.tolist()):
            others = [other for other, _ in self._ask(low, high) or () if other > body]
            first += [body] * len(others)
            second += others
        return compared(boxes, np.array(first, dtype=np.int64), np.array(second, dtype=np.int64))


PEERS: dict[str, Callable[[Floats], Finder]] = {
    "numpy, sort": NumpySort,
    "scipy, kd-tree": ScipyTree,
    "warp, tree refitted": partial(WarpTree, refit=True),
    "warp, tree rebuilt": partial(WarpTree, refit=False),
    "ipctk, LBVH": partial(IpcToolkit, method="LBVH"),
    "ipctk, sweep": partial(IpcToolkit, method="SweepAndPrune"),
    "ipctk, hash grid": partial(IpcToolkit, method="HashGrid"),
    "ipctk, spatial hash": partial(IpcToolkit, method="SpatialHash"),
    "coal, tree": partial(CoalManager, manager="DynamicAABBTreeCollisionManager"),
    "coal, tree in an array": partial(CoalManager, manager="DynamicAABBTreeArrayCollisionManager"),
    "coal, sweep (SSaP)": partial(CoalManager, manager="SSaPCollisionManager"),
    "coal, sweep (SaP)": partial(CoalManager, manager="SaPCollisionManager"),
    "coal, interval tree": partial(CoalManager, manager="IntervalTreeCollisionManager"),
    "python-fcl, tree": FclTree,
    "pybullet": Pybullet,
}
"""How each is made.  An ImportError says that it cannot be had."""
