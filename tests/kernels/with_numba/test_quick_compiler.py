"""The compiler without what kernels do not need: the same code, the same errors, and nothing changed for others."""

from __future__ import annotations

import gc
import operator

import numba
import numpy as np
import pytest
from numba import config, types
from numba.core.registry import cpu_target
from numba.core.typed_passes import NopythonRewrites
from numba.core.untyped_passes import InlineClosureLikes

if config.DISABLE_JIT:
    pytest.skip("nothing is compiled", allow_module_level=True)

from impinge.kernels.with_numba.compiler import without_garbage_collection
from impinge.kernels.with_numba.quick_compiler import QuickCompiler, RememberingContext, _remembering


def _sums(a, b):
    total = 0.0
    last = (a[0], len(b))
    for i in range(len(a)):
        total += a[i] * b[i, 1] - min(a[i], 2.0) + abs(last[0])
        b[i, 0] = total // 2
    return total, last[1] + 1


def _whole_arrays(a, b):
    return (a + 2.0 * b - a / b).sum()


def _quick(function):
    """As a function of this package."""
    quick = numba.njit(pipeline_class=QuickCompiler, error_model="numpy")(function)
    function.__module__ = "impinge.example"
    return quick


def _assembly(dispatcher):
    (code,) = dispatcher.inspect_llvm().values()
    return [line.split("=")[-1].split()[:1] for line in code.splitlines() if line.startswith("  ")]


@pytest.mark.parametrize("function", [_sums, _whole_arrays])
def test_the_code_is_that_of_numba(function):
    a, b = np.arange(1.0, 9.0), np.arange(1.0, 17.0).reshape(8, 2)
    b = b if function is _sums else a[::-1].copy()
    slow = numba.njit(error_model="numpy")(function)
    expected = slow(a.copy(), b.copy())
    quick = _quick(function)
    assert quick(a.copy(), b.copy()) == expected
    assert quick(a.copy(), b.copy()) == function(a.copy(), b.copy())
    assert _assembly(quick) == _assembly(slow)


def test_what_cannot_be_typed_is_refused_with_the_words_of_numba():
    def wrong(a):
        return a + "x"

    with pytest.raises(numba.TypingError, match="No implementation of function"):
        _quick(wrong)(1.0)
    with pytest.raises(numba.TypingError, match="No implementation of function"):  # remembered as failing
        _quick(wrong)(1.0)


def test_functions_of_others_are_compiled_with_all_passes():
    compiled = []

    class Seen(QuickCompiler):
        def define_pipelines(self):
            compiled.append(super().define_pipelines()[0])
            return compiled[-1:]

    def with_closure(n):
        return sum([i * i for i in range(n)])

    with_closure.__module__ = "somebody.else"
    assert numba.njit(pipeline_class=Seen)(with_closure)(4) == 14
    passes = [one for one, _ in compiled[0].passes]
    assert InlineClosureLikes in passes
    assert NopythonRewrites in passes


def test_the_context_of_others_stays_as_it_is():
    _quick(_sums)(np.ones(3), np.ones((3, 2)))
    own = cpu_target.typing_context
    assert type(own) is not RememberingContext
    assert type(cpu_target.target_context.typing_context) is not RememberingContext
    assert own.resolve_function_type(own.resolve_value_type(max), (types.int64, types.float64), {}) is not None


def test_the_garbage_collector_is_as_before():
    assert gc.isenabled()
    with pytest.raises(ZeroDivisionError), without_garbage_collection():
        assert not gc.isenabled()
        raise ZeroDivisionError
    assert gc.isenabled()
    gc.disable()
    try:
        with without_garbage_collection():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_tables_and_numbers_are_found_by_the_same_search():
    """Ours are asked first: they must leave to Numba what is not theirs."""
    from impinge.kernels.with_numba.tables import Table

    context = _remembering(cpu_target.typing_context)
    getitem = context.resolve_value_type(operator.getitem)
    array = types.Array(types.float64, 2, "C")
    place = types.UniTuple(types.intp, 2)
    for asked in (array, Table(types.float64, (3,)), types.UniTuple(types.int64, 3)):
        index = place if asked is not types.UniTuple(types.int64, 3) else types.intp
        found = context.fitting(getitem, (asked, index))
        assert found == context.fitting(getitem, (asked, index))
        assert found.return_type == getitem.get_call_type(cpu_target.typing_context, (asked, index), {}).return_type
