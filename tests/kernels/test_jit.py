"""Kernels: few that Python calls, each for one signature, and compiled only when needed."""

from __future__ import annotations

import importlib
import pickle
import pkgutil
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import types

import impinge
from impinge.broadphase.body_boxes.body_boxes import BodyBoxes
from impinge.broadphase.choice import MEMBERS, broad_phase
from impinge.bvh.build.box_fit import FITS
from impinge.bvh.volumes.aabb import AABBTree
from impinge.bvh.volumes.obb import SPLITS, OBBTree
from impinge.bvh.volumes.sphere import SphereTree
from impinge.incremental.hierarchy.box_updates import world_boxes
from impinge.incremental.hierarchy.options import Hierarchy
from impinge.incremental.incremental_search import hierarchy_of
from impinge.incremental.solids.solid_features import solid_features
from impinge.kernels.mode import without_compiler
from impinge.kernels.with_numba.cache import cache_directory
from impinge.lab.hard_input import random_pose
from impinge.lab.scenes.shapes import box

Python = Callable[..., subprocess.CompletedProcess[str]]

needs_jit = pytest.mark.skipif(without_compiler(), reason="nothing is compiled in this lane")

ENTRY_KERNELS = {
    # method="brute": collides 1, contacts 1, distance 1, closer_than 1, relation 2.
    "impinge.queries.methods.brute_force": 6,
    # Where contacts are, for every method.
    "impinge.queries.contact_construction": 1,
    # A world: where objects are put; boxes, and all pairs of them; rows of pairs; hulls; red features of hulls that
    # overlap; trees; all of it for many configurations.
    "impinge.world.placing": 1,
    "impinge.world.stages": 2 + 1 + 1 + 1 + 1 + 1,
    # Questions: collides, contacts, distance and closer_than for each of three volumes.  Building: division of the
    # triangles 1, nodes over a division made in Python 1, volumes of three kinds.  Solids: what is inside, cells.
    # All questions about convex pieces 1.
    "impinge.bvh": 4 * 3 + 2 + 3 + 2 + 1,
    # Contacts, distances, boxes of all nodes, trimmed faces, regions; caps by triangulation of boundary vertices.
    "impinge.incremental": 5 + 1,
    # All questions about two hulls 1, penetration 1.  Hulls: points to polygons, sides of planes; red features:
    # proposed, decided; feature graph: neighbours, normals, planes.
    "impinge.convex": 2 + 2 + 2 + 3,
    # Boxes checked, sets of pairs compared, changed, listed and edited.  Brute force 1; sweep and prune: sorting, new
    # objects; spatial hash: sizes, from scratch, with coherence, removals, more room; tree: order, fit, overlaps within
    # and between, for a box, for a ray; its list: reach, motion, listing, what has left, what overlaps, merging.
    # Boxes of bodies 3.
    "impinge.broadphase": 5 + 1 + 2 + 5 + 6 + 6 + 3,
}
"""How many there are in a package or module.  Each costs seconds of the first compile: raise one only with a reason."""

COLD_QUESTIONS = {"collides": 3, "contacts": 4, "distance": 4, "closer_than": 3}
"""How many entry kernels a first question compiles: two to build the tree, one to answer, one for points of contact."""


def modules_of(name: str) -> list[Any]:
    module = importlib.import_module(name)
    if not hasattr(module, "__path__"):
        return [module]
    return [importlib.import_module(info.name) for info in pkgutil.walk_packages(module.__path__, f"{name}.")]


def entry_kernels(*places: str) -> dict[str, Any]:
    """The compiled functions in some packages or modules that can be called from Python."""
    return {
        f"{module.__name__}.{name}": thing
        for place in places or ENTRY_KERNELS
        for module in modules_of(place)
        for name, thing in vars(module).items()
        if hasattr(thing, "py_func")
        and thing.py_func.__module__ == module.__name__
        and not thing.targetoptions.get("no_cpython_wrapper")
    }


@needs_jit
@pytest.mark.parametrize("place", ENTRY_KERNELS)
def test_number_of_entry_kernels_is_watched(place: str) -> None:
    kernels = entry_kernels(place)
    assert len(kernels) == ENTRY_KERNELS[place], sorted(kernels)
    for kernel in kernels.values():
        assert kernel.targetoptions["nogil"]
        assert not kernel.targetoptions.get("fastmath")
        assert not kernel.targetoptions.get("parallel")


@cache
def call_all_kernels() -> None:
    """With poses of whatever layout, writability or number."""
    rng = np.random.default_rng(1)
    cube = box(1, 1, 1)
    copied = impinge.Mesh(cube.vertices * 0.5, cube.faces)
    batch = np.array([random_pose(rng) for _ in range(3)])
    closed = batch.copy()
    closed.flags.writeable = False
    pair = impinge.Pair(cube, copied)
    kept = impinge.Pair(cube, copied, "incremental", region="walk")
    single = batch[0]
    for poses in (
        (), (None, batch), (batch,), (batch, batch), (closed,), (np.asfortranarray(batch), closed[:1]),
        (single,), (closed[0], np.eye(4)), (single.tolist(), batch[1:]), (np.float32(batch * 0 + np.eye(4)),),
    ):  # fmt: skip
        for a, b in ((cube, copied), (copied, cube)):
            for method in ("obb", "incremental", "brute"):
                impinge.collides(a, b, *poses, method=method)
                impinge.contacts(a, b, *poses, method=method, workers=2)
                impinge.contacts(a, b, *poses, method=method, max_contacts=2)
                impinge.distance(a, b, *poses, method=method)
                impinge.closer_than(a, b, 1, *poses, method=method, workers=2)
                impinge.relation(a, b, *poses, method=method)
            list(impinge.contact_stream(a, b, *poses))
        pair.collides(*poses)
        pair.contacts(*poses)
        pair.distance(*poses)
        pair.closer_than(0.5, *poses)
        kept.contacts(*poses), kept.distance(*poses)
    world_boxes(hierarchy_of(cube, Hierarchy(threshold=1, faces="trimmed")), single)
    for mesh in (cube, copied, *pickle.loads(pickle.dumps((cube, copied)))):
        for fit in FITS:
            for split in SPLITS:
                OBBTree(mesh, fit, split)
        AABBTree(mesh), SphereTree(mesh)
    hulls = impinge.ConvexHull(cube), impinge.ConvexHull(copied)
    pieces = tuple(impinge.ConvexPieces([hull]) for hull in hulls)
    for poses in ((), (None, batch), (closed,), (np.asfortranarray(batch), closed[:1]), (single,), (single.tolist(),)):
        for method in ("auto", "gjk", "vclip", "lin-canny"):
            impinge.collides(*hulls, *poses, method=method)
            impinge.distance(*hulls, *poses, method=method)
            impinge.closer_than(*hulls, 1, *poses, method=method, workers=2)
            impinge.penetration(*hulls, *poses, method=method)
        impinge.collides(*pieces, *poses)
        impinge.distance(*pieces, *poses)
        impinge.closer_than(*pieces, 1, *poses)
    for mesh in (cube, copied):
        for faces in (mesh.faces[1:], np.asfortranarray(mesh.faces[2:]), mesh.faces[3:].tolist()):
            solid_features(impinge.Mesh(mesh.vertices, faces), caps="triangulation")
    for kind in ("tight", "cubes", "vertices"):
        for axes in (None, [[1, 1, 0], [0, 1, 1]]):
            body_boxes = BodyBoxes([cube, copied, cube], kind=kind, axes=axes)
            for some in (batch, closed, np.asfortranarray(batch), batch.tolist(), np.float32(batch * 0 + np.eye(4))):
                body_boxes.boxes(some)
            BodyBoxes([], kind=kind, axes=axes).boxes(batch[:0])
    for tracked in ("gjk", "vclip"):
        world = impinge.World(hulls=tracked)
        for body in (cube, copied, *hulls):
            world.add(body, single)
        for some in (np.repeat(closed[:1], 4, axis=0), [np.eye(4).tolist()] * 4, np.float32(np.stack([np.eye(4)] * 4))):
            world.set_poses(some)
            for query in ("collides", "contacts", "distance", "closer_than"):
                world.detect(query)
        world.detect(poses=np.stack([each.pose for each in world])[None])
        world.move(0, closed[1])
    boxes = rng.uniform(size=(5, 2, 3)).cumsum(axis=1)
    closed_boxes = boxes[:3].copy()
    closed_boxes.flags.writeable = False
    for member in MEMBERS:
        broad = broad_phase(member, margin=0)
        fixed = broad.add(closed_boxes, fixed=True)
        for more in (boxes, closed_boxes, boxes[0].tolist(), np.asfortranarray(boxes), np.float32(boxes), boxes[:0]):
            broad.add(more)
            broad.update()
            broad.remove(broad.ids[-1])
            broad = pickle.loads(pickle.dumps(broad))
        movable = ~np.isin(broad.ids, fixed)
        broad.update(np.float32(broad.boxes[movable]))
        broad.update(closed_boxes, broad.ids[movable][:3])
        broad.add(np.repeat(closed_boxes, 20, axis=0))
        broad.update()
        for shift in (1.0, 2.0):
            broad.update(broad.boxes[~np.isin(broad.ids, fixed)] + shift)
        broad.update(closed_boxes[:1], broad.ids[-1:])
        broad.overlapping(closed_boxes[0])
        broad.along_ray(closed_boxes[0, 0], [1, 0, 0], 3)


@needs_jit
def test_each_entry_kernel_is_compiled_for_one_signature_only() -> None:
    """Another signature is another compilation."""
    call_all_kernels()
    numbers = {name: len(kernel.signatures) for name, kernel in entry_kernels().items()}
    assert max(numbers.values()) == 1, numbers
    # The questions for the other two volumes: see tests/bvh/test_search.py.
    assert {name.split(".")[-2] for name, count in numbers.items() if count == 0} <= {"aabb_kernels", "sphere_kernels"}


@needs_jit
def test_kernels_are_called_with_what_they_declare() -> None:
    """The library has a kernel for these types only."""
    from impinge.kernels.with_numba.compiler import declared_kernels, writable

    call_all_kernels()
    compared = 0
    for name, kernel in entry_kernels().items():
        for arguments in kernel.overloads:
            assert tuple(map(writable, arguments)) == declared_kernels[name].arguments, name
            compared += 1
    assert compared >= 50


@needs_jit
def test_arrays_that_no_library_would_take_are_refused() -> None:
    from impinge.broadphase.boxes import first_bad_box

    rows = np.zeros((3, 6))
    for wrong in (np.asfortranarray(rows), rows[:, ::2], np.float32(rows), rows[0]):
        with pytest.raises(TypeError, match=r"argument 0 of the kernel [\w.]+first_bad_box is not"):
            first_bad_box(wrong)


def is_made_without_python_code(kind: Any) -> bool:
    """Whether what a kernel returns becomes a Python object in C alone; for NamedTuples their class is called."""
    if type(kind) in (types.Tuple, types.UniTuple):
        return all(is_made_without_python_code(part) for part in kind)
    if type(kind) is types.Array:
        return kind.box_type is np.ndarray
    return isinstance(kind, (types.Integer, types.Float, types.Boolean, types.NoneType))


@needs_jit
def test_what_kernels_return_is_made_without_python_code() -> None:
    """Where a signal that is pending would raise, see tests/kernels/test_signals.py."""
    call_all_kernels()
    returned = {
        name: compiled.signature.return_type
        for name, kernel in entry_kernels().items()
        for compiled in kernel.overloads.values()
    }
    assert len(returned) >= 50  # those of other volumes are only there if other tests have compiled them
    assert [name for name, kind in returned.items() if not is_made_without_python_code(kind)] == []


FIRST_QUESTION = """
import numpy as np
from numba.core import event

class Counter(event.Listener):
    names = []
    def on_start(self, happening):
        function, options = happening.data["dispatcher"].py_func, happening.data["dispatcher"].targetoptions
        if not options.get("no_cpython_wrapper") and function.__module__.startswith("impinge."):
            Counter.names.append(function.__name__)
    def on_end(self, happening):
        pass

event.register("numba:compile", Counter())
import impinge
mesh = impinge.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
away = np.eye(4)
away[2, 3] = 0.0
impinge.{verb}(mesh, mesh, {more})
print(*Counter.names)
"""


@needs_jit
@pytest.mark.long
@pytest.mark.parametrize("verb", COLD_QUESTIONS)
def test_the_first_question_compiles_only_what_it_needs(verb: str, tmp_path: Path, python: Python) -> None:
    program = FIRST_QUESTION.format(verb=verb, more="1.0" if verb == "closer_than" else "None")
    names = python(program, IMPINGE_CACHE_DIR=str(tmp_path)).stdout.split()
    assert len(names) == len(set(names)) <= COLD_QUESTIONS[verb], names
    assert python(program, IMPINGE_CACHE_DIR=str(tmp_path)).stdout.split() == []


@needs_jit
def test_surfaces_do_not_need_the_kernels_of_solids(python: Python) -> None:
    program = (
        "import sys, impinge\n"
        "mesh = impinge.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])\n"
        "impinge.collides(mesh, mesh), impinge.contacts(mesh, mesh)\n"
        "print('impinge.geometry.solids.cells' in sys.modules)"
    )
    assert python(program, IMPINGE_CACHE_DIR=str(cache_directory.parent)).stdout.strip() == "False"
