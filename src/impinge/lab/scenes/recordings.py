"""The four simulations of Mirtich (1997), Table 1, as recordings: coins, bowling, rattleback top, part feeder chute.

The paper names them and refers to a thesis; it gives no sizes and, but for the eight coins of its Fig. 4, no numbers.
Shapes and numbers here are those of the things themselves.  The motions are written down, not simulated: each pose is
a formula of the time, so a recording can be read at any step.  Bodies fly in parabolas, hop lower and lower, slide to a
stop, and stand on their lowest vertex.  They take no notice of each other, which is all the same to a broad phase.
Metres and seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from impinge.arrays import Floats
from impinge.convex.hull.convex_hull import ConvexHull
from impinge.geometry.pose import posed_vertices
from impinge.lab.scenes.boxes import reflected
from impinge.lab.scenes.polytopes import icosphere
from impinge.lab.scenes.poses import poses, turns
from impinge.lab.scenes.shapes import cylinder, lathe, prism
from impinge.mesh.mesh import Mesh

_GRAVITY = 9.81
_RESTITUTION = 0.5

Motion = Callable[[Floats], Floats]
"""From times (k,) to poses (k, 4, 4)."""


@dataclass(frozen=True, eq=False)
class Recording:
    """Bodies that move, and some that do not."""

    name: str
    moving: tuple[ConvexHull, ...]
    fixed: tuple[ConvexHull, ...]
    """Where they stand."""
    motions: tuple[Motion, ...]
    """Of the moving bodies."""
    seconds: float

    def poses(self, times: Floats) -> Floats:
        """(k, n, 4, 4) of all moving bodies at times (k,)."""
        return np.stack([motion(times) for motion in self.motions], axis=1)


def hops(time: Floats, speed: float) -> Floats:
    """The height of something that leaves the ground at time 0 with this speed, and hops until it lies.

    Hop k begins with ``speed * r**k`` for a restitution r; the times of all hops are a geometric series.
    """
    if speed <= 0.0:
        return np.zeros_like(time)
    first = 2.0 * speed / _GRAVITY
    elapsed = 1.0 - time * (1.0 - _RESTITUTION) / first
    hop = np.floor(np.log(np.maximum(elapsed, 1e-12)) / np.log(_RESTITUTION))  # after 40 hops it lies
    part = _RESTITUTION ** np.maximum(hop, 0.0)
    since = time - first * (1.0 - part) / (1.0 - _RESTITUTION)
    height: Floats = np.maximum((speed * part - 0.5 * _GRAVITY * since) * since, 0.0)
    return np.where((time > 0.0) & (elapsed > 1e-12), height, 0.0)


def fall_and_hops(time: Floats, height: float, speed: float) -> Floats:
    """The height of something that is thrown up from a height at time 0."""
    landing = (speed + np.sqrt(speed**2 + 2.0 * _GRAVITY * height)) / _GRAVITY
    flight = height + (speed - 0.5 * _GRAVITY * time) * time
    return np.where(time < landing, flight, hops(time - landing, _RESTITUTION * (_GRAVITY * landing - speed)))


def slowing(time: Floats, decay: float) -> Floats:
    """How far something with speed 1 at time 0 has slid."""
    return decay * (1.0 - np.exp(-time / decay))


def standing(hull: ConvexHull, turned: Floats, x: Floats, y: Floats, height: Floats) -> Floats:
    """(k, 4, 4) with the lowest vertex at these heights above the floor z = 0."""
    lowest = (turned[:, 2] @ hull.vertices.T).min(axis=1)
    return poses(turned, np.column_stack([x, y, height - lowest]))


@dataclass(frozen=True)
class Toss:
    """A body is thrown, and tumbles until it lies still."""

    hull: ConvexHull
    at: tuple[float, float, float]
    """Where from; z is the height of the lowest vertex."""
    velocity: tuple[float, float, float]
    start: float = 0.0
    """It waits until this time."""
    heading: float = 0.0
    """The direction of the axis about which it tumbles, at first."""
    tilts: tuple[float, float] = (0.0, 0.0)
    """From its upright position, in the beginning and in the end."""
    precession: float = 0.0
    """Radians a second, at first."""
    decay: float = 0.3
    """Seconds until what slows down has a third of its speed."""

    def __call__(self, times: Floats) -> Floats:
        time = np.maximum(times - self.start, 0.0)
        slid = slowing(time, self.decay)
        before, after = self.tilts
        tilt = after + (before - after) * np.exp(-time / self.decay)
        none = np.zeros_like(time)
        about_z = turns(np.column_stack([none, none, self.heading + self.precession * slid]))
        turned = about_z @ turns(np.column_stack([tilt, none, none]))
        height = fall_and_hops(time, self.at[2], self.velocity[2])
        x, y = (self.at[k] + self.velocity[k] * slid for k in range(2))
        return standing(self.hull, turned, x, y, height)


def centred(body: Mesh) -> ConvexHull:
    """The hull, with the middle of its bounds in the origin, about which it turns."""
    return ConvexHull(body.vertices - body.bounds.mean(axis=0))


def slab(low: Sequence[float], high: Sequence[float]) -> ConvexHull:
    """A fixed box."""
    return ConvexHull(np.array([low, high])[np.indices((2, 2, 2)).reshape(3, 8).T, np.arange(3)])


def coins(seed: int = 4) -> Recording:
    """Eight coins are tossed onto a floor; they come down on different spots and wobble until they lie flat."""
    rng = np.random.default_rng(seed)
    coin = centred(cylinder(0.012, 0.0018))
    decay = 0.3
    tossed = []
    for i in range(8):
        spot = 0.045 * np.array([i % 4 - 1.5, 2.0 * (i // 4) - 1.0]) + rng.uniform(-0.006, 0.006, size=2)
        slide = rng.uniform(-0.3, 0.3, size=2)
        x, y = spot - decay * slide
        toss = Toss(
            coin,
            (x, y, rng.uniform(0.1, 0.4)),
            (slide[0], slide[1], rng.uniform(0.2, 0.8)),
            heading=rng.uniform(0.0, 2.0 * np.pi),
            tilts=(rng.uniform(2.0, 6.0) * np.pi, 0.0),
            precession=rng.uniform(-30.0, 30.0),
            decay=decay,
        )
        tossed.append(toss)
    floor = slab((-0.16, -0.14, -0.01), (0.16, 0.14, 0.0))
    return Recording("coins", (coin,) * 8, (floor,), tuple(tossed), 2.0)


_LANE = 18.29
"""From the foul line to the first pin."""
_ROWS = 0.3048 * np.sqrt(0.75)
_BALL = 0.108


def bowling(seed: int = 10) -> Recording:
    """A ball rolls down a lane into ten pins; all but the two in the corners are thrown and tumble."""
    rng = np.random.default_rng(seed)
    pin = centred(
        lathe([(0.026, 0.0), (0.057, 0.11), (0.06, 0.12), (0.045, 0.2), (0.024, 0.27), (0.032, 0.34), (0.0, 0.38)], 16)
    )
    ball = ConvexHull(icosphere(2).vertices * _BALL)
    speed = 7.0
    motions: list[Motion] = [_rolling(ball, speed)]
    for row in range(4):
        for place in range(row + 1):
            x, y = _LANE + row * _ROWS, 0.3048 * (place - 0.5 * row)
            if row == 3 and place in (0, 3):
                motions.append(Toss(pin, (x, y, 0.0), (0.0, 0.0, 0.0), start=np.inf))
                continue
            velocity = rng.uniform(1.0, 4.0), 4.0 * y + rng.uniform(-1.0, 1.0), rng.uniform(0.5, 2.5)
            motions.append(
                Toss(
                    pin,
                    (x, y, 0.0),
                    velocity,
                    start=(x - _BALL - 0.06) / speed + 0.1 * abs(y),
                    heading=np.arctan2(velocity[0], -velocity[1]),  # the axis is square to the way it flies
                    tilts=(0.0, 0.5 * np.pi + 2.0 * np.pi * rng.integers(0, 2)),
                    precession=rng.uniform(-6.0, 6.0),
                )
            )
    end = _LANE + 4.0
    lane = slab((-1.0, -0.53, -0.1), (end, 0.53, 0.0))
    gutters = (slab((-1.0, side - 0.12, -0.1), (end, side + 0.12, -0.05)) for side in (-0.65, 0.65))
    return Recording("bowling", (ball, *(pin,) * 10), (lane, *gutters), tuple(motions), 5.0)


def _rolling(ball: ConvexHull, speed: float) -> Motion:
    def motion(times: Floats) -> Floats:
        x = np.minimum(speed * times, _LANE + 3.0)
        none = np.zeros_like(x)
        turned = turns(np.column_stack([none, x / _BALL, none]))
        return standing(ball, turned, x, 0.05 * np.sin(np.pi * x / (2.0 * _LANE)), none)

    return motion


def rattleback() -> Recording:
    """A half ellipsoid spins on a table, begins to rock, and turns back."""
    points = icosphere(3).vertices
    top = ConvexHull(points[points[:, 2] <= 0.0] * [0.1, 0.025, 0.02])

    def motion(times: Floats) -> Floats:
        half_way = 2.5
        spin = 8.0 * half_way / np.pi * np.sin(np.pi * times / half_way) * np.exp(-times / 8.0)
        rocking = np.sin(0.5 * np.pi * times / half_way) ** 2 * np.exp(-times / 8.0)
        none = np.zeros_like(times)
        pitch = 0.08 * rocking * np.sin(2.0 * np.pi * 4.0 * times)
        roll = 0.05 * rocking * np.sin(2.0 * np.pi * 7.0 * times)
        turned = turns(np.column_stack([none, none, spin])) @ turns(np.column_stack([roll, pitch, none]))
        return standing(top, turned, none, none, none)

    table = slab((-0.4, -0.4, -0.03), (0.4, 0.4, 0.0))
    return Recording("rattleback top", (top,), (table,), (motion,), 5.0)


def chute(seed: int = 7) -> Recording:
    """Parts come along a belt one after the other, slide down a chute between two walls, and queue at its end."""
    rng = np.random.default_rng(seed)
    part = centred(prism([(-0.015, 0.0), (0.015, 0.0), (0.01, 0.012), (-0.01, 0.012)], -0.01, 0.01))
    down = poses(turns([0.0, np.radians(28.0), 0.0]), [0.0, 0.0, 0.0])
    length, half_width = 1.2, 0.04
    motions = tuple(
        _sliding(part, down, 0.25 * i, length - 0.036 * i, half_width - 0.02, rng.uniform(-1.0, 1.0, size=4))
        for i in range(20)
    )
    planks = (
        ((-1.0, -half_width, -0.01), (length + 0.1, half_width, 0.0)),
        ((-1.0, -half_width - 0.01, 0.0), (length + 0.1, -half_width, 0.03)),
        ((-1.0, half_width, 0.0), (length + 0.1, half_width + 0.01, 0.03)),
        ((length + 0.03, -half_width, 0.0), (length + 0.04, half_width, 0.03)),
    )
    fixed = tuple(ConvexHull(posed_vertices(down, slab(low, high).vertices)) for low, high in planks)
    return Recording("part feeder chute", (part,) * 20, fixed, motions, 6.0)


def _sliding(part: ConvexHull, down: Floats, release: float, end: float, reach: float, luck: Floats) -> Motion:
    """Along a belt, then faster and faster to its place in the queue; from wall to wall, with a hop at the edge."""
    belt, acceleration = 0.2, 2.0

    def motion(times: Floats) -> Floats:
        since = times - release
        way = np.where(since < 0.0, belt * since, (belt + 0.5 * acceleration * since) * since)
        along = np.minimum(way, end)
        slid = slowing(np.maximum(since, 0.0), 0.4)
        across = reflected(reach * (1.0 + luck[0]) + 0.3 * luck[1] * slid, np.array(2.0 * reach)) - reach
        yaw = 2.0 * luck[2] + 6.0 * luck[3] * slid
        none = np.zeros_like(times)
        height = hops(since, 0.2 + 0.1 * abs(luck[1]))
        turned = turns(np.column_stack([none, none, yaw]))
        placed: Floats = down @ standing(part, turned, along, across, height)
        return placed

    return motion


RECORDINGS: dict[str, Callable[[], Recording]] = {
    "coins": coins,
    "bowling": bowling,
    "rattleback top": rattleback,
    "part feeder chute": chute,
}
