"""One version of the library, timed row by row as another process asks (``bench.compare``).

Lines of JSON come in and go out: ``{"do": "rows", "groups": [...]}``, ``{"do": "warm", "row": name}``, which answers
with the seconds of a call, and ``{"do": "time", "row": name, "calls": n}``.  A row makes what it needs when it is
warmed.

The same file is run for both versions, so it uses public names only (and ``broad_phase``, which makes broad phases)
and makes its own input.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from typing import Any

import numpy as np

import impinge

Work = Callable[[], object]
Make = Callable[[], Work]
"""Makes what a row needs, and returns what is timed."""

_CHUNKS = 30
"""A timing is the best of so many parts, of some 2 ms each: a disturbance spoils only those that it meets."""
_FEW = 8
"""Poses of a row of single calls."""
_PATH = 32
"""Poses of a path."""

# --- input


def _pose_of(turns: Any, shifts: Any) -> Any:
    """Poses (n, 4, 4) of quaternions (n, 4) of any length and shifts (n, 3)."""
    w, x, y, z = np.transpose(turns / np.sqrt((turns * turns).sum(axis=1, keepdims=True)))
    made = np.zeros((len(turns), 4, 4))
    made[:, 0, 0], made[:, 0, 1], made[:, 0, 2] = 1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)
    made[:, 1, 0], made[:, 1, 1], made[:, 1, 2] = 2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)
    made[:, 2, 0], made[:, 2, 1], made[:, 2, 2] = 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)
    made[:, :3, 3] = shifts
    made[:, 3, 3] = 1.0
    return made


def _any_poses(seed: int, count: int, spread: float) -> Any:
    random = np.random.default_rng(seed)
    return _pose_of(random.random((count, 4)) - 0.5, (random.random((count, 3)) - 0.5) * spread)


def _path(count: int = _PATH) -> Any:
    """Through the other body and out again, turning; there and back, so that a second round begins where it ended."""
    s = np.abs(np.linspace(-1.0, 1.0, count))[:, None]
    return _pose_of([1.0, 0.2, 0.1, 0.0] + s * [0.0, 0.5, -0.3, 0.4], [0.2, 0.1, 0.3] + s * [2.6, 0.2, 0.1])


def _tube(points: Any, along: Any, across: int, radius: float) -> impinge.Mesh:
    """Around a closed curve, given its points and tangents."""
    side = np.cross(along, [0.1, 0.2, 1.0])
    side /= np.linalg.norm(side, axis=1, keepdims=True)
    up = np.cross(along, side)
    up /= np.linalg.norm(up, axis=1, keepdims=True)
    angle = np.arange(across) * (2.0 * np.pi / across)
    ring = np.cos(angle)[None, :, None] * side[:, None] + np.sin(angle)[None, :, None] * up[:, None]
    i, j = np.meshgrid(np.arange(len(points)), np.arange(across), indexing="ij")
    after = (i + 1) % len(points)
    a, b = i * across + j, i * across + (j + 1) % across
    c, d = after * across + j, after * across + (j + 1) % across
    faces = np.stack([a, c, d, a, d, b], axis=-1).reshape(-1, 3)
    return impinge.Mesh((points[:, None] + radius * ring).reshape(-1, 3), faces)


def _torus(around: int, across: int) -> impinge.Mesh:
    t = np.arange(around) * (2.0 * np.pi / around)
    zero = np.zeros(around)
    return _tube(
        np.stack([np.cos(t), np.sin(t), zero], axis=1), np.stack([-np.sin(t), np.cos(t), zero], axis=1), across, 0.4
    )


def _knot(around: int, across: int) -> impinge.Mesh:
    t = np.arange(around) * (2.0 * np.pi / around)
    points = np.stack([np.sin(t) + 2 * np.sin(2 * t), np.cos(t) - 2 * np.cos(2 * t), -np.sin(3 * t)], axis=1)
    along = np.stack([np.cos(t) + 4 * np.cos(2 * t), -np.sin(t) + 4 * np.sin(2 * t), -3 * np.cos(3 * t)], axis=1)
    return _tube(0.4 * points, 0.4 * along, across, 0.15)


def _box() -> impinge.Mesh:
    corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    quads = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    return impinge.Mesh(corners, [face for a, b, c, d in quads for face in ([a, b, c], [a, c, d])])


def _solid(mesh: impinge.Mesh, scale: float = 1.0) -> impinge.Mesh:
    return impinge.Mesh(mesh.vertices * scale, mesh.faces, solid=True)


SIZES = ("12", "1,000", "20,000")


@cache
def _meshes(size: str) -> tuple[Any, Any]:
    """Two bodies of about so many triangles each."""
    if size == "12":
        return _box(), _box()
    return (_torus(32, 16), _knot(64, 8)) if size == "1,000" else (_torus(160, 64), _knot(256, 40))


@cache
def _solids(size: str) -> tuple[Any, Any]:
    a, b = _meshes(size)
    return _solid(a), _solid(b)


@cache
def _hulls(vertices: str) -> tuple[Any, Any]:
    """Of points on a sphere."""
    made = []
    for seed in (1, 2):
        points = np.random.default_rng(seed).standard_normal((int(vertices), 3))
        made.append(impinge.ConvexHull(points / np.linalg.norm(points, axis=1, keepdims=True)))
    return made[0], made[1]


@cache
def _situation(bodies: Callable[[str], tuple[Any, Any]], size: str, touching: bool, count: int = _FEW) -> Any:
    """Poses in which the bodies touch, or are apart; the answer is exact, so all versions agree on them."""
    poses = _any_poses(3, 16 * count, 5.0)
    found = np.asarray(impinge.collides(*bodies(size), None, poses))
    return poses[found == touching][:count]


# --- what is timed


def _each(ask: Callable[[Any], object], poses: Any) -> Work:
    single = list(poses)

    def work() -> None:
        for pose in single:
            ask(pose)

    return work


_VERBS: dict[str, Callable[[Any, Any, Any], object]] = {
    "collides": lambda a, b, poses: impinge.collides(a, b, None, poses),
    "contacts": lambda a, b, poses: impinge.contacts(a, b, None, poses),
    "distance": lambda a, b, poses: impinge.distance(a, b, None, poses),
    "closer_than": lambda a, b, poses: impinge.closer_than(a, b, 0.1, None, poses),
    "penetration": lambda a, b, poses: impinge.penetration(a, b, None, poses),
    "relation": lambda a, b, poses: impinge.relation(a, b, None, poses),
}
_PAIR_VERBS: dict[str, Callable[[Any, Any], object]] = {
    "collides": lambda pair, poses: pair.collides(None, poses),
    "contacts": lambda pair, poses: pair.contacts(None, poses),
    "distance": lambda pair, poses: pair.distance(None, poses),
    "closer_than": lambda pair, poses: pair.closer_than(0.1, None, poses),
    "penetration": lambda pair, poses: pair.penetration(None, poses),
}

Bodies = Callable[[str], tuple[Any, Any]]


def _single(bodies: Bodies, size: str, verb: str, touching: bool) -> Work:
    return _each(partial(_VERBS[verb], *bodies(size)), _situation(bodies, size, touching))


def _batch(bodies: Bodies, size: str, verb: str) -> Work:
    return partial(_VERBS[verb], *bodies(size), _any_poses(4, 64, 5.0))


def _pair_each(bodies: Bodies, size: str, verb: str, method: Any = "auto") -> Work:
    return _each(partial(_PAIR_VERBS[verb], impinge.Pair(*bodies(size), method)), _path())


def _pair_path(bodies: Bodies, size: str, verb: str, method: Any = "auto") -> Work:
    return partial(_PAIR_VERBS[verb], impinge.Pair(*bodies(size), method), _path())


def _nested(size: str, verb: str) -> Work:
    a, _ = _solids(size)
    at = np.eye(4)
    at[:3, 3] = a.vertices[0] * 0.0 if size == "12" else [1.0, 0.0, 0.0]
    return _each(partial(_VERBS[verb], a, _solid(_box(), 0.125)), [at] * _FEW)


def _tree(size: str) -> Work:
    """A new mesh, and the first question about it."""
    a, b = _meshes(size)
    far = np.eye(4)
    far[0, 3] = 10.0
    return lambda: impinge.collides(impinge.Mesh(a.vertices, a.faces), b, None, far)


def _pairs() -> Iterator[tuple[str, Make]]:
    four = ("collides", "contacts", "distance", "closer_than")
    for size in SIZES:
        for verb in four:
            yield f"{size} {verb}, touching", partial(_single, _meshes, size, verb, True)
            yield f"{size} {verb}, apart", partial(_single, _meshes, size, verb, False)
            yield f"{size} {verb}, batch", partial(_batch, _meshes, size, verb)
            yield f"{size} {verb}, Pair", partial(_pair_each, _meshes, size, verb)
            yield f"{size} {verb}, Pair, path", partial(_pair_path, _meshes, size, verb)
        for verb in ("collides", "distance"):
            yield f"{size} {verb}, solids apart", partial(_single, _solids, size, verb, False)
            yield f"{size} {verb}, solids nested", partial(_nested, size, verb)
            yield f"{size} {verb}, solids, batch", partial(_batch, _solids, size, verb)
        yield f"{size} relation, batch", partial(_batch, _solids, size, "relation")
        yield f"{size} new mesh and tree", partial(_tree, size)
    for size in SIZES[:2]:
        for verb in ("collides", "distance"):
            yield f"{size} {verb}, Pair incremental", partial(_pair_each, _meshes, size, verb, "incremental")


def _convex() -> Iterator[tuple[str, Make]]:
    for size in ("50", "500"):
        for verb in ("collides", "distance", "closer_than", "penetration"):
            yield f"{size} {verb}, touching", partial(_single, _hulls, size, verb, True)
            yield f"{size} {verb}, apart", partial(_single, _hulls, size, verb, False)
            yield f"{size} {verb}, batch", partial(_batch, _hulls, size, verb)
            yield f"{size} {verb}, Pair", partial(_pair_each, _hulls, size, verb)
            yield f"{size} {verb}, Pair, path", partial(_pair_path, _hulls, size, verb)
        for method in ("vclip", "lin-canny"):
            yield f"{size} distance, Pair {method}", partial(_pair_each, _hulls, size, "distance", method)
        yield f"{size} hull of points", partial(_hull_of_points, size)


def _hull_of_points(size: str) -> Work:
    points = np.random.default_rng(5).standard_normal((int(size), 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    return partial(impinge.ConvexHull, points)


def _boxes(count: int, frames: int) -> list[Any]:
    """A cloud of boxes, each with a few others in reach, there and back in small steps."""
    random = np.random.default_rng(6)
    low = random.random((count, 3)) * (count ** (1 / 3))
    size, way = 0.5 + random.random((count, 3)), 0.1 * (random.random((count, 3)) - 0.5)
    steps = [*range(frames), *range(frames, 0, -1)]
    return [np.stack([low + k * way, low + k * way + size], axis=1) for k in steps]


def _updates(count: int, name: str) -> Work:
    from impinge.broadphase.choice import broad_phase

    cloud = _boxes(count, 3)
    broad = broad_phase(name)
    broad.add(cloud[0])

    def work() -> None:
        for boxes in cloud:
            broad.update(boxes)

    return work


def _first_update(count: int, name: str) -> Work:
    from impinge.broadphase.choice import broad_phase

    cloud = _boxes(count, 1)[0]

    def work() -> None:
        broad = broad_phase(name)
        broad.add(cloud)
        broad.update()

    return work


def _broad() -> Iterator[tuple[str, Make]]:
    for count in (1_000, 10_000):
        for name in ("auto", "tree", "sweep", "hash"):
            yield f"{count:,} {name}", partial(_updates, count, name)
        yield f"{count:,} auto, first update", partial(_first_update, count, "auto")


def _frames(count: int, query: str, convex: bool = False) -> Work:
    random = np.random.default_rng(7)
    kinds = [_torus(16, 8), _solid(_box()), _knot(24, 6)]
    bodies = [impinge.ConvexHull(kind) for kind in kinds] if convex else kinds
    turns, shifts = random.random((count, 4)) - 0.5, random.random((count, 3)) * 2.0 * count ** (1 / 3)
    spin, way = 0.02 * (random.random((count, 4)) - 0.5), 0.05 * (random.random((count, 3)) - 0.5)
    world = impinge.World(clearance=0.1)
    frames = [_pose_of(turns + k * spin, shifts + k * way) for k in (0, 1, 2, 3, 2, 1)]
    for i, pose in enumerate(frames[0]):
        world.add(bodies[i % 3], pose)
    ask = partial(world.detect, query, **({"within": 0.2} if query == "distance" else {}))

    def work() -> None:
        for poses in frames:
            world.set_poses(poses)
            ask()

    return work


def _world() -> Iterator[tuple[str, Make]]:
    for count in (100, 1_000):
        for query in ("collides", "contacts", "distance", "closer_than"):
            yield f"{count:,} {query}", partial(_frames, count, query)
        yield f"{count:,} collides, hulls", partial(_frames, count, "collides", convex=True)


GROUPS: dict[str, Callable[[], Iterator[tuple[str, Make]]]] = {
    "pairs": _pairs,
    "convex": _convex,
    "broad": _broad,
    "world": _world,
}


def rows(groups: Sequence[str]) -> dict[str, Make]:
    """By group and name: what makes each of them."""
    return {f"{group}: {name}": make for group in groups for name, make in GROUPS[group]()}


# --- the process


def seconds_of(work: Work, calls: int) -> float:
    """Of one call; the best of some parts of all calls."""
    each = max(1, calls // _CHUNKS)
    best = float("inf")
    gc.collect()
    gc.disable()
    try:
        for _ in range(min(_CHUNKS, calls)):
            start = time.perf_counter()
            for _ in range(each):
                work()
            best = min(best, (time.perf_counter() - start) / each)
    finally:
        gc.enable()
    return best


def answers(requests: Iterator[str]) -> Iterator[dict[str, Any]]:
    made: dict[str, Work] = {}
    known: dict[str, Make] = {}
    for line in requests:
        request = json.loads(line)
        if request["do"] == "rows":
            known = rows(request["groups"])
            yield {"rows": list(known), "file": impinge.__file__}
        elif request["do"] == "warm":
            work = made[request["row"]] = known[request["row"]]()
            work()  # compiles, builds trees
            yield {"seconds": seconds_of(work, 2)}
        else:
            yield {"seconds": seconds_of(made[request["row"]], request["calls"])}


def main() -> None:
    for each in answers(iter(sys.stdin.readline, "")):
        print(json.dumps(each), flush=True)


if __name__ == "__main__":
    main()
