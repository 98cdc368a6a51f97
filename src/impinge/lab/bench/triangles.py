"""The cost of each triangle kernel, and what Zachmann's pre-checks are worth.

Ordinary input: triangles with random corners around random centres, sized so that about a third
of the bounding boxes overlap, as at the end of a search through a hierarchy.  The hard rows show what exact
arithmetic costs where it is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from impinge.arrays import Floats
from impinge.geometry.contacts import construction as contact
from impinge.geometry.pose import posed_vertices
from impinge.geometry.triangles import all_pairs
from impinge.geometry.triangles import clearance as triangle_clearance
from impinge.geometry.triangles import distance as triangle_distance
from impinge.geometry.triangles import intersection as triangle
from impinge.geometry.triangles import zachmann_simple as simple
from impinge.kernels.jit import kernel
from impinge.lab.bench.timing import interleaved, machine
from impinge.lab.scenes.shapes import torus
from impinge.mesh.mesh import Mesh

PAIRS = 4000
LOOP = 600


@kernel("float64[:, :, ::1], float64[:, :, ::1]")
def count_meeting(a, b):  # type: ignore[no-untyped-def]
    """The predicate in a plain compiled loop over all pairs."""
    count = 0
    for i in range(len(a)):
        s = triangle.load_triangle(a, i)
        for j in range(len(b)):
            if triangle.contact_kind(s, triangle.load_triangle(b, j)) != triangle.DISJOINT:
                count += 1
    return count


def run() -> None:
    console = Console()
    console.print(f"[bold]Triangle kernels[/bold]  {machine()}")
    console.print(kernel_costs())
    console.print(simple_algorithm())


def _ordinary(rng: np.random.Generator) -> tuple[Floats, Floats]:
    def one() -> Floats:
        return rng.random((PAIRS, 1, 3)) + 0.3 * rng.normal(size=(PAIRS, 3, 3))

    return one(), one()


def _boxes_overlap(a: Floats, b: Floats) -> NDArray[np.bool_]:
    overlap: NDArray[np.bool_] = ((a.min(axis=1) <= b.max(axis=1)) & (b.min(axis=1) <= a.max(axis=1))).all(axis=1)
    return overlap


def kernel_costs() -> Table:
    """Nanoseconds a pair."""
    rng = np.random.default_rng(1)
    a, b = _ordinary(rng)
    overlap = _boxes_overlap(a, b)
    meet = triangle.triangles_meet(a, b)
    needles_a, needles_b = _ordinary(rng)
    for needle in (needles_a, needles_b):
        needle[:, 2] = needle[:, 0] + rng.random((PAIRS, 1)) * (needle[:, 1] - needle[:, 0])
    grid_a = rng.integers(0, 3, (PAIRS, 3, 3)).astype(float)
    grid_b = rng.integers(0, 3, (PAIRS, 3, 3)).astype(float)
    flat = rng.random((2, PAIRS, 3, 3))
    flat[..., 2] = 0.1
    apart = triangle_distance.triangle_distances(a, b)[0]
    inputs: dict[str, tuple[Floats, Floats]] = {
        "ordinary": (a, b),
        "ordinary, boxes overlap": (a[overlap], b[overlap]),
        "ordinary, meeting": (a[meet], b[meet]),
        "needles": (needles_a, needles_b),
        "on one horizontal plane": (flat[0].copy(), flat[1].copy()),
        "on a 3x3x3 grid": (grid_a, grid_b),
    }
    rows: dict[str, tuple[int, Callable[[], object]]] = {
        f"do they meet: {name}": (len(pair[0]), partial(triangle.triangles_meet, *pair))
        for name, pair in inputs.items()
    }
    for name in ("ordinary, meeting", "on a 3x3x3 grid"):
        pair = inputs[name]
        rows[f"where they meet: {name}"] = (len(pair[0]), partial(contact.triangle_intersections, *pair))
    for name in ("ordinary", "needles"):
        pair = inputs[name]
        rows[f"distance: {name}"] = (len(pair[0]), partial(triangle_distance.triangle_distances, *pair))
    rows["closer than half the distance: ordinary"] = (
        PAIRS,
        partial(triangle_clearance.triangles_closer_than, a, b, 0.5 * apart),
    )
    rows["closer than exactly the distance: ordinary"] = (
        PAIRS,
        partial(triangle_clearance.triangles_closer_than, a, b, apart),
    )
    rows["do they meet: ordinary, one against all in turn"] = (
        LOOP * LOOP,
        partial(count_meeting, a[:LOOP].copy(), b[:LOOP].copy()),
    )
    seconds = interleaved({name: run for name, (_, run) in rows.items()})
    table = Table("query: input", "pairs", "ns a pair", title=None)
    for name, (count, _) in rows.items():
        table.add_row(name, str(count), f"{1e9 * seconds[name] / count:.1f}")
    table.columns[1].justify = table.columns[2].justify = "right"
    return table


def simple_algorithm() -> Table:
    """Two tori in close proximity, touching in some poses: edges against polygons, and all pairs."""
    table = Table("triangles", "poses", "all pairs", "simple, no pre-checks", "simple, pre-checks", "pre-checks worth")
    rng = np.random.default_rng(2)
    for around in (8, 16, 24):
        mesh = torus(1.0, 0.35, around, around)
        scenes = [_posed_pair(mesh, rng) for _ in range(20)]
        candidates: dict[str, Callable[[], object]] = {
            "all pairs": partial(_each, _all_pairs, scenes),
            "plain": partial(_each, partial(_simple, prechecks=False), scenes),
            "checked": partial(_each, partial(_simple, prechecks=True), scenes),
        }
        seconds = interleaved(candidates, rounds=7)
        micro = {name: 1e6 * value / len(scenes) for name, value in seconds.items()}
        table.add_row(
            f"{len(mesh.faces)} x {len(mesh.faces)}",
            str(len(scenes)),
            f"{micro['all pairs']:.0f} us",
            f"{micro['plain']:.0f} us",
            f"{micro['checked']:.0f} us",
            f"{micro['plain'] / micro['checked']:.2f} x",
        )
    return table


_Posed = tuple[Floats, NDArray[np.int32], Floats]


def _posed_pair(mesh: Mesh, rng: np.random.Generator) -> tuple[_Posed, _Posed]:
    """The mesh at rest, and turned at random at a distance of 1.2 to 2.2 radii: mostly almost-collisions."""
    from scipy.spatial.transform import Rotation  # type: ignore[import-untyped]

    direction = rng.normal(size=3)
    pose = np.eye(4)
    pose[:3, :3] = Rotation.random(random_state=int(rng.integers(2**31))).as_matrix()
    pose[:3, 3] = direction / np.linalg.norm(direction) * rng.uniform(1.2, 2.2)
    corners = mesh.faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    edges = np.unique(np.sort(corners, axis=1), axis=0)
    moved = posed_vertices(pose, mesh.vertices)
    at_rest = mesh.vertices.copy()
    return (at_rest, edges, at_rest[mesh.faces]), (moved, edges, moved[mesh.faces])


def _each(query: Callable[[_Posed, _Posed], bool], scenes: list[tuple[_Posed, _Posed]]) -> list[bool]:
    return [query(*scene) for scene in scenes]


def _all_pairs(a: _Posed, b: _Posed) -> bool:
    return bool(all_pairs.any_pair_meets(a[2], b[2]))


def _simple(a: _Posed, b: _Posed, prechecks: bool) -> bool:
    return bool(simple.surfaces_meet(*a, *b, prechecks))
