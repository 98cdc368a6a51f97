"""Traversal: a query that can be interrupted at any time, tells what is known by then, and resumed later."""

from __future__ import annotations

import time
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from impinge.arrays import as_count, as_extent, shown
from impinge.bodies import require_triangles
from impinge.bvh.answers import UNFINISHED
from impinge.bvh.search import Statistics, sorted_contacts, tree_handle_of
from impinge.bvh.workspace import TraversalWorkspace
from impinge.mesh.mesh import Mesh
from impinge.queries.batch import Batch
from impinge.queries.contact_columns import common_points, constructed, contacts_of
from impinge.results import Contacts, Distance

_SLICE = 4096
"""Comparisons of volumes between two readings of the clock: some 50 us."""


class Traversal:
    """One query about two surfaces in one pose, answered as far as a budget allows.

    After every ``run`` all that was found is there: the contacts so far, or the best distance so far
    with a lower bound that no pair of triangles can be below.  Run to the end it gives the answers of the verbs.

    Parameters
    ----------
    a, b : Mesh
        The surfaces.
    pose_a, pose_b : array_like, shape (4, 4), optional
        Rigid poses; the identity if not given.
    question : {"contacts", "distance"}
        What is asked.

    Raises
    ------
    ValueError
        A pose is not rigid, there are several, or the question is another one.
    Unsupported
        A body is not a mesh.

    Examples
    --------
    >>> import impinge
    >>> cube, lift = impinge.shapes.box(1, 1, 1), np.eye(4)
    >>> lift[2, 3] = 1.5
    >>> search = impinge.Traversal(cube, cube, None, lift, question="distance")
    >>> search.run(tests=1), search.run()
    (False, True)
    >>> float(search.lower), float(search.upper), search.statistics.triangle_tests > 0
    (0.5, 0.5, True)
    """

    def __init__(
        self,
        a: Mesh,
        b: Mesh,
        pose_a: ArrayLike | None = None,
        pose_b: ArrayLike | None = None,
        *,
        question: Literal["contacts", "distance"] = "contacts",
    ) -> None:
        if not isinstance(question, str) or question not in ("contacts", "distance"):
            raise ValueError(f"question {shown(question)} is not one of contacts, distance")
        require_triangles(a, "a", "Traversal")
        require_triangles(b, "b", "Traversal")
        batch = Batch(a, b, pose_a, pose_b)
        if batch.shape != ():
            raise ValueError(f"expected single poses, got a batch of shape {batch.shape}")
        self.question = question
        self.done = False
        """Whether the question is answered."""
        self._meshes = a, b
        self._a = tree_handle_of(a)
        self._b = tree_handle_of(b)
        self._work = TraversalWorkspace()
        self._work.begin(self._a.stack + self._b.stack)
        self._work.poses[0], self._work.poses[1] = batch.poses_a[0], batch.poses_b[0]
        self._work.best = np.inf
        self._keys = {0: np.empty(0, dtype=np.int64)}
        """Contacts as numbers, by the comparisons of volumes after which they were found."""

    def run(self, *, seconds: float | None = None, tests: int | None = None) -> bool:
        """Go on for some seconds or comparisons of volumes, or to the end.

        Parameters
        ----------
        seconds : float, optional
            The time that it may take, checked every 50 us or so.
        tests : int, optional
            The number of volumes that may be compared.

        Returns
        -------
        bool
            Whether the end is reached.
        """
        deadline = np.inf if seconds is None else time.perf_counter() + as_extent(seconds, "seconds")
        count = as_count(tests, "tests")
        left = np.inf if count is None else count
        while not self.done and left > 0 and time.perf_counter() <= deadline:
            allowed = int(min(left, _SLICE))
            left -= allowed
            self._work.allow(allowed)
            self._ask()
        return self.done

    def _ask(self) -> None:
        a, b, work = self._a, self._b, self._work
        if self.question == "distance":
            self.done = a.kernels.distance(a.address, b.address, work.address) != UNFINISHED
            return
        self._take_contacts()
        done = a.kernels.contacts(a.address, b.address, work.address) == 1
        self._take_contacts()
        self.done = done

    def _take_contacts(self) -> None:
        """Take what was found; once more, and to the same place, where an interrupt has left it in the workspace."""
        tests, _ = self._work.tests()
        if len(found := self._work.found_pairs()):
            self._keys[tests] = found
        self._work.found = 0

    @property
    def statistics(self) -> Statistics:
        """What it took so far."""
        contacts = sum(map(len, self._keys.values())) if self.question == "contacts" else int(self.upper == 0.0)
        return Statistics(*self._work.tests(), contacts)

    @property
    def contacts(self) -> Contacts:
        """The contacts found so far; ``complete`` tells whether these are all."""
        self._must_be_about("contacts")
        pairs = sorted_contacts(self._a, self._b, 0, np.concatenate([*self._keys.values()]))
        work = self._work
        return contacts_of(constructed(*self._meshes, work.poses[:1], work.poses[1:], pairs), (), self.done)

    @property
    def upper(self) -> float:
        """The best distance so far; infinite before the first step."""
        return float(self._work.best)

    @property
    def lower(self) -> float:
        """The distance is not below this."""
        self._must_be_about("distance")
        if self.done:
            return self.upper
        if self.upper == np.inf:
            return 0.0
        return min(self.upper, self._work.open_bound(self._a.unit))

    @property
    def distance(self) -> Distance:
        """The best distance so far, with the points that have it."""
        self._must_be_about("distance")
        if self.upper == np.inf:
            raise ValueError("no distance is known before the first run")
        work = self._work
        place_a, place_b = work.witness.places.tolist()
        faces = np.array([self._a.order[place_a], self._b.order[place_b]])
        if self.upper == 0.0:
            where = np.zeros(1, dtype=np.int64)
            point = common_points(*self._meshes, work.poses[:1], work.poses[1:], where, faces[None])[0]
            return Distance(np.float64(0.0), point, point.copy(), faces[0], faces[1])
        points = work.nearest_points.reshape(2, 3).copy()
        return Distance(np.float64(self.upper), points[0], points[1], faces[0], faces[1])

    def _must_be_about(self, question: str) -> None:
        if self.question != question:
            raise ValueError(f"this traversal is about {self.question}, not about {question}")
