"""Fill the kernel cache ahead of time: ask every question once, so that every kernel is compiled.

Compilation is serial within a process.  So the questions about solids are asked by a second
process meanwhile, and its kernels are then taken from the cache.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext

from impinge.geometry.mesh import Mesh
from impinge.world import query

_TETRAHEDRON = Mesh(
    [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]],
    [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]],
    solid=True,
)

QUESTIONS: dict[str, Callable[[], object]] = {
    "contacts": lambda: query.contacts(_TETRAHEDRON, _TETRAHEDRON),
    "distance": lambda: query.distance(_TETRAHEDRON, _TETRAHEDRON),
    "collides": lambda: query.collides(_TETRAHEDRON, _TETRAHEDRON),
    "closer_than": lambda: query.closer_than(_TETRAHEDRON, _TETRAHEDRON, 0.0),
    "relation": lambda: query.relation(_TETRAHEDRON, _TETRAHEDRON),
}


def compile_everything(
    progress: Callable[[int, int], None] | None = None, questions: tuple[str, ...] = tuple(QUESTIONS)
) -> None:
    """Compile the kernels behind the named verbs; ``progress(done, total)`` is called at the start and after each."""
    from impinge.jit import without_progress_line

    show = progress or (lambda done, total: None)
    helper = None
    if "relation" in questions:
        helper = subprocess.Popen([sys.executable, "-m", "impinge.world.warmup"], stderr=subprocess.DEVNULL)
    try:
        with without_progress_line() if progress else nullcontext():
            show(0, len(questions))
            for done, name in enumerate(questions, start=1):
                if helper is not None and name == "relation":
                    helper.wait()
                QUESTIONS[name]()
                show(done, len(questions))
    finally:
        if helper is not None:
            helper.terminate()
            helper.wait()


if __name__ == "__main__":
    QUESTIONS["relation"]()
