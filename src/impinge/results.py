"""Results of queries: frozen dataclasses of fresh arrays, in world coordinates."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge.arrays import Floats

if TYPE_CHECKING:
    from impinge.mesh.mesh import Mesh


class ContactKind(IntEnum):
    """How two intersecting triangles meet.

    Examples
    --------
    >>> import impinge
    >>> from impinge import shapes
    >>> cube = shapes.box(1, 1, 1)
    >>> found = impinge.contacts(cube, cube)  # a cube and its copy
    >>> impinge.ContactKind(found.kind[0])
    <ContactKind.COPLANAR: 2>
    """

    CROSSING = 0
    """Their relative interiors cross at an angle."""
    TOUCHING = 1
    """They meet only on the boundary of at least one of them (a degenerate triangle is all boundary)."""
    COPLANAR = 2
    """They lie in one plane and overlap in an area."""


@dataclass(frozen=True, eq=False)
class Contacts:
    """All pairs of triangles that meet, sorted by (pose, face_a, face_b): what ``contacts`` returns.

    Its length is the number of pairs, over all poses.

    Examples
    --------
    >>> import numpy as np
    >>> import impinge
    >>> from impinge import shapes
    >>> cube, aside = shapes.box(2, 2, 2), np.eye(4)
    >>> aside[:3, 3] = 1.0, 0.5, 0.25
    >>> found = impinge.contacts(cube, cube, None, aside)
    >>> found
    Contacts(12: 12 crossing, 0 touching, 0 coplanar)
    >>> found.segments.shape, found.normal.shape
    ((12, 2, 3), (12, 3))
    """

    pose: NDArray[np.int64]
    """(k,) index into the flattened batch of poses."""
    face_a: NDArray[np.int32]
    """(k,) triangle of a; ``a.polygon[face_a]`` is the caller's polygon."""
    face_b: NDArray[np.int32]
    """(k,) triangle of b."""
    segments: Floats
    """(k, 2, 3) the segment of intersection; a single point is repeated, a coplanar overlap gives its longest chord."""
    normal: Floats
    """(k, 3) unit normals from b to a (zero where neither triangle has one)."""
    kind: NDArray[np.int8]
    """(k,) a ContactKind."""
    shape: tuple[int, ...]
    """The leading shape of the poses."""
    complete: bool = True
    """False where ``max_contacts=`` has cut the set: there are more."""

    def __len__(self) -> int:
        return len(self.pose)

    def __repr__(self) -> str:
        counts = ", ".join(f"{np.count_nonzero(self.kind == kind)} {kind.name.lower()}" for kind in ContactKind)
        return f"Contacts({len(self)}: {counts}{'' if self.complete else '; incomplete, there are more'})"

    def loops(
        self, a: Mesh, b: Mesh, pose_a: ArrayLike | None = None, pose_b: ArrayLike | None = None
    ) -> list[ContactLoop]:
        """Join the contacts into polylines.

        Closed surfaces that cross give closed loops; an open surface ends some of them, and where more than two
        segments meet they are broken.  Of surfaces that lie on each other the outline is given (none where that closes
        on itself, as with a copy of a sphere), and single points that are on no line stand alone.  Every crossing
        contact is in exactly one polyline.

        Parameters
        ----------
        a, b
            The bodies that the contacts were found for; of a ConvexHull, its ``mesh``.
        pose_a, pose_b
            The poses that they were found for.

        Returns
        -------
        list of ContactLoop
            Sorted by pose and first contact.

        Raises
        ------
        ValueError
            If the contacts cannot be of these bodies in these poses.

        Examples
        --------
        >>> import numpy as np
        >>> import impinge
        >>> from impinge import shapes
        >>> cube, aside = shapes.box(2, 2, 2), np.eye(4)
        >>> aside[:3, 3] = 1.0, 0.5, 0.25
        >>> found = impinge.contacts(cube, cube, None, aside)
        >>> [(loop.closed, len(loop.points)) for loop in found.loops(cube, cube, None, aside)]
        [(True, 12)]
        """
        from impinge.mesh.contact_loops import contact_loops

        return contact_loops(self, a, b, pose_a, pose_b)


@dataclass(frozen=True, eq=False)
class ContactLoop:
    """One polyline of contacts: a curve in which two surfaces cross, or the outline of where they lie on each other.

    Examples
    --------
    >>> import numpy as np
    >>> import impinge
    >>> from impinge import shapes
    >>> cube, above = shapes.box(2, 2, 2), np.eye(4)
    >>> above[2, 3] = 2.0  # one stands on the other
    >>> (loop,) = impinge.contacts(cube, cube, None, above).loops(cube, cube, None, above)
    >>> loop.closed, len(loop.points), loop.length
    (True, 4, 8.0)
    """

    pose: int
    """Index into the flattened batch of poses."""
    region: int
    """Polylines of one region hang together; regions are numbered from 0 by their first contact, over all poses."""
    points: Floats
    """(k, 3) corners in order; a closed polyline does not repeat the first, a single point is one corner."""
    closed: bool
    """Whether the last corner is joined to the first."""
    contacts: NDArray[np.int64]
    """(m,) the contacts along it in order, as indices into Contacts; more than one for a segment where faces meet."""
    segment: NDArray[np.int64]
    """(m,) the segment that each of them has: from points[segment] to the next corner."""

    @property
    def length(self) -> float:
        """The length of the polyline."""
        steps = np.diff(self.points, axis=0, append=self.points[: 1 if self.closed else 0])
        return float(np.linalg.norm(steps, axis=1).sum())

    def __repr__(self) -> str:
        what = "closed" if self.closed else "open"
        return f"ContactLoop({what}, {len(self.points)} points, {len(self.contacts)} contacts)"


class FeatureKind(IntEnum):
    """The kinds of features of a convex hull.

    Examples
    --------
    >>> import impinge
    >>> cube = impinge.ConvexHull(impinge.shapes.box(1, 1, 1))
    >>> impinge.distance(cube, impinge.ConvexHull([[0, 0, 2]])).feature_a.kind.name
    'FACE'
    """

    VERTEX = 0
    """A corner."""
    EDGE = 1
    """The segment between two corners."""
    FACE = 2
    """A plane polygon."""
    INSIDE = 3
    """The interior: the bodies meet, and no feature is nearest."""


@dataclass(frozen=True, eq=False, init=False)
class Feature:
    """The feature of a convex hull on which a witness point lies; arrays have the leading shape of the poses.

    Examples
    --------
    >>> import numpy as np
    >>> import impinge
    >>> from impinge import shapes
    >>> hull, aside = impinge.ConvexHull(shapes.box(2, 2, 2)), np.eye(4)
    >>> aside[:3, 3] = 3.0, 1.0, 0.5
    >>> impinge.distance(hull, hull, None, aside).feature_a.kind
    <FeatureKind.FACE: 2>
    """

    kind: FeatureKind | NDArray[np.int8]
    """One FeatureKind, or an array of their numbers; INSIDE where the bodies meet."""
    index: int | NDArray[np.int32]
    """The row of ``hull.vertices`` or ``hull.edges``, or the place in ``hull.faces``; -1 where the bodies meet."""

    def __init__(self, kind: FeatureKind | NDArray[np.int8], index: int | NDArray[np.int32]) -> None:
        self.__dict__.update(kind=kind, index=index)  # see Distance


@dataclass(frozen=True, eq=False, init=False)
class Distance:
    """The smallest distance and two witness points that have it; every array has the leading shape of the poses.

    Examples
    --------
    >>> import numpy as np
    >>> import impinge
    >>> from impinge import shapes
    >>> cube, above = shapes.box(1, 1, 1), np.eye(4)
    >>> above[2, 3] = 3.0
    >>> found = impinge.distance(cube, cube, None, above)
    >>> float(found.value), float(found.point_a[2]), float(found.point_b[2])
    (2.0, 0.5, 2.5)
    """

    value: np.float64 | Floats
    """The distance; 0 where the bodies meet."""
    point_a: Floats
    """(..., 3) on face_a (for a nested solid: a vertex of the inner body)."""
    point_b: Floats
    """(..., 3) on face_b (for a nested solid: the same point)."""
    face_a: int | np.int32 | NDArray[np.int32]
    """The triangle of a mesh or the face of a hull; -1 where the point is inside a solid and on none of its faces.

    Of ConvexPieces it is the number of the piece, also where the bodies meet.
    """
    face_b: int | np.int32 | NDArray[np.int32]
    """The same of b."""
    feature_a: Feature | None
    """The feature with point_a, where both bodies are convex hulls (or pieces: it is one of the piece)."""
    feature_b: Feature | None
    """The same of b."""

    def __init__(
        self,
        value: np.float64 | Floats,
        point_a: Floats,
        point_b: Floats,
        face_a: int | np.int32 | NDArray[np.int32],
        face_b: int | np.int32 | NDArray[np.int32],
        feature_a: Feature | None = None,
        feature_b: Feature | None = None,
    ) -> None:
        # All at once: attribute by attribute a frozen dataclass takes 1.2 us, as long as the distance of two boxes.
        self.__dict__.update(
            value=value, point_a=point_a, point_b=point_b, face_a=face_a, face_b=face_b,
            feature_a=feature_a, feature_b=feature_b,
        )  # fmt: skip

    @staticmethod
    def of_hulls(nearest: Floats) -> Distance:
        """Of two convex hulls in one pose: value, two points, and six int32 in the bytes of three numbers.

        All but the value is kept as bytes until it is read, which saves a third of the call.
        """
        found = object.__new__(Distance)
        fields = found.__dict__
        fields["value"] = nearest[0]
        fields["_nearest"] = nearest.tobytes()
        return found

    def __getattr__(self, name: str) -> Any:
        """Called for what is not there yet."""
        nearest = self.__dict__.get("_nearest")
        if nearest is None or name not in _PARTS_OF_HULLS:
            raise AttributeError(name)
        points = np.frombuffer(nearest, count=7)[1:].copy()
        kind_a, index_a, face_a, kind_b, index_b, face_b = np.frombuffer(nearest, np.int32, offset=56).tolist()
        feature_a, feature_b = Feature(_KINDS[kind_a], index_a), Feature(_KINDS[kind_b], index_b)
        parts = (points[:3], points[3:], face_a, face_b, feature_a, feature_b)
        self.__dict__.update(zip(_PARTS_OF_HULLS, parts, strict=True))
        return self.__dict__[name]


_KINDS = tuple(FeatureKind)
_PARTS_OF_HULLS = ("point_a", "point_b", "face_a", "face_b", "feature_a", "feature_b")


@dataclass(frozen=True, eq=False)
class Penetration:
    """The penetration depth of two convex bodies; every array has the leading shape of the poses.

    It is the distance from the origin to the boundary of the Minkowski difference of the bodies.

    Examples
    --------
    >>> import numpy as np
    >>> import impinge
    >>> from impinge import shapes
    >>> hull, aside = impinge.ConvexHull(shapes.box(2, 2, 2)), np.eye(4)
    >>> aside[0, 3] = 1.75
    >>> deep = impinge.penetration(hull, hull, None, aside)
    >>> float(deep.depth), deep.direction.tolist()
    (0.25, [-1.0, 0.0, 0.0])
    """

    depth: np.float64 | Floats
    """The length of the shortest way out: 0 where the bodies are apart, or only touch."""
    direction: Floats
    """(..., 3) the unit vector from b to a along which a must move by the depth (or b by as much the other way)."""
    point_a: Floats
    """(..., 3) the point of a that lies deepest in b; where they are apart, the nearest one."""
    point_b: Floats
    """(..., 3) the same of b: ``point_b - point_a = depth * direction``."""
    lower: np.float64 | Floats
    """A certain lower bound of the depth."""
    upper: np.float64 | Floats
    """A certain upper bound of the depth."""
    method: str
    """The name of the method that found it."""


class RelationKind(IntEnum):
    """How two solids lie to each other.

    Examples
    --------
    >>> import impinge
    >>> cube = impinge.shapes.box(1, 1, 1)
    >>> impinge.relation(cube, cube).kind is impinge.RelationKind.EQUAL
    True
    """

    APART = 0
    """No common point."""
    TOUCHING = 1
    """Common points, but no common interior."""
    OVERLAPPING = 2
    """A common interior, and neither contains the other."""
    A_INSIDE_B = 3
    """a is a part of b."""
    B_INSIDE_A = 4
    """b is a part of a."""
    EQUAL = 5
    """The same set of points."""


@dataclass(frozen=True, eq=False)
class Relation:
    """How two solids lie to each other; compares equal to a RelationKind, elementwise for a batch.

    The members of RelationKind are attributes of this class too.

    Examples
    --------
    >>> import impinge
    >>> from impinge import shapes
    >>> found = impinge.relation(shapes.box(3, 3, 3), shapes.box(1, 1, 1))
    >>> found == impinge.Relation.B_INSIDE_A, found.kind.name, bool(found.touching)
    (True, 'B_INSIDE_A', False)
    """

    kind: RelationKind | NDArray[np.int8]
    """One RelationKind, or an array of their numbers with the leading shape of the poses."""
    touching: np.bool_ | NDArray[np.bool_]
    """Whether the boundaries have a common point."""

    APART: ClassVar = RelationKind.APART
    TOUCHING: ClassVar = RelationKind.TOUCHING
    OVERLAPPING: ClassVar = RelationKind.OVERLAPPING
    A_INSIDE_B: ClassVar = RelationKind.A_INSIDE_B
    B_INSIDE_A: ClassVar = RelationKind.B_INSIDE_A
    EQUAL: ClassVar = RelationKind.EQUAL

    def __eq__(self, other: object) -> bool | NDArray[np.bool_]:  # type: ignore[override]
        same: bool | NDArray[np.bool_] = self.kind == (other.kind if isinstance(other, Relation) else other)
        if isinstance(other, Relation):
            same = same & (self.touching == other.touching)
        return same

    __hash__ = None  # type: ignore[assignment]
