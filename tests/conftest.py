"""Settings of the whole test run: where the package comes from, the profiles of hypothesis, new interpreters."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

import pytest
from hypothesis import settings

import impinge

# The kernels as the sources have them, also where a library was built into the checkout; .ci/release says otherwise.
os.environ.setdefault("IMPINGE_KERNELS", "jit")

# The same examples in every run: a failure is a failure of the change at hand.
settings.register_profile("default", derandomize=True, deadline=None)
# Plain Python is some hundred times slower than a compiled kernel.
settings.register_profile("nojit", derandomize=True, deadline=None, max_examples=10)
# Draws new examples, by hand:  pytest --hypothesis-profile=long
settings.register_profile("long", deadline=None, max_examples=5000)

JIT_IS_OFF = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")
settings.load_profile("nojit" if JIT_IS_OFF else "default")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile the kernels once, before the workers start: each of them would compile the same ones."""
    is_worker = hasattr(session.config, "workerinput")
    if not (is_worker or JIT_IS_OFF or session.config.option.collectonly):
        from impinge.apps.warmup import compile_everything, would_help

        if would_help():
            compile_everything()
            triangle = impinge.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
            for verb in (impinge.collides, impinge.contacts, impinge.distance):
                verb(triangle, triangle, method="brute")  # the reference implementation of many tests
            impinge.closer_than(triangle, triangle, 0.0, method="brute")


def pytest_report_header() -> str:
    return f"impinge {impinge.__version__} from {impinge.__file__}"


@pytest.fixture
def python() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run a program in a new interpreter, compiled, with these variables set."""

    def run(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
        ours = ("NUMBA_", "XDG_", "IMPINGE_")
        variables = {key: value for key, value in os.environ.items() if not key.startswith(ours)}
        variables.update({"IMPINGE_KERNELS": "jit", **environment})
        return subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=variables, timeout=300
        )

    return run
