"""WorldState: the objects, filters and groups of a world, and their names."""

from __future__ import annotations

from typing import NamedTuple

from impinge.arrays import is_id, shown
from impinge.world.filters import Filters, Subject
from impinge.world.objects import Instance, Objects


class WorldState(NamedTuple):
    """All that makes up a world.  Other objects or groups make another state."""

    objects: Objects
    filters: Filters
    groups: dict[str, int]
    """Their numbers, by name."""

    def free_name(self) -> str:
        """A name for the next object, which nothing has yet."""
        objects, _, groups = self
        name = f"object {objects.next_id}"
        while name in objects.by_name or name in groups:
            name += "'"
        return name

    def new_name(self, name: str) -> str:
        """The name, if no object or group has it; otherwise a ValueError."""
        if not isinstance(name, str):
            raise ValueError(f"name is {shown(name)}; it must be a string")
        if name in self.objects.by_name:
            raise ValueError(f"there is an object with the name {name!r} already")
        if name in self.groups:
            raise ValueError(f"{name!r} is the name of a group; objects need other names")
        return name

    def groups_with(self, group: str) -> dict[str, int]:
        """All groups, and this one."""
        if not isinstance(group, str):
            raise ValueError(f"group is {shown(group)}; it must be a string")
        groups = self.groups
        if group in groups:
            return groups
        if group in self.objects.by_name:
            raise ValueError(f"{group!r} is the name of an object; groups need other names")
        return groups | {group: len(groups) + 1}

    def number_of(self, name_or_id: str | int) -> int:
        """Where an object stands."""
        objects = self.objects
        identity = objects.by_name.get(name_or_id) if isinstance(name_or_id, str) else name_or_id
        number = objects.number_of(int(identity)) if is_id(identity) else -1
        if number < 0:
            raise KeyError(f"there is no object {shown(name_or_id)}")
        return number

    def instance(self, number: int) -> Instance:
        """The object at a place, as users see it."""
        objects, _, groups = self
        group = int(objects.groups[number])
        return Instance(
            id=int(objects.ids[number]),
            name=objects.names[number],
            body=objects.shapes[number].body,
            pose=objects.poses[number].copy(),
            group=next((name for name, value in groups.items() if value == group), None),
            fixed=bool(objects.fixed[number]),
        )

    def subject_of(self, name_or_id: str | int) -> Subject:
        """What a filter is about: an object, or a group."""
        objects, _, groups = self
        if isinstance(name_or_id, str) and name_or_id in groups:
            return Subject(True, groups[name_or_id])
        return Subject(False, int(objects.ids[self.number_of(name_or_id)]))
