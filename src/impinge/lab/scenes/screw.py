"""Bolt and nut with 3, 6 or 9 threads, and the insertion of one into the other.

The threaded insertion of Ponamgi, Manocha and Lin (1995), section 5.1, after Nicolson and Fearing, "Dynamic simulation
of a part-mating problem: threaded fastener insertion" (IROS 1991).  Four numbers make the profile: pitch, major
diameter of the nut, allowance ratio, and the radius of crest and root.  Flanks stand at 60 degrees to each other, as in
all common threads; crest and root are arcs that touch them.

One thread, that is one turn, has 11 quads along the helix by 7 along the profile, each in two halves: 154 triangles,
which stay within 0.04 of the true surface, the tolerance of the paper.  The nut is its thread alone, open at both ends.
The bolt is closed by a cylinder at either end, 50 triangles each: 26 from the edge of the thread (11 + 7 edges) to an
octagon, 16 along the cylinder and 8 on its flat end.  So with 3, 6 and 9 threads the bolt has 562, 1,024 and 1,486
polygons and the nut 462, 924 and 1,386, as in Table 2.  (The text has 100 polygons for each end of the bolt; by its
table both ends together have 100.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from impinge.arrays import Floats, Ints
from impinge.lab.scenes.poses import poses, turns
from impinge.mesh.mesh import Mesh

TOLERANCE = 0.04
"""No polygon is farther from the true surface."""
DIAMETER = 1.9
"""Of the nut's grooves; with a larger one, eleven corners a turn would not keep the tolerance."""
FINE, COARSE = 8.0, 4.0
"""Diameter over pitch: that of fine threads is twice that of coarse ones."""

ALONG, ACROSS = 11, 7
"""Quads of one turn along the helix, and of one pitch along the profile."""
_END_SIDES = 8
_THIRTY = np.pi / 6.0
# Angles on the arcs, from the middle of the root to the next one: the root in three parts, the crest in two.
_ROOT_CORNERS = np.radians([-20.0, 20.0, 60.0])
_CREST_CORNERS = np.radians([-60.0, 0.0, 60.0])
_LAST_CORNER = np.radians(-60.0)
CREST = len(_ROOT_CORNERS) + 1
"""The corner of the profile at the middle of the crest."""


@dataclass(frozen=True)
class Screw:
    """The thread that bolt and nut have in common; in place, both stand at the identity along the z axis."""

    threads: int
    pitch: float
    diameter: float = DIAMETER
    """The largest diameter of the nut, at the bottom of its grooves."""
    allowance: float = 0.06
    """The bolt's diameters are smaller by this part of ``diameter``."""
    rounding: float | None = None
    """Of crest and root; a tenth of the pitch if left out."""

    def __post_init__(self) -> None:
        if self.threads < 2:
            raise ValueError(f"threads is {self.threads}; it must be 2 or more")
        if not 0.0 <= self.allowance <= 1.0:
            raise ValueError(f"allowance is {self.allowance}; it must be from 0 to 1")
        widest = self.pitch / (4.0 * np.cos(_THIRTY))
        if not 0.0 <= self.arc <= widest:
            raise ValueError(f"rounding is {self.arc}; crest and root have room for 0 to {widest}")
        if not 0.0 < self.depth < 0.5 * self.diameter * (1.0 - self.allowance):
            raise ValueError(f"a thread of pitch {self.pitch} is too deep for a diameter of {self.diameter}")

    @property
    def arc(self) -> float:
        """The radius of crest and root."""
        return 0.1 * self.pitch if self.rounding is None else self.rounding

    @property
    def depth(self) -> float:
        """From crest to root: the sharp ridge less what the arcs take away at both ends."""
        return float(0.5 * self.pitch / np.tan(_THIRTY) - 2.0 * self.arc)

    @property
    def clearance(self) -> float:
        """Between the radii of bolt and nut."""
        return 0.5 * self.allowance * self.diameter

    @property
    def bolt_radius(self) -> float:
        """Of the crest of the bolt."""
        return 0.5 * self.diameter - self.clearance

    @property
    def length(self) -> float:
        """Along the axis: a pitch more than the threads have, since the ends climb by one on their way round."""
        return (self.threads + 1) * self.pitch

    def height(self, along: ArrayLike) -> Floats:
        """The profile: how high the ridge is at places along the axis, from the middle of a root on.

        >>> made = Screw(3, 1.0)
        >>> bool(np.isclose(made.height(0.5), made.depth)), float(made.height(2.0))
        (True, 0.0)
        """
        place = np.asarray(along, dtype=np.float64) % self.pitch
        place = np.minimum(place, self.pitch - place)
        to_crest, tangent = 0.5 * self.pitch - place, self.arc * np.cos(_THIRTY)
        root = self.arc - np.sqrt(np.maximum(self.arc**2 - place**2, 0.0))
        crest = self.depth - self.arc + np.sqrt(np.maximum(self.arc**2 - to_crest**2, 0.0))
        flank = 0.5 * self.arc + (place - tangent) / np.tan(_THIRTY)
        high: Floats = np.where(place <= tangent, root, np.where(to_crest <= tangent, crest, flank))
        return high

    def corners(self) -> Floats:
        """(8,) where the polygons' corners are along one pitch of the axis, the first of the next included."""
        ends = [_LAST_CORNER, _ROOT_CORNERS[0]]
        return np.concatenate(
            [
                self.arc * np.sin(_ROOT_CORNERS),
                0.5 * self.pitch + self.arc * np.sin(_CREST_CORNERS),
                self.pitch + self.arc * np.sin(ends),
            ]
        )

    def bolt(self) -> Mesh:
        """Closed, a cylinder at either end."""
        vertices, faces, index = self._strip(self.bolt_radius)
        neck = 0.7 * (self.bolt_radius - self.depth)
        start, rest = self.corners()[0], 0.1 * self.pitch
        low, high = start - rest, start + self.length + rest
        lower = [*index[:ALONG, 0].tolist(), *index[0, :0:-1].tolist()]
        upper = [*index[-ALONG - 1 : -1, -1].tolist(), *index[-1, :0:-1].tolist()]
        # A half turn about the x axis exchanges the ends: what is wound outward at one is wound inward at the other.
        for loop, inner, outer in ((lower, low, low - 0.5 * self.pitch), (upper, high, high + 0.5 * self.pitch)):
            first = len(vertices)
            vertices = np.concatenate([vertices, _circle(neck, inner), _circle(neck, outer), [[0.0, 0.0, outer]]])
            faces = np.concatenate([faces, _end(loop, first, below=loop is lower)])
        return Mesh(vertices, faces)

    def nut(self) -> Mesh:
        """The thread alone, facing inward."""
        vertices, faces, _ = self._strip(0.5 * self.diameter)
        return Mesh(vertices, faces[:, ::-1])

    def _strip(self, radius: float) -> tuple[Floats, Ints, Ints]:
        """A helical strip one pitch high whose turns join: vertices, faces (outward), and the numbers of the vertices.

        Those are (11 threads + 1, 8): along the helix, and up the profile; the last column is the first one a
        turn later.
        """
        steps = self.threads * ALONG + 1
        index = np.empty((steps, ACROSS + 1), dtype=np.int32)
        index[:, :ACROSS] = np.arange(steps * ACROSS).reshape(steps, ACROSS)
        index[:-ALONG, ACROSS] = index[ALONG:, 0]
        index[-ALONG:, ACROSS] = steps * ACROSS + np.arange(ALONG)
        up = self.corners()
        step = np.concatenate([np.repeat(np.arange(steps), ACROSS), steps + np.arange(ALONG)])
        offset = np.concatenate([np.tile(up[:ACROSS], steps), np.full(ALONG, up[0])])
        reach = radius - self.depth + self.height(offset)
        angle = (step % ALONG) * (2.0 * np.pi / ALONG)
        high = step / ALONG * self.pitch + offset
        a, b, c, d = index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]
        faces = np.stack([a, b, c, a, c, d], axis=-1).reshape(-1, 3)
        return np.column_stack([reach * np.cos(angle), reach * np.sin(angle), high]), faces, index

    def screwed(self, angle: ArrayLike) -> Floats:
        """(..., 4, 4) the bolt after a turn by ``angle`` (radians) in its thread, upward where positive."""
        along = np.asarray(angle, dtype=np.float64)[..., None] * np.array([0.0, 0.0, 1.0])
        return poses(turns(along), along * (self.pitch / (2.0 * np.pi)))

    def insertion(self, steps_a_turn: int) -> Floats:
        """(k, 4, 4) from the first thread in the nut to the last, off the axis and wobbling: contacts come and go.

        The axis circles at a distance that swells and ebbs below the clearance, of which corners have less, and leans a
        little.
        """
        angle = np.linspace(-2.0 * np.pi * (self.threads - 1), 0.0, steps_a_turn * (self.threads - 1))
        off = self.clearance * (0.4 + 0.3 * np.sin(0.7 * angle))
        circling = np.stack([np.cos(0.31 * angle), np.sin(0.31 * angle), np.zeros_like(angle)], axis=-1)
        lean = 0.3 * self.clearance / self.length * np.sin(0.43 * angle)
        wobble = poses(turns(lean[:, None] * circling), off[:, None] * circling)
        return wobble @ self.screwed(angle)

    def cross_threaded(self, steps_a_turn: int) -> Floats:
        """(k, 4, 4) two turns into the mouth; the bolt leans so far that one side is a pitch ahead of the other."""
        angle = np.linspace(-2.0 * np.pi * (self.threads + 1), -2.0 * np.pi * (self.threads - 1), 2 * steps_a_turn)
        lean = np.arctan2(self.pitch, self.diameter)
        return poses(turns([lean, 0.0, 0.0]), np.zeros(3)) @ self.screwed(angle)


def screw(threads: int, ratio: float) -> Screw:
    """With ``ratio`` FINE or COARSE."""
    return Screw(threads, DIAMETER / ratio)


def _circle(radius: float, z: float) -> Floats:
    angle = np.arange(_END_SIDES) * (2.0 * np.pi / _END_SIDES)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle), np.full(_END_SIDES, z)])


def _end(loop: list[int], first: int, below: bool) -> Ints:
    """50 triangles that close the thread: a collar from its edge to the inner ring, a cylinder and its flat end.

    The loop runs once around the axis in 11 steps from angle 0, then back along the profile at angle 0.
    """
    inner = np.arange(first, first + _END_SIDES)
    outer, middle = inner + _END_SIDES, np.full(_END_SIDES, first + 2 * _END_SIDES)
    collar = []
    i = j = 0
    while i < len(loop) or j < _END_SIDES:
        here, there = loop[i % len(loop)], inner[j % _END_SIDES]
        # The side whose next corner comes first goes ahead; along the profile the angle stands still.
        if j == _END_SIDES or (i < ALONG and (i + 1) * _END_SIDES <= (j + 1) * ALONG):
            i += 1
            collar.append((here, there, loop[i % len(loop)]))
        else:
            j += 1
            collar.append((here, there, inner[j % _END_SIDES]))
    a, b, c, d = inner, outer, np.roll(outer, -1), np.roll(inner, -1)
    parts = [np.column_stack([a, b, c]), np.column_stack([a, c, d]), np.column_stack([middle, c, b])]
    faces = np.concatenate([np.array(collar), *parts]).astype(np.int32)
    return faces if below else faces[:, ::-1]
