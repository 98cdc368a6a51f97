"""Many moving parts of about 1,000 triangles: ``World`` against the same loop over the peers' managers.

The parts feeder of ``lab.scenes.parts_feeder``: the same poses for everybody, in one interleaved run, one thread.  A
frame takes poses (n, 4, 4) and gives the pairs that collide, which are compared.  The best of several rounds counts for
each frame, and the mean over frames is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from rich.table import Table

from impinge.arrays import Floats
from impinge.lab.bench.results import rounded
from impinge.lab.bench.world_frames import WARM, Measured, box_pairs, compared, timed
from impinge.lab.bench.world_peers import PEERS, Pairs
from impinge.lab.scenes.parts_feeder import Feeder, parts_feeder
from impinge.world.frame import Frame
from impinge.world.world import World

PARTS = (10, 100, 1000, 10_000)
GOAL = 5.0
STILL_GOAL = 0.01


@dataclass
class Row(Measured):
    """One number of parts: each query and each peer."""

    parts: int
    stages: dict[str, float] = field(default_factory=dict)
    """Seconds of each stage of a frame of ``collides``."""


def world_of(feeder: Feeder) -> World:
    world = World()
    for body, pose in zip(feeder.bodies, feeder.poses(0), strict=True):
        world.add(body, pose)
    world.add(feeder.tray, name="tray", fixed=True)
    return world


class Ours:
    """A world with one query in each frame."""

    def __init__(self, feeder: Feeder, query: str) -> None:
        self._world = world_of(feeder)
        self._query = query

    def __call__(self, poses: Floats) -> Frame:
        self._world.set_poses(poses)
        return self._world.detect(self._query)


def measure(count: int, frames: int, rounds: int) -> Row:
    row = Row(count)
    feeder = parts_feeder(count)
    shown = [feeder.poses(number) for number in range(WARM + frames)]
    truth, overlapping = _truth(feeder, shown, row)
    best: dict[str, Floats] = {}
    for _ in range(rounds):
        for query in ("collides", "contacts", "closer_than"):
            spent = timed(Ours(feeder, query), shown)
            best[query] = np.minimum(best.get(query, np.inf), spent)
        still = Ours(feeder, "collides")
        spent = timed(still, [shown[0]] * len(shown))
        best["nothing moved"] = np.minimum(best.get("nothing moved", np.inf), spent)
        for name, make in PEERS.items():
            try:
                peer = make([*feeder.bodies, feeder.tray])
            except ImportError:
                continue
            seconds, differing = compared(peer, shown, truth, overlapping)
            best[name] = np.minimum(best.get(name, np.inf), seconds)
            row.different[name] = len(differing)
    row.seconds = {name: float(np.mean(spent)) for name, spent in best.items()}
    return row


def as_results(row: Row) -> dict[str, Any]:
    """What a results file keeps of a row."""
    return {
        "parts": row.parts,
        "box_pairs": rounded(row.box_pairs),
        "collisions": rounded(row.collisions),
        "seconds": {name: rounded(seconds) for name, seconds in row.seconds.items()},
        "stages": {name: rounded(seconds) for name, seconds in row.stages.items()},
        "different": dict(row.different),
    }


def _truth(feeder: Feeder, shown: Sequence[Floats], row: Row) -> tuple[list[Pairs], list[Pairs]]:
    """What collides in each frame, and whose boxes overlap."""
    ours, boxes = Ours(feeder, "collides"), box_pairs([*feeder.bodies, feeder.tray], shown)
    frames = [ours(poses) for poses in shown]
    row.collisions = float(np.mean([len(frame) for frame in frames[WARM:]]))
    row.box_pairs = float(np.mean([len(pairs) for pairs in boxes[WARM:]]))
    stages = [frame.statistics.seconds for frame in frames[WARM:]]
    row.stages = {name: float(np.min([each[name] for each in stages])) for name in stages[0]}
    return [frame.pairs for frame in frames], boxes


def table(rows: Sequence[Row]) -> Table:
    made = Table("", *(f"{row.parts:,} parts" for row in rows), title="Parts feeder: ms a frame")
    names = list(dict.fromkeys(name for row in rows for name in row.seconds))
    made.add_row("pairs of boxes", *(f"{row.box_pairs:,.0f}" for row in rows))
    made.add_row("collisions", *(f"{row.collisions:,.0f}" for row in rows))
    made.add_section()
    for name in names:
        made.add_row(name, *(_figure(row, name) for row in rows))
    made.add_section()
    for stage in rows[-1].stages:
        made.add_row(f"collides: {stage}", *(f"{1e3 * row.stages.get(stage, 0.0):.3g}" for row in rows))
    for column in made.columns[1:]:
        column.justify = "right"
    return made


def _figure(row: Row, name: str) -> str:
    if name not in row.seconds:
        return ""
    seconds = row.seconds[name]
    shown = f"{1e3 * seconds:.3g}"
    if name in PEERS:
        shown += f" {seconds / row.seconds['collides']:.1f}x"
        if row.different[name]:
            shown += f" ({row.different[name]} differ)"
    return shown


def findings(rows: Sequence[Row]) -> list[str]:
    said = []
    for row in rows:
        peers = {name: row.seconds[name] for name in PEERS if name in row.seconds}
        if peers and row.parts >= 1000:
            name = min(peers, key=lambda name: peers[name])
            ratio = peers[name] / row.seconds["collides"]
            held = "holds" if ratio >= GOAL else "does not hold"
            said.append(
                f"{row.parts:,} parts: {1.0 / row.seconds['collides']:,.0f} frames a second, {ratio:.1f} times as fast "
                f"as {name}; that it is {GOAL:g} times or more {held}."
            )
        part = row.seconds["nothing moved"] / row.seconds["collides"]
        held = "holds" if part <= STILL_GOAL else "does not hold"
        said.append(f"{row.parts:,} parts: a frame in which nothing moved costs {part:.2%} of one; at most 1% {held}.")
    return said
