"""The objects of a world: their bodies, poses, names and groups."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Bools, Floats
from impinge.bodies import Body, has_triangles, hull_of, surface_of
from impinge.bvh.search import tree_handle_of
from impinge.convex.hull.convex_hull import ConvexHull
from impinge.geometry.pose import as_pose
from impinge.kernels.memory import address_of
from impinge.mesh.mesh import Mesh
from impinge.world.placing import place_poses

Ids = NDArray[np.int64]

_FEWEST = 16


class Shape:
    """A body with what the narrow phase needs of it; all objects with the same body share it."""

    def __init__(self, body: Body) -> None:
        self.body = body
        self.is_convex = isinstance(body, ConvexHull)
        self.has_triangles = has_triangles(body)
        self.in_one_piece = self.is_convex or (isinstance(body, Mesh) and body.component_count == 1)

    @property
    def triangles(self) -> int:
        """How many there are, about."""
        if isinstance(self.body, Mesh):
            return len(self.body.faces)
        return 2 * len(self.body.vertices) if isinstance(self.body, ConvexHull) else 0

    @property
    def hull(self) -> ConvexHull:
        """Of the body, made when it is first needed."""
        return hull_of(self.body)

    @property
    def solid(self) -> bool:
        """Whether the inside of the body counts."""
        return self.body.solid

    @property
    def mesh(self) -> Mesh:
        """The triangles of the body, if it has any."""
        return surface_of(self.body)  # type: ignore[arg-type]

    @property
    def tree(self) -> Any:
        """The handle of the bounding volume hierarchy, built when it is first needed."""
        return tree_handle_of(self.mesh)


@dataclass(frozen=True, eq=False)
class Instance:
    """One object of a world, as it was when it was looked up.

    Examples
    --------
    >>> from impinge import World, shapes
    >>> world = World()
    >>> _ = world.add(shapes.box(1, 1, 1), name="crate", group="cargo")
    >>> crate = world["crate"]
    >>> crate.id, crate.group, crate.fixed, crate.body
    (0, 'cargo', False, Mesh(8 vertices, 12 triangles, solid))
    """

    id: int
    """The number that ``World.add`` returned."""
    name: str
    """Its name, which no other object of the world has."""
    body: Body
    """Its shape, shared with all objects that were added with it."""
    pose: Floats
    """(4, 4) a copy: ``World.move`` moves the object."""
    group: str | None
    """The name of its group, if it has one."""
    fixed: bool
    """Whether it cannot be moved, and is not compared with other fixed objects."""


class _Rows:
    """Arrays with a row for each object, and room for more."""

    def __init__(self, room: int) -> None:
        self.ids: Ids = np.empty(room, dtype=np.int64)
        self.poses: Floats = np.empty((room, 4, 4))
        self.groups: NDArray[np.int64] = np.empty(room, dtype=np.int64)
        self.fixed: Bools = np.empty(room, dtype=np.bool_)
        self.moved: NDArray[np.int64] = np.empty(room, dtype=np.int64)
        self.shapes: NDArray[Any] = np.empty(room, dtype=object)
        self.names: NDArray[Any] = np.empty(room, dtype=object)
        self.tables = address_of(self.poses), address_of(self.moved)
        """Where kernels find poses and times of motion."""

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def _arrays(self) -> tuple[NDArray[Any], ...]:
        return self.ids, self.poses, self.groups, self.fixed, self.moved, self.shapes, self.names

    def copied(self, room: int, first: int, after: int, count: int) -> _Rows:
        """Others with so much room: the rows before ``first``, and those from ``after`` to ``count``."""
        rows = _Rows(room)
        for mine, other in zip(self._arrays, rows._arrays, strict=True):
            other[:first] = mine[:first]
            other[first : first + count - after] = mine[after:count]
        return rows


class Objects:
    """All objects of a world in the order of their ids, between two changes.

    But for poses, nothing is ever changed here: objects that come or go make other ``Objects``, which take effect by
    one assignment of the world.  One that came has been written behind the end of arrays that both share, where nothing
    reads.  What else is derived is made when it is first needed, and belongs to these ``Objects`` only.
    """

    def __init__(
        self,
        rows: _Rows | None = None,
        count: int = 0,
        next_id: int = 0,
        edits: int = 0,
        known: dict[int, Shape] | None = None,
    ) -> None:
        self._rows = _Rows(_FEWEST) if rows is None else rows
        self._count = count
        self.next_id = next_id
        self.edits = edits
        """How often objects came or went."""
        self._known: dict[int, Shape] = {} if known is None else known
        """Shapes by the identity of their bodies."""
        self._by_name: dict[str, int] | None = None

    def __len__(self) -> int:
        return self._count

    def __reduce__(self) -> tuple[Callable[..., Objects], tuple[Any, ...]]:
        arrays = self.ids.copy(), self.poses.copy(), self.groups.copy(), self.fixed.copy()
        return _restored, ([shape.body for shape in self.shapes], self.names.tolist(), arrays, self.next_id)

    @property
    def by_name(self) -> dict[str, int]:
        """Ids.  The objects that come after these take it over, see ``with_one_more``."""
        names = self._by_name
        if names is None:
            names = self._by_name = dict(zip(self.names.tolist(), self.ids.tolist(), strict=True))
        return names

    @cached_property
    def name_by_id(self) -> dict[int, str]:
        """Names."""
        return dict(zip(self.ids.tolist(), self.names.tolist(), strict=True))

    @property
    def ids(self) -> Ids:
        """(n,) ascending."""
        return self._rows.ids[: self._count]

    @property
    def poses(self) -> Floats:
        """(n, 4, 4)."""
        return self._rows.poses[: self._count]

    @property
    def groups(self) -> NDArray[np.int64]:
        """The number of each one's group."""
        return self._rows.groups[: self._count]

    @property
    def fixed(self) -> Bools:
        """(n,) whether each stays where it is."""
        return self._rows.fixed[: self._count]

    @property
    def shapes(self) -> NDArray[Any]:
        """(n,) a ``Shape`` each."""
        return self._rows.shapes[: self._count]

    @property
    def names(self) -> NDArray[Any]:
        """(n,) a string each."""
        return self._rows.names[: self._count]

    @cached_property
    def movable(self) -> NDArray[np.intp]:
        """Where those stand that are not fixed."""
        return np.flatnonzero(~self.fixed)

    @property
    def moved(self) -> NDArray[np.int64]:
        """When each was last moved or added, on the clock of the world."""
        return self._rows.moved[: self._count]

    def with_one_more(self, body: Body, pose: Floats, name: str, group: int, fixed: bool, now: int) -> Objects:
        """These objects and another one, with the id ``next_id``."""
        place, rows = self._count, self._rows
        if place == len(rows):
            rows = rows.copied(2 * place, place, place, place)
        rows.ids[place], rows.poses[place], rows.groups[place] = self.next_id, pose, group
        rows.fixed[place], rows.moved[place] = fixed, now
        rows.shapes[place], rows.names[place] = self._shape_of(body), name
        more = Objects(rows, place + 1, self.next_id + 1, self.edits + 1, self._known)
        by_name = self._given_away(self.by_name)
        by_name[name] = self.next_id
        more._by_name = by_name
        return more

    def without(self, number: int) -> Objects:
        """All but the object that stands there."""
        count, shape = self._count, self.shapes[number]
        rows = self._rows.copied(max(_FEWEST, len(self._rows)), number, number + 1, count)
        if not any(other is shape for other in rows.shapes[: count - 1]):
            self._known.pop(id(shape.body), None)  # at worst a body gets a second shape
        fewer = Objects(rows, count - 1, self.next_id, self.edits + 1, self._known)
        by_name = self._given_away(self.by_name)
        del by_name[self.names[number]]
        fewer._by_name = by_name
        return fewer

    def _given_away(self, by_name: dict[str, int]) -> dict[str, int]:
        """One dictionary for all, or n objects would take n copies; these here, should they go on, make it anew."""
        self._by_name = None
        return by_name

    def _shape_of(self, body: Body) -> Shape:
        shape = self._known.get(id(body))
        if shape is None:
            shape = self._known[id(body)] = Shape(body)
        return shape

    def number_of(self, identity: int) -> int:
        """Where an id stands among the objects; -1 if there is none."""
        place = int(np.searchsorted(self.ids, identity))
        return place if place < self._count and self._rows.ids[place] == identity else -1

    def place(self, numbers: NDArray[np.int64], poses: Floats, now: int) -> int:
        """New poses (k, 4, 4) of these objects; a ValueError if one is not rigid.  Returns how many differ."""
        changed = place_poses(
            len(numbers), self._count, address_of(numbers), address_of(poses), *self._rows.tables, now
        )
        if changed < 0:
            as_pose(poses, "poses")  # says what is wrong
        return int(changed)


def _restored(bodies: list[Body], names: list[str], arrays: tuple[NDArray[Any], ...], next_id: int) -> Objects:
    """From a pickle; the clock of the world begins anew."""
    count = len(bodies)
    rows = _Rows(max(_FEWEST, count))
    for array, kept in zip((rows.ids, rows.poses, rows.groups, rows.fixed), arrays, strict=True):
        array[:count] = kept
    rows.names[:count] = names
    rows.moved[:count] = 0
    known: dict[int, Shape] = {}
    for place, body in enumerate(bodies):
        rows.shapes[place] = known.setdefault(id(body), Shape(body))
    return Objects(rows, count, next_id, known=known)
