"""Sorted keys: what began, what ended, what persists."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from impinge.broadphase.pair_keys import as_keys, as_pairs, change_by, change_to

key_sets = st.sets(st.integers(0, 30).map(lambda k: (k // 6) << 32 | (7 + k % 6)))


def sorted_keys(keys: set[int]) -> np.ndarray:
    return np.array(sorted(keys), dtype=np.int64)


@given(key_sets, key_sets)
def test_changes_between_two_sets(before: set[int], now: set[int]) -> None:
    change = change_to(sorted_keys(before), sorted_keys(now))
    assert change.began.tolist() == sorted(now - before)
    assert change.ended.tolist() == sorted(before - now)
    assert change.persist.tolist() == sorted(before & now)
    assert change.now.tolist() == sorted(now)


@given(key_sets, key_sets, st.randoms(use_true_random=False))
def test_changes_by_events_in_any_order(before: set[int], now: set[int], random: object) -> None:
    began, ended = list(now - before), list(before - now)
    random.shuffle(began)  # type: ignore[attr-defined]
    random.shuffle(ended)  # type: ignore[attr-defined]
    by_events = change_by(sorted_keys(before), np.array(began, dtype=np.int64), np.array(ended, dtype=np.int64))
    by_sets = change_to(sorted_keys(before), sorted_keys(now))
    for one, other in zip(by_events, by_sets, strict=True):
        assert one.tolist() == other.tolist()


def test_keys_are_pairs() -> None:
    keys = np.array([(1 << 32) | 5, ((2**31 - 2) << 32) | (2**31 - 1)], dtype=np.int64)
    assert as_pairs(keys).tolist() == [[1, 5], [2**31 - 2, 2**31 - 1]]
    assert as_keys(as_pairs(keys)).tolist() == keys.tolist()
