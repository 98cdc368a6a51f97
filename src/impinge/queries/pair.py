"""Pair: the verbs for two bodies that move a little from query to query."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge.arrays import as_clearance, as_count
from impinge.bodies import Body
from impinge.bvh.search import Statistics
from impinge.queries import evaluate, verbs
from impinge.queries.batch import Batch
from impinge.queries.dispatch import route
from impinge.queries.method import Method, MethodName
from impinge.results import Contacts, Distance, Penetration, Relation


class Pair:
    """Two bodies; the verbs remember what they found, and use it for the next pose (coherence).

    Every answer is the one that the verbs give from scratch, but where several pairs of triangles have exactly the same
    distance another one of them may be named.  A path of poses (k, 4, 4) in one call is quicker than k calls.

    Parameters
    ----------
    a, b : Mesh, ConvexHull or ConvexPieces
        The bodies.
    method : str
        As for the verbs: "auto", "obb" or "incremental" for meshes, "auto", "gjk", "vclip" or "lin-canny" for convex
        hulls, "auto" or "gjk" for convex pieces.
    **options
        Of the method: "incremental" has ``hierarchy`` and ``region``.

    Raises
    ------
    ValueError
        The method is not one for these bodies, remembers nothing, or has no such option.
    Unsupported
        A mesh and convex pieces have no method in common.

    Examples
    --------
    >>> import impinge
    >>> cube = impinge.shapes.box(1, 1, 1)
    >>> pair = impinge.Pair(cube, cube)
    >>> path = np.tile(np.eye(4), (4, 1, 1))
    >>> path[:, 0, 3] = [1.5, 1.25, 1.0, 0.75]
    >>> pair.collides(None, path).tolist()
    [False, False, True, True]
    >>> pair.distance(None, path).value.tolist()
    [0.5, 0.25, 0.0, 0.0]
    """

    def __init__(self, a: Body, b: Body, method: MethodName = "auto", **options: Any) -> None:
        self._chosen, self._a, self._b = route("collides", a, b, method)
        if not self._chosen.remembers:
            raise ValueError(f"method {method!r} remembers nothing, and a Pair has no use for it")
        # As they are often called: to look them up takes a tenth of a call.
        self._collides_once, self._distance_once = self._chosen.collides_once, self._chosen.distance_once
        self.a: Any = a
        self.b: Any = b
        self.method = method
        self.options = options
        # Taken out while a thread uses it (pop is atomic), and put back after an answer: what an interrupt has left
        # half done is not used again.  Who finds nothing makes a new one.
        self._memories = [self._new_memory()]

    def _new_memory(self) -> Any:
        try:
            return self._chosen.new_memory(self._a, self._b, **self.options)
        except TypeError as error:
            if not self.options:
                raise
            raise ValueError(f"method {self.method!r} has other options than {', '.join(self.options)}") from error

    @contextmanager
    def _memory(self) -> Iterator[Any]:
        try:
            memory = self._memories.pop()
        except IndexError:
            memory = self._new_memory()
        yield memory
        self._memories.append(memory)

    def _batch(self, pose_a: ArrayLike | None, pose_b: ArrayLike | None) -> Batch:
        return self._chosen.batch(self._a, self._b, pose_a, pose_b)

    def _with(self, memory: Any) -> Method:
        return self._chosen(self._a, self._b, memory)

    @property
    def statistics(self) -> Statistics:
        """What the last query took (single poses of bodies that are apart are not counted).

        Of convex pieces, ``box_tests`` are pairs of hulls around pieces and ``triangle_tests`` pairs of pieces.  Of two
        hulls there is ``statistics.effort``, for all queries so far; counted anew after an error or an interrupt.
        """
        with self._memory() as memory:
            return self._chosen.statistics(memory)

    @property
    def problems(self) -> tuple[str, ...]:
        """What of the method's assumptions does not hold for these bodies; answers are right all the same."""
        return self._chosen.problems(self._a, self._b)

    def __reduce__(self) -> tuple[Callable[..., Pair], tuple[Any, ...]]:
        return _restored, (self.a, self.b, self.method, self.options)  # what it remembers can be found again

    def __repr__(self) -> str:
        method = "" if self.method == "auto" else f", {self.method!r}"
        return f"Pair({self.a!r}, {self.b!r}{method})"

    def collides(
        self, pose_a: ArrayLike | None = None, pose_b: ArrayLike | None = None
    ) -> np.bool_ | NDArray[np.bool_]:
        """Whether the bodies have a common point, for one pose or along a path; see `impinge.collides`.

        Parameters
        ----------
        pose_a, pose_b : array_like, shape (..., 4, 4), optional
            Rigid poses, broadcast against each other; the identity if not given.

        Returns
        -------
        bool or array of bool
            An answer for each pose.
        """
        try:  # written out, since the context manager takes as long as all the rest
            memory = self._memories.pop()
        except IndexError:
            memory = self._new_memory()
        answer: np.bool_ | NDArray[np.bool_] | None
        answer = self._collides_once(self._a, self._b, memory, pose_a, pose_b)
        if answer is None:
            answer = evaluate.collides(self._batch(pose_a, pose_b), self._with(memory))
        self._memories.append(memory)
        return answer

    def closer_than(
        self, clearance: float, pose_a: ArrayLike | None = None, pose_b: ArrayLike | None = None
    ) -> np.bool_ | NDArray[np.bool_]:
        """Whether the distance is at most the clearance, for one pose or along a path; see `impinge.closer_than`.

        Parameters
        ----------
        clearance : float
            In the unit of the bodies, 0 or more.
        pose_a, pose_b : array_like, shape (..., 4, 4), optional
            Rigid poses, broadcast against each other; the identity if not given.

        Returns
        -------
        bool or array of bool
            An answer for each pose.
        """
        limit = as_clearance(clearance)
        with self._memory() as memory:
            answer = self._chosen.closer_than_once(self._a, self._b, memory, limit, pose_a, pose_b)
            if answer is not None:
                return answer
            return evaluate.closer_than(self._batch(pose_a, pose_b), self._with(memory), limit)

    def distance(self, pose_a: ArrayLike | None = None, pose_b: ArrayLike | None = None) -> Distance:
        """The smallest distance and two witness points, for one pose or along a path; see `impinge.distance`.

        Parameters
        ----------
        pose_a, pose_b : array_like, shape (..., 4, 4), optional
            Rigid poses, broadcast against each other; the identity if not given.

        Returns
        -------
        Distance
            Value, witness points and faces for each pose.
        """
        try:  # as in collides
            memory = self._memories.pop()
        except IndexError:
            memory = self._new_memory()
        found = self._distance_once(self._a, self._b, memory, pose_a, pose_b)
        if found is None:
            found = evaluate.distance(self._batch(pose_a, pose_b), self._with(memory))
        self._memories.append(memory)
        if self._a is self.a and self._b is self.b:
            return found
        return verbs.with_faces_of_hulls(found, self.a, self.b)

    def contacts(
        self, pose_a: ArrayLike | None = None, pose_b: ArrayLike | None = None, *, max_contacts: int | None = None
    ) -> Contacts:
        """All pairs of triangles that intersect, for one pose or along a path; see `impinge.contacts`.

        Of two hulls nothing is remembered for this, and of convex pieces it is Unsupported.

        Parameters
        ----------
        pose_a, pose_b : array_like, shape (..., 4, 4), optional
            Rigid poses, broadcast against each other; the identity if not given.
        max_contacts : int, optional
            Keeps the result small.

        Returns
        -------
        Contacts
            Sorted by pose, face of a, face of b.
        """
        if not self._chosen.has_triangles:
            return verbs.contacts(self.a, self.b, pose_a, pose_b, max_contacts=max_contacts)
        most = as_count(max_contacts, "max_contacts")
        with self._memory() as memory:
            if most is None:
                found = self._chosen.contacts_once(self._a, self._b, memory, pose_a, pose_b)
                if found is not None:
                    return found
            return evaluate.contacts(self._batch(pose_a, pose_b), self._with(memory), most)

    def penetration(self, pose_a: ArrayLike | None = None, pose_b: ArrayLike | None = None) -> Penetration:
        """How deep two convex hulls are in each other; otherwise Unsupported.  See `impinge.penetration`.

        Parameters
        ----------
        pose_a, pose_b : array_like, shape (..., 4, 4), optional
            Rigid poses, broadcast against each other; the identity if not given.

        Returns
        -------
        Penetration
            Depth, direction and points for each pose.
        """
        if not self._chosen.has_depths:
            route("penetration", self.a, self.b, self.method)  # says what it is defined for
        with self._memory() as memory:
            return evaluate.penetration(self._batch(pose_a, pose_b), self._with(memory))

    def relation(self, pose_a: ArrayLike | None = None, pose_b: ArrayLike | None = None) -> Relation:
        """How two closed meshes lie to each other (nothing is remembered for this); see `impinge.relation`.

        Parameters
        ----------
        pose_a, pose_b : array_like, shape (..., 4, 4), optional
            Rigid poses, broadcast against each other; the identity if not given.

        Returns
        -------
        Relation
            The kind for each pose, and whether the surfaces touch.
        """
        return verbs.relation(self.a, self.b, pose_a, pose_b)


def _restored(a: Body, b: Body, method: MethodName, options: dict[str, Any]) -> Pair:
    return Pair(a, b, method, **options)
