"""Fill the kernel cache ahead of time, in two processes.

Compilation is serial within a process.  So the kernels that search through trees, which are known by their
arguments alone, are compiled by a second process meanwhile, and are then taken from the cache.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module

import numpy as np

from impinge.bvh.search import tree_handle_of
from impinge.kernels.jit import address_of_kernel, kernels_are_compiled
from impinge.mesh.mesh import Mesh
from impinge.results import ContactKind

VERBS = {
    "collides": ("trees", "collides", "solids"),
    "contacts": ("trees", "contacts", "construction"),
    "distance": ("trees", "distance", "construction", "solids"),
    "closer_than": ("trees", "closer_than", "solids"),
    "relation": ("trees", "contacts", "solids"),
    "penetration": ("hulls", "closest", "pieces", "penetration"),
    "broad_phase": ("hulls", "broad phases", "boxes"),
    "check": ("trees", "construction", "solids", "distance", "contacts", "single frame"),
    "incremental": (
        "trees", "hulls", "closest", "penetration", "construction", "solids", "hierarchies", "sweep", "nearest", "caps",
    ),
    "World": (
        "trees", "construction", "solids", "collides", "distance", "contacts", "closer_than", "hulls", "closest",
        "broad phases", "boxes", "world",
    ),
}  # fmt: skip
"""Which parts are behind each verb; those of penetration serve all queries of convex hulls and pieces.

``check`` is the command, for few parts and with a clearance.
"""

_TETRAHEDRON = Mesh(
    [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]],
    [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]],
    solid=True,
)
_AT_REST = np.eye(4)[None]
_SAME_FACE = np.array([[0, 0, 0, ContactKind.COPLANAR]])


def _compile_trees() -> None:
    tree_handle_of(_TETRAHEDRON)


def _compile_construction() -> None:
    from impinge.queries.contact_columns import constructed

    constructed(_TETRAHEDRON, _TETRAHEDRON, _AT_REST, _AT_REST, _SAME_FACE)


def _compile_solids() -> None:
    from impinge.bvh.solids.inside_tests import TreeSolids

    solids = TreeSolids(_TETRAHEDRON, _TETRAHEDRON)
    solids.cells_at_contacts(_AT_REST, _AT_REST, _SAME_FACE, np.zeros(1, dtype=np.int64))
    solids.pieces_inside(0, np.zeros(1, dtype=np.int64), _AT_REST, _AT_REST, np.zeros((1, 1), dtype=np.bool_))


def _compile_hulls() -> None:
    from impinge.convex.hull.convex_hull import ConvexHull
    from impinge.convex.hull.feature_graph import feature_graph

    feature_graph(ConvexHull(_TETRAHEDRON))


def _compile_broad_phases() -> None:
    from impinge.broadphase.choice import MEMBERS, broad_phase

    many, one = np.zeros((40, 2, 3)), np.zeros((1, 2, 3))
    for name in MEMBERS:
        broad = broad_phase(name)
        broad.add(one, fixed=True)
        broad.add(many)
        broad.update()
        broad.update(many + 1.0)
        broad.update(one, ids=[1])
        broad.along_ray([0, 0, 0], [1, 1, 1])
        broad.remove(1)
        broad.update()


def _compile_boxes() -> None:
    from impinge.broadphase.body_boxes.body_boxes import BodyBoxes

    for kind in ("tight", "cubes", "vertices"):
        BodyBoxes([_TETRAHEDRON], kind=kind).boxes(_AT_REST)


def _compile_world() -> None:
    from impinge.world.world import World

    world = World(hulls="vclip")  # with the stage of features
    for _ in range(2):
        world.add(_TETRAHEDRON)
    for query in ("collides", "contacts", "distance", "closer_than"):
        world.detect(query)
    world.detect(poses=np.repeat(_AT_REST, 2, axis=0)[None])
    world.set_poses(np.repeat(_AT_REST, 2, axis=0))


def _compile_single_frame() -> None:
    from impinge.world.world import World

    world = World("brute", hulls=None)
    for _ in range(2):
        world.add(_TETRAHEDRON)
    world.detect("distance", within=1.0)


def _compile_caps() -> None:
    from impinge.incremental.solids.solid_features import solid_features

    solid_features(Mesh(_TETRAHEDRON.vertices, _TETRAHEDRON.faces[1:]), caps="triangulation")


def _compile_hierarchies() -> None:
    from impinge.convex.hull.convex_hull import ConvexHull
    from impinge.incremental.hierarchy.box_updates import world_boxes
    from impinge.incremental.hierarchy.options import Hierarchy
    from impinge.incremental.incremental_search import hierarchy_of
    from impinge.incremental.regions.penetration_region import PenetrationRegion

    world_boxes(hierarchy_of(_TETRAHEDRON, Hierarchy(threshold=1, faces="trimmed")))
    hull = ConvexHull(_TETRAHEDRON)
    PenetrationRegion(hull, hull).region()


def _kernel(module: str, name: str) -> Callable[[], None]:
    return lambda: address_of_kernel(getattr(import_module(module), name))


def _search(name: str) -> Callable[[], None]:
    return _kernel("impinge.bvh.volumes.obb_kernels", name)


PARTS: dict[str, Callable[[], None]] = {
    "trees": _compile_trees,
    "construction": _compile_construction,
    "solids": _compile_solids,
    "collides": _search("collides"),
    "hulls": _compile_hulls,
    "pieces": _kernel("impinge.bvh.pieces.pieces_kernels", "ask_all"),
    "broad phases": _compile_broad_phases,
    "boxes": _compile_boxes,
    "caps": _compile_caps,
    # By the second process meanwhile:
    "closest": _kernel("impinge.convex.closest", "closest"),
    "distance": _search("distance"),
    "contacts": _search("contacts"),
    "closer_than": _search("closer_than"),
    "penetration": _kernel("impinge.convex.penetration.epa", "epa_depths"),
    "sweep": _kernel("impinge.incremental.sweep.hierarchical_sweep", "sweep_contacts"),
    "nearest": _kernel("impinge.incremental.nearest_descent", "nearest_faces"),
    # These call kernels of the second process:
    "hierarchies": _compile_hierarchies,
    "world": _compile_world,
    "single frame": _compile_single_frame,
}

_MEANWHILE = ("closest", "distance", "contacts", "closer_than", "penetration", "sweep", "nearest")
"""Compiled by the second process: a little less than half of the work."""


def would_help() -> bool:
    """Whether kernels are compiled on this machine, and none of them is kept yet."""
    if not kernels_are_compiled():
        return False
    from impinge.kernels.with_numba.cache import cache_was_empty

    return cache_was_empty


def _only_our_progress() -> AbstractContextManager[None]:
    from impinge.kernels.with_numba.compiler import without_progress_line

    return without_progress_line()


def compile_everything(
    progress: Callable[[int, int], None] | None = None, verbs: tuple[str, ...] = tuple(VERBS)
) -> None:
    """Compile the kernels behind the named verbs; ``progress(done, total)`` tells of the parts."""
    show = progress or (lambda done, total: None)
    needed = {part for verb in verbs for part in VERBS[verb]}
    parts = [name for name in PARTS if name in needed]
    meanwhile = [name for name in parts if name in _MEANWHILE]
    command = [sys.executable, "-m", "impinge.apps.warmup", *meanwhile]
    with _only_our_progress() if progress and kernels_are_compiled() else nullcontext():
        show(0, len(parts))
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as helper:
            try:
                for done, name in enumerate(parts, start=1):
                    if name in meanwhile:
                        helper.wait()
                    PARTS[name]()
                    show(done, len(parts))
            finally:
                helper.terminate()


if __name__ == "__main__":
    for _name in sys.argv[1:]:
        PARTS[_name]()
