"""Every public name at work, in an installation that has no Numba: the examples of its docstring are run.

A function of the user's that becomes part of a kernel is the one thing that needs Numba: it must say so.
"""

import doctest
import sys

sys.modules["numba"] = sys.modules["llvmlite"] = None  # to import them is an ImportError, wherever they may come from

import impinge  # noqa: E402

NEED_NUMBA = {"leaf", "LeafOperation", "Visits"}


def examples_of(name):
    return [test for test in doctest.DocTestFinder().find(getattr(impinge, name), name) if test.examples]


runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
silent = []
for name in impinge.__all__:
    tests = examples_of(name)
    if not tests:
        silent.append(name)
    if name not in NEED_NUMBA:
        for test in tests:
            runner.run(test)
cube = impinge.shapes.box(1, 1, 1)
try:
    impinge.leaf(lambda a, b: 1.0)(cube, cube)
    sys.exit("a leaf operation works without Numba: this test no longer tests anything")
except impinge.MissingExtra as told:
    print(told)
results = runner.summarize()
print(f"{len(impinge.__all__)} public names, {results.attempted} examples, {results.failed} failures; silent: {silent}")
sys.exit(bool(results.failed or silent or results.attempted < len(impinge.__all__)))
