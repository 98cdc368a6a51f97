"""World: collision detection among many moving objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from impinge.arrays import Floats, as_clearance, as_flag, is_id, shown
from impinge.bodies import Body, require_body
from impinge.broadphase.choice import broad_phase
from impinge.convex.search import METHODS
from impinge.geometry.pose import as_pose
from impinge.world.filters import Filter, Filters, Subject
from impinge.world.frame import Frame
from impinge.world.objects import Instance, Objects
from impinge.world.one_user import OneUser
from impinge.world.pipeline import Query
from impinge.world.state import WorldState
from impinge.world.tracker import Tracker

_QUERIES = {query.value: query for query in Query}


class World:
    """Many moving objects with names, poses and filters, and which pairs of them collide.

    ``detect`` runs the pipeline: a broad phase over bounding boxes, the filters, and a narrow phase of convex hulls,
    bounding volume hierarchies and triangles.  Its answers are those of the verbs for every single pair, exactly; what
    is known from the last frame only makes them cheaper.

    Parameters
    ----------
    broadphase
        How pairs are found whose boxes overlap: "auto", "tree", "sweep", "hash", "hash-standard" or "brute".
    clearance
        The clearance of ``detect("closer_than")``, where no filter says otherwise.
    hulls
        How convex hulls are compared before bounding volume hierarchies: "gjk", "vclip" or "lin-canny".  All give the
        same answers.  "auto" is GJK, for pairs where that pays.  With None, hulls around bodies that are not convex
        are left out, which is quicker for a single frame.

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

    # That an interrupted call happens as a whole or not at all is so because of three principles:
    #
    # - A change is made by one step, and nothing is left to be done after it.  An object that comes or goes, with its
    #   group and the filters about it, is one assignment of a new state; a filter is one entry of a dictionary; new
    #   poses are written by one kernel, in which Python handles no signals.  All that can be computed or refused comes
    #   before.
    # - What makes kept answers invalid (the clock of poses, the version of the filters) is advanced *before* that
    #   step: if it does not follow, some work is done in vain.
    # - What is kept between frames is out of the world's hands while it is used (``world.tracker``), and the guard
    #   against other threads knows a call that is no more (``world.one_user``).

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

    # --- objects

    def add(
        self,
        body: Body,
        pose: ArrayLike | None = None,
        *,
        name: str | None = None,
        group: str | None = None,
        fixed: bool = False,
    ) -> int:
        """Add an object.

        Parameters
        ----------
        body
            A Mesh, ConvexHull or ConvexPieces; many objects may share one.
        pose
            (4, 4), by default the identity.
        name
            A name that no object and no group of this world has.  By default "object 7" for the id 7, or "object 7'"
            where that is taken.
        group
            A name that objects may share, for filters.
        fixed
            Whether the object stays where it is: it cannot be moved, and is not compared with other fixed objects.

        Returns
        -------
        int
            The id of the object, which no other object of this world ever has.

        Raises
        ------
        ValueError
            If the pose is not one rigid (4, 4) matrix, or a name is taken.
        RuntimeError
            If another thread uses the world; so do all methods that change it.

        Examples
        --------
        >>> from impinge import World, shapes
        >>> world = World()
        >>> world.add(shapes.box(1, 1, 1)), world.add(shapes.box(9, 9, 1), name="floor", fixed=True)
        (0, 1)
        >>> world["floor"].id, world[0].name
        (1, 'object 0')
        """
        require_body(body, "body")
        checked = as_pose(pose, "pose")
        if checked.shape != (4, 4):
            raise ValueError(f"pose: expected shape (4, 4), got {checked.shape}")
        stays = as_flag(fixed, "fixed")
        with self._alone:
            objects, filters, groups = self._state
            called = self._state.free_name() if name is None else self._state.new_name(name)
            if isinstance(group, str) and group == called:
                raise ValueError(f"{called!r} cannot be the name of an object and of its group")
            if group is not None:
                groups = self._state.groups_with(group)
            number = 0 if group is None else groups[group]
            self._time += 1
            more = objects.with_one_more(body, checked, called, number, stays, self._time)
            self._state = WorldState(more, filters, groups)
            return objects.next_id

    def remove(self, who: str | int) -> None:
        """Remove an object, and all filters about it.

        Its pairs appear in ``ended`` of the next frame of each query.

        Parameters
        ----------
        who
            The name or id of the object.

        Raises
        ------
        KeyError
            If there is no such object.

        Examples
        --------
        >>> from impinge import World, shapes
        >>> world = World()
        >>> _ = world.add(shapes.box(1, 1, 1), name="crate")
        >>> world.remove("crate")
        >>> len(world), "crate" in world
        (0, False)
        """
        with self._alone:
            number = self._state.number_of(who)
            objects, filters, groups = self._state
            filters = filters.without(int(objects.ids[number]))
            self._state = WorldState(objects.without(number), filters, groups)

    def move(self, who: str | int, pose: ArrayLike) -> None:
        """Put an object into another pose.

        Parameters
        ----------
        who
            The name or id of the object.
        pose
            (4, 4), rigid.

        Raises
        ------
        KeyError
            If there is no such object.
        ValueError
            If the object is fixed, or the pose is not one rigid (4, 4) matrix.

        Examples
        --------
        >>> import numpy as np
        >>> from impinge import World, shapes
        >>> world = World()
        >>> _ = world.add(shapes.box(1, 1, 1), name="crate")
        >>> pose = np.eye(4)
        >>> pose[2, 3] = 5.0
        >>> world.move("crate", pose)
        >>> world["crate"].pose[:3, 3].tolist()
        [0.0, 0.0, 5.0]
        """
        with self._alone:
            number = self._state.number_of(who)
            objects = self._state.objects
            if objects.fixed[number]:
                raise ValueError(f"{objects.names[number]!r} is fixed and cannot be moved")
            self._place(np.array([number]), as_pose(pose, "pose", check=False)[None])

    def set_poses(self, poses: ArrayLike, who: Iterable[str] | Iterable[int] | None = None) -> None:
        """Put many objects into other poses at once.

        Parameters
        ----------
        poses
            (n, 4, 4), rigid: one for each object.
        who
            The names or ids of the objects.  By default all objects that are not fixed, in the order of their ids.

        Raises
        ------
        KeyError
            If there is no such object.
        ValueError
            If an object is fixed, or the poses are not as many rigid matrices; then no object is moved.

        Examples
        --------
        >>> import numpy as np
        >>> from impinge import World, shapes
        >>> world = World()
        >>> for name in ("left", "right"):
        ...     _ = world.add(shapes.box(1, 1, 1), name=name)
        >>> poses = np.tile(np.eye(4), (2, 1, 1))
        >>> poses[:, 0, 3] = -2.0, 2.0
        >>> world.set_poses(poses)
        >>> world.detect("distance").smallest
        3.0
        """
        with self._alone:
            objects = self._state.objects
            if who is None:
                numbers = objects.movable
            else:
                if isinstance(who, str) or not isinstance(who, Iterable):
                    raise ValueError(f"who is {shown(who)}; it must be a list of names or ids")
                numbers = np.array([self._state.number_of(each) for each in who], dtype=np.int64)
                if (still := objects.fixed[numbers]).any():
                    raise ValueError(f"{objects.names[numbers[still][0]]!r} is fixed and cannot be moved")
            self._place(numbers, as_pose(poses, "poses", check=False))

    def _place(self, numbers: Any, poses: Floats) -> None:
        if poses.shape != (len(numbers), 4, 4):
            raise ValueError(f"poses: expected shape ({len(numbers)}, 4, 4), one for each object, got {poses.shape}")
        before = self._time
        self._time = before + 1
        if self._state.objects.place(numbers, poses, self._time) == 0:
            self._time = before

    def __len__(self) -> int:
        return len(self._state.objects)

    def __getitem__(self, name_or_id: str | int) -> Instance:
        return self._state.instance(self._state.number_of(name_or_id))

    def __contains__(self, name_or_id: object) -> bool:
        objects = self._state.objects
        if isinstance(name_or_id, str):
            return name_or_id in objects.by_name
        return is_id(name_or_id) and objects.number_of(int(name_or_id)) >= 0

    def __iter__(self) -> Iterator[Instance]:
        """All objects, in the order of their ids."""
        return (self._state.instance(number) for number in range(len(self)))

    # --- filters

    def allow(self, a: str | int, b: str | int) -> None:
        """Let two objects collide: a filter that takes their pair out of all queries.

        Parameters
        ----------
        a, b
            An object (name or id) or a group (name) each.  A group with itself means all pairs of its objects.

        Raises
        ------
        KeyError
            If there is no such object or group.
        ValueError
            If both are the same object.

        See Also
        --------
        forbid : tells which of several filters about one pair counts.

        Examples
        --------
        >>> from impinge import World, shapes
        >>> world = World()
        >>> for name in ("link 1", "link 2", "table"):
        ...     _ = world.add(shapes.box(1, 1, 1), name=name)
        >>> world.allow("link 1", "link 2")
        >>> list(world.detect())
        [('link 1', 'table'), ('link 2', 'table')]
        """
        self._set_filter(a, b, Filter(allowed=True))

    def forbid(self, a: str | int, b: str | int, clearance: float | None = None) -> None:
        """Test two objects: a filter that takes ``allow`` back, or sets a clearance of their own.

        Of filters about the same pair the one with the more objects counts, then the last one.  It counts as a whole:
        without a clearance of its own it is that of the world.

        Parameters
        ----------
        a, b
            An object (name or id) or a group (name) each.  A group with itself means all pairs of its objects.
        clearance
            Their clearance in ``detect("closer_than")``; by default that of the world.

        Raises
        ------
        KeyError
            If there is no such object or group.
        ValueError
            If both are the same object, or the clearance is negative or not finite.

        Examples
        --------
        >>> import numpy as np
        >>> from impinge import World, shapes
        >>> world, pose = World(), np.eye(4)
        >>> _ = world.add(shapes.box(1, 1, 1), pose, name="arm")
        >>> pose[0, 3] = 1.5
        >>> _ = world.add(shapes.box(1, 1, 1), pose, name="wall")
        >>> world.forbid("arm", "wall", clearance=0.5)
        >>> list(world.detect("closer_than")), list(world.detect("collides"))
        ([('arm', 'wall')], [])
        """
        self._set_filter(a, b, Filter(False, None if clearance is None else as_clearance(clearance)))

    def _set_filter(self, a: str | int, b: str | int, new: Filter) -> None:
        with self._alone:
            first, second = self._state.subject_of(a), self._state.subject_of(b)
            if first == second and not first.is_group:
                raise ValueError(f"{a!r} is one object, and a filter is about two")
            self._state.filters.set(first, second, new)

    @property
    def clearance(self) -> float:
        """The clearance of ``detect("closer_than")``, where no filter says otherwise; it can be set."""
        return self._clearance

    @clearance.setter
    def clearance(self, value: float) -> None:
        with self._alone:
            self._clearance = as_clearance(value)

    # --- queries

    def detect(self, query: str = "collides", *, within: float | None = None) -> Frame:
        """Find the pairs of objects that collide, touch or come close, where all objects are now.

        What is known from the last frame of the same query is used: a call after small motions is cheap, and for what
        did not move nothing is done.

        Parameters
        ----------
        query
            - "collides": pairs with a common point;
            - "contacts": the same pairs, and all contacts of their triangles;
            - "closer_than": pairs no farther apart than their clearance (that of the world, or of a filter);
            - "distance": pairs no farther apart than ``within``, with their distances and witness points.
        within
            For "distance" only: the largest distance.  By default all pairs are measured.

        Returns
        -------
        Frame
            The pairs, which of them are new, and what each stage took.

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
