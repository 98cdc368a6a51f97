"""``@impinge.leaf``: what you do with two triangles, called wherever two bodies come near."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import isfunction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge.arrays import Floats, as_clearance, shown
from impinge.bodies import require_triangles
from impinge.bvh.search import sorted_contacts, tree_handle_of
from impinge.bvh.workspace import AT_ONCE, Results, TraversalWorkspace
from impinge.mesh.mesh import Mesh
from impinge.queries.batch import Batch


@dataclass(frozen=True, eq=False)
class Visits:
    """The pairs of triangles for which a leaf operation did not give zero, sorted by (pose, face_a, face_b).

    `impinge.leaf` has an example.
    """

    pose: NDArray[np.int64]
    """(k,) the flat index of the pose."""
    face_a: NDArray[np.int32]
    """(k,) the triangle of a."""
    face_b: NDArray[np.int32]
    """(k,) the triangle of b."""
    value: Floats
    """(k,) what the function gave."""
    shape: tuple[int, ...]
    """The leading shape of the poses."""

    def __len__(self) -> int:
        return len(self.pose)


class LeafOperation:
    """A function of two triangles, compiled at its first use in a process; call it with two bodies.

    Made by `impinge.leaf`, which has an example.

    Parameters
    ----------
    function : callable
        Takes two triangles and returns a number.

    Raises
    ------
    ValueError
        It is not a function.
    """

    def __init__(self, function: Callable[[Any, Any], Any]) -> None:
        if not isfunction(function):
            raise ValueError(f"leaf: expected a function of two triangles, got {shown(function)}")
        self.function = function
        self.__doc__ = function.__doc__
        self._kernel: Callable[..., int] | None = None

    def __call__(
        self,
        a: Mesh,
        b: Mesh,
        pose_a: ArrayLike | None = None,
        pose_b: ArrayLike | None = None,
        *,
        within: float = 0.0,
    ) -> Visits:
        """Call the function for all pairs of triangles that come within a distance of each other, and for some more.

        Parameters
        ----------
        a, b : Mesh
            The surfaces.
        pose_a, pose_b : array_like, shape (..., 4, 4), optional
            Rigid poses, broadcast against each other; the identity if not given.
        within : float
            Pairs up to this distance are visited for certain.

        Returns
        -------
        Visits
            The pairs for which the function did not give zero.

        Raises
        ------
        ValueError
            A pose is not rigid, poses do not broadcast, or the distance is negative.
        Unsupported
            A body is not a mesh.
        MissingExtra
            Numba, the extra ``jit``, is not installed.
        """
        require_triangles(a, "a", "a leaf operation")
        require_triangles(b, "b", "a leaf operation")
        batch = Batch(a, b, pose_a, pose_b)
        reach = as_clearance(within, "within")
        if self._kernel is None:
            from impinge.bvh.leaves.own_leaf import compiled_leaf

            self._kernel = compiled_leaf(self.function)
        one, other = tree_handle_of(a), tree_handle_of(b)
        work = TraversalWorkspace()
        work.begin(one.stack + other.stack)
        work.clearance = reach
        work.ask(batch.poses_a, batch.poses_b, Results())
        values = np.zeros(len(work.pairs))
        keys_found, values_found = [np.empty(0, dtype=np.int64)], [np.empty(0)]
        done = 0
        while done < len(batch.poses_a):  # stopped by its budget, or for want of room
            work.allow(AT_ONCE)
            done = self._kernel(one.address, other.address, work.address, values)
            keys_found.append(work.take_pairs())
            values_found.append(values[: len(keys_found[-1])].copy())
        keys = np.concatenate(keys_found)
        order = np.argsort(keys)
        columns = sorted_contacts(one, other, 0, keys)
        return Visits(
            pose=columns[:, 0].copy(),
            face_a=columns[:, 1].astype(np.int32),
            face_b=columns[:, 2].astype(np.int32),
            value=np.concatenate(values_found)[order],
            shape=batch.shape,
        )


def leaf(function: Callable[[Any, Any], Any]) -> LeafOperation:
    """Turn a function of two triangles into an operation on two bodies.

    A triangle is a tuple of three points, each a tuple of three floats, in world coordinates.  Numba compiles the
    function.  Pairs for which it gives zero are forgotten.

    Parameters
    ----------
    function : callable
        Takes two triangles and returns a number.

    Returns
    -------
    LeafOperation
        To be called with two meshes.

    Raises
    ------
    ValueError
        It is not a function.

    Examples
    --------
    >>> import impinge
    >>> cube = impinge.shapes.box(1, 1, 1)
    >>> @impinge.leaf
    ... def lowest_height(a, b):
    ...     return min(a[0][2], a[1][2], a[2][2]) - min(b[0][2], b[1][2], b[2][2])
    >>> lift = np.eye(4)
    >>> lift[2, 3] = 0.5
    >>> float(lowest_height(cube, cube, None, lift).value.max())
    0.5
    """
    return LeafOperation(function)
