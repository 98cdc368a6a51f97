"""Shapes that scenes are built of: those of the demo's parts, with a corner or the base at the origin.

``impinge.shapes`` has the centred ones for users.  These stay as they are: the scenes of the papers' experiments and
their recorded figures depend on every bit of their coordinates.
"""

from impinge.apps.demo.parts import (
    belt,
    blocks,
    bolt,
    box,
    cylinder,
    fan,
    hose,
    lathe,
    loft,
    prism,
    torus,
    unit_circle,
    wheel,
)

__all__ = [
    "belt",
    "blocks",
    "bolt",
    "box",
    "cylinder",
    "fan",
    "hose",
    "lathe",
    "loft",
    "prism",
    "torus",
    "unit_circle",
    "wheel",
]
