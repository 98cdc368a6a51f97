"""A minimal dynamics engine: one rigid body that falls, tumbles and bounces off a fixed surface.

Lin, Manocha, Cohen and Gottschalk (1996), section 5: "at each time step, the contact polygons were found by the
collision detection algorithm, an impulse was applied to the object at each contact before advancing the clock".
It exists to make honest motions for the experiments; it is frictionless and knows one moving body.

The order within a step keeps the body near the surface: gravity changes the velocity, impulses then take away every
approach at the contacts of the present pose, and only then the body moves.  So a body in contact never moves deeper
into what it touches.  An impulse with a restitution of at most one takes energy away, so nothing explodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from impinge.arrays import Floats
from impinge.lab.scenes.poses import poses, turns
from impinge.mesh.mesh import Mesh
from impinge.results import Contacts

_MOST_IMPULSES = 200
"""In one step.  Where contacts work against each other, as in a wedge, a body rattles: the rest waits for the next."""

_AT_REST = 1e-9
"""Approaches slower than this part of the body's speed are roundings."""


class Gravity(Protocol):
    """A field of force for a unit of mass."""

    def acceleration(self, position: Floats) -> Floats: ...

    def potential(self, position: Floats) -> float: ...


class Downward:
    """The same everywhere, along -z."""

    def __init__(self, strength: float) -> None:
        self._strength = strength

    def acceleration(self, position: Floats) -> Floats:
        return np.array([0.0, 0.0, -self._strength])

    def potential(self, position: Floats) -> float:
        return float(self._strength * position[2])


class Inward:
    """Towards the origin, in proportion to the distance, as inside a homogeneous ball."""

    def __init__(self, strength: float) -> None:
        self._strength = strength

    def acceleration(self, position: Floats) -> Floats:
        return -self._strength * position

    def potential(self, position: Floats) -> float:
        return float(0.5 * self._strength * position @ position)


class BouncingBody:
    """A closed mesh of unit density; the state is that of its centre of mass."""

    def __init__(
        self,
        mesh: Mesh,
        pose: ArrayLike,
        gravity: Gravity,
        restitution: float,
        stride: float = np.inf,
        velocity: ArrayLike = (0.0, 0.0, 0.0),
        spin: ArrayLike = (0.0, 0.0, 0.0),
    ) -> None:
        if not 0.0 <= restitution <= 1.0:
            raise ValueError(f"restitution is {restitution}; it must be from 0 to 1")
        start = np.asarray(pose, dtype=np.float64)
        self._gravity = gravity
        self._restitution = restitution
        self._stride = stride
        self._mass = abs(mesh.volume)
        self._centre = mesh.centre_of_mass
        self._radius = float(np.linalg.norm(mesh.vertices - self._centre, axis=1).max())
        self._inertia = mesh.inertia
        self._inverse_inertia = np.linalg.inv(mesh.inertia)
        self._turn = start[:3, :3].copy()
        self.position: Floats = start[:3, :3] @ self._centre + start[:3, 3]
        self.velocity: Floats = np.array(velocity, dtype=np.float64)
        self._momentum = self._turn @ self._inertia @ self._turn.T @ np.asarray(spin, dtype=np.float64)

    @property
    def pose(self) -> Floats:
        """(4, 4) of the mesh."""
        return poses(self._turn, self.position - self._turn @ self._centre)

    @property
    def spin(self) -> Floats:
        """The angular velocity."""
        return self._spin(self._turn)

    def _spin(self, turn: Floats) -> Floats:
        spin: Floats = turn @ (self._inverse_inertia @ (turn.T @ self._momentum))
        return spin

    def _fastest(self) -> float:
        """No point of the body is faster."""
        return float(np.linalg.norm(self.velocity) + np.linalg.norm(self.spin) * self._radius)

    @property
    def energy(self) -> float:
        """Kinetic and potential."""
        kinetic = 0.5 * self._mass * self.velocity @ self.velocity + 0.5 * self.spin @ self._momentum
        return float(kinetic + self._mass * self._gravity.potential(self.position))

    def step(self, duration: float, contacts: Contacts) -> None:
        """Move on, after the contacts of the present pose (of this body, as a, with the fixed one).

        The clock advances by ``duration``, or by less if some point of the body would move farther than ``stride``.
        """
        acceleration = self._gravity.acceleration(self.position)
        ahead = duration * (self._fastest() + duration * float(np.linalg.norm(acceleration)))
        duration *= min(1.0, self._stride / ahead) if ahead > 0.0 else 1.0
        self.velocity = self.velocity + duration * acceleration
        if len(contacts):
            self._bounce(contacts.segments.mean(axis=1), contacts.normal)
        self.position = self.position + duration * self.velocity
        # The spin half a step ahead stands for the whole step, which keeps the energy to second order.
        halfway = turns(0.5 * duration * self.spin) @ self._turn
        self._turn = turns(duration * self._spin(halfway)) @ self._turn

    def _bounce(self, points: Floats, normals: Floats) -> None:
        """An impulse at the contact that approaches fastest, and again, until none approaches."""
        arms = points - self.position
        levers = np.cross(arms, normals)
        turned = levers @ self._turn
        # What a unit impulse along each normal changes in the approach at that contact.
        response = 1.0 / self._mass + np.einsum("ij,jk,ik->i", turned, self._inverse_inertia, turned)
        for _ in range(_MOST_IMPULSES):
            approach = normals @ self.velocity + levers @ self.spin
            worst = int(approach.argmin())
            if approach[worst] >= -_AT_REST * self._fastest():
                break
            impulse = -(1.0 + self._restitution) * approach[worst] / response[worst]
            self.velocity = self.velocity + impulse / self._mass * normals[worst]
            self._momentum = self._momentum + impulse * levers[worst]


def bounces(
    body: BouncingBody, touch: Callable[[Floats], Contacts], duration: float, steps: int
) -> Iterator[tuple[Floats, Contacts]]:
    """The poses (4, 4) of a motion and the contacts in each; ``touch`` finds those of a pose."""
    for _ in range(steps):
        pose = body.pose
        contacts = touch(pose)
        yield pose, contacts
        body.step(duration, contacts)
