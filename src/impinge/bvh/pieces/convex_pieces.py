"""ConvexPieces: a body that need not be convex, given as the union of convex ones.

Mirtich (1997, 3.4), after Ponamgi, Manocha and Lin (1995): the distance of two such bodies is the smallest among all
pairs of pieces; hulls of subsets of the pieces form a tree (``bvh.pieces.hull_tree``) that is descended only as far as
needed.  Hulls reject, and never say yes: the body is the union of its pieces and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from impinge.arrays import Bools, Floats, read_only
from impinge.convex.hull.convex_hull import ConvexHull
from impinge.errors import MissingExtra
from impinge.mesh.memo import Memo
from impinge.mesh.mesh import Mesh


class ConvexPieces(Memo):
    """The union of convex pieces: hulls, convex meshes, or (n, 3) arrays of points that stand for their hulls; a solid.

    Pieces may overlap, touch or lie apart, and may be flat, segments or points.  A mesh that is not convex is refused:
    its hull would be another body.

    Parameters
    ----------
    pieces : iterable of ConvexHull, Mesh or array_like, shape (n, 3)
        The pieces; a body of pieces is returned as it is.

    Raises
    ------
    ValueError
        There are no pieces, or one of them is not convex.

    Examples
    --------
    >>> import impinge
    >>> upright = [[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 3)]
    >>> foot = [[x, y, z] for x in (1, 3) for y in (0, 1) for z in (0, 1)]
    >>> impinge.ConvexPieces([upright, foot])
    ConvexPieces(2 pieces, 16 vertices)
    """

    __slots__ = ("__weakref__", "pieces")

    pieces: tuple[ConvexHull, ...]
    """In the order given; ``Distance.face_a`` names one of them by its place."""

    def __new__(cls, pieces: ConvexPieces | Iterable[ConvexHull | Mesh | ArrayLike]) -> ConvexPieces:  # noqa: D102
        if isinstance(pieces, ConvexPieces):
            return pieces
        if isinstance(pieces, Mesh | ConvexHull | str) or not isinstance(pieces, Iterable):
            raise ValueError(f"pieces: expected a sequence of convex pieces, got {type(pieces).__name__}")
        hulls = tuple(_piece(piece, f"pieces[{i}]") for i, piece in enumerate(pieces))
        if not hulls:
            raise ValueError("pieces: a body of no pieces does not exist")
        return _restore(hulls)

    @property
    def vertices(self) -> Floats:
        """(v, 3) the vertices of all pieces, piece after piece."""
        return self.memo("vertices", lambda body: read_only(np.concatenate([piece.vertices for piece in body.pieces])))

    @classmethod
    def decompose(cls, mesh: Mesh, **options: Any) -> ConvexPieces:
        """Pieces that CoACD (Wei et al. 2022) cuts a closed mesh into; the extra ``decompose`` installs it.

        The pieces only *approximate* the mesh: they cover more than it in some places, and may leave out a little in
        others, as far as CoACD's ``threshold`` allows (by default 0.05 of the size of the mesh).  All answers are exact
        for the pieces, not for the mesh.  The options are those of ``coacd.run_coacd``.
        """
        if not isinstance(mesh, Mesh):
            raise ValueError(f"mesh: expected a Mesh, got {type(mesh).__name__}")
        try:
            import coacd
        except ImportError as error:
            raise MissingExtra("convex decomposition", "coacd", "decompose") from error
        coacd.set_log_level("error")  # it would print a page about every mesh
        parts = coacd.run_coacd(coacd.Mesh(np.array(mesh.vertices), np.array(mesh.faces)), **options)
        if not parts:
            raise ValueError("mesh: CoACD has found no pieces (is the mesh closed?)")
        return cls(vertices for vertices, _ in parts)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"ConvexPieces are immutable: {name!r} cannot be set")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"ConvexPieces are immutable: {name!r} cannot be deleted")

    def __reduce__(self) -> tuple[Callable[..., ConvexPieces], tuple[Any, ...]]:
        return _restore, (self.pieces,)

    def __len__(self) -> int:
        return len(self.pieces)

    @property
    def solid(self) -> bool:
        """Each piece counts its inside."""
        return True

    @property
    def bounds(self) -> Floats:
        """(2, 3) the smallest and the largest coordinates."""
        each = np.array([piece.bounds for piece in self.pieces])
        return np.stack([each[:, 0].min(axis=0), each[:, 1].max(axis=0)])

    def __repr__(self) -> str:
        count, corners = len(self.pieces), sum(len(piece.vertices) for piece in self.pieces)
        return f"ConvexPieces({count} piece{'s' * (count != 1)}, {corners} vertices)"


def _restore(hulls: tuple[ConvexHull, ...]) -> ConvexPieces:
    pieces: Any = object.__new__(ConvexPieces)
    object.__setattr__(pieces, "pieces", hulls)
    pieces._start_memo()
    return pieces  # type: ignore[no-any-return]


def _piece(piece: ConvexHull | Mesh | ArrayLike, where: str) -> ConvexHull:
    try:
        hull = ConvexHull(piece)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from error
    if isinstance(piece, Mesh) and not _is_convex(piece, hull):
        raise ValueError(f"{where}: {piece!r} is not convex; pass impinge.ConvexHull(mesh) where its hull is meant")
    return hull


def _is_convex(mesh: Mesh, hull: ConvexHull) -> bool:
    """Whether a mesh covers the surface of its hull, and has no vertex inside of it; exact."""
    if not (hull.red_edges.all() and hull.red_faces.all()):
        return False
    return hull.dimension < 3 or bool(_on_surface(mesh, hull).all())


def _on_surface(mesh: Mesh, hull: ConvexHull) -> Bools:
    """Which of the vertices that are no corners of the hull lie on one of its faces."""
    from impinge.convex.hull.exact_quickhull import sides

    others = np.setdiff1d(mesh.faces, hull.source).astype(np.int32)
    found = np.zeros(len(others), dtype=np.bool_)
    for face in hull.faces if len(others) else []:
        triangle = np.tile(hull.source[face[:3]], (len(others), 1))
        found |= sides(mesh.vertices, triangle, others) == 0
    return read_only(found)
