"""Clash check: which parts of an assembly interfere, touch, hide in each other or come too close.

``impinge.World`` finds the pairs that are within the clearance, exactly; the verbs of ``impinge.world.query`` say
how they lie to each other.  Closed parts count as solids, open ones as surfaces.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from impinge.broadphase.choice import for_one_look
from impinge.geometry.assembly import Assembly, Part
from impinge.geometry.cast import Floats, as_clearance
from impinge.geometry.mesh import Mesh
from impinge.geometry.pose import posed_vertices
from impinge.geometry.results import ContactKind, Contacts, RelationKind
from impinge.world.objects import Instance
from impinge.world.query import closer_than, collides, contacts, distance, relation
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


def check(assembly: Assembly, clearance: float = 0.0, progress: Progress | None = None) -> tuple[Finding, ...]:
    """Every finding of the assembly, sorted by kind, distance and names.

    A pair at a distance of exactly ``clearance`` is reported.  Which pairs are reported is exact for the given
    coordinates.  Solids are told apart exactly too; an open part has no inside, so that one which passes through
    another exactly along edges of both counts as touching it.
    """
    limit = as_clearance(clearance)
    bodies = {id(part.mesh): _as_body(part.mesh) for part in assembly}
    world = World(for_one_look(len(assembly)), hulls=None)  # hulls would not pay either
    for part in assembly:
        world.add(bodies[id(part.mesh)], part.pose)
    pairs = _near_pairs(world, limit)
    findings = []
    for done, (i, j) in enumerate(pairs):
        if progress is not None:
            progress(done, len(pairs))
        a, b = assembly.parts[i], assembly.parts[j]
        findings.append(_judge(a, b, bodies[id(a.mesh)], bodies[id(b.mesh)], limit, assembly.unit))
    if progress is not None:
        progress(len(pairs), len(pairs))
    return tuple(sorted(findings, key=lambda found: (found.kind, found.distance, found.part_a, found.part_b)))


# A distance is right to a few ulps of the coordinates; this is a thousand times that.
_ROUNDING_OF_DISTANCES = 2.0**-40


def _near_pairs(world: World, clearance: float) -> list[tuple[int, int]]:
    """Ids of the objects that are within the clearance of each other."""
    if clearance == 0.0:
        return [(a, b) for a, b in world.detect("collides").pairs.tolist()]
    largest = max((_largest_coordinate(each) for each in world), default=0.0)
    rounding = _ROUNDING_OF_DISTANCES * largest
    frame = world.detect("distance", within=clearance + rounding)
    return [
        (a, b)
        for (a, b), gap in zip(frame.pairs.tolist(), frame.values.tolist(), strict=True)
        # Only where rounding could matter is the exact question asked, and its kernel compiled.
        if gap < clearance - rounding or _is_closer(world[a], world[b], clearance)
    ]


def _largest_coordinate(each: Instance) -> float:
    """No coordinate of the object is larger."""
    return float(np.abs(each.pose[:3, 3]).max() + 2.0 * np.abs(each.body.bounds).max())


def _is_closer(a: Instance, b: Instance, clearance: float) -> bool:
    return bool(closer_than(a.body, b.body, clearance, a.pose, b.pose))


def _as_body(mesh: Mesh) -> Mesh:
    """A closed mesh as the solid it bounds."""
    if mesh.solid or not mesh.is_closed:
        return mesh
    return Mesh(mesh.vertices, mesh.faces, solid=True)


def _judge(a: Part, b: Part, body_a: Mesh, body_b: Mesh, clearance: float, unit: str | None) -> Finding:
    """What there is to say about two parts that are within the clearance."""
    judge = _judge_solids if body_a.solid and body_b.solid else _judge_surfaces
    found = judge(a, b, body_a, body_b, unit)
    if found is not None:
        return found
    nearest = distance(body_a, body_b, a.pose, b.pose)
    gap = float(nearest.value)
    line = np.stack([nearest.point_a, nearest.point_b])[None]
    sentence = (
        f"{a.name} and {b.name} are {_length(gap, unit)} apart; the clearance asked for is {_length(clearance, unit)}."
    )
    return Finding(FindingKind.CLEARANCE, a.name, b.name, gap, line[0].mean(axis=0), line, sentence)


def _judge_solids(a: Part, b: Part, body_a: Mesh, body_b: Mesh, unit: str | None) -> Finding | None:
    meeting = contacts(body_a, body_b, a.pose, b.pose)
    answer = relation(body_a, body_b, a.pose, b.pose, contacts=meeting)
    if answer.kind == RelationKind.APART:
        return None
    if answer.kind == RelationKind.EQUAL:
        sentence = f"{a.name} and {b.name} are the same solid at the same place: one of them is placed twice."
        return Finding(FindingKind.EQUAL, a.name, b.name, 0.0, _middle(a), _NO_SEGMENTS, sentence)
    if answer.kind in (RelationKind.A_INSIDE_B, RelationKind.B_INSIDE_A):
        inner, outer = (a, b) if answer.kind == RelationKind.A_INSIDE_B else (b, a)
        return _nested(inner, outer, bool(answer.touching))
    if answer.kind == RelationKind.TOUCHING:
        return _touching(a, b, meeting, unit)
    return _interference(a, b, meeting, unit)


def _judge_surfaces(a: Part, b: Part, body_a: Mesh, body_b: Mesh, unit: str | None) -> Finding | None:
    """At least one part is open: a surface without inside."""
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


_NO_SEGMENTS: Floats = np.empty((0, 2, 3))


def _middle(part: Part) -> Floats:
    world = posed_vertices(part.pose, part.mesh.vertices)
    return np.asarray((world.min(axis=0) + world.max(axis=0)) / 2.0)


def _nested(inner: Part, outer: Part, touching: bool) -> Finding:
    how = "lies inside" if not touching else "lies inside, touching the surface of,"
    sentence = f"{inner.name} {how} {outer.name}: it cannot be seen or reached."
    return Finding(FindingKind.NESTED, inner.name, outer.name, 0.0, _middle(inner), _NO_SEGMENTS, sentence)


def _touching(a: Part, b: Part, meeting: Contacts, unit: str | None, solids: bool = True) -> Finding:
    ends = meeting.segments.reshape(-1, 3)
    low, high = ends.min(axis=0), ends.max(axis=0)
    if (meeting.kind == ContactKind.COPLANAR).any():
        how = f"face on face, within {_extent(high - low, unit)}"
    elif (low == high).all():
        how = "in a single point"
    else:
        how = f"along edges or in points, within {_extent(high - low, unit)}"
    sentence = f"{a.name} and {b.name} {'touch without overlapping' if solids else 'meet'}, {how}."
    return Finding(FindingKind.TOUCHING, a.name, b.name, 0.0, (low + high) / 2.0, meeting.segments, sentence)


def _interference(a: Part, b: Part, meeting: Contacts, unit: str | None) -> Finding:
    ends = meeting.segments.reshape(-1, 3)
    low, high = ends.min(axis=0), ends.max(axis=0)
    sentence = f"{a.name} and {b.name} run through each other; their surfaces cross within {_extent(high - low, unit)}."
    return Finding(FindingKind.INTERFERENCE, a.name, b.name, 0.0, (low + high) / 2.0, meeting.segments, sentence)


def _length(value: float, unit: str | None) -> str:
    return f"{value:.4g} {unit}" if unit else f"{value:.4g}"


def _extent(size: Floats, unit: str | None) -> str:
    text = " x ".join(f"{side:.3g}" for side in size)
    return f"{text} {unit}" if unit else text
