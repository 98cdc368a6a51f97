"""Functions that are chosen by the class of their first argument."""

from __future__ import annotations

from typing import Any

import pytest

from impinge.kernels.jit import generic, kernel
from impinge.kernels.record import Record, float64


class Ball(Record):
    """A version is registered for it,"""

    radius = float64


class Cube(Record):
    """and none for this."""

    side = float64


ball_at, cube_at = Ball.at, Cube.at


@generic
def size(body: Any) -> Any:
    """How large it is."""


@size.of(Ball)
def _size_of_ball(body: Any) -> Any:
    return 2.0 * body.radius


@kernel
def size_of_ball(address: Any) -> Any:
    return size(ball_at(address))


@kernel
def size_of_cube(address: Any) -> Any:
    return size(cube_at(address))


def test_the_version_of_a_record_is_chosen() -> None:
    ball = Ball(radius=1.5)
    assert size_of_ball(ball.address) == 3.0


def test_a_missing_version_is_named() -> None:
    cube = Cube(side=1.0)
    with pytest.raises(Exception, match=r"size has no version for Cube: register one with @size\.of\(Cube\)"):
        size_of_cube(cube.address)
