"""Contact keys: decoded as they were encoded, in the same order, without overflow."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from impinge.bvh import contact_keys
from impinge.bvh.contact_keys import decoded_contacts, poses_at_once
from impinge.kernels.mode import without_compiler
from impinge.results import ContactKind


def from_python(function: Any) -> Any:
    """Functions of the kernels have no entry from Python: compile them once more, with one."""
    return function if without_compiler() else numba.njit(error_model="numpy")(function.py_func)


contact_key = from_python(contact_keys.contact_key)


def test_keys_sort_and_decode_as_the_contacts_they_stand_for() -> None:
    rng = np.random.default_rng(1)
    for count_a, count_b in ((1, 1), (1, 7), (7, 1), (12, 5), (1 << 20, 3), (123_457, 2_000_003)):
        most = min(poses_at_once(count_a, count_b), 1 << 20)
        limits = (most, count_a, count_b, 4)
        contacts = np.column_stack([rng.integers(0, limit, 200) for limit in limits])
        contacts[:2] = [0, 0, 0, 0], [limit - 1 for limit in limits]
        contacts = np.unique(contacts, axis=0)
        keys = np.array([contact_key(*contact, count_a, count_b) for contact in contacts.tolist()])
        assert keys.dtype == np.int64
        assert (np.diff(keys) > 0).all()
        assert np.array_equal(decoded_contacts(keys, count_a, count_b), contacts)
        assert np.array_equal(decoded_contacts(keys[::-1], count_a, count_b), contacts[::-1])


def test_no_contacts() -> None:
    assert decoded_contacts(np.empty(0, dtype=np.int64), 3, 4).shape == (0, 4)


def test_the_last_key_of_a_batch_does_not_overflow() -> None:
    for count_a, count_b in ((1, 1), (1 << 30, 1 << 29), (2_147_483_647, 3)):
        poses = poses_at_once(count_a, count_b)
        assert poses >= 1
        assert ((poses - 1) * count_a * count_b + count_a * count_b - 1) * 4 + 3 < 2**63


def test_there_is_room_for_every_kind() -> None:
    assert 0 <= min(ContactKind) <= max(ContactKind) < contact_keys._KINDS
