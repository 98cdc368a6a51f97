"""World: collision detection among many moving objects."""

from __future__ import annotations

from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from impinge.arrays import as_clearance, as_flag, shown
from impinge.broadphase.choice import broad_phase
from impinge.convex.search import METHODS
from impinge.queries.batch import as_workers
from impinge.world.configurations import Asked, frames_of
from impinge.world.edits import WorldEdits
from impinge.world.filters import Filters, Subject
from impinge.world.frame import Frame
from impinge.world.frames import Frames
from impinge.world.objects import Objects
from impinge.world.one_user import OneUser
from impinge.world.pipeline import Query
from impinge.world.state import WorldState
from impinge.world.tracker import Tracker

_QUERIES = {query.value: query for query in Query}


class World(WorldEdits):
    """Many moving objects with names, poses and filters, and which pairs of them collide.

    ``detect`` runs the pipeline: a broad phase over bounding boxes, the filters, and a narrow phase of convex hulls,
    bounding volume hierarchies and triangles.  Its answers are those of the verbs for every single pair, exactly; what
    is known from the last frame only makes them cheaper.  Witness points of a distance may be others than those of the
    verb, at the same distance.

    Parameters
    ----------
    broadphase
        How pairs are found whose boxes overlap: "auto", "tree", "sweep", "hash", "hash-standard" or "brute".  "auto"
        compares all boxes of up to 256 objects, and is the tree for more.
    clearance
        The clearance of ``detect("closer_than")``, where no filter says otherwise.
    hulls
        How convex hulls are compared before bounding volume hierarchies: "gjk", "vclip" or "lin-canny".  All give the
        same answers.  "auto" is GJK, for pairs where that pays.  With None, hulls around bodies that are not convex
        are left out.

    Raises
    ------
    ValueError
        If a name is not one of these, or the clearance is negative or not finite.

    Notes
    -----
    A world has a length, ``world[name]`` and ``world[id]`` look up an ``Instance``, ``name in world`` tells whether
    there is such an object, and iteration yields all instances in the order of their ids.  Worlds pickle.

    One world belongs to one thread at a time; several worlds may share their bodies.

    Any call may be interrupted, by Ctrl-C (KeyboardInterrupt) or by any other exception, wherever it is.  Then it has
    happened as a whole or not at all, which the world itself can tell, and all later answers are right; ``began`` and
    ``ended`` refer to the last frame that was returned.

    Examples
    --------
    >>> import numpy as np
    >>> from impinge import World, shapes
    >>> world, cube = World(), shapes.box(1, 1, 1)
    >>> for x in range(3):
    ...     pose = np.eye(4)
    ...     pose[0, 3] = 1.5 * x
    ...     _ = world.add(cube, pose, name=f"cube {x}")
    >>> world.detect()
    Frame(collides: 0 pairs, 0 began, 0 ended)
    >>> pose[0, 3] = 2.25
    >>> world.move("cube 2", pose)
    >>> list(world.detect())
    [('cube 1', 'cube 2')]
    >>> world.detect("distance").smallest
    0.0
    """

    # Why a call may be interrupted anywhere is said in ``world.edits``.

    def __init__(self, broadphase: str = "auto", *, clearance: float = 0.0, hulls: str | None = "auto") -> None:
        broad_phase(broadphase)  # an unknown name is told at once
        if not isinstance(hulls, str | None) or hulls not in (None, "auto", *METHODS):
            raise ValueError(f"hulls is {shown(hulls)}; it must be None or one of auto, {', '.join(METHODS)}")
        self._broadphase = broadphase
        self._hulls = hulls
        self._clearance = as_clearance(clearance)
        self._state = WorldState(Objects(), Filters(), {})
        self._begin()

    def _begin(self) -> None:
        """What is not pickled."""
        self._trackers: dict[Query, Tracker] = {}
        self._time = 0
        """No pose has changed later than that."""
        self._alone = OneUser()

    # --- queries

    @overload
    def detect(self, query: str = "collides", *, within: float | None = None) -> Frame: ...

    @overload
    def detect(
        self,
        query: str = "collides",
        *,
        within: float | None = None,
        poses: ArrayLike,
        first: bool = False,
        workers: int = 1,
    ) -> Frames: ...

    def detect(
        self,
        query: str = "collides",
        *,
        within: float | None = None,
        poses: ArrayLike | None = None,
        first: bool = False,
        workers: int = 1,
    ) -> Frame | Frames:
        """Find the pairs of objects that collide, touch or come close: where all objects are now, or in many poses.

        What is known from the last frame of the same query is used: a call after small motions is cheap, and for what
        did not move nothing is done.

        With ``poses`` many configurations are answered at once, for planners and recorded motion.  Each is a frame for
        itself, whatever the poses of the objects are now, and the world is not changed by it.

        Parameters
        ----------
        query
            - "collides": pairs with a common point;
            - "contacts": the same pairs, and all contacts of their triangles;
            - "closer_than": pairs no farther apart than their clearance (that of the world, or of a filter);
            - "distance": pairs no farther apart than ``within``, with their distances and witness points.
        within
            For "distance" only: the largest distance.  By default all pairs are measured.  It is compared with the
            value that is reported, which is rounded: what is listed is what the verb ``distance`` finds to be at most
            ``within``.  "closer_than" decides without rounding; the two may differ in the last place of a distance
            (and where bodies are so close that their distance is smaller than its error).

        poses
            (n, k, 4, 4), rigid: n configurations of all k objects, in the order of their ids; fixed objects too, whose
            pairs among themselves are not tested.
        first
            With ``poses``: whether one pair with a yes is enough for each configuration, whichever it is.
        workers
            With ``poses``: the number of threads; the answers are the same, bit for bit.

        Returns
        -------
        Frame or Frames
            The pairs, which of them are new, and what each stage took; with ``poses`` the pairs of each configuration.

        Raises
        ------
        ValueError
            If the query is not one of these, or ``within`` is negative, not finite, or given for another query.
        Unsupported
            If the query has no answer for a pair of bodies, as "contacts" for ConvexPieces.

        Examples
        --------
        >>> import numpy as np
        >>> from impinge import World, shapes
        >>> world, pose = World(), np.eye(4)
        >>> _ = world.add(shapes.box(2, 2, 2), name="block")
        >>> pose[0, 3] = 1.5
        >>> _ = world.add(shapes.sphere(1.0), pose, name="ball")
        >>> frame = world.detect("contacts")
        >>> frame.began.tolist(), len(frame.contacts) > 0
        ([[0, 1]], True)
        >>> pose[0, 3] = 4.0
        >>> world.move("ball", pose)
        >>> world.detect("contacts")
        Frame(contacts: 0 pairs, 0 began, 1 ended)
        >>> frame = world.detect("distance", within=3.0)
        >>> frame.smallest, frame.distance.point_a.tolist()
        (2.0, [[1.0, 0.0, 0.0]])
        >>> poses = np.tile(np.eye(4), (3, 2, 1, 1))  # three configurations of two objects
        >>> poses[:, 1, 0, 3] = 1.0, 2.0, 3.0
        >>> world.detect(poses=poses).colliding.tolist()
        [True, True, False]
        """
        known = _QUERIES.get(query) if isinstance(query, str) else None
        if known is None:
            raise ValueError(f"query is {shown(query)}; it must be one of {', '.join(_QUERIES)}")
        if within is not None and known is not Query.DISTANCE:
            raise ValueError(f"within is for distances; {query!r} has no use for it")
        reach = 0.0
        if known is Query.CLOSER_THAN:
            reach = self._clearance
        elif known is Query.DISTANCE:
            reach = np.inf if within is None else as_clearance(within, "within")
        if poses is not None:
            asked = Asked(known, reach, as_flag(first, "first"), self._hulls)
            with self._alone:
                return frames_of(asked, self._state.objects, self._state.filters, poses, as_workers(workers))
        if as_flag(first, "first") or workers != 1:
            raise ValueError("first and workers are for many configurations: give their poses")
        with self._alone:
            tracker = self._trackers.get(known)
            if tracker is None:
                tracker = self._trackers[known] = Tracker(known, self._broadphase, self._hulls)
            detection = tracker.detect(self._state.objects, self._state.filters, reach, self._time)
        # One line, and no call that might be interrupted between the note and the caller.
        return tracker.hand_out(detection) or detection.frame  # type: ignore[func-returns-value]

    def to_dict(self) -> dict[str, Any]:
        """Everything but the bodies' triangles, in a form that JSON can hold.

        Returns
        -------
        dict
            "broadphase", "hulls", "clearance", "bodies" (the ``repr`` of each), "objects" and "filters", in the order
            in which they were given.

        Examples
        --------
        >>> from impinge import World, shapes
        >>> world = World(clearance=0.5)
        >>> for name in ("left", "right"):
        ...     _ = world.add(shapes.box(1, 1, 1), name=name, group="blocks")
        >>> world.allow("blocks", "blocks")
        >>> world.to_dict()["filters"]
        [{'a': {'group': 'blocks'}, 'b': {'group': 'blocks'}, 'allowed': True, 'clearance': None}]
        """
        objects, filters, numbers = self._state
        bodies = list(dict.fromkeys(shape.body for shape in objects.shapes))
        number = {id(body): i for i, body in enumerate(bodies)}
        groups = {value: name for name, value in numbers.items()}

        def called(subject: Subject) -> dict[str, Any]:
            return {"group": groups[subject.number]} if subject.is_group else {"object": subject.number}

        return {
            "broadphase": self._broadphase,
            "hulls": self._hulls,
            "clearance": self._clearance,
            "bodies": [repr(body) for body in bodies],
            "objects": [
                {
                    "id": each.id, "name": each.name, "body": number[id(each.body)], "pose": each.pose.tolist(),
                    "group": each.group, "fixed": each.fixed,
                }
                for each in self
            ],
            "filters": [
                {"a": called(a), "b": called(b), "allowed": entry.allowed, "clearance": entry.clearance}
                for (a, b), entry in filters
            ],
        }  # fmt: skip

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        for name in ("_trackers", "_time", "_alone"):  # found again, or no longer of use
            del state[name]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._begin()

    def __repr__(self) -> str:
        objects, filters, groups = self._state
        return f"World({len(objects)} objects, {len(groups)} groups, {len(filters)} filters)"
