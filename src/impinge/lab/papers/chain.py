"""Table 1 of Ponamgi, Manocha and Lin (1995): a chain of interlocked rings of 400 polygons, by several hierarchies.

The motion is made once (see lab.scenes.chain) and replayed by every search, a stretch of steps at a time.  An iteration
is one step: all contacts of all rings.  Which rings are near each other is known beforehand and not in the time; with
eight rings it would hardly show.  What can be compared with the paper are ratios between its rows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from rich.progress import track
from rich.table import Table

import impinge
from impinge.arrays import Floats
from impinge.bvh.search import search_of
from impinge.bvh.workspace import TraversalWorkspace
from impinge.incremental.frame_memory import Memory
from impinge.incremental.hierarchy.options import Hierarchy
from impinge.incremental.incremental_search import IncrementalSearch, hierarchy_of
from impinge.lab.papers import drawing
from impinge.lab.papers.printing import milliseconds, say, titled_console, verdict
from impinge.lab.scenes import chain as scene
from impinge.mesh.mesh import Mesh

RINGS = (2, 7, 8)
STEPS = 1000
DURATION = 0.05
"""Of a step; shorter where a ring is fast."""

_STRETCH = 50
"""Steps that one search walks before it is another's turn."""
_ROUNDS = 3


class PairSearch(Protocol):
    """All contacts of two rings along a path."""

    def contact_pairs(self, poses_a: Floats, poses_b: Floats) -> NDArray[np.int64]:
        """(pose, face of a, face of b, kind)."""


@dataclass(frozen=True)
class Tree:
    """A row of the table."""

    kind: str
    levels: str
    cuts: str
    search: Callable[[Mesh], PairSearch]
    """For two rings of this shape, with a memory of its own."""
    paper: Mapping[int, float]
    """Seconds of an iteration in the paper, for some numbers of rings."""


def _sweeping(options: Hierarchy) -> Callable[[Mesh], PairSearch]:
    def search(ring: Mesh) -> PairSearch:
        boxes = hierarchy_of(ring, options)
        return IncrementalSearch(boxes, boxes, Memory(boxes, boxes))

    return search


def _oriented_boxes(ring: Mesh) -> PairSearch:
    return search_of(ring, ring, TraversalWorkspace(front=1 << 16))


NONE, OCTREE, VARIANT, OURS = "none", "octree", "octree variant", "oriented boxes (obb)"

_ONE, _TWO = ((2, 2, 2),), ((3, 2, 2), (2, 2, 2))

TREES = (
    Tree(NONE, "", "", _sweeping(Hierarchy(levels=0)), {2: 0.045}),
    Tree(OCTREE, "1", "2-2-2", _sweeping(Hierarchy("octree", _ONE, levels=1)), {2: 0.014}),
    Tree(VARIANT, "1", "2-2-2", _sweeping(Hierarchy("median", _ONE, levels=1)), {2: 0.012}),
    Tree(OCTREE, "2", "3-2-2/2-2-2", _sweeping(Hierarchy("octree", _TWO, levels=2)), {8: 0.046}),
    Tree(VARIANT, "2", "3-2-2/2-2-2", _sweeping(Hierarchy("median", _TWO, levels=2)), {8: 0.038}),
    Tree(OURS, "", "", _oriented_boxes, {}),
)


_THREE, _QUICKER = '"improved by a factor of three"', "the variant is quicker than the octree"
_LESS = "8 rings take less time a pair of near rings than 2"
CLAIMS = (
    (_THREE, (NONE, 2), (OCTREE, 2), 3.0),
    (_THREE, (NONE, 2), (VARIANT, 2), 3.0),
    (_QUICKER, (OCTREE, 2), (VARIANT, 2), 1.0),
    (_QUICKER, (OCTREE, 8), (VARIANT, 8), 1.0),
    (_LESS, (OCTREE, 2), (OCTREE, 8), 1.0),
    (_LESS, (VARIANT, 2), (VARIANT, 8), 1.0),
)
"""What the paper says or its table shows: a row, a quicker one, and how many times as long the first takes at least."""


@dataclass(frozen=True, eq=False)
class Cell:
    """One search on one chain."""

    tree: Tree
    rings: int
    seconds: float
    """Of an iteration."""


@dataclass(frozen=True, eq=False)
class Course:
    """One chain, and what all searches took for it."""

    rings: int
    recording: scene.Recording
    cells: list[Cell]

    @property
    def contacts(self) -> float:
        """Of a step, pairs of triangles."""
        return float(self.recording.contacts.mean())

    @property
    def pairs(self) -> float:
        """Of rings that are near each other, in a step."""
        return sum(map(len, self.recording.pairs().values())) / len(self.recording.poses)

    @property
    def drift(self) -> float:
        """How far the energy has gone from what it was, as a part of it."""
        energy = self.recording.energy
        return float(np.abs(energy / energy[0] - 1.0).max())


def recorded(rings: int, steps: int) -> scene.Recording:
    moving = scene.Chain(rings)
    known: dict[tuple[int, int], impinge.Pair] = {}

    def touch(a: int, b: int, pose_a: Floats, pose_b: Floats) -> impinge.Contacts:
        if (a, b) not in known:
            known[a, b] = impinge.Pair(moving.mesh, moving.mesh)
        return known[a, b].contacts(pose_a, pose_b)

    return scene.record(moving, touch, DURATION, steps)


def replay(tree: Tree, ring: Mesh, recording: scene.Recording) -> Callable[[int], int]:
    """From a step to the contacts of the stretch that begins there; each pair of rings has a search of its own."""
    searches = {pair: (tree.search(ring), when) for pair, when in recording.pairs().items()}

    def walk(first: int) -> int:
        found = 0
        for (a, b), (search, when) in searches.items():
            begin, end = np.searchsorted(when, [first, first + _STRETCH])
            if begin < end:
                steps = when[begin:end]
                found += len(search.contact_pairs(recording.poses[steps, a], recording.poses[steps, b]))
        return found

    return walk


def measure(rings: int, steps: int, rounds: int = _ROUNDS, trees: Sequence[Tree] = TREES) -> Course:
    """Every stretch of steps is walked by all searches in turn; the best round of each stretch counts."""
    recording = recorded(rings, steps)
    ring = scene.ring()
    starts = range(0, steps, _STRETCH)
    best = np.full((len(trees), len(starts)), np.inf)
    for _ in range(rounds):
        walks = [replay(tree, ring, recording) for tree in trees]
        for walk in walks:
            walk(0)  # builds the hierarchies, compiles, and fills the caches
        for column, first in enumerate(starts):
            expected = int(recording.contacts[first : first + _STRETCH].sum())
            for row, walk in enumerate(walks):
                begin = time.perf_counter()
                found = walk(first)
                best[row, column] = min(best[row, column], time.perf_counter() - begin)
                if found != expected:
                    raise RuntimeError(f"{trees[row].kind}: {found} contacts of {expected} from step {first} on")
    cells = [Cell(tree, rings, float(best[row].sum() / steps)) for row, tree in enumerate(trees)]
    return Course(rings, recording, cells)


def seconds_of(courses: Sequence[Course], kind: str, rings: int) -> tuple[float, float] | None:
    """Of the row of this kind that the paper has for so many rings, for each pair of near rings: ours, and the paper's.

    The pairs of the paper are taken to be the links.
    """
    for course in courses:
        for cell in course.cells:
            if course.rings == rings and cell.tree.kind == kind and rings in cell.tree.paper:
                return cell.seconds / course.pairs, cell.tree.paper[rings] / (rings - 1)
    return None


def table(courses: Sequence[Course]) -> Table:
    columns = []
    for course in courses:
        columns.append(f"{course.rings} rings")
        if any(course.rings in cell.tree.paper for cell in course.cells):
            columns.append("paper")
    made = Table("tree", "levels", "x-y-z cuts", *columns, title="The chain: time of an iteration")
    for row, cell in enumerate(courses[0].cells):
        texts = []
        for course in courses:
            texts.append(milliseconds(course.cells[row].seconds))
            if any(course.rings in other.tree.paper for other in course.cells):
                then = cell.tree.paper.get(course.rings)
                texts.append("" if then is None else milliseconds(then))
        made.add_row(cell.tree.kind, cell.tree.levels, cell.tree.cuts, *texts)
    for column in made.columns[3:]:
        column.justify = "right"
    return made


def scene_table(courses: Sequence[Course]) -> Table:
    made = Table("rings", "steps", "near pairs a step", "contacts a step", "steps with contact", "energy drifts by")
    made.title = f"The motion: rings of {len(scene.ring().faces)} polygons"
    for course in courses:
        counts = course.recording.contacts
        made.add_row(
            f"{course.rings}",
            f"{len(counts):,}",
            f"{course.pairs:.1f}",
            f"{course.contacts:.1f}",
            f"{np.count_nonzero(counts) / len(counts):.0%}",
            f"{course.drift:.0e}",
        )
    for column in made.columns:
        column.justify = "right"
    return made


def findings(courses: Sequence[Course]) -> list[str]:
    """What the paper says, and whether it holds."""
    said = []
    apart = [course.rings for course in courses if not course.recording.stays_linked()]
    how = f"chains of {apart} rings came apart, which no elastic collision does" if apart else "all rings stay linked"
    said.append(f"The motion: {how}.")
    for claim, above, below, least in CLAIMS:
        one, other = seconds_of(courses, *above), seconds_of(courses, *below)
        if one is not None and other is not None:
            ours, then = (top / bottom for top, bottom in zip(one, other, strict=True))
            rows = " against ".join(f"{kind} with {rings}" for kind, rings in (above, below))
            holds = verdict(ours >= least)
            said.append(f"{claim}: {rows} takes {ours:.2f} times as long here, {then:.2f} in the paper; this {holds}.")
    return said


def picture(courses: Sequence[Course], path: Path) -> Path:
    """The longest chain at the step with the most contacts, and the times."""
    canvas = drawing.figure(11.0, 8.5)
    above, plot = canvas.subplots(2, 1)
    course = max(courses, key=lambda each: each.rings)
    step = int(course.recording.contacts.argmax())
    placed, ring, view = course.recording.poses[step], scene.ring(), drawing.View(20.0, 35.0)
    colours = (drawing.FIXED, drawing.MOVER)
    drawing.draw_pieces(above, view, [drawing.piece_of(ring, pose, colours[i % 2]) for i, pose in enumerate(placed)])
    for a, b in scene.near_pairs(placed):
        found = impinge.contacts(ring, ring, placed[a], placed[b])
        drawing.draw_loops(above, view, found.loops(ring, ring, placed[a], placed[b]))
    above.set_title(f"{course.rings} rings, step {step}: {course.recording.contacts[step]} contacts, in red")
    labels = [" ".join(filter(None, (c.tree.kind, c.tree.cuts))) for c in courses[0].cells]
    place = np.arange(len(labels))
    width = 0.8 / len(courses)
    for number, each in enumerate(courses):
        bars = [1e3 * cell.seconds for cell in each.cells]
        plot.barh(place + width * number, bars, width, label=f"{each.rings} rings")
    plot.set_yticks(place + 0.4 - 0.5 * width, labels)
    plot.invert_yaxis()
    plot.set_xscale("log")
    plot.set_xlabel("milliseconds an iteration")
    plot.grid(visible=True, axis="x", alpha=0.3)
    plot.legend()
    return drawing.save(canvas, path)


def run(steps: int | None, out: Path) -> None:
    """The command; ``steps`` is the length of each motion."""
    console = titled_console("The chain, Ponamgi, Manocha and Lin 1995, Table 1")
    count = min(steps or STEPS, STEPS)
    courses = [measure(rings, count) for rings in track(RINGS, "chain", transient=True, console=console)]
    console.print(scene_table(courses))
    console.print(table(courses))
    say(console, findings(courses))
    say(console, [picture(courses, out / "chain.png")])
