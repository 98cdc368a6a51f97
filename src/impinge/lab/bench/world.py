"""Many moving parts of about 1,000 triangles: ``World`` against the same loop over the peers' managers.

``python -m impinge.lab.bench world [--parts N ...] [--frames N] [--rounds N]``

The parts feeder of ``lab.scenes.parts_feeder``: the same poses for everybody, in one interleaved run, one thread.  A
frame takes poses (n, 4, 4) and gives the pairs that collide, which are compared.  The best of several rounds counts for
each frame, and the mean over frames is shown.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from rich.console import Console
from rich.table import Table

from impinge.broadphase.choice import broad_phase
from impinge.geometry.cast import Floats
from impinge.lab.bench.timing import machine
from impinge.lab.bench.world_peers import PEERS, Frames, Pairs
from impinge.lab.scenes.parts_feeder import Feeder, parts_feeder
from impinge.world.body_boxes import BodyBoxes
from impinge.world.frame import Frame
from impinge.world.world import World

PARTS = (100, 1000, 10_000)
FRAMES = 10
GOAL = 5.0
STILL_GOAL = 0.01

_WARM = 2
_SLOW = 5.0
"""Seconds; whoever takes longer for a frame is asked about one."""


@dataclass
class Row:
    """One number of parts."""

    parts: int
    box_pairs: float = 0.0
    collisions: float = 0.0
    seconds: dict[str, float] = field(default_factory=dict)
    """A frame, of each question and peer."""
    different: dict[str, int] = field(default_factory=dict)
    """Pairs that a peer finds otherwise."""
    stages: dict[str, float] = field(default_factory=dict)
    """Seconds of each stage of a frame of ``collides``."""


def world_of(feeder: Feeder) -> World:
    world = World()
    for body, pose in zip(feeder.bodies, feeder.poses(0), strict=True):
        world.add(body, pose)
    world.add(feeder.tray, name="tray", fixed=True)
    return world


class Ours:
    """A world that is asked one question in each frame."""

    def __init__(self, feeder: Feeder, query: str) -> None:
        self._world = world_of(feeder)
        self._query = query

    def __call__(self, poses: Floats) -> Frame:
        self._world.set_poses(poses)
        return self._world.detect(self._query)


def measure(count: int, frames: int, rounds: int) -> Row:
    row = Row(count)
    feeder = parts_feeder(count)
    shown = [feeder.poses(number) for number in range(_WARM + frames)]
    truth, box_pairs = _truth(feeder, shown, row)
    best: dict[str, Floats] = {}
    for _ in range(rounds):
        for query in ("collides", "contacts", "closer_than"):
            spent = _timed(Ours(feeder, query), shown)
            best[query] = np.minimum(best.get(query, np.inf), spent)
        still = Ours(feeder, "collides")
        spent = _timed(still, [shown[0]] * len(shown))
        best["nothing moved"] = np.minimum(best.get("nothing moved", np.inf), spent)
        for name, make in PEERS.items():
            try:
                peer = make([*feeder.bodies, feeder.tray])
            except ImportError:
                continue
            seconds = _compared(row, name, peer, shown, truth, box_pairs)
            best[name] = np.minimum(best.get(name, np.inf), seconds)
    row.seconds = {name: float(np.mean(spent)) for name, spent in best.items()}
    return row


def _truth(feeder: Feeder, shown: Sequence[Floats], row: Row) -> tuple[list[Pairs], list[Pairs]]:
    """What collides in each frame, and whose boxes overlap."""
    ours, boxes = Ours(feeder, "collides"), _boxes(feeder, shown)
    frames = [ours(poses) for poses in shown]
    row.collisions = float(np.mean([len(frame) for frame in frames[_WARM:]]))
    row.box_pairs = float(np.mean([len(pairs) for pairs in boxes[_WARM:]]))
    stages = [frame.statistics.seconds for frame in frames[_WARM:]]
    row.stages = {name: float(np.min([each[name] for each in stages])) for name in stages[0]}
    return [frame.pairs for frame in frames], boxes


def _boxes(feeder: Feeder, shown: Sequence[Floats]) -> list[Pairs]:
    """The pairs whose boxes overlap, of each frame."""
    body_boxes = BodyBoxes([*feeder.bodies, feeder.tray])
    broad = broad_phase()
    still = np.eye(4)[None]
    broad.add(body_boxes.boxes(np.concatenate([shown[0], still])))
    return [broad.update(body_boxes.boxes(np.concatenate([poses, still]))).pairs for poses in shown]


def _timed(ask: Ours, shown: Sequence[Floats]) -> Floats:
    """Seconds of each frame after the first ones."""
    spent = []
    for poses in shown:
        start = time.perf_counter()
        ask(poses)
        spent.append(time.perf_counter() - start)
    return np.array(spent[_WARM:])


def _compared(
    row: Row, name: str, peer: Frames, shown: Sequence[Floats], truth: Sequence[Pairs], box_pairs: Sequence[Pairs]
) -> Floats:
    """Seconds of each frame; what a peer finds is compared."""
    spent: list[float] = []
    different = 0
    for number, poses in enumerate(shown):
        start = time.perf_counter()
        found = peer(poses, box_pairs[number])
        spent.append(time.perf_counter() - start)
        theirs, ours = ({tuple(sorted(pair)) for pair in pairs.tolist()} for pairs in (found, truth[number]))
        different += len(theirs ^ ours)
        if len(spent) > _WARM and spent[-1] > _SLOW:
            break
    row.different[name] = different
    return np.full(len(shown) - _WARM, np.mean(spent[_WARM:])) if len(spent) < len(shown) else np.array(spent[_WARM:])


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


def run(arguments: Sequence[str] = ()) -> int:
    parser = argparse.ArgumentParser(prog="python -m impinge.lab.bench world", description=__doc__.partition("\n")[0])
    parser.add_argument("--parts", type=int, nargs="+", metavar="N", default=PARTS, help="in the feeder")
    parser.add_argument("--frames", type=int, metavar="N", default=FRAMES, help=f"of each ({FRAMES})")
    parser.add_argument("--rounds", type=int, metavar="N", default=3, help="turns of each; the best counts (3)")
    options = parser.parse_args(arguments)
    if min(*options.parts, options.frames, options.rounds, 1) < 1:
        parser.error("parts, frames and rounds are at least 1")
    console = Console()
    if not console.is_terminal:
        console = Console(width=150)
    console.print(f"[bold]World[/bold]  {machine()}")
    rows = []
    for count in options.parts:
        start = time.perf_counter()
        rows.append(measure(count, options.frames, options.rounds))
        console.print(f"{count:,} parts: {time.perf_counter() - start:.0f} s")
    console.print(table(rows))
    for sentence in findings(rows):
        console.print(sentence)
    return 0
