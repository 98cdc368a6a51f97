"""Pair with ``method="incremental"``: sorted lists of boxes are kept from question to question."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from impinge.bodies import Body, as_meshes
from impinge.convex.hull.convex_hull import ConvexHull
from impinge.incremental.frame_memory import Memory
from impinge.incremental.hierarchy.options import Hierarchy
from impinge.incremental.incremental_search import (
    MOST_SUBSETS,
    IncrementalSearch,
    Regions,
    SweepStatistics,
    handle_of,
)
from impinge.incremental.regions.dual_region import DualRegion
from impinge.incremental.regions.penetration_region import PenetrationRegion
from impinge.incremental.solids.solid_features import coarse_subsets, solid_features
from impinge.queries.methods.incremental import IncrementalMethod
from impinge.queries.pair import Pair

if TYPE_CHECKING:
    from impinge.queries.methods.bvh import TreeMethod

REGIONS: dict[str, type[Regions] | None] = {"none": None, "walk": PenetrationRegion, "dual": DualRegion}
"""How the region is found in which the hulls interpenetrate.

None by default: for two interlocked tori of 384 triangles a region takes about a millisecond, ten times the whole
search, and spares it 7 percent of the box tests.
"""


class IncrementalPair(Pair):
    """What ``Pair(a, b, method="incremental")`` is; here the hierarchy and the region can be chosen.

    >>> from impinge.lab.scenes.shapes import torus
    >>> ring = torus(1.0, 0.3)
    >>> pair = IncrementalPair(ring, ring, hierarchy=Hierarchy("median", cuts=((3, 2, 2), (2, 2, 2)), levels=2))
    >>> len(pair.contacts()) == len(Pair(ring, ring).contacts())
    True
    """

    def __new__(
        cls, a: Body, b: Body, method: str = "incremental", hierarchy: Hierarchy | None = None, region: str = "none"
    ) -> IncrementalPair:
        return object.__new__(cls)

    def __init__(
        self, a: Body, b: Body, method: str = "incremental", hierarchy: Hierarchy | None = None, region: str = "none"
    ) -> None:
        if method != "incremental":
            raise ValueError(f"method is {method!r}; an IncrementalPair has 'incremental' only")
        if region not in REGIONS:
            raise ValueError(f"region {region!r} is not one of {', '.join(REGIONS)}")
        self.a, self.b = as_meshes(a, b)
        self.hierarchy = hierarchy or Hierarchy()
        self.region = region
        self._handles = handle_of(self.a, self.hierarchy), handle_of(self.b, self.hierarchy)
        # Taken out while a thread uses it (pop is atomic), and put back after an answer: what an interrupt has left
        # half done is not used again.  Who finds nothing makes a new one.
        self._kept = [self._new_memory()]
        self._memory = []  # no fronts of trees: the verbs go the general way
        self.statistics = SweepStatistics(0, 0, 0, 0, 0)

    def _new_memory(self) -> tuple[Memory, Regions | None]:
        way = REGIONS[self.region]
        return Memory(*self._handles), way(ConvexHull(self.a), ConvexHull(self.b)) if way else None

    @property
    def problems(self) -> tuple[str, ...]:
        """What of the method's assumptions does not hold for these bodies; answers are right all the same.

        The features of a body are told apart on a closed surface without overlaps.  Subsets of faces are a partition of
        any polygon soup, so nothing is lost where that fails; where there are too many of them to be of use, one
        hierarchy over all faces takes their place.
        """
        said = []
        for name, mesh in (("a", self.a), ("b", self.b)):
            said += [f"{name}: {problem}" for problem in solid_features(mesh).problems]
            if (subsets := len(coarse_subsets(mesh))) > MOST_SUBSETS:
                said.append(f"{name}: {subsets} subsets of faces; one hierarchy over all faces is used")
        return tuple(said)

    @contextmanager
    def _method(self) -> Iterator[TreeMethod]:
        try:
            kept = self._kept.pop()
        except IndexError:
            kept = self._new_memory()
        search = IncrementalSearch(*self._handles, *kept)
        yield IncrementalMethod(self.a, self.b, search)
        self.statistics = search.statistics
        self._kept.append(kept)

    def __reduce__(self) -> tuple[Callable[..., Pair], tuple[Any, ...]]:
        return IncrementalPair, (self.a, self.b, "incremental", self.hierarchy, self.region)

    def __repr__(self) -> str:
        return f"Pair({self.a!r}, {self.b!r}, 'incremental')"
