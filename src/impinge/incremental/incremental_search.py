"""Queries on two bodies with box hierarchies and temporal coherence: the Python interface of the kernels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Floats, Ints
from impinge.bvh.answers import MEETING
from impinge.bvh.contact_keys import decoded_contacts
from impinge.bvh.search import Statistics
from impinge.incremental.frame_memory import DONE, MORE_CONTACTS, Memory, Results
from impinge.incremental.hierarchy.box_hierarchy import BoxHierarchy, box_hierarchy
from impinge.incremental.hierarchy.options import Hierarchy
from impinge.incremental.regions.dual_region import DualRegion
from impinge.incremental.regions.penetration_region import PenetrationRegion
from impinge.incremental.solids.solid_features import coarse_subsets
from impinge.kernels.interruptible import in_parts, stop_if_abandoned
from impinge.mesh.mesh import Mesh

Regions = PenetrationRegion | DualRegion


@dataclass(frozen=True)
class SweepStatistics(Statistics):
    """What a question took."""

    exchanges: int
    """How often two neighbours in a sorted list changed places."""
    kept_pairs: int
    """Pairs of nodes whose sorted lists are kept for the next frame."""


_FIRST_POSES = 8
"""To begin a batch with: one takes from some microseconds to many milliseconds."""

MOST_SUBSETS = 64
"""A polygon soup may have thousands, which say nothing; all faces are one then."""


def hierarchy_of(mesh: Mesh, options: Hierarchy | None = None) -> BoxHierarchy:
    """The hierarchy of a mesh over its hull features and concavities; made once for each choice."""
    options = options or Hierarchy()
    return mesh.memo(("incremental", options), lambda mesh: box_hierarchy(mesh, _subsets(mesh), options))


def _subsets(mesh: Mesh) -> Sequence[Ints] | None:
    subsets = coarse_subsets(mesh)
    return [subset.faces for subset in subsets] if len(subsets) <= MOST_SUBSETS else None


class IncrementalSearch:
    """Queries on two box hierarchies, for batches of checked poses (k, 4, 4).

    With a memory of its own it uses that a pose is near the one before, and takes one thread at a time.  Without, each
    call begins anew (but the poses of one call follow each other).  ``regions`` find where the hulls of the bodies
    interpenetrate; the search for contacts then keeps to the box around that, and first starts at features in it.

    >>> from impinge import shapes
    >>> cube, aside = hierarchy_of(shapes.box(1, 1, 1)), np.eye(4)
    >>> aside[0, 3] = 3.0
    >>> search = IncrementalSearch(cube, cube, Memory(cube, cube))
    >>> search.distance(np.eye(4)[None], aside[None])[0].tolist()
    [2.0]
    """

    statistics: SweepStatistics
    """What the last question took."""

    def __init__(
        self, a: BoxHierarchy, b: BoxHierarchy, memory: Memory | None = None, regions: Regions | None = None
    ) -> None:
        self._a = a
        self._b = b
        self._memory = memory
        self._regions = regions
        self._has_pieces = len(a.pieces) + len(b.pieces) > 0
        self.statistics = SweepStatistics(0, 0, 0, 0, 0)

    def collides(self, poses_a: Floats, poses_b: Floats) -> NDArray[np.int8]:
        """APART, MEETING or FAR_APART for each pose."""
        memory = self._memory or Memory(self._a, self._b)
        answers = self._ask(_sweep(), memory, poses_a, poses_b, first_only=True).answers.copy()
        self._tell(memory, int(np.count_nonzero(answers == MEETING)))
        return answers

    def contact_pairs(self, poses_a: Floats, poses_b: Floats, most: int | None = None) -> NDArray[np.int64]:
        """(pose, face of a, face of b, kind) of the pairs of triangles that meet, sorted.

        At most ``most``, and one more that tells that there are more.
        """
        pairs = self._contacts(self._memory or Memory(self._a, self._b), poses_a, poses_b, most)
        return pairs if most is None else pairs[: most + 1]

    def _contacts(self, memory: Memory, poses_a: Floats, poses_b: Floats, most: int | None = None) -> NDArray[np.int64]:
        """All of them, or more than ``most``."""
        if self._has_pieces:  # then a contact may be found several times: it takes all of them to count
            most = None
        ends = self._ask(_sweep(), memory, poses_a, poses_b, enough=most).ends
        ends[memory.frames.pose :] = memory.frames.effort.contacts
        keys = memory.take_contacts()
        if len(poses_a) == 1:
            keys.sort()
            pose = np.zeros(len(keys), dtype=np.int64)
        else:
            pose = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
            keys = keys[np.lexsort((keys, pose))]
        if self._has_pieces and len(keys) > 1:  # a face may have met another one in several cells
            new = np.ones(len(keys), dtype=np.bool_)
            np.logical_or(keys[1:] != keys[:-1], pose[1:] != pose[:-1], out=new[1:])
            keys, pose = keys[new], pose[new]
        pairs = decoded_contacts(keys, self._a.face_count, self._b.face_count)
        pairs[:, 0] = pose
        self._tell(memory, len(pairs))
        return pairs

    def distance(self, poses_a: Floats, poses_b: Floats) -> tuple[Floats, Floats, NDArray[np.int32]]:
        """Values, points (k, 2, 3) unless they are zero, and faces (k, 2): where bodies meet, the first pair that does.

        First a sweep for contacts, then branch and bound where there are none.
        """
        memory = self._memory or Memory(self._a, self._b)
        count = len(poses_a)
        values, points, faces = np.zeros(count), np.zeros((count, 2, 3)), np.zeros((count, 2), dtype=np.int32)
        pairs = self._contacts(memory, poses_a, poses_b)
        sweep = self.statistics
        apart = np.ones(count, dtype=np.bool_)
        if len(pairs):
            meet, first = np.unique(pairs[:, 0], return_index=True)
            faces[meet] = pairs[first, 1:3]
            apart[meet] = False
        if apart.any():
            found = self._ask(_descent(), memory, poses_a[apart], poses_b[apart])
            values[apart], points[apart], faces[apart] = found.values, found.points, found.faces
            self._tell(memory, len(pairs))
            self.statistics = replace(
                sweep,
                box_tests=sweep.box_tests + self.statistics.box_tests,
                triangle_tests=sweep.triangle_tests + self.statistics.triangle_tests,
            )
        return values, points, faces

    def closer_than(self, clearance: float, poses_a: Floats, poses_b: Floats) -> NDArray[np.bool_]:
        memory = self._memory or Memory(self._a, self._b)
        memory.frames.clearance = clearance
        answers = self._ask(_descent(), memory, poses_a, poses_b, first_only=True).answers.astype(np.bool_)
        self._tell(memory, int(np.count_nonzero(answers)))
        return answers

    def _ask(
        self, kernel: Any, memory: Memory, poses_a: Floats, poses_b: Floats, first_only: bool = False,
        enough: int | None = None,
    ) -> Results:  # fmt: skip
        """Ask a kernel about all poses; it stops where more than ``enough`` contacts were found."""
        results = memory.ask(poses_a, poses_b)
        frames = memory.frames
        frames.first_only = first_only
        in_regions = self._regions is not None and kernel is _sweep()
        for _ in self._regions_of(memory, poses_a, poses_b) if in_regions else _in_parts(memory, len(poses_a)):
            while (answer := kernel(memory.a.address, memory.b.address, frames.address)) != DONE:
                if answer == MORE_CONTACTS and enough is not None and memory.room_for_contacts > enough:
                    frames.effort.contacts = memory.room_for_contacts  # with those of the pose that it did not end
                    return results
                memory.grow(answer)
        return results

    def _regions_of(self, memory: Memory, poses_a: Floats, poses_b: Floats) -> Iterator[None]:
        """Pose by pose, tell the memory where contacts can be."""
        assert self._regions is not None
        for i in range(len(poses_a)):
            stop_if_abandoned()
            memory.frames.asked = i + 1
            region = self._regions.region(poses_a[i], poses_b[i])
            memory.anywhere()
            if region is not None:
                memory.within(region.box)
                if memory.frames.before.pairs == 0 and len(region.vertices_a) and len(region.vertices_b):
                    memory.frames.start_a = _leaf_at(self._a, self._regions.a.vertices[region.vertices_a[0]])
                    memory.frames.start_b = _leaf_at(self._b, self._regions.b.vertices[region.vertices_b[0]])
            yield

    def _tell(self, memory: Memory, contacts: int) -> None:
        effort, kept = memory.frames.effort, memory.frames.before
        self.statistics = SweepStatistics(
            box_tests=int(effort.box_tests),
            triangle_tests=int(effort.triangle_tests),
            contacts=contacts,
            exchanges=int(effort.exchanges),
            kept_pairs=int(kept.pairs),
        )


def _in_parts(memory: Memory, count: int) -> Iterator[None]:
    """Tell the memory part by part up to which pose it is asked."""
    for part in in_parts(count, _FIRST_POSES):
        memory.frames.asked = part.stop
        yield


def _leaf_at(hierarchy: BoxHierarchy, vertex: Floats) -> int:
    """A leaf with a face at this vertex."""
    entry = (hierarchy.triangles == vertex).all(axis=2).any(axis=1).argmax()
    return int(hierarchy.parent[hierarchy.nodes + entry])


# Kernels are imported when they are first needed, so that no query compiles what it does not use.


@cache
def _sweep() -> Any:
    from impinge.incremental.sweep.hierarchical_sweep import sweep_contacts

    return sweep_contacts


@cache
def _descent() -> Any:
    from impinge.incremental.nearest_descent import nearest_faces

    return nearest_faces
