# mypy: allow-untyped-defs, allow-incomplete-defs
"""Sets of pairs as sorted lists of numbers: a pair is one number, the smaller id in the upper half."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge.kernels.jit import inlined, inner, kernel

Keys = NDArray[np.int64]

MOST_IDS = 2**31
"""Ids are below this, so that two of them fit into one number."""

_UPPER_HALF = 32
_LOWER_HALF = 2**32 - 1


class PairChange(NamedTuple):
    """How a set of pairs became another one, as sorted keys."""

    began: Keys
    ended: Keys
    persist: Keys
    now: Keys


@inlined
def in_order(a, b):
    """The number of a pair, in this order."""
    return (int(a) << _UPPER_HALF) | int(b)


@inlined
def joined(a, b):
    """The number of a pair, given in any order."""
    return in_order(min(a, b), max(a, b))


@inlined
def upper(key):
    """The smaller one of a pair."""
    return key >> _UPPER_HALF


@inlined
def lower(key):
    """The larger one of a pair."""
    return key & _LOWER_HALF


@inlined
def pair_key(ids, i, j):
    """The number of a pair of objects."""
    return joined(ids[i], ids[j])


@inner
def new_keys(count):
    return np.empty(count, dtype=np.int64)


@inner
def copy_keys(source, target, count):
    """A loop: Numba takes seconds to compile the assignment of slices."""
    for i in range(count):
        target[i] = source[i]


@inner
def first_keys(keys, count):
    """The first ``count`` of a list, alone."""
    shorter = new_keys(count)
    copy_keys(keys, shorter, count)
    return shorter


@inner
def longer_keys(keys, count, more):
    """The first ``count`` of a list, and room for so many more."""
    longer = new_keys(2 * (count + more))
    copy_keys(keys, longer, count)
    return longer


@inner
def common_count(one, other):
    """How many numbers are in both lists."""
    count = 0
    i, j = 0, 0
    while i < len(one) and j < len(other):
        a, b = one[i], other[j]
        count += int(a == b)
        i += int(a <= b)
        j += int(b <= a)
    return count


@kernel("int64[::1], int64[::1]")
def split(before, now):
    """What is only in ``now``, only in ``before``, and in both."""
    common = common_count(before, now)
    began, ended, persist = new_keys(len(now) - common), new_keys(len(before) - common), new_keys(common)
    i, j, same = 0, 0, 0
    while i < len(before) or j < len(now):
        if j == len(now) or (i < len(before) and before[i] < now[j]):
            ended[i - same] = before[i]
            i += 1
        elif i == len(before) or now[j] < before[i]:
            began[j - same] = now[j]
            j += 1
        else:
            persist[same] = now[j]
            same += 1
            i += 1
            j += 1
    return began, ended, persist


@kernel("int64[::1], int64[::1], int64[::1]")
def apply(before, began, ended):
    """``before`` without ``ended``, and the same with ``began``."""
    persist, now = new_keys(len(before) - len(ended)), new_keys(len(before) - len(ended) + len(began))
    i, j, out = 0, 0, 0
    for key in before:
        if out < len(ended) and ended[out] == key:
            out += 1
            continue
        while j < len(began) and began[j] < key:
            now[i + j] = began[j]
            j += 1
        persist[i] = key
        now[i + j] = key
        i += 1
    while j < len(began):
        now[i + j] = began[j]
        j += 1
    return persist, now


@kernel("int64[::1]")
def as_pairs(keys):
    """The two ids of each key, (k, 2)."""
    pairs = np.empty((len(keys), 2), dtype=np.int64)
    for i in range(len(keys)):
        pairs[i, 0] = upper(keys[i])
        pairs[i, 1] = lower(keys[i])
    return pairs


def as_keys(pairs: NDArray[np.int64]) -> Keys:
    """The key of each pair of ids, (k, 2), smaller one first."""
    keys: Keys = (pairs[:, 0] << _UPPER_HALF) | pairs[:, 1]
    return keys


def change_to(before: Keys, now: Keys) -> PairChange:
    """How ``before`` became ``now``, where the whole set is known; both are sorted."""
    began, ended, persist = split(before, now)
    return PairChange(began, ended, persist, now)


def change_by(before: Keys, began: Keys, ended: Keys) -> PairChange:
    """How ``before`` changed, where the events are known, in any order.

    ``began`` holds no pair of ``before``, and ``ended`` holds nothing else.
    """
    began, ended = np.sort(began), np.sort(ended)
    persist, now = apply(before, began, ended)
    return PairChange(began, ended, persist, now)
