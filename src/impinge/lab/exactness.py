"""Compares the kernels with the oracle on hard input: ``python -m impinge.lab.exactness``.

Tested for every pair of triangles: ``triangles_meet`` both ways, the kind, and
``triangles_closer_than`` with clearance 0.  The expensive queries go to the first
part of each chunk (``DISTANCE_SHARE``, ``POINTS_SHARE``): the distance and its witness
points, ``triangles_closer_than`` with clearances at and next to the true distance, and
the points of the intersection.  Pairs of small solids are tested for their relation both
ways, and whether they collide as solids and as surfaces.

Errors are counted in ulps of the largest coordinate of the pair.  The command ends with
code 1 if any yes/no answer, kind or set is wrong, and prints the pairs with
``float.hex``, so that they can be typed in again.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impinge.lab import oracle, solid_oracle
from impinge.lab.hard_input import FAMILIES, triangle_pairs
from impinge.lab.hard_solids import SOLID_FAMILIES, Solid, solid_pair
from impinge.results import RelationKind

DISTANCE_SHARE = 0.05
"""Part of the pairs whose distance is checked: the oracle needs about 100 us for one."""
POINTS_SHARE = 0.01
"""Part of the pairs whose points of intersection are checked: the oracle needs about 1 ms for one."""
ROUND_SIZE = 50_000
"""Pairs of one round over all families; each family is one task of it."""
SOLIDS_IN_TASK = 20
OFFENCES_SHOWN = 3
"""Wrong answers printed for each family."""
TOLERATED_ULPS = 16.0
"""The contract says "a few ulps of the coordinates"; beyond this a distance or a point counts as wrong."""

Floats = NDArray[np.float64]


@dataclass
class FamilyReport:
    """The counts of one family of triangle pairs; two of them can be added."""

    pairs: int = 0
    meeting: int = 0
    wrong_meets: int = 0
    wrong_kind: int = 0
    closer_asked: int = 0
    wrong_closer: int = 0
    points_asked: int = 0
    wrong_points: int = 0
    distances: int = 0
    wrong_distance: int = 0
    """Not finite, or zero without cause, or not zero where the triangles meet."""
    inaccurate: int = 0
    """A distance, witness or point that is off by more than TOLERATED_ULPS."""
    distance_error: float = 0.0
    witness_error: float = 0.0
    """Of the witness points: off their triangle, or at another distance than the true one."""
    point_error: float = 0.0
    """Of the points of intersection: from both triangles, and from the exact extreme points."""
    oracle_seconds: float = 0.0
    kernel_seconds: float = 0.0
    offences: list[str] = field(default_factory=list)

    @property
    def wrong(self) -> int:
        wrong_answers = self.wrong_meets + self.wrong_kind + self.wrong_closer + self.wrong_points + self.wrong_distance
        return wrong_answers + self.inaccurate

    def add(self, other: FamilyReport) -> None:
        for name, value in vars(other).items():
            if name.endswith("_error"):
                setattr(self, name, max(getattr(self, name), value))
            else:
                setattr(self, name, getattr(self, name) + value)
        del self.offences[OFFENCES_SHOWN:]


@dataclass
class SolidReport:
    """The counts of one family of pairs of solids."""

    pairs: int = 0
    kinds: dict[RelationKind, int] = field(default_factory=dict)
    wrong_relation: int = 0
    wrong_collides: int = 0
    oracle_seconds: float = 0.0
    offences: list[str] = field(default_factory=list)

    @property
    def wrong(self) -> int:
        return self.wrong_relation + self.wrong_collides

    def add(self, other: SolidReport) -> None:
        for kind, number in other.kinds.items():
            self.kinds[kind] = self.kinds.get(kind, 0) + number
        for name, value in vars(other).items():
            if name != "kinds":
                setattr(self, name, getattr(self, name) + value)
        del self.offences[OFFENCES_SHOWN:]


@dataclass
class Report:
    """What a run has found, by family."""

    triangles: dict[str, FamilyReport] = field(default_factory=dict)
    solids: dict[str, SolidReport] = field(default_factory=dict)

    @property
    def pairs(self) -> int:
        return sum(family.pairs for family in self.triangles.values())

    @property
    def solid_pairs(self) -> int:
        return sum(family.pairs for family in self.solids.values())

    @property
    def families(self) -> list[FamilyReport | SolidReport]:
        return [*self.triangles.values(), *self.solids.values()]

    @property
    def wrong(self) -> int:
        return sum(family.wrong for family in self.families)

    @property
    def offences(self) -> list[str]:
        return [text for family in self.families for text in family.offences]

    def add(self, name: str, part: FamilyReport | SolidReport) -> None:
        if isinstance(part, FamilyReport):
            self.triangles.setdefault(name, FamilyReport()).add(part)
        else:
            self.solids.setdefault(name, SolidReport()).add(part)


# ---------------------------------------------------------------- triangles


class TriangleCheck:
    """One chunk of pairs of one family, its queries and what came out."""

    def __init__(self, family: str, seed: tuple[int, ...], k: int) -> None:
        self.family = family
        self.rng = np.random.default_rng(seed)
        self.a, self.b = triangle_pairs(self.rng, k, family)
        self.report = FamilyReport(pairs=k)
        # Largest coordinate of a pair; its last place is the unit of all errors.
        self.ulp = np.spacing(np.maximum(np.abs(self.a), np.abs(self.b)).max(axis=(1, 2)))

    def run(self) -> FamilyReport:
        start = time.perf_counter()
        self.kinds = oracle.kinds(self.a, self.b)
        self.report.oracle_seconds = time.perf_counter() - start
        self.report.meeting = int(np.count_nonzero(self.kinds != oracle.DISJOINT))
        self.check_meets_and_kind()
        with np.errstate(over="ignore"):  # a wrong answer may be infinitely many ulps off
            self.check_distance(int(np.ceil(DISTANCE_SHARE * len(self.a))))
            self.check_points(int(np.ceil(POINTS_SHARE * len(self.a))))
        return self.report

    def check_meets_and_kind(self) -> None:
        from impinge.geometry.contacts.construction import triangle_intersections
        from impinge.geometry.triangles.clearance import triangles_closer_than
        from impinge.geometry.triangles.intersection import triangles_meet

        truth = self.kinds != oracle.DISJOINT
        triangles_meet(self.a[:1], self.b[:1])  # compile or load before the clock runs
        start = time.perf_counter()
        forward = triangles_meet(self.a, self.b)
        self.report.kernel_seconds = time.perf_counter() - start
        self.report.wrong_meets += self.compare("triangles_meet", forward, truth)
        self.report.wrong_meets += self.compare("triangles_meet(b, a)", triangles_meet(self.b, self.a), truth)
        self.kernel_kinds, self.counts, self.points, self.normals = triangle_intersections(self.a, self.b)
        self.report.wrong_kind += self.compare("triangle_intersections: kind", self.kernel_kinds, self.kinds)
        closer = triangles_closer_than(self.a, self.b, np.zeros(len(self.a)))
        self.report.wrong_closer += self.compare("triangles_closer_than 0", closer, truth)
        self.report.closer_asked += len(self.a)

    def check_distance(self, count: int) -> None:
        from impinge.geometry.triangles.clearance import triangles_closer_than
        from impinge.geometry.triangles.distance import triangle_distances

        a, b, ulp = self.a[:count], self.b[:count], self.ulp[:count]
        squared = oracle.squared_distances(a, b)
        truth = np.array([oracle.square_root(value) for value in squared])
        value, point_a, point_b = triangle_distances(a, b)
        self.report.distances += count
        legal = np.isfinite(value) & np.isfinite(point_a).all(axis=1) & np.isfinite(point_b).all(axis=1)
        # Zero where they meet and only there, but for a true distance that itself rounds to zero.
        meeting = self.kinds[:count] != oracle.DISJOINT
        sound = legal & np.where(meeting, value == 0.0, (value > 0.0) | (truth == 0.0))
        for row in np.flatnonzero(~sound):
            self.report.wrong_distance += 1
            self.offend("triangle_distances", row, (value[row], point_a[row], point_b[row]), truth[row])
        rows = np.flatnonzero(legal)
        if len(rows):
            witness_a, witness_b = _as_triangles(point_a[rows]), _as_triangles(point_b[rows])
            off_distance = np.abs(value[rows] - truth[rows])
            off_faces = np.maximum(_distances(witness_a, a[rows]), _distances(witness_b, b[rows]))
            off_witness = np.maximum(off_faces, np.abs(_distances(witness_a, witness_b) - truth[rows]))
            for row, distance_error, witness_error in zip(
                rows, off_distance / ulp[rows], off_witness / ulp[rows], strict=True
            ):
                self.report.distance_error = max(self.report.distance_error, float(distance_error))
                self.report.witness_error = max(self.report.witness_error, float(witness_error))
                if max(distance_error, witness_error) > TOLERATED_ULPS:
                    self.report.inaccurate += 1
                    answer = (value[row], point_a[row], point_b[row])
                    self.offend(f"triangle_distances, off by {witness_error:.3g} ulps", row, answer, truth[row])
        # At, just below and just above the true distance, and anywhere around it.
        for clearance in (
            truth,
            np.nextafter(truth, np.inf),
            np.maximum(np.nextafter(truth, -np.inf), 0.0),
            truth * self.rng.uniform(0.5, 1.5, count),
            np.maximum(truth + ulp * self.rng.integers(-4, 5, count), 0.0),
        ):
            expected = np.array([s <= Fraction(c) ** 2 for s, c in zip(squared, clearance.tolist(), strict=True)])
            answer = triangles_closer_than(a, b, clearance)
            self.report.closer_asked += count
            self.report.wrong_closer += self.compare("triangles_closer_than", answer, expected, clearance)

    def check_points(self, count: int) -> None:
        for row in np.flatnonzero(self.kinds[:count] != oracle.DISJOINT):
            a, b, ulp = self.a[row], self.b[row], self.ulp[row]
            exact = oracle.intersection(a, b)
            found = self.points[row, : max(0, self.counts[row])]
            length = float(np.linalg.norm(self.normals[row]))
            self.report.points_asked += 1
            answer = (found, self.normals[row])
            # Exact points that fall on one float may be one point of the answer, but none may be invented.
            legal = 1 <= len(found) <= len(exact) and np.isfinite(found).all()
            if not legal or not (length == 0.0 or abs(length - 1.0) < 1e-14):
                self.report.wrong_points += 1
                self.offend("triangle_intersections", row, answer, _rounded(exact))
                continue
            repeated = _as_triangles(found)
            off = max(_distances(repeated, np.broadcast_to(t, repeated.shape)).max() for t in (a, b))
            apart = max(min(_point_distance(p, q) for q in found.tolist()) for p in exact)
            error = float(max(off, apart) / ulp)
            self.report.point_error = max(self.report.point_error, error)
            if error > TOLERATED_ULPS:
                self.report.inaccurate += 1
                self.offend(f"triangle_intersections, off by {error:.3g} ulps", row, answer, _rounded(exact))

    def compare(self, query: str, answer: NDArray[Any], truth: NDArray[Any], clearance: Floats | None = None) -> int:
        wrong = np.flatnonzero(np.asarray(answer) != np.asarray(truth))
        for row in wrong[: OFFENCES_SHOWN - len(self.report.offences)]:
            at = "" if clearance is None else f" with clearance {float(clearance[row]).hex()}"
            self.offend(query + at, row, answer[row], truth[row])
        return len(wrong)

    def offend(self, query: str, row: np.intp, answer: object, truth: object) -> None:
        if len(self.report.offences) < OFFENCES_SHOWN:
            self.report.offences.append(
                f"{self.family}: {query}: answer {answer}, truth {truth}\n"
                f"  a = {_hex(self.a[row])}\n  b = {_hex(self.b[row])}"
            )


def _as_triangles(points: Floats) -> Floats:
    return np.repeat(points[:, None], 3, axis=1)


def _distances(a: Floats, b: Floats) -> Floats:
    return np.array([oracle.square_root(value) for value in oracle.squared_distances(a, b)])


def _point_distance(p: oracle.Point, q: list[float]) -> float:
    return oracle.square_root(sum(((x - Fraction(y)) ** 2 for x, y in zip(p, q, strict=True)), start=Fraction(0)))


def _rounded(points: list[oracle.Point]) -> list[list[float]]:
    return [[float(x) for x in point] for point in points]


def _hex(rows: NDArray[np.float64]) -> str:
    """Readable by ``[[float.fromhex(x) for x in row] for row in ...]``."""
    return repr([[float(x).hex() for x in row] for row in rows])


def check_triangles(family: str, seed: tuple[int, ...], k: int) -> FamilyReport:
    """k pairs of one family."""
    return TriangleCheck(family, seed, k).run()


# ---------------------------------------------------------------- solids

_SWAPPED = {RelationKind.A_INSIDE_B: RelationKind.B_INSIDE_A, RelationKind.B_INSIDE_A: RelationKind.A_INSIDE_B}


def check_solids(family: str, seed: tuple[int, ...], k: int) -> SolidReport:
    """k pairs of solids of one family."""
    import impinge

    report = SolidReport(pairs=k)
    rng = np.random.default_rng(seed)
    for _ in range(k):
        pair = solid_pair(rng, family)
        start = time.perf_counter()
        kind, touching = solid_oracle.relation(*pair.a, *pair.b)
        report.oracle_seconds += time.perf_counter() - start
        report.kinds[kind] = report.kinds.get(kind, 0) + 1
        a, b = (impinge.Mesh(*solid, solid=True) for solid in (pair.a, pair.b))
        surface_a, surface_b = (impinge.Mesh(*solid) for solid in (pair.a, pair.b))
        relations = (
            ("relation", impinge.relation(a, b), kind),
            ("relation(b, a)", impinge.relation(b, a), _SWAPPED.get(kind, kind)),
        )
        for query, answer, truth in relations:
            if answer.kind != truth or bool(answer.touching) != touching:
                report.wrong_relation += 1
                _offend(report, family, query, answer, f"{truth!r}, touching {touching}", pair.a, pair.b)
        collisions = (
            ("collides as solids", impinge.collides(a, b), kind != RelationKind.APART),
            ("collides as surfaces", impinge.collides(surface_a, surface_b), touching),
            ("distance of solids is zero", impinge.distance(a, b).value == 0.0, kind != RelationKind.APART),
        )
        for query, yes, expected in collisions:
            if bool(yes) != expected:
                report.wrong_collides += 1
                _offend(report, family, query, yes, expected, pair.a, pair.b)
    return report


def _offend(report: SolidReport, family: str, query: str, answer: object, truth: object, a: Solid, b: Solid) -> None:
    if len(report.offences) < OFFENCES_SHOWN:
        report.offences.append(
            f"{family}: {query}: answer {answer}, truth {truth}\n"
            f"  a = {_hex(a.vertices)}, {a.faces.tolist()}\n  b = {_hex(b.vertices)}, {b.faces.tolist()}"
        )


# ---------------------------------------------------------------- the run

Task = tuple[Callable[..., "FamilyReport | SolidReport"], str, tuple[int, ...], int]


def _tasks(pairs: int, solids: int, seed: int) -> Iterator[Task]:
    """Solids first, then rounds over all families of triangles until the number is reached.

    The seed of a task depends on nothing but its place, so any number of workers sees the same pairs.
    """
    names = list(SOLID_FAMILIES)
    in_task = max(1, min(SOLIDS_IN_TASK, solids // len(names)))
    for number, first in enumerate(range(0, solids, in_task)):
        yield check_solids, names[number % len(names)], (seed, 0, number), min(in_task, solids - first)
    done = round_number = 0
    while done < pairs:
        size = min(ROUND_SIZE, pairs - done)
        for number, (name, family) in enumerate(FAMILIES.items()):
            k = max(1, round(family.share * size))
            yield check_triangles, name, (seed, 1, round_number, number), k
            done += k
        round_number += 1


def run(
    pairs: int,
    solids: int = 0,
    seed: int = 0,
    workers: int = 1,
    minutes: float | None = None,
    progress: Callable[[int], None] | None = None,
) -> Report:
    """Check so many pairs of triangles (rounded up to one for each family) and of solids.

    With ``minutes`` no new task is begun after that time.  ``progress`` is told how many pairs were checked.
    """
    report = Report()
    end = np.inf if minutes is None else time.monotonic() + 60.0 * minutes
    tasks = _tasks(pairs, solids, seed)

    def take(name: str, part: FamilyReport | SolidReport) -> None:
        report.add(name, part)
        if progress is not None:
            progress(part.pairs)

    if workers == 1:
        for check, name, task_seed, k in tasks:
            if time.monotonic() > end:
                break
            take(name, check(name, task_seed, k))
        return report
    # Spawned, not forked: the same on every system, and safe beside the threads of the progress bar.
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        pending: dict[Future[FamilyReport | SolidReport], str] = {}
        more = True
        while more or pending:
            while more and len(pending) < 2 * workers:
                task = next(tasks, None)
                more = task is not None and time.monotonic() <= end
                if more and task is not None:
                    check, name, task_seed, k = task
                    pending[pool.submit(check, name, task_seed, k)] = name
            finished, _ = wait(pending, return_when=FIRST_COMPLETED)
            for future in finished:
                take(pending.pop(future), future.result())
    return report


# ---------------------------------------------------------------- the command


def print_report(report: Report) -> None:
    """One table for triangles, one for solids, and the wrong answers."""
    from rich.console import Console
    from rich.table import Table

    console = Console()
    if not console.is_terminal:
        console.width = 180  # the tables are wide, and a file has no edge
    table = Table(title=f"Triangles: {report.pairs:,} pairs (errors in ulps of the largest coordinate)")
    table.add_column("family", no_wrap=True)
    heads = ["pairs", "meet", "wrong: meets", "kind", "closer", "points", "zero", "inaccurate"]
    for head in [*heads, "error: distance", "witness", "points", "oracle us/pair", "kernel ns/pair"]:
        table.add_column(head, justify="right")
    for name, f in report.triangles.items():
        counts = (f.wrong_meets, f.wrong_kind, f.wrong_closer, f.wrong_points, f.wrong_distance, f.inaccurate)
        errors = (f.distance_error, f.witness_error, f.point_error)
        table.add_row(
            name,
            f"{f.pairs:,}",
            f"{f.meeting / f.pairs:.0%}",
            *(f"{n:,}" for n in counts),
            *(f"{e:.3g}" for e in errors),
            f"{1e6 * f.oracle_seconds / f.pairs:.1f}",
            f"{1e9 * f.kernel_seconds / f.pairs:.0f}",
        )
    if report.triangles:
        console.print(table)
    table = Table(title=f"Solids: {report.solid_pairs:,} pairs")
    table.add_column("family", no_wrap=True)
    heads = ["pairs", *(kind.name.lower() for kind in RelationKind), "wrong: relation", "collides", "oracle ms/pair"]
    for head in heads:
        table.add_column(head, justify="right")
    for name, s in report.solids.items():
        numbers = [s.pairs, *(s.kinds.get(kind, 0) for kind in RelationKind), s.wrong_relation, s.wrong_collides]
        table.add_row(name, *(f"{n:,}" for n in numbers), f"{1e3 * s.oracle_seconds / s.pairs:.1f}")
    if report.solids:
        console.print(table)
    for text in report.offences:
        print(text)
    closer = sum(f.closer_asked for f in report.triangles.values())
    distances = sum(f.distances for f in report.triangles.values())
    points = sum(f.points_asked for f in report.triangles.values())
    print(
        f"{report.pairs:,} pairs of triangles (closer_than called {closer:,} times, {distances:,} distances, "
        f"{points:,} intersections), {report.solid_pairs:,} pairs of solids: {report.wrong:,} wrong answers"
    )


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m impinge.lab.exactness", description=__doc__.split("\n")[0])
    parser.add_argument("--pairs", type=int, help="pairs of triangles (200000; without limit if --minutes is given)")
    parser.add_argument("--minutes", type=float, help="begin nothing new after this time")
    parser.add_argument("--solids", type=int, default=400, help="pairs of solids (400)")
    parser.add_argument("--workers", type=int, default=2, help="processes (2)")
    parser.add_argument("--seed", type=int, default=0, help="another seed, other pairs (0)")
    chosen = parser.parse_args(arguments)
    if min(chosen.pairs or 0, chosen.solids, chosen.seed) < 0 or chosen.workers < 1 or (chosen.minutes or 0) < 0:
        parser.error("numbers must not be negative, and at least one worker is needed")
    pairs = chosen.pairs if chosen.pairs is not None else (200_000 if chosen.minutes is None else sys.maxsize)

    from rich import progress

    start = time.monotonic()
    columns = (*progress.Progress.get_default_columns(), progress.MofNCompleteColumn())
    with progress.Progress(*columns, transient=True) as bar:
        total = None if pairs == sys.maxsize else pairs + chosen.solids
        shown = bar.add_task("pairs against the oracle", total=total)
        report = run(
            pairs, chosen.solids, chosen.seed, chosen.workers, chosen.minutes, lambda n: bar.update(shown, advance=n)
        )
    print_report(report)
    print(f"{time.monotonic() - start:.0f} s with {chosen.workers} workers, seed {chosen.seed}")
    return 1 if report.wrong else 0


if __name__ == "__main__":
    # Under its importable name, so that the workers can unpickle what the tasks return.
    from impinge.lab import exactness

    sys.exit(exactness.main())
