"""The engine bay of ``impinge demo``: a small machine with planted mistakes.

Millimetres; x points to the right of the car's front, y from the belt side back
along the engine, z up.  Nothing is random and nothing is read from a file.
``PLANTED`` lists every pair that a check with ``CLEARANCE`` must report; all
other pairs are farther apart than that.

The touching cases are exact: their coordinates are whole numbers and their
poses turn by multiples of 90 degrees, so no rounding happens on the way to world
coordinates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from impinge.apps.demo import parts
from impinge.arrays import Floats
from impinge.mesh.assembly import Assembly, Part

CLEARANCE = 5.0
"""The clearance, in millimetres, that the planted cases refer to."""


@dataclass(frozen=True)
class Planted:
    """One mistake that was built in on purpose."""

    kind: Literal["interference", "equal", "nested", "touching", "clearance"]
    part_a: str
    part_b: str
    story: str
    distance: float = 0.0
    """Exact for clearance cases, 0 otherwise."""


PLANTED = (
    Planted("interference", "engine block", "heater hose", "the hose is routed through the rear corner of the block"),
    Planted("interference", "alternator", "bracket", "the bracket's plate stands 9 mm too high"),
    Planted("equal", "ignition coil", "ignition coil (copy)", "the same coil was placed twice"),
    Planted("nested", "shaft key", "engine block", "a key was forgotten inside the casting"),
    Planted("touching", "bracket", "bolt 1", "the bolt's head lies on the bracket, face on face"),
    Planted("touching", "bracket", "bolt 2", "the bolt's head lies on the bracket, face on face"),
    Planted("touching", "idler wheel", "tensioner arm", "the rim rests on the arm along two edges"),
    Planted("touching", "engine block", "dipstick", "the tip, a single vertex, stands on the block's top face"),
    Planted("clearance", "bracket", "bolt 3", "the bolt was not driven home", distance=3.0),
    Planted("clearance", "battery", "reservoir", "the tank stands too close to the battery", distance=4.0),
)

# Rotations by 90 degrees, exact in floating point, named after where they send the z axis.
_UPRIGHT = np.eye(3)
_Z_TO_FRONT = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
_Z_TO_RIGHT = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])


def _turned(rotation: Floats, angle: float) -> Floats:
    """First a turn about the part's own z axis, in degrees, then the rotation."""
    c, s = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    turned: Floats = rotation @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    return turned


def _at(x: float, y: float, z: float, rotation: Floats = _UPRIGHT) -> Floats:
    pose = np.eye(4)
    pose[:3, :3] = rotation
    pose[:3, 3] = x, y, z
    return pose


def engine_bay() -> Assembly:
    """The machine: 30 parts, some of which share a mesh.

    >>> engine_bay()
    Assembly(30 parts of 23 meshes, 9802 triangles, unit mm)
    """
    parts = [*_engine(), *_belt_drive(), *_alternator_mount(), *_intake(), *_cooling(), *_electrics()]
    return Assembly(tuple(parts), unit="mm")


def _engine() -> list[Part]:
    block = [(-110, 0), (110, 0), (140, 40), (140, 200), (110, 260), (-110, 260), (-140, 200), (-140, 40)]
    cover = [(-80, 268), (80, 268), (80, 300), (60, 322), (-60, 322), (-80, 300)]
    pan = [(-100, -8), (-100, -40), (-50, -100), (50, -100), (100, -40), (100, -8)]
    coil = parts.lathe([(16, 0), (22, 14), (22, 34), (12, 40), (12, 52)], sides=12)
    dipstick = parts.lathe([(0, 0), (4, 14), (4, 130), (10, 134), (10, 156), (5, 160)], sides=12)
    return [
        Part("engine block", parts.prism(block, 0, 420), _at(0, 0, 0)),
        Part("valve cover", parts.prism(cover, 25, 395), _at(0, 0, 0)),
        Part("oil pan", parts.prism(pan, 20, 400), _at(0, 0, 0)),
        Part("ignition coil", coil, _at(0, 210, 330)),
        Part("ignition coil (copy)", coil, _at(0, 210, 330)),
        Part("dipstick", dipstick, _at(-96, 60, 260)),
        Part("shaft key", parts.box(16, 60, 12), _at(20, 120, 130, _turned(_Z_TO_FRONT, 25))),
    ]


def _belt_drive() -> list[Part]:
    large = parts.wheel(radius=70, width=36, groove_depth=10, groove_width=26, bore=12, sides=32)
    middle = parts.wheel(radius=48, width=36, groove_depth=10, groove_width=26, bore=10)
    small = parts.wheel(radius=36, width=36, groove_depth=10, groove_width=26, bore=8)
    # The belt runs 6.5 mm above the bottom of the grooves: out of reach of the clearance.
    around = [(0, 50, 66.5), (225, 225, 32.5), (-205, 215, 44.5)]
    return [
        Part("crank wheel", large, _at(0, -50, 50, _turned(_Z_TO_FRONT, 4))),
        Part("pump wheel", middle, _at(0, -50, 190, _turned(_Z_TO_FRONT, 7))),
        Part("steering pump wheel", middle, _at(-205, -50, 215, _turned(_Z_TO_FRONT, 3))),
        Part("alternator wheel", small, _at(225, -50, 225, _turned(_Z_TO_FRONT, 6))),
        Part("idler wheel", small, _at(-85, -50, 150, _Z_TO_FRONT)),
        Part("tensioner arm", parts.box(36, 44, 16), _at(-100, -72, 98)),
        Part("belt", parts.belt(around, width=14, thickness=4, middle=-50), _at(0, 0, 0)),
    ]


def _alternator_mount() -> list[Part]:
    alternator = parts.lathe(
        [(14, -4), (14, 6), (48, 10), (62, 24), (62, 56), (58, 56), (58, 66), (62, 66), (62, 104), (44, 126)], sides=32
    )
    # An L: the upright leg (three bores) beside the block, the plate under the alternator.
    corner = np.zeros((2, 3, 3), dtype=bool)
    corner[0] = True
    corner[:, :, 2] = True
    bracket = parts.blocks(
        xs=(148, 160, 300),
        ys=(0, 40, 80, 120),
        zs=(60, 100, 160, 172),
        filled=corner,
        bores={(0, 0, 0): 11.0, (0, 1, 0): 11.0, (0, 2, 0): 11.0},
    )
    bolt = parts.bolt(head_radius=16, head_height=12, shank_radius=5, shank_length=14)
    seated, loose = 160, 163
    return [
        Part("alternator", alternator, _at(225, 110, 225, _Z_TO_FRONT)),
        Part("bracket", bracket, _at(0, 0, 0)),
        Part("bolt 1", bolt, _at(seated, 20, 80, _Z_TO_RIGHT)),
        Part("bolt 2", bolt, _at(seated, 60, 80, _Z_TO_RIGHT)),
        Part("bolt 3", bolt, _at(loose, 100, 80, _Z_TO_RIGHT)),
    ]


def _intake() -> list[Part]:
    runner = parts.hose([(0, 0, 0), (40, 0, 4), (84, 0, 40), (94, 0, 92)], radius=22, wall=5)
    plenum = parts.lathe([(30, 0), (42, 12), (42, 248), (30, 260)])
    return [
        *(Part(f"intake runner {i + 1}", runner, _at(149, 170 + 90 * i, 170)) for i in range(3)),
        Part("intake plenum", plenum, _at(243, 390, 316, _Z_TO_FRONT)),
    ]


def _cooling() -> list[Part]:
    tanks = np.zeros((3, 3, 1), dtype=bool)
    tanks[:, 0] = tanks[:, 2] = tanks[1, 1] = True
    radiator = parts.blocks(xs=(-420, -410, -380, -370), ys=(-20, 30, 390, 440), zs=(-60, 280), filled=tanks)
    upper = [(-357, 10, 240), (-325, 10, 240), (-270, 70, 262), (-225, 130, 225), (-180, 150, 170), (-151, 150, 168)]
    lower = [(-357, 10, -20), (-320, 10, -20), (-240, 90, 10), (-185, 140, 80), (-153, 140, 81)]
    heater = [(40, 500, 190), (-30, 470, 205), (-110, 415, 215), (-175, 350, 220), (-195, 290, 160), (-190, 270, 95)]
    tank = parts.lathe([(34, 0), (40, 8), (40, 92), (30, 108), (16, 112), (16, 118), (22, 118), (22, 134)], sides=32)
    return [
        Part("radiator", radiator, _at(0, 0, 0)),
        Part("fan", parts.fan(130, 40, 24, blades=7, twist=0.2), _at(-352, 210, 110, _turned(_Z_TO_RIGHT, 11))),
        Part("upper hose", parts.hose(upper, radius=20, wall=4), _at(0, 0, 0)),
        Part("lower hose", parts.hose(lower, radius=20, wall=4), _at(0, 0, 0)),
        Part("heater hose", parts.hose(heater, radius=16, wall=4), _at(0, 0, 0)),
        Part("reservoir", tank, _at(400, 176, 60)),
    ]


def _electrics() -> list[Part]:
    terminals = np.zeros((5, 3, 2), dtype=bool)
    terminals[:, :, 0] = True
    terminals[1, 1, 1] = terminals[3, 1, 1] = True
    battery = parts.blocks(
        xs=(320, 345, 365, 455, 475, 500), ys=(220, 245, 265, 400), zs=(20, 190, 205), filled=terminals
    )
    return [Part("battery", battery, _at(0, 0, 0))]
