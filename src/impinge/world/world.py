"""World: many moving objects, and which of them touch, where, and how far apart they are."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from impinge.broadphase.choice import broad_phase
from impinge.convex.search import METHODS
from impinge.geometry.cast import Floats, as_clearance
from impinge.geometry.pose import as_pose
from impinge.world.bodies import Body, require_body
from impinge.world.frame import Frame
from impinge.world.objects import Instance, Objects
from impinge.world.rules import Rule, Rules, Who
from impinge.world.tracker import Question, Tracker

_QUESTIONS = {question.value: question for question in Question}


class _OneThread:
    """Held while a world is used.  (A tenth of a frame in which nothing moved went into contextlib.contextmanager.)"""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            raise RuntimeError(
                "this World is being used by another thread; it belongs to one thread at a time (several worlds may"
                " share their bodies)"
            )

    def __exit__(self, *_: object) -> None:
        self._lock.release()


class World:
    """Objects with names, poses and rules.

    Parameters
    ----------
    broadphase:
        How pairs are found whose boxes overlap: "auto", "tree", "sweep", "hash", "hash-standard" or "brute".
    clearance:
        What ``detect("closer_than")`` asks about, where no rule says otherwise.
    hulls:
        How convex hulls are compared before trees are asked: "gjk", "vclip" or "lin-canny".  All give the same
        answers.  "auto" is GJK, for pairs where that pays (``world.hull_choice``).  With None, hulls around bodies that
        are not convex are left out, which is quicker for a single look.

    One world belongs to one thread at a time; several worlds may share their bodies.

    >>> from impinge.lab.scenes.shapes import box
    >>> world, cube = World(), box(1, 1, 1)
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

    def __init__(self, broadphase: str = "auto", *, clearance: float = 0.0, hulls: str | None = "auto") -> None:
        broad_phase(broadphase)  # an unknown name is told at once
        if hulls not in (None, "auto", *METHODS):
            raise ValueError(f"hulls is {hulls!r}; it must be None or one of auto, {', '.join(METHODS)}")
        self._broadphase = broadphase
        self._hulls = hulls
        self._clearance = as_clearance(clearance)
        self._objects = Objects()
        self._rules = Rules()
        self._groups: dict[str, int] = {}
        self._begin()

    def _begin(self) -> None:
        """What is not pickled."""
        self._trackers: dict[Question, Tracker] = {}
        self._version = 0
        self._time = 0
        self._alone = _OneThread()

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
        """Add an object and return its id, which no other object of this world ever has.

        ``name`` is "object 7" for the id 7 if none is given (or "object 7'", where that is taken).  Objects that are
        ``fixed`` are not compared with each other, and cannot be moved.
        """
        require_body(body, "body")
        checked = as_pose(pose, "pose")
        if checked.shape != (4, 4):
            raise ValueError(f"pose: expected shape (4, 4), got {checked.shape}")
        with self._alone:
            called = self._free_name() if name is None else self._new_name(name)
            if group == called:
                raise ValueError(f"{called!r} cannot be the name of an object and of its group")
            number = 0 if group is None else self._group_number(group)
            self._time += 1
            return self._objects.add(body, checked, called, number, bool(fixed), self._time)

    def _free_name(self) -> str:
        name = f"object {self._objects.next_id}"
        while name in self._objects.by_name or name in self._groups:
            name += "'"
        return name

    def _new_name(self, name: str) -> str:
        if not isinstance(name, str):
            raise ValueError(f"name is {name!r}; it must be a string")
        if name in self._objects.by_name:
            raise ValueError(f"there is an object with the name {name!r} already")
        if name in self._groups:
            raise ValueError(f"{name!r} is the name of a group; objects need other names")
        return name

    def _group_number(self, group: str) -> int:
        if not isinstance(group, str):
            raise ValueError(f"group is {group!r}; it must be a string")
        if group not in self._groups:
            if group in self._objects.by_name:
                raise ValueError(f"{group!r} is the name of an object; groups need other names")
            self._groups[group] = len(self._groups) + 1
        return self._groups[group]

    def _number(self, who: str | int) -> int:
        """Where an object stands, given its name or id."""
        identity = self._objects.by_name.get(who) if isinstance(who, str) else who
        number = self._objects.number_of(int(identity)) if isinstance(identity, int | np.integer) else -1
        if number < 0:
            raise KeyError(f"there is no object {who!r}")
        return number

    def remove(self, who: str | int) -> None:
        """Remove an object, by name or id; rules about it are forgotten."""
        with self._alone:
            number = self._number(who)
            self._rules.forget(int(self._objects.ids[number]))
            self._objects.remove(number)

    def move(self, who: str | int, pose: ArrayLike) -> None:
        """Put an object, by name or id, into another pose."""
        with self._alone:
            number = self._number(who)
            if self._objects.fixed[number]:
                raise ValueError(f"{self._objects.names[number]!r} is fixed and cannot be moved")
            self._place(np.array([number]), as_pose(pose, "pose", check=False)[None])

    def set_poses(self, poses: ArrayLike, who: list[str] | list[int] | None = None) -> None:
        """New poses (n, 4, 4) of all objects that are not fixed, in the order of their ids; or of those in ``who``."""
        with self._alone:
            if who is None:
                numbers = self._objects.movable
            else:
                numbers = np.array([self._number(each) for each in who], dtype=np.int64)
                if (still := self._objects.fixed[numbers]).any():
                    raise ValueError(f"{self._objects.names[numbers[still][0]]!r} is fixed and cannot be moved")
            self._place(numbers, as_pose(poses, "poses", check=False))

    def _place(self, numbers: Any, poses: Floats) -> None:
        if poses.shape != (len(numbers), 4, 4):
            raise ValueError(f"poses: expected shape ({len(numbers)}, 4, 4), one for each object, got {poses.shape}")
        if self._objects.place(numbers, poses, self._time + 1):
            self._time += 1

    def __len__(self) -> int:
        return len(self._objects)

    def __getitem__(self, who: str | int) -> Instance:
        return self._instance(self._number(who))

    def __contains__(self, who: object) -> bool:
        if isinstance(who, str):
            return who in self._objects.by_name
        return isinstance(who, int | np.integer) and self._objects.number_of(int(who)) >= 0

    def __iter__(self) -> Iterator[Instance]:
        """All objects, in the order of their ids."""
        return (self._instance(number) for number in range(len(self)))

    def _instance(self, number: int) -> Instance:
        objects = self._objects
        group = int(objects.groups[number])
        return Instance(
            id=int(objects.ids[number]),
            name=objects.names[number],
            body=objects.shapes[number].body,
            pose=objects.poses[number].copy(),
            group=next((name for name, value in self._groups.items() if value == group), None),
            fixed=bool(objects.fixed[number]),
        )

    # --- rules

    def allow(self, a: str | int, b: str | int) -> None:
        """These two may touch: they are no longer compared.  Each is an object (name or id) or a group (name)."""
        self._set_rule(a, b, Rule(allowed=True))

    def forbid(self, a: str | int, b: str | int, clearance: float | None = None) -> None:
        """These two are compared; ``clearance`` is theirs in ``detect("closer_than")``.

        Of rules about the same pair the one with the more objects counts, then the last one.  It counts as a whole:
        without a clearance of its own it is that of the world.
        """
        self._set_rule(a, b, Rule(False, None if clearance is None else as_clearance(clearance)))

    def _set_rule(self, a: str | int, b: str | int, rule: Rule) -> None:
        with self._alone:
            first, second = self._who(a), self._who(b)
            if first == second and not first.is_group:
                raise ValueError(f"{a!r} is one object, and a rule is about two")
            self._rules.set(first, second, rule)
            self._version += 1

    def _who(self, who: str | int) -> Who:
        if isinstance(who, str) and who in self._groups:
            return Who(True, self._groups[who])
        return Who(False, int(self._objects.ids[self._number(who)]))

    @property
    def clearance(self) -> float:
        """What ``detect("closer_than")`` asks about, where no rule says otherwise."""
        return self._clearance

    @clearance.setter
    def clearance(self, value: float) -> None:
        with self._alone:
            self._clearance = as_clearance(value)

    # --- questions

    def detect(self, query: str = "collides", *, within: float | None = None) -> Frame:
        """Look at all objects where they are now.

        - ``collides``: pairs with a common point;
        - ``contacts``: the same pairs, and all contacts of their triangles;
        - ``closer_than``: pairs no farther apart than their clearance (that of the world, or of a rule);
        - ``distance``: pairs no farther apart than ``within`` (all pairs, if it is not given), with their distances.

        What is known from the last frame of the same query is used: asking again after small motions is cheap, and
        for what did not move nothing is done.
        """
        question = _QUESTIONS.get(query) if isinstance(query, str) else None
        if question is None:
            raise ValueError(f"query is {query!r}; it must be one of {', '.join(_QUESTIONS)}")
        if within is not None and question is not Question.DISTANCE:
            raise ValueError(f"within is for distances; {query!r} has no use for it")
        reach = 0.0
        if question is Question.CLOSER_THAN:
            reach = self._clearance
        elif question is Question.DISTANCE:
            reach = np.inf if within is None else as_clearance(within)
        with self._alone:
            tracker = self._trackers.get(question)
            if tracker is None:
                tracker = self._trackers[question] = Tracker(question, self._broadphase, self._hulls)
            return tracker.look(self._objects, self._rules, self._version, reach, self._time)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the bodies' triangles, in a form that JSON can hold."""
        bodies = list(dict.fromkeys(shape.body for shape in self._objects.shapes))
        number = {id(body): i for i, body in enumerate(bodies)}
        groups = {value: name for name, value in self._groups.items()}

        def called(who: Who) -> dict[str, Any]:
            return {"group": groups[who.number]} if who.is_group else {"object": who.number}

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
            "rules": [
                {"a": called(a), "b": called(b), "allowed": rule.allowed, "clearance": rule.clearance}
                for (a, b), rule in self._rules
            ],
        }  # fmt: skip

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        for name in ("_trackers", "_version", "_time", "_alone"):  # found again, or no longer of use
            del state[name]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._begin()

    def __repr__(self) -> str:
        return f"World({len(self)} objects, {len(self._groups)} groups, {len(self._rules)} rules)"
