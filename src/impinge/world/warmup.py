"""Fill the kernel cache ahead of time: ask every question once, so that every kernel is compiled."""

from __future__ import annotations

from collections.abc import Callable

from impinge.geometry.mesh import Mesh
from impinge.world import query

_TETRAHEDRON = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]


def compile_everything(progress: Callable[[int, int], None] | None = None) -> None:
    """Compile every kernel behind the verbs; ``progress(done, total)`` is called after each."""
    solid = Mesh(*_TETRAHEDRON, solid=True)
    questions: list[Callable[[], object]] = [
        lambda: query.collides(solid, solid),
        lambda: query.contacts(solid, solid),
        lambda: query.distance(solid, solid),
        lambda: query.closer_than(solid, solid, 0.0),
        lambda: query.relation(solid, solid),
    ]
    for done, question in enumerate(questions, start=1):
        question()
        if progress is not None:
            progress(done, len(questions))
