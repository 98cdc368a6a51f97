"""``method="incremental"``: queries about two meshes by hierarchical sweep and prune over boxes that follow them."""

from __future__ import annotations

from impinge.convex.hull.convex_hull import ConvexHull
from impinge.incremental.frame_memory import Memory
from impinge.incremental.hierarchy.options import Hierarchy
from impinge.incremental.incremental_search import MOST_SUBSETS, IncrementalSearch, Regions, hierarchy_of
from impinge.incremental.regions.dual_region import DualRegion
from impinge.incremental.regions.penetration_region import PenetrationRegion
from impinge.incremental.solids.solid_features import coarse_subsets, solid_features
from impinge.mesh.mesh import Mesh
from impinge.queries.method import Method
from impinge.queries.methods.bvh import BVH

REGIONS: dict[str, type[Regions] | None] = {"none": None, "walk": PenetrationRegion, "dual": DualRegion}
"""How the region is found in which the hulls interpenetrate.

None by default: for two interlocked tori of 384 triangles a region takes about a millisecond, ten times the whole
search, and spares it 7 percent of the box tests.
"""


class Incremental(BVH):
    """Two meshes with hierarchies of boxes; their trees tell what is inside of what."""

    def __init__(self, a: Mesh, b: Mesh, memory: IncrementalSearch | None = None) -> None:
        super().__init__(a, b, memory or IncrementalSearch(hierarchy_of(a), hierarchy_of(b)))

    # What one pose takes is not worth a shorter way.
    collides_once = Method.collides_once
    closer_than_once = Method.closer_than_once
    distance_once = Method.distance_once
    contacts_once = Method.contacts_once

    @classmethod
    def new_memory(  # type: ignore[override]
        cls, a: Mesh, b: Mesh, hierarchy: Hierarchy | None = None, region: str = "none"
    ) -> IncrementalSearch:
        """Sorted lists of boxes, kept from query to query.

        Parameters
        ----------
        hierarchy
            How the boxes over the faces are arranged.
        region
            How the region is found in which the hulls interpenetrate: "none", "walk" or "dual".
        """
        if region not in REGIONS:
            raise ValueError(f"region {region!r} is not one of {', '.join(REGIONS)}")
        both = hierarchy_of(a, hierarchy), hierarchy_of(b, hierarchy)
        found_by = REGIONS[region]
        regions = found_by(ConvexHull(a), ConvexHull(b)) if found_by else None
        return IncrementalSearch(*both, Memory(*both), regions)

    @staticmethod
    def problems(a: Mesh, b: Mesh) -> tuple[str, ...]:
        """What of the method's assumptions does not hold for these bodies; answers are right all the same.

        The features of a body are told apart on a closed surface without overlaps.  Subsets of faces are a partition of
        any polygon soup, so nothing is lost where that fails; where there are too many of them to be of use, one
        hierarchy over all faces takes their place.
        """
        said = []
        for name, mesh in (("a", a), ("b", b)):
            said += [f"{name}: {problem}" for problem in solid_features(mesh).problems]
            if (subsets := len(coarse_subsets(mesh))) > MOST_SUBSETS:
                said.append(f"{name}: {subsets} subsets of faces; one hierarchy over all faces is used")
        return tuple(said)
