"""Mesh: a polygon mesh, checked and immutable."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from impinge.arrays import (
    Floats,
    Ints,
    as_flag,
    as_points,
    as_polygons,
    is_id,
    read_only,
    real_array,
    shown,
)
from impinge.errors import Unsupported
from impinge.geometry.exact.integers import determinant_sign
from impinge.geometry.float_errors import default_float_errors
from impinge.geometry.pose import posed_vertices
from impinge.mesh import mass, topology
from impinge.mesh.memo import Memo
from impinge.mesh.triangulation.triangulate import triangulate

if TYPE_CHECKING:
    from impinge.mesh.repair.diagnose import Diagnosis
    from impinge.mesh.repair.repair import Repair


class Mesh(Memo):
    """A polygon mesh: triangles or polygons over shared vertices; a closed one may be declared a solid.

    Any polygon soup is legal: open, self-intersecting, non-manifold, with repeated or degenerate faces.  A mesh never
    changes: arrays are copied, checked and read-only, so it may be shared between threads.  Meshes pickle.

    Parameters
    ----------
    vertices
        (n, 3) coordinates.
    faces
        (m, 3) or (m, k) indices of vertices, or a list of polygons of any sizes.
    solid
        Whether the mesh bounds a volume, which counts as a part of the body; it must be closed then.

    Raises
    ------
    ValueError
        If a coordinate is not finite or beyond 2**150, an index names no vertex, a polygon has fewer than three
        corners, there is no face, or a solid is open.  The message names the place.

    Examples
    --------
    >>> from impinge import Mesh
    >>> square = Mesh([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], [[0, 1, 2, 3]])
    >>> square.faces.tolist(), square.polygon.tolist()
    ([[0, 1, 2], [0, 2, 3]], [0, 0])
    >>> square.area, square.is_closed
    (1.0, False)
    """

    __slots__ = ("__weakref__", "faces", "polygon", "solid", "vertices")

    vertices: Floats
    """(n, 3) float64, read-only."""
    faces: Ints
    """(m, 3) int32, read-only: triangles; a polygon of k corners gives k - 2 of them."""
    polygon: Ints
    """(m,) int32, read-only: the caller's polygon that each triangle comes from."""
    solid: bool
    """Whether the mesh bounds a volume, which counts as a part of the body."""

    @default_float_errors
    def __init__(self, vertices: ArrayLike, faces: ArrayLike | Sequence[Sequence[int]], solid: bool = False) -> None:
        points = as_points(vertices, "vertices").copy()
        corners, starts = as_polygons(faces, "faces", len(points))
        triangles, polygon = triangulate(points, corners, starts)
        self._fill(points, triangles.copy(), polygon, solid)

    def _fill(self, vertices: Floats, faces: Ints, polygon: Ints, solid: bool, closed: bool = False) -> None:
        """Take over arrays that are ours alone and known to be valid; ``closed`` if it is known that they are."""
        for name, value in (
            ("vertices", read_only(vertices)),
            ("faces", read_only(faces)),
            ("polygon", read_only(polygon)),
            ("solid", as_flag(solid, "solid")),
        ):
            object.__setattr__(self, name, value)
        self._start_memo()
        if closed:
            self.derived["is_closed"] = True
        if self.solid:
            self._require_closed()

    def _require_closed(self) -> None:
        if not self.is_closed:
            gaps = topology.open_edges(self)
            some = ", ".join(f"{a}-{b}" for a, b in gaps[:4].tolist()) + (", ..." if len(gaps) > 4 else "")
            raise ValueError(
                f"solid=True needs a closed mesh, but {len(gaps)} edge{'s' * (len(gaps) != 1)} "
                f"belong{'s' * (len(gaps) == 1)} to an odd number of faces (vertices {some})"
            )

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a Mesh is immutable: {name!r} cannot be set")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a Mesh is immutable: {name!r} cannot be deleted")

    def __reduce__(self) -> tuple[Callable[..., Mesh], tuple[Floats, Ints, Ints, bool]]:
        # What is derived can be derived again; it is often larger than the mesh, and a lock does not travel.
        return mesh_of_arrays, (self.vertices, self.faces, self.polygon, self.solid)

    @property
    def triangles(self) -> Floats:
        """(m, 3, 3) the coordinates of every triangle."""
        return self.memo("triangles", lambda mesh: read_only(mesh.vertices[mesh.faces]))

    @property
    def bounds(self) -> Floats:
        """(2, 3) the bounding box: the smallest and the largest coordinates of the faces.

        Vertices without a face do not count.

        Examples
        --------
        >>> from impinge import shapes
        >>> shapes.box(1, 2, 3).bounds.tolist()
        [[-0.5, -1.0, -1.5], [0.5, 1.0, 1.5]]
        """
        return self.memo("bounds", _find_bounds)

    @property
    def area(self) -> float:
        """The area of all faces."""
        return self.memo("area", mass.surface_area)

    @property
    def volume(self) -> float:
        """The enclosed volume of a closed mesh: positive where the faces are wound outward, negative where inward.

        Raises
        ------
        Unsupported
            If the mesh is open, or its winding contradicts itself.

        Examples
        --------
        >>> from impinge import shapes
        >>> shapes.box(1, 2, 3).volume
        6.0
        """
        return mass.mass_properties(self).volume

    @property
    def centre_of_mass(self) -> Floats:
        """(3,) the centre of mass of the body that a closed mesh bounds.

        Raises
        ------
        Unsupported
            If the mesh is open, its winding contradicts itself, or it encloses no volume.

        Examples
        --------
        >>> from impinge import shapes
        >>> shapes.box(1, 2, 3).centre_of_mass.tolist()
        [0.0, 0.0, 0.0]
        """
        return _of_a_volume(mass.mass_properties(self).centre, "centre of mass")

    @property
    def inertia(self) -> Floats:
        """(3, 3) the inertia about the centre of mass at density one, of the body that a closed mesh bounds.

        It is the body's, so it is positive for inward winding too.

        Raises
        ------
        Unsupported
            If the mesh is open, its winding contradicts itself, or it encloses no volume.

        Examples
        --------
        >>> from impinge import shapes
        >>> shapes.box(2, 2, 2).inertia.diagonal().round(3).tolist()
        [5.333, 5.333, 5.333]
        """
        return _of_a_volume(mass.mass_properties(self).inertia, "inertia")

    @property
    def is_closed(self) -> bool:
        """Whether every edge belongs to an even number of faces.

        Vertices at equal positions count as one, and faces with fewer than three distinct positions not at all.
        Faces without area whose three positions differ do count: they close the gap at a T-vertex.

        Examples
        --------
        >>> from impinge import Mesh, shapes
        >>> shapes.box(1, 1, 1).is_closed, Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]).is_closed
        (True, False)
        """
        return topology.is_closed(self)

    @property
    def edges(self) -> Ints:
        """(e, 2) the vertices of every edge, each edge once; vertices at equal positions count as the first of them.

        Examples
        --------
        >>> from impinge import Mesh
        >>> Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]).edges.tolist()
        [[0, 1], [0, 2], [1, 2]]
        """
        return topology.edges(self).pairs

    def edge_faces(self, edge: int) -> Ints:
        """(k,) the faces at an edge.

        Parameters
        ----------
        edge
            Its row in ``edges``.

        Returns
        -------
        array of int
            Indices of faces, ascending.

        Raises
        ------
        ValueError
            If there is no such edge.

        Examples
        --------
        >>> from impinge import Mesh
        >>> square = Mesh([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], [[0, 1, 2], [0, 2, 3]])
        >>> square.edges[1].tolist(), square.edge_faces(1).tolist()
        ([0, 2], [0, 1])
        """
        found = topology.edges(self)
        if not is_id(edge) or not 0 <= edge < len(found.pairs):
            raise ValueError(f"edge is {shown(edge)}, but there are {len(found.pairs)} edges")
        return found.face[found.start[edge] : found.start[edge + 1]]

    @property
    def face_adjacency(self) -> Ints:
        """(k, 2) all pairs of faces that share an edge, the smaller index first; sorted."""
        return topology.face_adjacency(self)

    @property
    def components(self) -> Ints:
        """(m,) the connected component of each face, counted from 0; faces are connected by shared edges.

        Examples
        --------
        >>> import numpy as np
        >>> from impinge import Mesh, shapes
        >>> box = shapes.box(1, 1, 1)
        >>> two = Mesh(np.concatenate([box.vertices, box.vertices + 5.0]), np.concatenate([box.faces, box.faces + 8]))
        >>> two.components.tolist() == [0] * 12 + [1] * 12, two.component_count
        (True, 2)
        """
        return topology.components(self)

    @property
    def component_count(self) -> int:
        """The number of connected components."""
        return int(self.components.max()) + 1

    def diagnose(self) -> Diagnosis:
        """Find what is unusual about this mesh: open edges, T-vertices and so on.

        Returns
        -------
        Diagnosis
            Indices of everything unusual.

        Examples
        --------
        >>> from impinge import Mesh
        >>> triangle = Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
        >>> triangle.diagnose()
        <Diagnosis unusual: 3 open edges>
        """
        from impinge.mesh.repair.diagnose import diagnose

        return self.memo("diagnosis", diagnose)

    @default_float_errors
    def repair(self, weld: float | Literal["auto"] | None = None) -> Repair:
        """Mend what can be mended without a guess.

        T-vertices get their edges, faces without area go where nothing is lost, coincident faces become one, winding
        becomes consistent and, where the surface is closed, outward.  Holes stay open.  ``Mesh.polygon`` of the new
        mesh names the same polygons as before.

        Parameters
        ----------
        weld
            Vertices of open edges that are this close to each other become one: a length, or ``"auto"`` for those
            that are equal but for rounding (``diagnose().cracks``: within a millionth of the size of the mesh, and
            within a quarter of the shortest edge there).  ``Repair.largest_move`` tells how far the farthest went.
            By default no vertex moves.

        Returns
        -------
        Repair
            The new mesh, the faces it comes from, and what was done.

        Raises
        ------
        ValueError
            If ``weld`` is neither a length, nor "auto", nor None.

        Examples
        --------
        >>> from impinge import Mesh
        >>> lid = Mesh([[0, 0, 0], [2, 0, 0], [0, 2, 0], [1, 0, 0], [1, -1, 0]], [[0, 1, 2], [0, 4, 3], [4, 1, 3]])
        >>> lid.repair()
        <Repair repaired: 1 T-vertices joined, 1 faces divided>
        >>> lid.repair().mesh.faces.tolist()
        [[3, 1, 2], [3, 2, 0], [0, 4, 3], [4, 1, 3]]
        """
        from impinge.mesh.repair.repair import repair

        return repair(self, weld)

    def repaired(self, weld: float | Literal["auto"] | None = None, solid: bool | None = None) -> Mesh:
        """Mend what can be mended, as ``repair`` does, and return the mesh alone.

        Parameters
        ----------
        weld
            As for ``repair``.
        solid
            Whether the new mesh is a solid; by default, if this one is.

        Returns
        -------
        Mesh
            The mended mesh; this one itself where nothing was to be done.

        Raises
        ------
        ValueError
            If the mesh is to be a solid and is still open.

        Examples
        --------
        >>> from impinge import Mesh, shapes
        >>> box = shapes.box(1, 1, 1)
        >>> inside_out = Mesh(box.vertices, box.faces[:, ::-1])
        >>> inside_out.volume, inside_out.repaired(solid=True).volume
        (-1.0, 1.0)
        """
        mended = self.repair(weld).mesh
        if solid is None or as_flag(solid, "solid") == mended.solid:
            return mended
        return mesh_of_arrays(mended.vertices, mended.faces, mended.polygon, solid)

    @default_float_errors
    def transformed(self, matrix: ArrayLike, solid: bool | None = None) -> Mesh:
        """Apply an affine map to all vertices: rotate, translate, scale, shear or mirror.

        A mirroring matrix also flips the winding, so that normals which pointed outward still do.
        Coordinates are rounded as those of poses are.

        Parameters
        ----------
        matrix
            (4, 4), affine and invertible.
        solid
            Whether the new mesh is a solid; by default, if this one is.

        Returns
        -------
        Mesh
            A new mesh with the same faces.

        Raises
        ------
        ValueError
            If the matrix is not affine, not finite or singular, or a vertex would be beyond the range.

        Examples
        --------
        >>> import numpy as np
        >>> from impinge import shapes
        >>> shapes.box(1, 1, 1).transformed(np.diag([2.0, 3.0, 4.0, 1.0])).volume
        24.0
        """
        affine = real_array(matrix, "matrix")
        if affine.shape != (4, 4):
            raise ValueError(f"matrix: expected shape (4, 4), got {affine.shape}")
        if not np.isfinite(affine).all():
            raise ValueError("matrix: NaN or infinity among its entries")
        if affine[3].tolist() != [0.0, 0.0, 0.0, 1.0]:
            raise ValueError(f"matrix: the last row must be 0 0 0 1, got {affine[3]}")
        handedness = determinant_sign(affine[:3, :3].tolist())
        if handedness == 0:
            raise ValueError("matrix: it is singular, so it would flatten the mesh")
        with np.errstate(over="ignore", invalid="ignore"):
            moved = posed_vertices(affine, self.vertices)
        as_points(moved, "transformed vertices")
        faces = self.faces if handedness > 0 else self.faces[:, [0, 2, 1]]
        # A closed mesh stays closed even where rounding makes vertices equal: the boundary of an image is the image of
        # the boundary (counted modulo 2; a face that collapses leaves one edge, twice).
        closed = bool(self.derived.get("is_closed"))
        solid = self.solid if solid is None else solid
        return mesh_of_arrays(moved, np.ascontiguousarray(faces), self.polygon, solid, closed)

    def __repr__(self) -> str:
        n, m = len(self.vertices), len(self.faces)
        what = "solid" if self.solid else "surface"
        return f"Mesh({n} vertices, {m} triangle{'s' * (m != 1)}, {what})"


def mesh_of_arrays(vertices: Floats, faces: Ints, polygon: Ints, solid: bool, closed: bool = False) -> Mesh:
    """A mesh over arrays that are valid and stay as they are: they become read-only."""
    mesh: Any = object.__new__(Mesh)
    mesh._fill(vertices, faces, polygon, solid, closed)
    return mesh  # type: ignore[no-any-return]


def _find_bounds(mesh: Mesh) -> Floats:
    used = mesh.vertices[np.unique(mesh.faces)]
    return read_only(np.stack([used.min(axis=0), used.max(axis=0)]))


def _of_a_volume(value: Floats | None, what: str) -> Floats:
    if value is None:
        raise Unsupported(f"the mesh encloses no volume, so it has no {what}")
    return value
