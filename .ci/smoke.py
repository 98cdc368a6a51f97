"""Every public name at work with a library of kernels: the examples of its docstring are run.

A function of the user's that becomes part of a kernel is the one thing that needs Numba: without it, it must say so.
``python .ci/smoke.py`` makes sure that Numba cannot be imported, ``python .ci/smoke.py --numba`` tries what needs it.
"""

import doctest
import sys

NEED_NUMBA = {"leaf", "LeafOperation", "Visits"}
with_numba = sys.argv[1:] == ["--numba"]
if not with_numba:
    sys.modules["numba"] = sys.modules["llvmlite"] = None  # to import them is an ImportError, wherever they come from

import impinge  # noqa: E402
from impinge.kernels.mode import library  # noqa: E402

runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
things = {name: getattr(impinge, name) for name in impinge.__all__ if (name in NEED_NUMBA) == with_numba}
if things.pop("shapes", None):
    things |= {name: getattr(impinge.shapes, name) for name in impinge.shapes.__all__}
silent = set()
for name, thing in things.items():
    tests = [test for test in doctest.DocTestFinder().find(thing, name) if test.examples]
    silent |= set() if tests else {name}
    for test in tests:
        runner.run(test)
silent -= {"LeafOperation", "Visits"}  # shown at work by the examples of leaf
if not with_numba:
    cube = impinge.shapes.box(1, 1, 1)
    try:
        impinge.leaf(lambda a, b: 1.0)(cube, cube)
        sys.exit("a leaf operation works without Numba: this test no longer tests anything")
    except impinge.MissingExtra as told:
        print(told)
results = runner.summarize()
print(f"library for {library().level}: {len(things)} names, {results.attempted} examples, {results.failed} failures")
if silent:
    print(f"without examples: {', '.join(silent)}")
sys.exit(bool(results.failed or silent or not results.attempted))
