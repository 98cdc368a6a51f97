"""World: many moving objects, and which of them touch, where, and how far apart they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from impinge.arrays import Floats, as_clearance, as_flag, is_id, shown
from impinge.bodies import Body, require_body
from impinge.broadphase.choice import broad_phase
from impinge.convex.search import METHODS
from impinge.geometry.pose import as_pose
from impinge.world.frame import Frame
from impinge.world.objects import Instance, Objects
from impinge.world.one_user import OneUser
from impinge.world.pipeline import Question
from impinge.world.rules import Rule, Rules, Who
from impinge.world.tracker import Tracker

_QUESTIONS = {question.value: question for question in Question}


class _State(NamedTuple):
    """All that makes up a world.  Other objects or groups make another state."""

    objects: Objects
    rules: Rules
    groups: dict[str, int]
    """Their numbers, by name."""


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
        answers.  "auto" is GJK, for pairs where that pays (``hull_choice``).  With None, hulls around bodies that
        are not convex are left out, which is quicker for a single look.

    One world belongs to one thread at a time; several worlds may share their bodies.

    Any call may be interrupted, by Ctrl-C (KeyboardInterrupt) or by any other exception, wherever it is.  Then it has
    happened as a whole or not at all, which the world itself can tell, and all later answers are right; ``began`` and
    ``ended`` refer to the last frame that was returned.  This is so because of three rules:

    - A change is made by one step, and nothing is left to be done after it.  An object that comes or goes, with its
      group and the rules about it, is one assignment of a new state; a rule is one entry of a dictionary; new poses are
      written by one kernel, in which Python handles no signals.  All that can be computed or refused comes before.
    - What makes kept answers invalid (the clock of poses, the version of the rules) is advanced *before* that step: if
      it does not follow, some work is done in vain.
    - What is kept between frames is out of the world's hands while it is used (``world.tracker``), and the guard
      against other threads knows a call that is no more (``world.one_user``).

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
        if not isinstance(hulls, str | None) or hulls not in (None, "auto", *METHODS):
            raise ValueError(f"hulls is {shown(hulls)}; it must be None or one of auto, {', '.join(METHODS)}")
        self._broadphase = broadphase
        self._hulls = hulls
        self._clearance = as_clearance(clearance)
        self._state = _State(Objects(), Rules(), {})
        self._begin()

    def _begin(self) -> None:
        """What is not pickled."""
        self._trackers: dict[Question, Tracker] = {}
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
        """Add an object and return its id, which no other object of this world ever has.

        ``name`` is "object 7" for the id 7 if none is given (or "object 7'", where that is taken).  Objects that are
        ``fixed`` are not compared with each other, and cannot be moved.
        """
        require_body(body, "body")
        checked = as_pose(pose, "pose")
        if checked.shape != (4, 4):
            raise ValueError(f"pose: expected shape (4, 4), got {checked.shape}")
        stays = as_flag(fixed, "fixed")
        with self._alone:
            objects, rules, groups = self._state
            called = self._free_name() if name is None else self._new_name(name)
            if isinstance(group, str) and group == called:
                raise ValueError(f"{called!r} cannot be the name of an object and of its group")
            if group is not None:
                groups = self._groups_with(group)
            number = 0 if group is None else groups[group]
            self._time += 1
            more = objects.with_one_more(body, checked, called, number, stays, self._time)
            self._state = _State(more, rules, groups)
            return objects.next_id

    def _free_name(self) -> str:
        objects, _, groups = self._state
        name = f"object {objects.next_id}"
        while name in objects.by_name or name in groups:
            name += "'"
        return name

    def _new_name(self, name: str) -> str:
        if not isinstance(name, str):
            raise ValueError(f"name is {shown(name)}; it must be a string")
        if name in self._state.objects.by_name:
            raise ValueError(f"there is an object with the name {name!r} already")
        if name in self._state.groups:
            raise ValueError(f"{name!r} is the name of a group; objects need other names")
        return name

    def _groups_with(self, group: str) -> dict[str, int]:
        """All groups, and this one."""
        if not isinstance(group, str):
            raise ValueError(f"group is {shown(group)}; it must be a string")
        groups = self._state.groups
        if group in groups:
            return groups
        if group in self._state.objects.by_name:
            raise ValueError(f"{group!r} is the name of an object; groups need other names")
        return groups | {group: len(groups) + 1}

    def _number(self, who: str | int) -> int:
        """Where an object stands, given its name or id."""
        objects = self._state.objects
        identity = objects.by_name.get(who) if isinstance(who, str) else who
        number = objects.number_of(int(identity)) if is_id(identity) else -1
        if number < 0:
            raise KeyError(f"there is no object {shown(who)}")
        return number

    def remove(self, who: str | int) -> None:
        """Remove an object, by name or id; rules about it are forgotten."""
        with self._alone:
            number = self._number(who)
            objects, rules, groups = self._state
            rules = rules.without(int(objects.ids[number]))
            self._state = _State(objects.without(number), rules, groups)

    def move(self, who: str | int, pose: ArrayLike) -> None:
        """Put an object, by name or id, into another pose."""
        with self._alone:
            number = self._number(who)
            objects = self._state.objects
            if objects.fixed[number]:
                raise ValueError(f"{objects.names[number]!r} is fixed and cannot be moved")
            self._place(np.array([number]), as_pose(pose, "pose", check=False)[None])

    def set_poses(self, poses: ArrayLike, who: Iterable[str] | Iterable[int] | None = None) -> None:
        """New poses (n, 4, 4) of all objects that are not fixed, in the order of their ids; or of those in ``who``."""
        with self._alone:
            objects = self._state.objects
            if who is None:
                numbers = objects.movable
            else:
                if isinstance(who, str) or not isinstance(who, Iterable):
                    raise ValueError(f"who is {shown(who)}; it must be a list of names or ids")
                numbers = np.array([self._number(each) for each in who], dtype=np.int64)
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

    def __getitem__(self, who: str | int) -> Instance:
        return self._instance(self._number(who))

    def __contains__(self, who: object) -> bool:
        objects = self._state.objects
        if isinstance(who, str):
            return who in objects.by_name
        return is_id(who) and objects.number_of(int(who)) >= 0

    def __iter__(self) -> Iterator[Instance]:
        """All objects, in the order of their ids."""
        return (self._instance(number) for number in range(len(self)))

    def _instance(self, number: int) -> Instance:
        objects, _, groups = self._state
        group = int(objects.groups[number])
        return Instance(
            id=int(objects.ids[number]),
            name=objects.names[number],
            body=objects.shapes[number].body,
            pose=objects.poses[number].copy(),
            group=next((name for name, value in groups.items() if value == group), None),
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
            self._state.rules.set(first, second, rule)

    def _who(self, who: str | int) -> Who:
        objects, _, groups = self._state
        if isinstance(who, str) and who in groups:
            return Who(True, groups[who])
        return Who(False, int(objects.ids[self._number(who)]))

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
            raise ValueError(f"query is {shown(query)}; it must be one of {', '.join(_QUESTIONS)}")
        if within is not None and question is not Question.DISTANCE:
            raise ValueError(f"within is for distances; {query!r} has no use for it")
        reach = 0.0
        if question is Question.CLOSER_THAN:
            reach = self._clearance
        elif question is Question.DISTANCE:
            reach = np.inf if within is None else as_clearance(within, "within")
        with self._alone:
            tracker = self._trackers.get(question)
            if tracker is None:
                tracker = self._trackers[question] = Tracker(question, self._broadphase, self._hulls)
            look = tracker.look(self._state.objects, self._state.rules, reach, self._time)
        # One line, and no call that might be interrupted between the note and the caller.
        return tracker.hand_out(look) or look.frame  # type: ignore[func-returns-value]

    def to_dict(self) -> dict[str, Any]:
        """Everything but the bodies' triangles, in a form that JSON can hold."""
        objects, rules, numbers = self._state
        bodies = list(dict.fromkeys(shape.body for shape in objects.shapes))
        number = {id(body): i for i, body in enumerate(bodies)}
        groups = {value: name for name, value in numbers.items()}

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
                for (a, b), rule in rules
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
        objects, rules, groups = self._state
        return f"World({len(objects)} objects, {len(groups)} groups, {len(rules)} rules)"
