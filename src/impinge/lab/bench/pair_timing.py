"""Every query by every library at every pose of a scene, in turn; and their answers, compared."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import impinge
from impinge.arrays import Floats
from impinge.bvh.volumes.obb import OBBTree
from impinge.lab.bench.peers import Coal, FacePairs, Fcl, PairQueries, coal_model, fcl_model
from impinge.lab.bench.timing import interleaved
from impinge.lab.scenes.pair_scene import PairScene
from impinge.mesh.mesh import Mesh

OURS, COAL, FCL, SCRATCH = "impinge", "coal", "python-fcl", "from scratch"
CLOSER = 0.7
"""Closer-than is called with this part of the distance: the answer is no, so the search must go to its end."""
SAME = 1e-6
"""The relative difference of two distances that still counts as agreement."""

BUILD, BOOLEAN, CONTACTS = "build", "boolean", "all contacts"
DISTANCE, DISTANCE_ZERO, CLOSER_THAN = "distance", "distance where they touch", f"closer than {CLOSER} of the distance"
PAIR_BOOLEAN, PAIR_DISTANCE = "Pair along a smooth path: boolean", "Pair along a smooth path: distance"
PATH_BOOLEAN, PATH_DISTANCE = "the same path in one call: boolean", "the same path in one call: distance"

_ROUNDS = 3
_PATIENCE = 0.5
"""Seconds after which a pose gets no third round; the first two are always run, as a kernel may be compiled in one."""
_AT_REST = np.eye(4)


class Ours:
    """The public verbs, called as the peers are."""

    def __init__(self, a: Mesh, b: Mesh) -> None:
        self._bodies = a, b

    def collides(self, pose_a: Floats, pose_b: Floats) -> bool:
        return bool(impinge.collides(*self._bodies, pose_a, pose_b))

    def contacts(self, pose_a: Floats, pose_b: Floats) -> FacePairs:
        """The segments, normals and kinds come with them."""
        found = impinge.contacts(*self._bodies, pose_a, pose_b)
        return np.column_stack([found.face_a, found.face_b]).astype(np.int64)

    def distance(self, pose_a: Floats, pose_b: Floats) -> float:
        return float(impinge.distance(*self._bodies, pose_a, pose_b).value)

    def closer_than(self, clearance: float, pose_a: Floats, pose_b: Floats) -> bool:
        return bool(impinge.closer_than(*self._bodies, clearance, pose_a, pose_b))


@dataclass(frozen=True, eq=False)
class Row:
    """The best time of each library at each pose that counts for a row of the table."""

    pose: NDArray[np.int64]
    """(k,) the numbers of these poses."""
    seconds: dict[str, Floats]
    """(k,) of each library."""

    @property
    def ours(self) -> float:
        """Seconds, geometric mean over the poses."""
        return geometric_mean(self.seconds[OURS])

    def times_faster_than(self, other: str) -> float:
        """Geometric mean over the poses."""
        return geometric_mean(self.seconds[other] / self.seconds[OURS])

    @property
    def slowdown(self) -> Floats:
        """(k,) our time over that of the fastest other one: above 1 where we lose."""
        others = [seconds for name, seconds in self.seconds.items() if name != OURS]
        ratio: Floats = self.seconds[OURS] / np.minimum.reduce(others)
        return ratio


@dataclass(eq=False)
class SceneTimes:
    """What was measured on one scene."""

    scene: PairScene
    rows: dict[str, Row] = field(default_factory=dict)
    """A row that no pose counts for is missing."""
    disagreements: list[str] = field(default_factory=list)
    touching: int = 0
    """The number of poses in which the bodies collide, by our answer."""
    our_bytes: float = 0.0
    """Of a tree for each triangle, beyond the mesh."""
    coal_bytes: float = 0.0
    """Of a model for each triangle, with its copy of the mesh."""


def geometric_mean(values: Floats) -> float:
    return float(np.exp(np.mean(np.log(values))))


def measure(scene: PairScene) -> SceneTimes:
    """All rows of the table for one scene."""
    times = SceneTimes(scene)
    with _without_garbage_collection():
        times.rows[BUILD] = _build(scene)
        bodies: dict[str, PairQueries] = {OURS: Ours(scene.fixed, scene.mover)}
        coal = Coal(scene.fixed, scene.mover)
        bodies |= {COAL: coal, FCL: Fcl(scene.fixed, scene.mover)}
        _measure_poses(times, bodies)
        _measure_path(times, bodies[OURS])
    triangles = len(scene.fixed.faces) + len(scene.mover.faces)
    times.our_bytes = (OBBTree.of(scene.fixed).nbytes + OBBTree.of(scene.mover).nbytes) / triangles
    times.coal_bytes = coal.nbytes / triangles
    return times


def _build(scene: PairScene) -> Row:
    meshes = scene.fixed, scene.mover
    makers: dict[str, Callable[[Mesh], object]] = {OURS: OBBTree, COAL: coal_model, FCL: fcl_model}
    seconds = interleaved({name: partial(_each, make, meshes) for name, make in makers.items()}, rounds=_ROUNDS)
    return Row(np.zeros(1, dtype=np.int64), {name: np.array([value]) for name, value in seconds.items()})


def _each(make: Callable[[Mesh], object], meshes: tuple[Mesh, ...]) -> None:
    for mesh in meshes:
        make(mesh)


class _Samples:
    """The times of a row while they come in."""

    def __init__(self) -> None:
        self._pose: list[int] = []
        self._seconds: dict[str, list[float]] = {}

    def add(self, pose: int, seconds: Mapping[str, float]) -> None:
        self._pose.append(pose)
        for name, value in seconds.items():
            self._seconds.setdefault(name, []).append(value)

    def fill(self, rows: dict[str, Row], name: str) -> None:
        if self._pose:
            rows[name] = Row(
                np.array(self._pose), {library: np.array(values) for library, values in self._seconds.items()}
            )


def _measure_poses(times: SceneTimes, bodies: Mapping[str, PairQueries]) -> None:
    samples = {name: _Samples() for name in (BOOLEAN, CONTACTS, DISTANCE, DISTANCE_ZERO, CLOSER_THAN)}
    for body in bodies.values():  # loads the kernels and builds the trees
        body.closer_than(body.distance(_AT_REST, times.scene.poses[0]), _AT_REST, times.scene.poses[0])
        body.contacts(_AT_REST, times.scene.poses[0])
        body.collides(_AT_REST, times.scene.poses[0])
    for number, pose in enumerate(times.scene.poses):
        at = _AT_REST, np.ascontiguousarray(pose)

        def ask(row: str, query: str, *before: float, number: int = number, at: Any = at) -> dict[str, Any]:
            asked = {name: partial(getattr(body, query), *before, *at) for name, body in bodies.items()}
            seconds, answers = _in_turn(asked)
            samples[row].add(number, seconds)
            return answers

        meet = ask(BOOLEAN, "collides")
        _compare(times, number, "collides", meet, lambda ours, theirs: ours == theirs)
        times.touching += meet[OURS]
        distance = ask(DISTANCE_ZERO if meet[OURS] else DISTANCE, "distance")
        _compare(times, number, "distance", distance, lambda ours, theirs: abs(ours - theirs) <= SAME * ours)
        if meet[OURS]:
            _compare_pairs(times, number, ask(CONTACTS, "contacts"))
        else:
            closer = ask(CLOSER_THAN, "closer_than", CLOSER * distance[OURS])
            _compare(times, number, CLOSER_THAN, closer, lambda ours, theirs: ours == theirs)
    for name, sample in samples.items():
        sample.fill(times.rows, name)


def _measure_path(times: SceneTimes, scratch: PairQueries) -> None:
    """A Pair that keeps what it found, against our own queries from scratch, step by step and in one call."""
    bodies = times.scene.fixed, times.scene.mover
    path = np.ascontiguousarray(times.scene.path)
    for query, step_row, path_row in (
        ("collides", PAIR_BOOLEAN, PATH_BOOLEAN),
        ("distance", PAIR_DISTANCE, PATH_DISTANCE),
    ):
        steps = {OURS: np.full(len(path), np.inf), SCRATCH: np.full(len(path), np.inf)}
        whole = {OURS: np.full(1, np.inf), SCRATCH: np.full(1, np.inf)}
        differ: set[int] = set()

        def one_round(best: dict[str, Floats], place: int, verbs: dict[str, Callable[..., Any]], poses: Floats) -> Any:
            # A second call at the same pose would meet its own answer, so the Pair is called once in a round.
            seconds, answers = _in_turn(
                {library: partial(verb, _AT_REST, poses) for library, verb in verbs.items()}, 1, again=False
            )
            for library, value in seconds.items():
                best[library][place] = min(best[library][place], value)
            return _plain(answers[OURS]) != _plain(answers[SCRATCH])

        for _ in range(_ROUNDS):
            verbs = {OURS: getattr(impinge.Pair(*bodies), query), SCRATCH: getattr(scratch, query)}
            differ |= {number for number, pose in enumerate(path) if one_round(steps, number, verbs, pose)}
            verbs = {
                OURS: getattr(impinge.Pair(*bodies), query),
                SCRATCH: partial(getattr(impinge, query), *bodies),
            }
            differ |= set(np.flatnonzero(one_round(whole, 0, verbs, path)).tolist())
        times.rows[step_row] = Row(np.arange(len(path)), steps)
        times.rows[path_row] = Row(
            np.zeros(1, dtype=np.int64), {library: best / len(path) for library, best in whole.items()}
        )
        times.disagreements += [f"step {number} of the path: Pair.{query} is another" for number in sorted(differ)]


def _plain(answer: Any) -> Any:
    """A Distance's value; a yes or no as it is."""
    return getattr(answer, "value", answer)


def _in_turn(
    queries: Mapping[str, Callable[[], Any]], rounds: int = _ROUNDS, again: bool = True
) -> tuple[dict[str, float], dict[str, Any]]:
    """The best seconds of each in some rounds, and the answers.

    Each is called twice in a row, and the second time counts: a program uses one library, whose data is not swept out
    of the caches by two others before every call.
    """
    best = dict.fromkeys(queries, np.inf)
    answers: dict[str, Any] = {}
    begin = time.perf_counter()
    for completed in range(rounds):
        if completed >= 2 and time.perf_counter() - begin > _PATIENCE:
            break
        for name, query in queries.items():
            if again:
                query()
            start = time.perf_counter()
            answers[name] = query()
            best[name] = min(best[name], time.perf_counter() - start)
    return best, answers


def _compare(
    times: SceneTimes, number: int, what: str, answers: Mapping[str, Any], same: Callable[[Any, Any], bool]
) -> None:
    for name, theirs in answers.items():
        if not same(answers[OURS], theirs):
            times.disagreements.append(f"pose {number}: {what} {answers[OURS]}, {name} {theirs}")


def _compare_pairs(times: SceneTimes, number: int, found: Mapping[str, FacePairs]) -> None:
    """As sets: python-fcl names a pair of coplanar triangles several times."""
    ours = set(map(tuple, found[OURS].tolist()))
    for name, pairs in found.items():
        theirs = set(map(tuple, pairs.tolist()))
        if theirs != ours:
            times.disagreements.append(
                f"pose {number}: {len(ours)} pairs of triangles meet; "
                f"{name} misses {len(ours - theirs)} of them and names {len(theirs - ours)} others"
            )


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
