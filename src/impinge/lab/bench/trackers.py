"""GJK, V-Clip and Lin-Canny against each other and against exact arithmetic, on seeded hard input.

``python -m impinge.lab.bench trackers [--configurations N] [--oracle N] [--approaches N] [--seed N] [--accuracy N]``

Every configuration is solved by all three methods, from scratch and coherently along the row of poses.  All six must
agree: distances bit for bit, ``collides`` as the distance's zero and as ``closer_than`` 0, ``closer_than`` another
clearance as the distance.  A sample goes to the rational oracle (``lab.convex_oracle``).  Approach paths cross the
first touching in steps of one unit in the last place; every step goes to it.  Ends with code 1 on any disagreement.

With ``--accuracy N`` the errors of distance and penetration depth are measured instead, N poses of each family.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import impinge
from impinge.arrays import Bools, Floats
from impinge.convex.search import effort, own_workspace
from impinge.lab import convex_oracle
from impinge.lab.bench.timing import machine
from impinge.lab.bench.tracker_accuracy import LARGE, distance_error, measure, table_of_errors
from impinge.lab.hard_polytopes import FAMILIES, Encounter
from impinge.queries.method import MethodName
from impinge.results import Distance

POSES = 192
"""Of each pair of bodies."""
MOST_VERTICES = 60
TOLERATED_ULPS = 8.0
"""Of the largest posed coordinate: what a distance may be off."""

METHODS: tuple[MethodName, ...] = ("gjk", "vclip", "lin-canny")
_SHOWN = 5
_SAY_EVERY = 20.0
_WIDTH = 170


@dataclass
class Count:
    """Of one family."""

    configurations: int = 0
    meeting: int = 0
    different: int = 0
    """Configurations where two of the six answers differ."""
    contradictions: int = 0
    """Configurations where collides, closer_than and distance do not go together."""
    not_finite: int = 0
    corrected: int = 0
    """Walks of V-Clip or Lin-Canny that ended at other features than the nearest; GJK then went on."""
    careful: int = 0
    exact: int = 0
    """Answers that took double-double arithmetic, or integers; of all six."""
    checked: int = 0
    wrong: int = 0
    """Answers that the oracle denies."""
    worst: float = 0.0
    """Error of a distance in ulps of the largest posed coordinate."""
    offences: list[str] = field(default_factory=list)

    @property
    def bad(self) -> int:
        return self.different + self.contradictions + self.not_finite + self.wrong

    def offend(self, text: str) -> None:
        if len(self.offences) < _SHOWN:
            self.offences.append(text)


def check(count: Count, met: Encounter, clearance: float, where: str) -> Floats:
    """One encounter by all methods in both ways; the distances of the first."""
    asked = met.poses_a, met.poses_b
    answers: dict[str, tuple[Distance, Bools, Bools, Bools]] = {}
    for method in METHODS:
        before = effort(own_workspace())
        bodies = met.a, met.b
        answers[f"{method} from scratch"] = (
            impinge.distance(*bodies, *asked, method=method),
            np.asarray(impinge.collides(*bodies, *asked, method=method)),
            np.asarray(impinge.closer_than(*bodies, clearance, *asked, method=method)),
            np.asarray(impinge.closer_than(*bodies, 0.0, *asked, method=method)),
        )
        _add_effort(count, effort(own_workspace()), before)
        pair = impinge.Pair(*bodies, method)
        answers[f"{method} coherent"] = (
            pair.distance(*asked),
            np.asarray(pair.collides(*asked)),
            np.asarray(pair.closer_than(clearance, *asked)),
            np.asarray(pair.closer_than(0.0, *asked)),
        )
        _add_effort(count, pair.statistics.effort)  # type: ignore[attr-defined]
    values = np.asarray(next(iter(answers.values()))[0].value)
    count.configurations += len(values)
    count.meeting += int((values == 0.0).sum())
    _compare(count, answers, clearance, where)
    return values


def _add_effort(count: Count, after: Any, before: Any = None) -> None:
    for name in ("corrected", "careful", "exact"):
        field_name = f"{name}_walks"
        gained = getattr(after, field_name) - (getattr(before, field_name) if before else 0)
        setattr(count, name, getattr(count, name) + gained)


def _compare(count: Count, answers: dict[str, Any], clearance: float, where: str) -> None:
    first, *others = answers
    found, meet, closer, touch = answers[first]
    # The clearance is the rounded distance of one pose, so it decides nothing where a distance rounds to the same.
    near = found.value == clearance
    odd = (meet != (found.value == 0.0)) | (meet != touch) | (~near & (closer != (found.value <= clearance)))
    count.contradictions += int(odd.sum())
    for i in np.flatnonzero(odd)[:_SHOWN]:
        value = float(found.value[i])
        count.offend(f"{where}, pose {i}: distance {value!r}, collides {meet[i]}, closer_than {closer[i]}")
    differ = np.zeros(len(meet), dtype=bool)
    for name in others:
        theirs = answers[name]
        here = theirs[0].value != found.value
        for mine, other in ((meet, theirs[1]), (closer, theirs[2]), (touch, theirs[3])):
            here |= mine != other
        for i in np.flatnonzero(here)[:_SHOWN]:
            count.offend(f"{where}, pose {i}: {first} {float(found.value[i])!r}, {name} {float(theirs[0].value[i])!r}")
        differ |= here
    count.different += int(differ.sum())
    for name, theirs in answers.items():
        numbers = np.column_stack([theirs[0].value, theirs[0].point_a, theirs[0].point_b])
        odd = ~np.isfinite(numbers).all(axis=1)
        count.not_finite += int(odd.sum())
        for i in np.flatnonzero(odd)[:_SHOWN]:
            count.offend(f"{where}, pose {i}: {name} is not finite")


def check_exactly(count: Count, met: Encounter, values: Floats, i: int, where: str) -> None:
    """The exact answer to pose i."""
    a, b = met.posed(i)
    squared = convex_oracle.squared_distance(a, b)
    count.checked += 1
    error = distance_error(float(values[i]), squared, a, b)
    count.worst = max(count.worst, error)
    if (squared == 0) != (values[i] == 0.0) or error > TOLERATED_ULPS:
        count.wrong += 1
        count.offend(f"{where}, pose {i}: {float(values[i])!r} is off by {error:.3g} ulps")


def run_configurations(total: int, checked: int, seed: int, console: Console | None = None) -> dict[str, Count]:
    """Encounters of all families in turn until there are enough configurations."""
    counts = {name: Count() for name in FAMILIES}
    encounters = max(1, -(-total // POSES))
    sample = np.bincount(np.random.default_rng(seed).integers(encounters, size=checked), minlength=encounters)
    start = said = time.monotonic()
    names = list(FAMILIES)
    for number in range(encounters):
        name = names[number % len(names)]
        rng = np.random.default_rng([seed, number])
        met = FAMILIES[name](rng, min(POSES, total), MOST_VERTICES)
        where = f"{name}, seed [{seed}, {number}]"
        clearance = float(impinge.distance(met.a, met.b, met.poses_a[0], met.poses_b[0]).value)
        values = check(counts[name], met, clearance, where)
        for i in rng.integers(len(values), size=sample[number]):
            check_exactly(counts[name], met, values, int(i), where)
        if console is not None and time.monotonic() - said > _SAY_EVERY:
            said = time.monotonic()
            done = sum(count.configurations for count in counts.values())
            bad = sum(count.bad for count in counts.values())
            console.print(f"{done:,} configurations in {said - start:.0f} s, {bad} wrong", highlight=False)
    return counts


@dataclass
class Approaches:
    """Paths through the first touching."""

    paths: int = 0
    steps: int = 0
    late: int = 0
    """Steps at which a method and the oracle differ."""
    offences: list[str] = field(default_factory=list)


def approach(rng: np.random.Generator) -> Encounter:
    """Body b comes nearer along a line; the last steps are units in the last place around the first touching."""
    name = list(FAMILIES)[int(rng.integers(len(FAMILIES)))]
    met = FAMILIES[name](rng, 1, 12)
    pose_a, pose_b = met.poses_a[0], met.poses_b[0].copy()
    centre = met.posed(0)[0].mean(axis=0)
    towards = np.eye(3)[int(rng.integers(3))] * rng.choice([-1.0, 1.0])

    def at(offset: float) -> Floats:
        moved: Floats = pose_b.copy()
        moved[:3, 3] = centre - towards * offset - (met.posed(0)[1].mean(axis=0) - pose_b[:3, 3])
        return moved

    apart, meeting = 8.0 * float(np.ptp(np.concatenate(met.posed(0)), axis=0).max()) + 1.0, 0.0
    for _ in range(70):
        middle = (apart + meeting) / 2.0
        apart, meeting = (apart, middle) if impinge.collides(met.a, met.b, pose_a, at(middle)) else (middle, meeting)
    fine = np.spacing(np.abs(at(apart)[:3, 3]).max())
    offsets = [apart + k * (apart + 1.0) / 8.0 for k in range(4, 0, -1)] + [apart + k * fine for k in range(6, -7, -1)]
    path = np.stack([at(offset) for offset in offsets])
    return Encounter(met.a, met.b, np.broadcast_to(pose_a, path.shape).copy(), path)


def run_approaches(total: int, seed: int) -> Approaches:
    found = Approaches()
    for number in range(total):
        met = approach(np.random.default_rng([seed, 1, number]))
        truth = np.array([convex_oracle.meets(*met.posed(i)) for i in range(len(met.poses_b))])
        found.paths += 1
        found.steps += len(truth)
        for method in METHODS:
            ours = np.asarray(impinge.Pair(met.a, met.b, method).collides(met.poses_a, met.poses_b))
            late = np.flatnonzero(ours != truth)
            found.late += len(late)
            if len(late) and len(found.offences) < _SHOWN:
                found.offences.append(
                    f"approach, seed [{seed}, 1, {number}]: {method} differs at steps {late.tolist()}"
                )
    return found


def table_of_counts(counts: dict[str, Count]) -> Table:
    table = Table(title="Three trackers, from scratch and coherent")
    table.add_column("family", no_wrap=True)
    heads = [
        "configurations",
        "meet",
        "different",
        "contradictions",
        "not finite",
        "corrected",
        "careful",
        "exact",
    ]
    for head in [*heads, "checked", "wrong", "worst, ulps"]:
        table.add_column(head, justify="right")
    for name, c in counts.items():
        share = f"{c.meeting / c.configurations:.0%}" if c.configurations else "-"
        numbers = (
            c.different,
            c.contradictions,
            c.not_finite,
            c.corrected,
            c.careful,
            c.exact,
            c.checked,
            c.wrong,
        )
        table.add_row(name, f"{c.configurations:,}", share, *(f"{n:,}" for n in numbers), f"{c.worst:.3g}")
    return table


def run(arguments: Sequence[str] = ()) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m impinge.lab.bench trackers", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("--configurations", type=int, metavar="N", default=1_000_000, help="(1000000)")
    parser.add_argument("--oracle", type=int, metavar="N", default=500, help="configurations to be checked (500)")
    parser.add_argument("--approaches", type=int, metavar="N", default=200, help="approach paths (200)")
    parser.add_argument("--seed", type=int, metavar="N", default=0, help="another seed, other configurations (0)")
    parser.add_argument("--accuracy", type=int, metavar="N", help="measure errors instead, N poses of each family")
    options = parser.parse_args(arguments)
    if options.configurations < 1 or min(options.oracle, options.approaches, options.seed) < 0:
        parser.error("at least one configuration is needed, and numbers must not be negative")
    console = Console()
    if not console.is_terminal:
        console = Console(width=_WIDTH)
    console.print(f"[bold]Trackers[/bold]  {machine()}")
    if options.accuracy is not None:
        return _run_accuracy(console, options.accuracy, options.seed)
    start = time.monotonic()
    counts = run_configurations(options.configurations, options.oracle, options.seed, console)
    console.print(table_of_counts(counts))
    approaches = run_approaches(options.approaches, options.seed)
    bad = sum(count.bad for count in counts.values()) + approaches.late
    for line in [*(text for c in counts.values() for text in c.offences), *approaches.offences, ""]:
        console.print(line, markup=False, highlight=False)
    total = sum(count.configurations for count in counts.values())
    console.print(
        f"{total:,} configurations, {sum(c.checked for c in counts.values()):,} of them checked; "
        f"{approaches.paths:,} approach paths with {approaches.steps:,} checked steps, "
        f"{approaches.late:,} answers of a tracker too late or too early. "
        f"{bad:,} wrong in {time.monotonic() - start:.0f} s, seed {options.seed}.",
        highlight=False,
    )
    return 1 if bad else 0


def _run_accuracy(console: Console, poses: int, seed: int) -> int:
    errors = []
    for name in [*FAMILIES, LARGE]:
        start = time.monotonic()
        errors.append(measure(name, poses, seed))
        console.print(f"{name}: {time.monotonic() - start:.0f} s", highlight=False)
    console.print(table_of_errors(errors))
    held = all(error.held for error in errors)
    console.print(f"Goal: 8 ulps and 1e-12. {'Held' if held else 'NOT held'}. Seed {seed}.", highlight=False)
    return 0 if held else 1
