"""WorldEdits: what changes a world, its objects and filters, and looks them up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from impinge.arrays import Floats, as_clearance, as_flag, is_id, shown
from impinge.bodies import Body, require_body
from impinge.geometry.pose import as_pose
from impinge.world.filters import Filter
from impinge.world.objects import Instance
from impinge.world.one_user import OneUser
from impinge.world.state import WorldState


class WorldEdits:
    """The objects and filters of a world; ``World`` derives from it."""

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

    _state: WorldState
    _clearance: float
    _time: int
    """No pose has changed later than that."""
    _alone: OneUser

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
