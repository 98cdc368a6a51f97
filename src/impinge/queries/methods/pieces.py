"""The verbs for bodies of convex pieces, among themselves and with convex hulls."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge.arrays import shown
from impinge.bvh.pieces.convex_pieces import ConvexPieces
from impinge.convex.hull.convex_hull import ConvexHull
from impinge.queries.batch import Batch
from impinge.queries.methods.hulls import kind_of
from impinge.results import Distance, Feature

if TYPE_CHECKING:
    from impinge.bvh.pieces.pieces_search import PiecesSearch

METHODS = ("auto", "gjk")
"""Methods for bodies of pieces: how two pieces are compared."""

Convex = ConvexPieces | ConvexHull


def as_pieces(a: Any, b: Any) -> tuple[Convex, Convex] | None:
    """The bodies, if there are pieces on one side, and pieces or a hull on the other."""
    if isinstance(a, Convex) and isinstance(b, Convex) and (isinstance(a, ConvexPieces) or isinstance(b, ConvexPieces)):
        return a, b
    return None


def collides(
    a: Convex,
    b: Convex,
    pose_a: ArrayLike | None,
    pose_b: ArrayLike | None,
    method: str = "auto",
    workers: int = 1,
    search: PiecesSearch | None = None,
) -> np.bool_ | NDArray[np.bool_]:
    batch = Batch(a, b, pose_a, pose_b, workers)
    ask = (search or search_of(a, b, method)).collides
    answers: NDArray[np.bool_] = batch.shaped(np.concatenate(batch.run(ask)))
    return answers


def closer_than(
    a: Convex,
    b: Convex,
    clearance: float,
    pose_a: ArrayLike | None,
    pose_b: ArrayLike | None,
    method: str = "auto",
    workers: int = 1,
    search: PiecesSearch | None = None,
) -> np.bool_ | NDArray[np.bool_]:
    batch = Batch(a, b, pose_a, pose_b, workers)
    ask = partial((search or search_of(a, b, method)).closer_than, clearance)
    answers: NDArray[np.bool_] = batch.shaped(np.concatenate(batch.run(ask)))
    return answers


def distance(
    a: Convex,
    b: Convex,
    pose_a: ArrayLike | None,
    pose_b: ArrayLike | None,
    method: str = "auto",
    workers: int = 1,
    search: PiecesSearch | None = None,
) -> Distance:
    """Faces are the numbers of pieces; of a hull they are its faces, and features are those of the pieces."""
    batch = Batch(a, b, pose_a, pose_b, workers)
    parts = batch.run((search or search_of(a, b, method)).distance)
    values, points, features, pieces = map(np.concatenate, zip(*parts, strict=True))
    kind_a, index_a, face_a, kind_b, index_b, face_b = (batch.shaped(column.copy()) for column in features.T)
    piece_a, piece_b = (batch.shaped(column.copy()) for column in pieces.T)
    return Distance(
        value=batch.shaped(values),
        point_a=batch.shaped(points[:, :3].copy()),
        point_b=batch.shaped(points[:, 3:].copy()),
        face_a=piece_a if isinstance(a, ConvexPieces) else face_a,
        face_b=piece_b if isinstance(b, ConvexPieces) else face_b,
        feature_a=Feature(kind_of(kind_a), index_a),
        feature_b=Feature(kind_of(kind_b), index_b),
    )


def require_method(method: str) -> None:
    if not isinstance(method, str) or method not in METHODS:
        raise ValueError(f"method {shown(method)} is not one for ConvexPieces: {', '.join(METHODS)}")


def search_of(a: Convex, b: Convex, method: str) -> PiecesSearch:
    from impinge.bvh.pieces.pieces_search import PiecesSearch

    require_method(method)
    return PiecesSearch(a, b)
