"""The camera stands where the contact can be seen, and the picture is no larger than what there is to see."""

from __future__ import annotations

import numpy as np
import pytest

from impinge.apps.clash import Finding, FindingKind
from impinge.apps.rasterise import looking_from
from impinge.apps.scene import Scene
from impinge.apps.viewpoint import AZIMUTH, ELEVATION, best_camera
from impinge.lab.scenes.shapes import box
from impinge.mesh.assembly import Assembly, Part

SIZE = (76, 52)


def at(*place: float) -> np.ndarray:
    pose = np.eye(4)
    pose[:3, 3] = place
    return pose


def touching(*segments: list[list[float]]) -> Finding:
    lines = np.array(segments, dtype=float).reshape(-1, 2, 3)
    where = lines.reshape(-1, 3).mean(axis=0) if len(lines) else np.zeros(3)
    return Finding(FindingKind.TOUCHING, "a", "b", 0.0, where, lines, "")


def scene(*others: Part) -> Scene:
    """Two cubes from -2 to 2 along x that touch in the plane x = 0, and others."""
    cube = box(2, 2, 2)
    return Scene.of(Assembly((Part("a", cube, at(-2, -1, -1)), Part("b", cube, at(0, -1, -1)), *others)))


@pytest.mark.parametrize(("y", "sign"), [(-1.0, 1.0), (1.0, -1.0)])
def test_the_camera_goes_to_the_side_of_the_contact(y: float, sign: float) -> None:
    camera = best_camera(scene(), touching([[0, y, -1], [0, y, 1]]), *SIZE)
    assert sign * camera.forward[1] > 0.0
    assert (camera.width, camera.height) == SIZE


def test_the_camera_avoids_what_stands_in_front() -> None:
    contact = touching([[0, -1, -1], [0, -1, 1]], [[0, 1, -1], [0, 1, 1]])
    free = best_camera(scene(), contact, *SIZE)
    assert free.forward[1] > 0.0
    wall = Part("wall", box(40, 1, 40), at(-20, -5, -20))
    assert best_camera(scene(wall), contact, *SIZE).forward[1] < 0.0


def test_without_a_contact_the_camera_stands_as_usual() -> None:
    assert np.array_equal(best_camera(scene(), touching(), *SIZE).forward, looking_from(AZIMUTH, ELEVATION))


def test_a_contact_as_large_as_the_parts_does_not_make_them_small() -> None:
    """It was framed with the diagonal of its box to all sides."""
    rim = touching([[-2, -1, -1], [2, 1, 1]], [[-2, 1, 1], [2, -1, -1]])
    camera = best_camera(scene(), rim, *SIZE)
    assert camera.span == pytest.approx(2.1 * np.linalg.norm(np.abs(camera.centre) + [2, 1, 1]))


@pytest.mark.parametrize("kind", FindingKind)
def test_tiny_parts_fill_the_picture(kind: FindingKind) -> None:
    """Squares of their sizes vanish: the picture of a nested one was of height 0."""
    tiny = 2.0**-800
    cube = box(tiny, tiny, tiny)
    small = Scene.of(Assembly((Part("a", cube, np.eye(4)), Part("b", cube, np.eye(4)))))
    finding = Finding(kind, "a", "b", 0.0, np.zeros(3), np.empty((0, 2, 3)), "")
    assert tiny < best_camera(small, finding, *SIZE).span < 10.0 * tiny
