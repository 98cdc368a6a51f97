# mypy: allow-untyped-defs, allow-incomplete-defs
"""Contact keys: pose, face of a, face of b and kind of a contact as one integer, which sorts as they do.

Kernels write keys, 8 bytes a contact, and Python decodes all of them at once.  Where each pair of bodies has one pose
only (a world's stages, the incremental method) the pose is 0, or is not decoded but known from elsewhere.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from impinge.kernels.jit import inlined

_KINDS = 4
"""The kind of a contact takes so many values: see geometry.triangles.intersection."""


@inlined
def contact_key(pose, face_a, face_b, kind, count_a, count_b):
    """The key of a contact, int64; ``count_a`` and ``count_b`` are the numbers of triangles of the two bodies."""
    return (pose * (count_a * count_b) + (face_a * count_b + face_b)) * _KINDS + kind


def decoded_contacts(keys: NDArray[np.int64], count_a: int, count_b: int) -> NDArray[np.int64]:
    """(k, 4) pose, face of a, face of b and kind of contacts, in the order of their keys: inverts ``contact_key``.

    >>> decoded_contacts(np.array([((7 * 5 + 3) * 6 + 4) * 4 + 2]), 5, 6).tolist()
    [[7, 3, 4, 2]]
    """
    contacts = np.empty((len(keys), 4), dtype=np.int64)
    np.bitwise_and(keys, _KINDS - 1, out=contacts[:, 3])
    pairs, contacts[:, 2] = np.divmod(keys // _KINDS, count_b)
    np.divmod(pairs, count_a, out=(contacts[:, 0], contacts[:, 1]))
    return contacts


def poses_at_once(count_a: int, count_b: int) -> int:
    """How many poses a batch may have, so that no key overflows; at least one."""
    return 2**60 // (count_a * count_b) or 1
