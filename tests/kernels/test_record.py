"""Records: fields by name, in Python, in compiled code and in plain Python."""

from __future__ import annotations

import gc
import pickle
import weakref
from typing import Any

import numpy as np
import pytest
from numba.core import config
from numba.core.errors import TypingError

from impinge.kernels.jit import inlined, inner, kernel
from impinge.kernels.record import Record, address, addresses, bool_, float32, float64, int8, int32, int64, records
from impinge.lab.interruption import interruptions

NO_COMPILER = bool(config.DISABLE_JIT)


class Kept(Record):
    """What a pair keeps."""

    plane = float64[3]
    simplex = int32[4, 2]
    has_plane = bool_
    age = int64


class Body(Record, constant=True):
    """Never changed by kernels."""

    points = float64[:, 3]
    starts = int32[:]
    radius = float64
    centre = float64[3]


class Search(Record):
    """All kinds of fields."""

    small = int8
    stack = int32[:, 2]
    best = float64
    narrow = float32
    found = bool_
    lanes = float32[8]
    motions = float32[2, 3]
    kept = records(Kept)
    rows = records(Kept)[:]
    both = records(Kept)[2]
    answers = int8[:]


body_at = Body.at
search_at = Search.at


def a_search(rows: int = 3) -> Search:
    return Search(
        stack=np.arange(2 * rows, dtype=np.int32).reshape(rows, 2), best=2.5, small=-7,
        rows=np.zeros(rows, dtype=Kept.dtype), answers=np.zeros(rows, dtype=np.int8),
    )  # fmt: skip


def rows_of(array: Any) -> list[Any]:
    """The rows of an array of records, with fields: without the compiler they have them already."""
    return [array[i] for i in range(len(array))] if NO_COMPILER else list(array.view(np.recarray))


@inner
def farthest(body: Any, direction: int) -> Any:
    best = 0
    for i in range(body.n_points):
        if body.points[i, direction] > body.points[best, direction]:
            best = i
    return best


@kernel
def reads(body: Any, search: Any, direction: Any) -> Any:
    body, search = body_at(body), search_at(search)
    return farthest(body, direction) + 10 * body.starts[1] + 100 * search.n_stack + 1000 * search.stack[1, 1]


@inlined
def count_up(kept: Any) -> None:
    kept.age += 1
    kept.simplex[3, 1] = kept.age


@kernel
def writes(search: Any) -> Any:
    search = search_at(search)
    search.best = search.best * 2.0
    search.narrow = 0.1
    search.small += 1
    search.found = search.best > 4.0
    search.lanes[7] = 3.0
    search.motions[1, 2] = search.motions[1][1] + 1.0
    search.kept.plane[1] = 5.0
    search.kept.has_plane = True
    count_up(search.kept)
    count_up(search.rows[2])
    count_up(search.rows[2])
    search.both[1].age = 9
    search.answers[0] = 3
    return search.n_rows


@kernel
def copies(search: Any, slot: Any) -> Any:
    search = search_at(search)
    search.rows[slot] = search.kept
    search.kept = search.rows[slot + 1]
    return search.kept.age


@kernel
def divides(search: Any) -> Any:
    search = search_at(search)
    search.best = 1.0 / search.best
    return 0


@kernel
def beyond(search: Any, row: Any) -> Any:
    search = search_at(search)
    search.rows[row].age = 1
    return 0


@kernel
def beyond_numbers(search: Any, row: Any) -> Any:
    search = search_at(search)
    search.stack[row, 0] = 1
    return 0


def test_kernels_read_fields() -> None:
    points = np.zeros((4, 3))
    points[2, 1] = 1.0
    body = Body(points=points, starts=np.array([0, 4], dtype=np.int32))
    assert reads(body.address, a_search().address, 1) == 2 + 40 + 300 + 3000


def test_kernels_write_fields() -> None:
    search = a_search()
    search.motions[1, 1] = 4.0
    assert writes(search.address) == 3
    assert (search.best, search.small, search.found) == (5.0, -6, True)
    assert search.narrow == np.float32(0.1)
    assert search.lanes.tolist() == [0.0] * 7 + [3.0]
    assert search.motions[1].tolist() == [0.0, 4.0, 5.0]
    assert search.kept.plane.tolist() == [0.0, 5.0, 0.0]
    assert search.kept.has_plane
    assert search.kept.age == 1
    assert [row.age for row in rows_of(search.rows)] == [0, 0, 2]
    assert search.kept.simplex[3, 1] == 1
    assert [row.age for row in rows_of(search.both)] == [0, 9]
    assert search.answers.tolist() == [3, 0, 0]


def test_records_are_copied_by_assignment() -> None:
    search = a_search()
    rows = np.zeros(3, dtype=Kept.dtype)
    rows["age"] = 5, 6, 7
    search.rows = rows
    search.kept.age = 20
    search.kept.plane[2] = 0.25
    assert copies(search.address, 1) == 7
    assert rows["age"].tolist() == [5, 20, 7]
    assert rows["plane"][1].tolist() == [0.0, 0.0, 0.25]
    rows["age"] = 0
    assert search.kept.age == 7, "a copy, not a view"


def test_division_by_zero_is_silent() -> None:
    search = Search(best=0.0)
    divides(search.address)
    assert search.best == np.inf


def test_arrays_are_kept_alive() -> None:
    search = a_search(1000)
    search.stack = np.full((1000, 2), 3, dtype=np.int32)
    gc.collect()
    rubbish = [np.full((1000, 2), 9, dtype=np.int32) for _ in range(50)]
    body = Body(points=np.zeros((1, 3)), starts=np.zeros(2, dtype=np.int32))
    assert reads(body.address, search.address, 0) == 100_000 + 3000
    assert len(rubbish) == 50


def test_views_outlive_their_record() -> None:
    search = a_search()
    search.lanes[7], search.kept.age, search.kept.plane[1], search.both[1].age = 3.0, 4, 5.0, 6
    lanes, kept, plane, row, elsewhere = search.lanes, search.kept, search.kept.plane, search.both[1], search.rows[2]
    del search
    rubbish = [np.full(size, 9, dtype=np.int64) for size in range(1, 99)]
    assert (lanes[7], kept.age, kept.plane[1], plane[1], row.age) == (3.0, 4, 5.0, 5.0, 6)
    assert elsewhere["age"] == 0 if not NO_COMPILER else elsewhere.age == 0
    assert len(rubbish) == 98


def test_records_and_arrays_go_with_their_last_user() -> None:
    """No circles: the garbage collector does not look into arrays, so that those through a view would stay for ever."""
    array = np.zeros((9, 2), dtype=np.int32)
    search = a_search()
    search.stack = array
    search.kept.plane[1] = search.lanes[2] = search.both[0].age = 1
    assert search.kept.simplex[0, 0] == rows_of(search.rows)[0].plane[0] == 0
    gone = weakref.ref(array)
    del array, search
    gc.collect()  # of Structure itself, which refers to the parts it has handed out
    assert gone() is None


def test_setting_an_array_may_be_interrupted() -> None:
    """Then kernels and Python see the same array, the old or the new one."""
    body = Body(points=np.zeros((1, 3)), starts=np.zeros(2, dtype=np.int32))
    old, new = np.full((3, 2), 3, dtype=np.int32), np.full((4, 2), 4, dtype=np.int32)
    for given in (None, old):
        search = a_search() if given is not None else Search()
        if given is not None:
            search.stack = given
        seen = []
        for _ in interruptions(lambda search=search: setattr(search, "stack", new)):
            for each in (search, search.copy(), pickle.loads(pickle.dumps(search))):
                seen.append(each.n_stack)
                if each.n_stack:
                    assert each.stack[1, 1] == each.n_stack
                    assert reads(body.address, each.address, 0) == 1100 * each.n_stack
            if search.n_stack == 4:
                search.stack = old
        assert seen[0] == (0 if given is None else 3)
        assert seen[-1] == 4


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("stack", np.zeros((3, 2), dtype=np.int64)),
        ("stack", np.zeros((3, 3), dtype=np.int32)),
        ("stack", np.zeros(6, dtype=np.int32)),
        ("stack", np.zeros((2, 3), dtype=np.int32).T),
        ("stack", np.zeros((6, 2), dtype=np.int32)[::2]),
        ("stack", [[1, 2]]),
        ("answers", np.zeros(3, dtype=np.bool_)),
        ("rows", np.zeros(3)),
    ],
)
def test_other_arrays_are_refused(name: str, array: Any) -> None:
    search = a_search()
    before = getattr(search, name)
    with pytest.raises(TypeError, match=f"Search.{name} is an array"):
        setattr(search, name, array)
    with pytest.raises(TypeError, match=f"Search.{name} is an array"):
        Search(**{name: array})
    assert getattr(search, name) is before


def test_other_names_are_refused() -> None:
    with pytest.raises(TypeError, match="no field 'worst'"):
        Search(worst=1.0)
    with pytest.raises(AttributeError, match="worst"):
        a_search().worst = 1.0
    with pytest.raises(AttributeError, match="worst"):
        _ = a_search().worst


def test_declarations_that_make_no_sense() -> None:
    with pytest.raises(TypeError, match="shape"):
        int32[2, :]
    with pytest.raises(TypeError, match="arrays of its own"):
        records(Search)[:]
    with pytest.raises(TypeError, match="number of rows"):
        type(Record)("Twice", (Record,), {"a": int32[:], "n_a": int64})


def test_a_copy_shares_arrays_but_no_numbers() -> None:
    search = a_search()
    search.lanes[7] = 1.0
    again = search.copy()
    assert (again.best, again.small, again.lanes[7], again.n_stack) == (2.5, -7, 1.0, 3)
    assert again.stack is search.stack
    del search
    gc.collect()
    other = again.copy()
    writes(again.address)
    assert (again.best, again.lanes[7], other.best, other.lanes[7]) == (5.0, 3.0, 2.5, 1.0)
    again.stack = np.zeros((9, 2), dtype=np.int32)
    assert (again.n_stack, other.n_stack) == (9, 3)


def test_parts_can_be_copied() -> None:
    search = a_search()
    search.kept.age, search.kept.plane[1] = 5, 2.0
    again = search.kept.copy()
    search.kept.age, search.kept.plane[1] = 6, 3.0
    assert (again.age, again.plane.tolist()) == (5, [0.0, 2.0, 0.0])


@pytest.mark.skipif(not NO_COMPILER, reason="rows are numpy's own in Python")
def test_rows_without_the_compiler() -> None:
    search = a_search()
    search.rows[1].age = 5
    again = search.rows[1].copy()
    search.rows[1].age = 6
    assert again.age == 5
    with pytest.raises(TypeError, match="a row is a Kept, not a Search"):
        search.rows[1] = search


def test_pickles() -> None:
    search = a_search()
    writes(search.address)
    again = pickle.loads(pickle.dumps(search))
    assert repr(again) == repr(search)
    assert (again.best, again.kept.age) == (5.0, 1)
    assert again.stack.tolist() == search.stack.tolist()
    assert again.stack is not search.stack
    assert again.lanes.tolist() == search.lanes.tolist()
    writes(again.address)
    assert (again.best, search.best) == (10.0, 5.0)


class Names(Record):
    """Addresses of others."""

    one = address
    some = address[:]
    count = int64


def test_addresses_are_copied_but_not_pickled() -> None:
    search = a_search()
    names = Names(one=search.address, some=addresses([search.address, None]), count=2)
    again = names.copy()
    assert again.one is search.address if NO_COMPILER else again.one == search.address
    assert again.some is names.some
    with pytest.raises(TypeError, match="addresses"):
        pickle.dumps(names)


def test_an_array_that_is_not_aligned_is_refused() -> None:
    odd = np.zeros(17, dtype=np.int8)[1:].view(np.int32).reshape(2, 2)
    with pytest.raises(TypeError, match="aligned"):
        a_search().stack = odd


def test_empty_arrays() -> None:
    search = Search()
    assert (search.n_stack, search.stack.shape, len(search.rows)) == (0, (0, 2), 0)
    search.stack = np.zeros((0, 2), dtype=np.int32)
    assert search.n_stack == 0


def test_an_array_that_cannot_be_written_can_be_read() -> None:
    points = np.ones((2, 3))
    points.flags.writeable = False
    body = Body(points=points, starts=np.zeros(2, dtype=np.int32))
    assert reads(body.address, a_search().address, 0) == 300 + 3000


@pytest.mark.skipif(NO_COMPILER, reason="plain Python does not keep kernels from it")
def test_kernels_cannot_set_what_is_constant() -> None:
    @kernel
    def wrong(body: Any) -> Any:
        body_at(body).radius = 1.0
        return 0

    with pytest.raises(Exception, match="cannot be set by kernels"):
        wrong(Body().address)


@pytest.mark.skipif(NO_COMPILER, reason="plain Python finds out when it runs")
def test_kernels_find_no_other_fields() -> None:
    @kernel
    def wrong(body: Any) -> Any:
        return body_at(body).diameter

    with pytest.raises(TypingError):
        wrong(Body().address)


@pytest.mark.skipif(not (NO_COMPILER or config.BOUNDSCHECK), reason="only in the lanes with checks")
@pytest.mark.parametrize("function", [beyond, beyond_numbers])
def test_indices_beyond_the_end_are_noticed(function: Any) -> None:
    search = a_search(3)
    function(search.address, 2)
    with pytest.raises(IndexError):
        function(search.address, 3)
