"""Tree: the base class of all bounding volume hierarchies.

An eight-wide tree over the n triangles of a mesh.  ``ref = node * 8 + slot`` names a slot.  Node 0 is a pseudo
root: only its slot 0 is used, and its volume bounds everything.  A node stands behind the node that refers to it.

The volumes are float32 numbers in local coordinates, (x - origin) / unit, which are at most one in magnitude.  Taken
as exact numbers they hold every vertex below them, in exact local coordinates: they are rounded outward, and
``validate`` checks it without error.
"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from abc import ABC, abstractmethod
from fractions import Fraction
from pathlib import Path
from typing import ClassVar, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Bools, Floats, Ints
from impinge.bvh.layout import EMPTY, WIDTH
from impinge.mesh.mesh import Mesh

AnyTree = TypeVar("AnyTree", bound="Tree")
Singles = NDArray[np.float32]
Triple = tuple[Fraction, Fraction, Fraction]

_FORMAT = 1
_AT_ONCE = 1 << 14  # triangles that validate checks together: their numbers stay in the cache
_ARRAYS = {"origin": np.float64, "order": np.int32, "child": np.int32, "slots": np.int32} | dict.fromkeys(
    ("corners", "rows"), np.float32
)


class Tree(ABC):
    """The arrays of a tree; subclasses say what its volumes are and build it."""

    ROWS: ClassVar[int]
    """Numbers of a volume."""

    origin: Floats
    """(3,) the middle of the bounds of the mesh."""
    unit: float
    """A power of two above every |vertex - origin| coordinate."""
    order: Ints
    """(n,) the face of the mesh at each place of tree order."""
    triangles: Floats
    """(n, 3, 3) the triangles in tree order, in the coordinates of the mesh."""
    child: Ints
    """(8 N,) an inner node if >= 0; EMPTY if the slot is not used; else ~i, the triangle at place i of tree order."""
    slots: Ints
    """(N,) the used slots in bits 8 to 15, those that hold a triangle in bits 0 to 7."""
    corners: Singles
    """(N, 9, 8) local coordinates of the triangles in the slots, row 3 * vertex + axis; zero in other slots."""
    rows: Singles
    """(N, ROWS, 8) the volumes of the slots, in local coordinates."""
    depth: int
    """Nodes on the longest path down, the pseudo root included."""
    options: dict[str, str]
    """How the tree was built."""

    @classmethod
    def of(cls: type[AnyTree], mesh: Mesh) -> AnyTree:
        """The tree of a mesh, built at the first request and kept with the mesh."""
        return mesh.memo(cls.__name__, cls)

    @abstractmethod
    def __init__(self, mesh: Mesh) -> None:
        """Build the tree of a mesh."""

    def _fill(
        self,
        frame: Floats,
        order: Ints,
        child: Ints,
        depth: int,
        volumes: tuple[Floats, Ints, Singles, Singles],
        options: dict[str, str],
    ) -> None:
        self.origin, self.unit = frame[:3].copy(), float(frame[3])
        self.order, self.child, self.depth = order, child, int(depth)
        self.triangles, self.slots, self.corners, self.rows = volumes
        self.options = options

    @property
    def nbytes(self) -> int:
        """Memory of all arrays."""
        return sum(value.nbytes for value in vars(self).values() if isinstance(value, np.ndarray))

    def __repr__(self) -> str:
        n, nodes = len(self.order), len(self.slots)
        options = "".join(f", {name} {value!r}" for name, value in self.options.items())
        size = f"{n} triangle{'s' * (n != 1)}, {nodes} node{'s' * (nodes != 1)}, depth {self.depth}"
        return f"{type(self).__name__}({size}{options})"

    # --- files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tree to an ``.npz`` file; the mesh is not part of it."""
        header = {
            "kind": type(self).__name__,
            "format": _FORMAT,
            "depth": self.depth,
            "unit": self.unit.hex(),
            "options": self.options,
            "triangles": _fingerprint(self._in_mesh_order()),
        }
        with open(path, "wb") as file:
            np.savez(file, header=np.array(json.dumps(header)), **{name: getattr(self, name) for name in _ARRAYS})

    @classmethod
    def load(cls: type[AnyTree], path: str | os.PathLike[str], mesh: Mesh) -> AnyTree:
        """Read a tree that was saved for this mesh; a ValueError if it belongs to another one."""
        where = Path(path)
        try:
            with open(where, "rb") as file, np.load(file, allow_pickle=False) as found:
                header = json.loads(str(found["header"]))
                arrays = {name: np.ascontiguousarray(found[name], dtype=dtype) for name, dtype in _ARRAYS.items()}
            kind, layout = header["kind"], header["format"]
        except (zipfile.BadZipFile, KeyError, EOFError, ValueError, TypeError) as error:
            raise ValueError(f"{where}: not a tree saved by impinge ({error})") from error
        if (kind, layout) != (cls.__name__, _FORMAT):
            raise ValueError(f"{where}: holds a {kind} of format {layout}, expected {cls.__name__} of format {_FORMAT}")
        if header["triangles"] != _fingerprint(mesh.vertices[mesh.faces]):
            raise ValueError(f"{where}: the tree was built for another mesh than {mesh!r}")
        tree = object.__new__(cls)
        vars(tree).update(arrays)
        tree.unit = float.fromhex(header["unit"])
        tree.depth = int(header["depth"])
        tree.options = dict(header["options"])
        try:
            tree._check_structure()
        except ValueError as error:
            raise ValueError(f"{where}: damaged: {error}") from error
        tree.triangles = mesh.vertices[mesh.faces[tree.order]]
        return tree

    def _in_mesh_order(self) -> Floats:
        triangles = np.empty_like(self.triangles)
        triangles[self.order] = self.triangles
        return triangles

    # --- checks

    def validate(self) -> None:
        """Check every claim of the tree: its structure, and that each volume holds all that is below it.

        Containment is decided in float64 where that is certain, else with fractions.
        A ValueError names the first claim that fails.
        """
        self._check_structure()
        self._check_corners()
        parent = self._parents()
        leaf = np.flatnonzero((self.child < 0) & (self.child != EMPTY))
        ref = leaf[np.argsort(~self.child[leaf])]
        for first in range(0, len(ref), _AT_ONCE):
            self._check_paths(ref[first : first + _AT_ONCE], np.arange(first, min(first + _AT_ONCE, len(ref))), parent)

    def _check_paths(self, ref: NDArray[np.int64], place: NDArray[np.int64], parent: NDArray[np.int64]) -> None:
        """Whether all volumes from some slots up to the root hold the triangles at some places."""
        while len(place):
            self._check_volumes(ref, place)
            below_root = ref >= WIDTH
            place = place[below_root]
            ref = parent[ref[below_root] // WIDTH]

    def _parents(self) -> NDArray[np.int64]:
        """(N,) the ref of each node, -1 for the pseudo root."""
        inner = np.flatnonzero(self.child >= 0)
        parent = np.full(len(self.slots), -1, dtype=np.int64)
        parent[self.child[inner]] = inner
        return parent

    def _check_structure(self) -> None:
        n, nodes = len(self.order), len(self.slots)
        shapes = {
            "origin": (3,), "order": (n,), "child": (nodes * WIDTH,), "slots": (nodes,),
            "corners": (nodes, 9, WIDTH), "rows": (nodes, self.ROWS, WIDTH),
        }  # fmt: skip
        for name, shape in shapes.items():
            array = getattr(self, name)
            if array.shape != shape or array.dtype != _ARRAYS[name]:
                _fail(f"{name} is {array.dtype} {array.shape}, not {np.dtype(_ARRAYS[name])} {shape}")
        if not np.array_equal(np.sort(self.order), np.arange(n)):
            _fail("order is no permutation of the faces")
        used = self.child != EMPTY
        inner = np.flatnonzero(self.child >= 0)
        leaf = np.flatnonzero(used & (self.child < 0))
        if not np.array_equal(np.sort(~self.child[leaf]), np.arange(n)):
            _fail("the slots do not hold every triangle once")
        if not np.array_equal(np.sort(self.child[inner]), np.arange(1, nodes)):
            _fail("the slots do not refer to every node once")
        if (self.child[inner] <= inner // WIDTH).any():
            _fail("a node stands before the node that refers to it")
        if not used[0] or used[1:WIDTH].any():
            _fail("the pseudo root uses other slots than slot 0")
        bit = 1 << np.arange(WIDTH)
        occupied = (used.reshape(-1, WIDTH) * bit).sum(axis=1)
        leaves = ((used & (self.child < 0)).reshape(-1, WIDTH) * bit).sum(axis=1)
        if not np.array_equal(self.slots, 256 * occupied + leaves):
            _fail("the bits of slots do not say what child says")
        parent, level = self._parents(), np.ones(nodes, dtype=np.int64)
        for node in range(1, nodes):
            level[node] = level[parent[node] // WIDTH] + 1
        if self.depth != level.max():
            _fail(f"depth is {self.depth}, not {level.max()}")

    def _check_corners(self) -> None:
        expected = np.zeros_like(self.corners)
        leaf = np.flatnonzero((self.child < 0) & (self.child != EMPTY))
        local = self.local(self.triangles[~self.child[leaf]]).reshape(-1, 9)
        expected[leaf // WIDTH, :, leaf % WIDTH] = local.astype(np.float32)
        if not np.array_equal(expected, self.corners):
            _fail("corners are not the local coordinates of the triangles")

    def _check_volumes(self, ref: NDArray[np.int64], place: NDArray[np.int64]) -> None:
        """Whether the volumes of some slots hold the triangles at some places."""
        points = self.triangles[place]
        sure = self._surely_inside(ref, self.local(points)).all(axis=1)
        for i in np.flatnonzero(~sure).tolist():
            numbers = [Fraction(float(x)) for x in self.rows[ref[i] // WIDTH, :, ref[i] % WIDTH]]
            for corner in points[i].tolist():
                x, y, z = (
                    (Fraction(a) - Fraction(b)) / Fraction(self.unit)
                    for a, b in zip(corner, self.origin.tolist(), strict=True)
                )
                if not self._inside(numbers, (x, y, z)):
                    node, slot = divmod(int(ref[i]), WIDTH)
                    _fail(f"the volume of node {node}, slot {slot} does not hold face {self.order[place[i]]}")

    def local(self, points: Floats) -> Floats:
        """Local coordinates of points of the mesh, rounded."""
        local: Floats = (points - self.origin) * (1.0 / self.unit)
        return local

    @abstractmethod
    def _surely_inside(self, ref: NDArray[np.int64], points: Floats) -> Bools:
        """Whether points (k, 3, 3), local and rounded, are certainly in the volumes of slots (k,): (k, 3)."""

    @staticmethod
    @abstractmethod
    def _inside(numbers: list[Fraction], point: Triple) -> bool:
        """Whether a point is in the volume with these numbers, exactly."""


def _fail(what: str) -> NoReturn:
    raise ValueError(what)


def _fingerprint(triangles: Floats) -> str:
    """The tree depends on nothing else: how vertices are shared does not matter."""
    return hashlib.sha256(np.ascontiguousarray(triangles).data).hexdigest()
