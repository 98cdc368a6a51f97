"""Clash check: which parts of an assembly interfere, touch, hide in each other or come too close.

``impinge.World`` finds the pairs that are within the clearance, exactly; the verbs of ``impinge.queries.verbs`` say
how they lie to each other.  Closed parts count as solids, open ones as surfaces (``apps.solids``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from impinge.apps.length_text import extent_text, length_text
from impinge.apps.solids import OpenPart, WeldedMesh, as_bodies
from impinge.arrays import Floats, as_clearance
from impinge.broadphase.choice import for_one_frame
from impinge.geometry.pose import posed_vertices
from impinge.mesh.assembly import Assembly, Part
from impinge.mesh.mesh import Mesh
from impinge.mesh.repair.weld import Weld, as_weld
from impinge.queries.verbs import closer_than, collides, contacts, distance, relation
from impinge.results import ContactKind, Contacts, Distance, RelationKind
from impinge.world.objects import Instance
from impinge.world.world import World

Progress = Callable[[int, int], None]
"""Called with (pairs done, pairs in all)."""


class FindingKind(IntEnum):
    """From the gravest to the mildest."""

    INTERFERENCE = 0
    """The two parts share volume, or their surfaces cross."""
    EQUAL = 1
    """The same shape at the same place."""
    NESTED = 2
    """The first part lies inside the second."""
    TOUCHING = 3
    """Common points, but no common volume."""
    CLEARANCE = 4
    """Apart, but by no more than the clearance."""

    @property
    def label(self) -> str:
        return self.name.capitalize()


@dataclass(frozen=True, eq=False)
class Finding:
    """One pair of parts that an engineer should look at."""

    kind: FindingKind
    part_a: str
    """For NESTED the inner part; otherwise the first in the order of the assembly."""
    part_b: str
    distance: float
    """The smallest distance for CLEARANCE, 0 for every other kind."""
    where: Floats
    """(3,) a world point to look at."""
    segments: Floats
    """(k, 2, 3) the contact in world coordinates, or the line between the closest points; empty for NESTED, EQUAL."""
    description: str
    """One sentence."""


@dataclass(frozen=True, eq=False)
class ClashCheck:
    """The findings about an assembly, and what they rest on."""

    findings: tuple[Finding, ...]
    """Sorted by kind, distance and names."""
    clearance: float
    weld: Weld
    """How far apart vertices might be to be welded."""
    welded: tuple[WeldedMesh, ...]
    """The meshes that welding closed; the findings are exact for the welded coordinates."""
    open_parts: tuple[OpenPart, ...]
    """The parts that are surfaces without inside: nothing was checked for lying inside them."""


def check(
    assembly: Assembly, clearance: float = 0.0, progress: Progress | None = None, *, weld: Weld = "auto"
) -> ClashCheck:
    """Every finding of the assembly.

    A pair at a distance of exactly ``clearance`` is reported.  Which pairs are reported is exact for the given
    coordinates.  Solids are told apart exactly too; an open part has no inside, so that one which passes through
    another exactly along edges of both counts as touching it.

    Parameters
    ----------
    assembly
        The parts.  Those that are closed count as solids.
    clearance
        Pairs this close or closer are reported.
    progress
        Called with (pairs done, pairs in all).
    weld
        An open part is welded (see ``Mesh.repair``) where that closes it; then the answers are exact for the welded
        coordinates.  ``None``: every part is taken as it is.
    """
    limit, reach = as_clearance(clearance), as_weld(weld)
    made = as_bodies(assembly, reach)
    world = World(for_one_frame(len(assembly)), hulls=None)  # hulls would not pay either
    for part, body in zip(assembly, made.bodies, strict=True):
        world.add(body, part.pose)
    pairs = _near_pairs(world, limit)
    findings = []
    for done, near in enumerate(pairs):
        if progress is not None:
            progress(done, len(pairs))
        a, b = assembly.parts[near.a], assembly.parts[near.b]
        body_a, body_b = made.bodies[near.a], made.bodies[near.b]
        found = _meeting(a, b, body_a, body_b, assembly.unit) if near.gap is None else None
        if found is None:
            gap = near.gap or _Gap.of(distance(body_a, body_b, a.pose, b.pose))
            found = _too_close(a, b, gap, limit, assembly.unit)
        findings.append(found)
    if progress is not None:
        progress(len(pairs), len(pairs))
    findings.sort(key=lambda found: (found.kind, found.distance, found.part_a, found.part_b))
    return ClashCheck(tuple(findings), limit, reach, made.welded, made.open_parts)


@dataclass(frozen=True, eq=False)
class _Gap:
    """Two parts that are apart: their distance and the closest points."""

    value: float
    line: Floats
    """(1, 2, 3)"""

    @classmethod
    def of(cls, found: Distance, k: int | tuple[()] = ()) -> _Gap:
        """One of several distances, or the only one."""
        return cls(float(np.asarray(found.value)[k]), np.stack([found.point_a[k], found.point_b[k]])[None])


@dataclass(frozen=True, eq=False)
class _Near:
    """Two parts, by their places in the assembly, that are within the clearance of each other."""

    a: int
    b: int
    gap: _Gap | None
    """None where they meet, as far as the distance tells: one that is smaller than any number is 0."""


# A distance is right to a few ulps of the coordinates; this is a thousand times that.
_ROUNDING_OF_DISTANCES = 2.0**-40


def _near_pairs(world: World, clearance: float) -> list[_Near]:
    """The objects that are within the clearance of each other."""
    if clearance == 0.0:
        return [_Near(a, b, None) for a, b in world.detect("collides").pairs.tolist()]
    largest = max((_largest_coordinate(each) for each in world), default=0.0)
    rounding = _ROUNDING_OF_DISTANCES * largest
    frame = world.detect("distance", within=clearance + rounding)
    assert frame.distance is not None
    return [
        _Near(a, b, _Gap.of(frame.distance, k) if gap > 0.0 else None)
        for k, ((a, b), gap) in enumerate(zip(frame.pairs.tolist(), frame.values.tolist(), strict=True))
        # Only where rounding could matter is the exact query made, and its kernel compiled.
        if gap < clearance - rounding or _is_closer(world[a], world[b], clearance)
    ]


def _largest_coordinate(each: Instance) -> float:
    """No coordinate of the object is larger."""
    return float(np.abs(each.pose[:3, 3]).max() + 2.0 * np.abs(each.body.bounds).max())


def _is_closer(a: Instance, b: Instance, clearance: float) -> bool:
    return bool(closer_than(a.body, b.body, clearance, a.pose, b.pose))


def _too_close(a: Part, b: Part, gap: _Gap, clearance: float, unit: str | None) -> Finding:
    apart, required = length_text(gap.value, unit), length_text(clearance, unit)
    sentence = f"{a.name} and {b.name} are {apart} apart; the clearance asked for is {required}."
    where = gap.line[0].mean(axis=0)
    return Finding(FindingKind.CLEARANCE, a.name, b.name, gap.value, where, gap.line, sentence)


def _meeting(a: Part, b: Part, body_a: Mesh, body_b: Mesh, unit: str | None) -> Finding | None:
    """How two parts meet, if they do."""
    judge = _meeting_solids if body_a.solid and body_b.solid else _meeting_surfaces
    return judge(a, b, body_a, body_b, unit)


def _meeting_solids(a: Part, b: Part, body_a: Mesh, body_b: Mesh, unit: str | None) -> Finding | None:
    meeting = contacts(body_a, body_b, a.pose, b.pose)
    answer = relation(body_a, body_b, a.pose, b.pose, contacts=meeting)
    if answer.kind == RelationKind.APART:
        return None
    if answer.kind == RelationKind.EQUAL:
        return _equal(a, b, "solid")
    if answer.kind in (RelationKind.A_INSIDE_B, RelationKind.B_INSIDE_A):
        inner, outer = (a, b) if answer.kind == RelationKind.A_INSIDE_B else (b, a)
        return _nested(inner, outer, bool(answer.touching))
    if answer.kind == RelationKind.TOUCHING:
        return _touching(a, b, meeting, unit)
    return _interference(a, b, meeting, unit)


def _meeting_surfaces(a: Part, b: Part, body_a: Mesh, body_b: Mesh, unit: str | None) -> Finding | None:
    """At least one part is open: a surface without inside."""
    if _same_triangles(a, b):
        return _equal(a, b, "surface")
    meeting = contacts(body_a, body_b, a.pose, b.pose)
    if np.any(meeting.kind == ContactKind.CROSSING):
        return _interference(a, b, meeting, unit)
    if len(meeting):
        return _touching(a, b, meeting, unit, solids=False)
    if (body_a.solid or body_b.solid) and collides(body_a, body_b, a.pose, b.pose):
        inner, outer, sheet = (b, a, body_b) if body_a.solid else (a, b, body_a)
        if sheet.component_count > 1:
            sentence = f"Part of {inner.name} lies inside {outer.name}, without touching it."
            return Finding(FindingKind.INTERFERENCE, a.name, b.name, 0.0, _middle(inner), _NO_SEGMENTS, sentence)
        return _nested(inner, outer, False)
    return None


def _same_triangles(a: Part, b: Part) -> bool:
    return np.array_equal(a.mesh.faces, b.mesh.faces) and np.array_equal(
        posed_vertices(a.pose, a.mesh.vertices), posed_vertices(b.pose, b.mesh.vertices)
    )


_NO_SEGMENTS: Floats = np.empty((0, 2, 3))


def _middle(part: Part) -> Floats:
    world = posed_vertices(part.pose, part.mesh.vertices)
    return np.asarray((world.min(axis=0) + world.max(axis=0)) / 2.0)


def _equal(a: Part, b: Part, what: str) -> Finding:
    sentence = f"{a.name} and {b.name} are the same {what} at the same place: one of them is placed twice."
    return Finding(FindingKind.EQUAL, a.name, b.name, 0.0, _middle(a), _NO_SEGMENTS, sentence)


def _nested(inner: Part, outer: Part, touching: bool) -> Finding:
    how = "lies inside" if not touching else "lies inside, touching the surface of,"
    sentence = f"{inner.name} {how} {outer.name}: it cannot be seen or reached."
    return Finding(FindingKind.NESTED, inner.name, outer.name, 0.0, _middle(inner), _NO_SEGMENTS, sentence)


def _touching(a: Part, b: Part, meeting: Contacts, unit: str | None, solids: bool = True) -> Finding:
    ends = meeting.segments.reshape(-1, 3)
    low, high = ends.min(axis=0), ends.max(axis=0)
    if (meeting.kind == ContactKind.COPLANAR).any():
        how = f"face on face, within {extent_text(high - low, unit)}"
    elif (low == high).all():
        how = "in a single point"
    else:
        how = f"along edges or in points, within {extent_text(high - low, unit)}"
    sentence = f"{a.name} and {b.name} {'touch without overlapping' if solids else 'meet'}, {how}."
    return Finding(FindingKind.TOUCHING, a.name, b.name, 0.0, (low + high) / 2.0, meeting.segments, sentence)


def _interference(a: Part, b: Part, meeting: Contacts, unit: str | None) -> Finding:
    ends = meeting.segments.reshape(-1, 3)
    low, high = ends.min(axis=0), ends.max(axis=0)
    sentence = (
        f"{a.name} and {b.name} run through each other; their surfaces cross within {extent_text(high - low, unit)}."
    )
    return Finding(FindingKind.INTERFERENCE, a.name, b.name, 0.0, (low + high) / 2.0, meeting.segments, sentence)
