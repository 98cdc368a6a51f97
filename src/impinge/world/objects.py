"""The objects of a world: which body, where, under what name."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impinge.convex.hull import ConvexHull
from impinge.geometry.cast import Bools, Floats
from impinge.geometry.mesh import Mesh
from impinge.geometry.pose import as_pose
from impinge.memory import address_of
from impinge.trees.convex_pieces import ConvexPieces
from impinge.trees.search import handle_of as tree_handle_of
from impinge.world.bodies import Body, hull_of
from impinge.world.placing import place_poses

Ids = NDArray[np.int64]

_FEWEST = 16


class Shape:
    """A body with what kernels need of it; all objects with the same body share it."""

    def __init__(self, body: Body) -> None:
        self.body = body
        self.is_convex = isinstance(body, ConvexHull)
        self.has_triangles = not isinstance(body, ConvexPieces)
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
        return self.body.solid

    @property
    def mesh(self) -> Mesh:
        if isinstance(self.body, ConvexPieces):
            raise TypeError("ConvexPieces has no triangles")
        return self.body.mesh if isinstance(self.body, ConvexHull) else self.body

    @property
    def tree(self) -> Any:
        """The handle of the tree, built when it is first needed."""
        return tree_handle_of(self.mesh)


@dataclass(frozen=True, eq=False)
class Instance:
    """One object of a world as it was when it was asked for."""

    id: int
    name: str
    body: Body
    pose: Floats
    """(4, 4)"""
    group: str | None
    fixed: bool


@dataclass(eq=False)
class Objects:
    """All objects in the order of their ids, in arrays with room for more."""

    shapes: list[Shape] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    by_name: dict[str, int] = field(default_factory=dict)
    """Ids."""
    next_id: int = 0
    edits: int = 0
    """How often objects came or went."""

    def __post_init__(self) -> None:
        self._ids = np.zeros(_FEWEST, dtype=np.int64)
        self._poses = np.zeros((_FEWEST, 4, 4))
        self._groups = np.zeros(_FEWEST, dtype=np.int64)
        self._fixed = np.zeros(_FEWEST, dtype=np.bool_)
        self._moved = np.zeros(_FEWEST, dtype=np.int64)
        self._known: dict[int, Shape] = {}
        self._find_tables()
        self._movable: NDArray[np.intp] | None = None
        self._named_at = -1
        self._name_by_id: dict[int, str] = {}

    def _find_tables(self) -> None:
        """Where poses and times of motion are, as long as there is room in their arrays."""
        self._tables = address_of(self._poses), address_of(self._moved)

    def __len__(self) -> int:
        return len(self.shapes)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"shapes": [shape.body for shape in self.shapes], "_known": {}, "_tables": ()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._find_tables()
        self.shapes = [self._shape_of(body) for body in state["shapes"]]
        self._moved[:] = 0  # the clock begins anew

    @property
    def name_by_id(self) -> dict[int, str]:
        """Not to be changed: it is made anew when objects come or go."""
        if self._named_at != self.edits:
            self._name_by_id = dict(zip(self.ids.tolist(), self.names, strict=True))
            self._named_at = self.edits
        return self._name_by_id

    @property
    def ids(self) -> Ids:
        return self._ids[: len(self)]

    @property
    def poses(self) -> Floats:
        return self._poses[: len(self)]

    @property
    def groups(self) -> NDArray[np.int64]:
        """The number of each one's group."""
        return self._groups[: len(self)]

    @property
    def fixed(self) -> Bools:
        return self._fixed[: len(self)]

    @property
    def movable(self) -> NDArray[np.intp]:
        """Where those stand that are not fixed."""
        if self._movable is None:
            self._movable = np.flatnonzero(~self.fixed)
        return self._movable

    @property
    def moved(self) -> NDArray[np.int64]:
        """When each was last moved or added, on the clock of the world."""
        return self._moved[: len(self)]

    def add(self, body: Body, pose: Floats, name: str, group: int, fixed: bool, now: int) -> int:
        if len(self) == len(self._ids):
            self._grow()
        place, identity = len(self), self.next_id
        self._ids[place], self._poses[place], self._groups[place] = identity, pose, group
        self._fixed[place], self._moved[place] = fixed, now
        self.shapes.append(self._shape_of(body))
        self.names.append(name)
        self.by_name[name] = identity
        self.next_id += 1
        self.edits += 1
        self._movable = None
        return identity

    def _shape_of(self, body: Body) -> Shape:
        shape = self._known.get(id(body))
        if shape is None:
            shape = self._known[id(body)] = Shape(body)
        return shape

    def _grow(self) -> None:
        for name in ("_ids", "_poses", "_groups", "_fixed", "_moved"):
            array = getattr(self, name)
            setattr(self, name, np.concatenate([array, np.zeros_like(array)]))
        self._find_tables()

    def remove(self, number: int) -> None:
        count = len(self)
        for array in (self._ids, self._poses, self._groups, self._fixed, self._moved):
            array[number : count - 1] = array[number + 1 : count]
        shape = self.shapes.pop(number)
        if not any(other is shape for other in self.shapes):
            del self._known[id(shape.body)]
        del self.by_name[self.names.pop(number)]
        self.edits += 1
        self._movable = None

    def number_of(self, identity: int) -> int:
        """Where an id stands among the objects; -1 if there is none."""
        place = int(np.searchsorted(self.ids, identity))
        return place if place < len(self) and self._ids[place] == identity else -1

    def place(self, numbers: NDArray[np.int64], poses: Floats, now: int) -> int:
        """New poses (k, 4, 4) of these objects; a ValueError if one is not rigid.  Returns how many differ."""
        changed = place_poses(len(numbers), len(self), address_of(numbers), address_of(poses), *self._tables, now)
        if changed < 0:
            as_pose(poses, "poses")  # says what is wrong
        return int(changed)
