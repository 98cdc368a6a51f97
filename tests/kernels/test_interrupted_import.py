"""Ctrl-C while Numba is being imported leaves it whole: the next try works."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import os, signal, sys

class Press:
    def find_spec(self, name, path=None, target=None):
        if name == "numba.core.types":
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Press())
import impinge
try:
    impinge.{name}
    print("not interrupted")
except KeyboardInterrupt:
    print("whole" if hasattr(sys.modules["numba"], "njit") else "half imported")
impinge.{name}
print("again")
"""


@pytest.mark.skipif(os.name != "posix", reason="Windows ends a process that is sent SIGINT")
@pytest.mark.parametrize("name", ["World", "Pair", "Traversal"])
def test_numba_is_imported_whole(name: str) -> None:
    compiled = {**os.environ, "NUMBA_DISABLE_JIT": "0", "IMPINGE_KERNELS": "jit"}
    command = [sys.executable, "-c", PROGRAM.format(name=name)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=compiled)
    assert done.stdout.split("\n")[:2] == ["whole", "again"], done.stderr
