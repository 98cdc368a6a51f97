"""Fill the kernel cache ahead of time: ask every question once, so that every kernel is compiled.

Compilation is serial within a process.  So the questions about distances are asked by a second
process meanwhile, and its kernels are then taken from the cache.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext

from impinge.geometry.mesh import Mesh
from impinge.trees.search import handle_of
from impinge.world import query

_TETRAHEDRON = Mesh(
    [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]],
    [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]],
    solid=True,
)

QUESTIONS: dict[str, Callable[[], object]] = {
    "contacts": lambda: query.contacts(_TETRAHEDRON, _TETRAHEDRON),
    "collides": lambda: query.collides(_TETRAHEDRON, _TETRAHEDRON),
    "relation": lambda: query.relation(_TETRAHEDRON, _TETRAHEDRON),
    "distance": lambda: query.distance(_TETRAHEDRON, _TETRAHEDRON),
    "closer_than": lambda: query.closer_than(_TETRAHEDRON, _TETRAHEDRON, 0.0),
}

_MEANWHILE = ("distance", "closer_than")
"""Compiled by the second process."""


def compile_everything(
    progress: Callable[[int, int], None] | None = None, questions: tuple[str, ...] = tuple(QUESTIONS)
) -> None:
    """Compile the kernels behind the named verbs; ``progress(done, total)`` is called at the start and after each."""
    from impinge.jit import without_progress_line

    show = progress or (lambda done, total: None)
    ordered = [name for name in QUESTIONS if name in questions]
    meanwhile = [name for name in ordered if name in _MEANWHILE]
    helper = None
    try:
        with without_progress_line() if progress else nullcontext():
            show(0, len(ordered))
            handle_of(_TETRAHEDRON)  # both processes need the kernels that build trees
            if meanwhile and len(meanwhile) < len(ordered):
                command = [sys.executable, "-m", "impinge.world.warmup", *meanwhile]
                helper = subprocess.Popen(command, stderr=subprocess.DEVNULL)
            for done, name in enumerate(ordered, start=1):
                if helper is not None and name in meanwhile:
                    helper.wait()
                QUESTIONS[name]()
                show(done, len(ordered))
    finally:
        if helper is not None:
            helper.terminate()
            helper.wait()


if __name__ == "__main__":
    for _name in sys.argv[1:]:
        QUESTIONS[_name]()
