"""Pictures show what they should: not blank, coloured parts, the contact in the signal colour."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from impinge.apps.clash import Finding, FindingKind
from impinge.apps.picture import SIGNAL, finding_picture, overview_picture
from impinge.apps.scene import Scene
from impinge.lab.scenes.shapes import box
from impinge.mesh.assembly import Assembly, Part
from impinge.mesh.mesh import Mesh

SIZE = (48, 36)  # small: these run in plain Python too


def pixels(png: bytes) -> np.ndarray:
    image = Image.open(io.BytesIO(png))
    assert image.format == "PNG"
    return np.asarray(image.convert("RGB")).astype(int)


def signal_pixels(png: bytes) -> int:
    return int((np.abs(pixels(png) - SIGNAL).max(axis=2) < 40).sum())


def at(x: float) -> np.ndarray:
    pose = np.eye(4)
    pose[0, 3] = x
    return pose


def scene(scale: float = 1.0, offset: float = 0.0) -> Scene:
    cube = box(scale, scale, scale)
    places = (("a", 0.0), ("b", 0.5), ("bystander", 2.0))
    return Scene.of(Assembly(tuple(Part(name, cube, at(offset + x * scale)) for name, x in places), "mm"))


def finding(kind: FindingKind, scale: float = 1.0, offset: float = 0.0) -> Finding:
    middle = np.array([offset + 0.75 * scale, 0.0, scale])
    reach = np.array([0.25 * scale, 0.0, 0.0])
    line = np.array([[middle - reach, middle + reach]])
    segments = line if kind not in (FindingKind.EQUAL, FindingKind.NESTED) else np.empty((0, 2, 3))
    return Finding(kind, "a", "b", 0.25 * scale if kind is FindingKind.CLEARANCE else 0.0, middle, segments, "")


@pytest.mark.parametrize("kind", FindingKind)
def test_every_kind_has_a_picture_with_the_signal_colour(kind: FindingKind) -> None:
    png = finding_picture(scene(), finding(kind), *SIZE)
    image = pixels(png)
    assert image.shape == (SIZE[1], SIZE[0], 3)
    assert image.std() > 10.0
    assert signal_pixels(png) >= 5


@pytest.mark.parametrize(("scale", "offset"), [(1e-6, 0.0), (1e6, 0.0), (1.0, 1e6)])
def test_scale_and_place_do_not_matter(scale: float, offset: float) -> None:
    plain = pixels(finding_picture(scene(), finding(FindingKind.INTERFERENCE), *SIZE))
    other = pixels(finding_picture(scene(scale, offset), finding(FindingKind.INTERFERENCE, scale, offset), *SIZE))
    assert np.abs(plain - other).mean() < 6.0


def test_overview_marks_findings() -> None:
    without = overview_picture(scene(), (), *SIZE)
    both = (finding(FindingKind.INTERFERENCE), finding(FindingKind.TOUCHING))
    assert signal_pixels(without) == 0
    assert signal_pixels(overview_picture(scene(), both, *SIZE)) > 50
    assert overview_picture(scene(), both, *SIZE) == overview_picture(scene(), both, *SIZE)


def test_degenerate_meshes_do_not_break_the_picture() -> None:
    point = Mesh([[0, 0, 0]], [[0, 0, 0]])
    dots = Scene.of(Assembly((Part("a", point, np.eye(4)), Part("b", point, np.eye(4)))))
    touch = Finding(FindingKind.TOUCHING, "a", "b", 0.0, np.zeros(3), np.zeros((1, 2, 3)), "")
    assert signal_pixels(finding_picture(dots, touch, *SIZE)) > 0
    assert pixels(overview_picture(dots, (touch,), *SIZE)).shape == (SIZE[1], SIZE[0], 3)
