"""Queries on two bounding volume hierarchies of one kind: the Python interface of the kernels."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Floats
from impinge.bvh.answers import MEETING, UNFINISHED
from impinge.bvh.contact_keys import decoded_contacts, poses_at_once
from impinge.bvh.tree_handle import TreeHandle
from impinge.bvh.volumes.obb import OBBTree
from impinge.bvh.workspace import AT_ONCE, Results, TraversalWorkspace
from impinge.kernels.interruptible import in_parts, stop_if_abandoned
from impinge.mesh.mesh import Mesh

if TYPE_CHECKING:
    from impinge.bvh.tree import Tree


_FIRST_POSES = 256
"""To begin a batch with.  Most are quick and go in one call or two, but along a front of millions of entries a pose may
take milliseconds without a single box test."""


@dataclass(frozen=True)
class Statistics:
    """What a question took: the columns of table 1 of Lin et al. (1996)."""

    box_tests: int
    """Pairs of volumes that were compared."""
    triangle_tests: int
    """Pairs of triangles that were compared."""
    contacts: int
    """Pairs of triangles that met; 1 for a yes where only yes or no was asked."""


class _Own(threading.local):
    """One workspace for each thread."""

    workspace: TraversalWorkspace | None = None


own = _Own()
"""For questions from scratch."""


def own_workspace() -> TraversalWorkspace:
    """The workspace of this thread."""
    work = own.workspace
    if work is None:
        own.workspace = work = TraversalWorkspace()
    return work


OBB_HANDLE = "OBBTree handle"


def tree_handle_of(mesh: Mesh) -> TreeHandle:
    """The default tree of a mesh, ready for kernels."""
    return mesh.memo(OBB_HANDLE, lambda mesh: TreeHandle(OBBTree.of(mesh)))


def search_of(a: Mesh, b: Mesh, work: TraversalWorkspace | None = None) -> TreeSearch:
    """The search through the default trees of two meshes."""
    search = object.__new__(TreeSearch)
    search._prepare(tree_handle_of(a), tree_handle_of(b), work)
    return search


def sorted_contacts(a: TreeHandle, b: TreeHandle, first: int, keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sorted (pose, face of a, face of b, kind) of contacts, from their keys; poses count from ``first``."""
    if len(keys) == 0:  # to decode none takes 3 us
        return np.empty((0, 4), dtype=np.int64)
    pairs = decoded_contacts(np.sort(keys), a.triangles, b.triangles)
    if first:
        pairs[:, 0] += first
    return pairs


def to_its_end(ask: Callable[[], int], work: TraversalWorkspace) -> int:
    """Ask a kernel until it is not out of budget any more; what it answers then."""
    while (answer := ask()) == UNFINISHED:
        stop_if_abandoned()
        work.allow(AT_ONCE)
    return answer


class TreeSearch:
    """Queries on two bounding volume hierarchies of one kind, for batches of checked poses (k, 4, 4).

    With a workspace of its own it uses that a pose is near the one before (see bvh.front), and takes one thread at a
    time.
    """

    statistics: Statistics
    """What the last question took."""

    def __init__(self, tree_a: Tree, tree_b: Tree, work: TraversalWorkspace | None = None) -> None:
        if type(tree_a) is not type(tree_b):
            raise ValueError(f"trees of one kind are needed, got {tree_a!r} and {tree_b!r}")
        self._prepare(TreeHandle(tree_a), TreeHandle(tree_b), work)

    def _prepare(self, a: TreeHandle, b: TreeHandle, work: TraversalWorkspace | None) -> None:
        self._a = a
        self._b = b
        self.work = work
        self.statistics = Statistics(0, 0, 0)

    def _workspace(self) -> TraversalWorkspace:
        work = self.work or own_workspace()
        work.begin(self._a.stack + self._b.stack)
        work.allow(AT_ONCE)
        return work

    def _tell(self, work: TraversalWorkspace, contacts: int) -> None:
        box_tests, triangle_tests = work.tests()
        self.statistics = Statistics(box_tests, triangle_tests, contacts)

    def _ask(self, name: str, work: TraversalWorkspace, poses_a: Floats, poses_b: Floats, results: Results) -> None:
        work.ask(poses_a, poses_b, results)
        ask = self._kernel(name, work)
        for part in in_parts(len(poses_a), _FIRST_POSES):
            work.ask_part(part.start, part.stop)
            if (answer := to_its_end(ask, work)) < 0:
                raise RuntimeError(f"the search ended with {answer}")

    def _kernel(self, name: str, work: TraversalWorkspace) -> Callable[[], int]:
        return partial(getattr(self._a.kernels, name), self._a.address, self._b.address, work.address)

    def collides(self, poses_a: Floats, poses_b: Floats) -> NDArray[np.int8]:
        """APART, MEETING or FAR_APART for each pose."""
        work = self._workspace()
        answers = np.empty(len(poses_a), dtype=np.int8)
        self._ask("collides", work, poses_a, poses_b, Results(answers))
        self._tell(work, int(np.count_nonzero(answers == MEETING)))
        return answers

    def contact_pairs(self, poses_a: Floats, poses_b: Floats, most: int | None = None) -> NDArray[np.int64]:
        """(pose, face of a, face of b, kind) of the pairs of triangles that meet, sorted.

        At most ``most``, the first in the order of poses and then of the traversal; one more tells that there are more.
        """
        work = self._workspace()
        found: dict[int, list[NDArray[np.int64]]] = {}
        room = 2**62 if most is None else most + 1
        for first, keys in self._contact_keys(work, poses_a, poses_b):
            found.setdefault(first, []).append(keys[:room])
            room -= min(len(keys), room)
            if room == 0:
                work.rewind()  # what is left open is not wanted
                break
        pairs = [sorted_contacts(self._a, self._b, first, np.concatenate(keys)) for first, keys in found.items()]
        self._tell(work, sum(map(len, pairs)))
        return pairs[0] if len(pairs) == 1 else np.concatenate([np.empty((0, 4), dtype=np.int64), *pairs])

    def contact_parts(self, poses_a: Floats, poses_b: Floats) -> Iterator[NDArray[np.int64]]:
        """The same in parts of some ten thousand, each sorted in itself."""
        work = TraversalWorkspace()  # between two parts other questions may be asked
        work.begin(self._a.stack + self._b.stack)
        work.allow(AT_ONCE)
        for first, keys in self._contact_keys(work, poses_a, poses_b):
            if len(keys):
                yield sorted_contacts(self._a, self._b, first, keys)

    def _contact_keys(
        self, work: TraversalWorkspace, poses_a: Floats, poses_b: Floats
    ) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """Keys of contacts, and the pose from which on theirs count."""
        ask = self._kernel("contacts", work)
        step = min(len(poses_a), poses_at_once(self._a.triangles, self._b.triangles)) or 1
        for first in range(0, len(poses_a), step):
            work.rewind()
            work.ask(poses_a[first : first + step], poses_b[first : first + step], Results())
            for part in in_parts(min(step, len(poses_a) - first), _FIRST_POSES):
                work.ask_part(part.start, part.stop)
                while (done := to_its_end(ask, work)) < part.stop:
                    if done < 0:
                        raise RuntimeError(f"the search for contacts ended with {done}")
                    yield first, work.take_pairs()  # there is no room for more
            yield first, work.take_pairs()

    def distance(self, poses_a: Floats, poses_b: Floats) -> tuple[Floats, Floats, NDArray[np.int32]]:
        """Values, points (k, 2, 3) and faces (k, 2)."""
        work = self._workspace()
        count = len(poses_a)
        values = np.empty(count)
        points = np.empty((count, 2, 3))
        faces = np.empty((count, 2), dtype=np.int32)
        self._ask("distance", work, poses_a, poses_b, Results(values=values, points=points, faces=faces))
        self._tell(work, int(np.count_nonzero(values == 0.0)))
        return values, points, faces

    def closer_than(self, clearance: float, poses_a: Floats, poses_b: Floats) -> NDArray[np.bool_]:
        """Whether the surfaces come within the clearance, for each pose."""
        work = self._workspace()
        work.clearance = clearance
        answers = np.empty(len(poses_a), dtype=np.bool_)
        self._ask("closer_than", work, poses_a, poses_b, Results(answers))
        self._tell(work, int(np.count_nonzero(answers)))
        return answers
