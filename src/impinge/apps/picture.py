"""Pictures of an assembly and of its findings, as PNG bytes, without a screen or a graphics card.

The two parts of a finding are coloured and everything around them is a ghost.
Rendered at twice the size and averaged, which smooths all edges.
"""

from __future__ import annotations

import io
from collections.abc import Sequence

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from impinge.apps.clash import Finding, FindingKind
from impinge.apps.rasterise import Camera, Layer, looking_from, trace
from impinge.apps.scene import Scene
from impinge.apps.shading import Canvas, Drawing, paint_mask, thick
from impinge.apps.viewpoint import AZIMUTH, ELEVATION, best_camera, depth_bias, fitting_camera
from impinge.arrays import Bools, Floats

COLOUR_A = (58, 124, 190)
COLOUR_B = (232, 164, 58)
SIGNAL = (224, 16, 72)
"""The colour of contacts and closest lines; nothing else is drawn in it."""
_GHOST = (176, 186, 198)
_LINE = (32, 38, 48)
_PAPER_TOP, _PAPER_BOTTOM = (250, 251, 253), (222, 228, 236)
# Muted, so that the numbered marks stand out.
_PALETTE = (
    (142, 154, 168), (196, 176, 150), (112, 142, 168), (168, 134, 122), (150, 168, 142),
    (186, 190, 196), (98, 112, 128), (200, 190, 128), (134, 128, 160), (120, 158, 156),
)  # fmt: skip

_OVERSAMPLING = 2


def overview_picture(scene: Scene, findings: Sequence[Finding] = (), width: int = 1200, height: int = 760) -> bytes:
    """The whole assembly; each finding is marked with its number, counted from 1."""
    camera = fitting_camera(scene.clusters.vertices, looking_from(AZIMUTH, ELEVATION), width, height, margin=1.06)
    large = camera.resized(width * _OVERSAMPLING, height * _OVERSAMPLING)
    drawing = Drawing.of(scene, large, np.arange(len(scene.clusters)))
    canvas = _paper(large)
    # Parts that share a mesh share a colour.
    drawing.paint(canvas, np.array(_PALETTE)[scene.shape % len(_PALETTE)])
    paint_mask(canvas, drawing.lines, _LINE)
    return _png(_numbered(Image.fromarray(canvas).reduce(_OVERSAMPLING), camera, findings))


def finding_picture(scene: Scene, finding: Finding, width: int = 760, height: int = 520) -> bytes:
    """The two parts in colour, what is around them as a ghost, the contact in the signal colour."""
    camera = best_camera(scene, finding, width, height)
    large = camera.resized(width * _OVERSAMPLING, height * _OVERSAMPLING)
    pair = (finding.part_a, finding.part_b)
    nested, equal = finding.kind is FindingKind.NESTED, finding.kind is FindingKind.EQUAL
    front = Drawing.of(scene, large, scene.clusters_of(pair[:1] if nested else pair))
    ghost = Drawing.of(scene, large, scene.clusters_around(pair))
    canvas = _paper(large)
    ghost.paint(canvas, _GHOST, 0.28)
    paint_mask(canvas, ghost.lines, _LINE, 0.28)
    if nested:
        shell = Drawing.of(scene, large, scene.clusters_of(pair[1:]))
        shell.paint(canvas, COLOUR_B, 0.5)
        paint_mask(canvas, shell.lines, _LINE, 0.7)
    is_a = np.arange(len(scene.names)) == scene.part(finding.part_a)
    front.paint(canvas, np.where(is_a[:, None], COLOUR_A, COLOUR_B))
    if equal:
        front.paint(canvas, COLOUR_B, where=front.layer.seen & _stripes(large))
    if nested or equal:
        paint_mask(canvas, thick(front.lines, 2), SIGNAL)
    else:
        paint_mask(canvas, front.lines, _LINE)
    before = front.layer.seen & (ghost.layer.depth < front.layer.depth)
    ghost.paint(canvas, _GHOST, 0.10, where=before)
    paint_mask(canvas, before & ghost.lines, _LINE, 0.15)
    _draw_contact(canvas, finding, large, front.layer)
    label = f"{finding.distance:.4g} {scene.unit or ''}".strip() if finding.kind is FindingKind.CLEARANCE else ""
    return _png(_labelled(Image.fromarray(canvas).reduce(_OVERSAMPLING), camera, finding, label))


def _paper(camera: Camera) -> Canvas:
    paper = np.empty((camera.height, camera.width, 3), dtype=np.uint8)
    for channel, (top, bottom) in enumerate(zip(_PAPER_TOP, _PAPER_BOTTOM, strict=True)):
        paper[..., channel] = np.rint(np.linspace(top, bottom, camera.height))[:, None]
    return paper


def _stripes(camera: Camera) -> Bools:
    """Diagonal stripes for two parts at one place."""
    y, x = np.ogrid[: camera.height, : camera.width]
    period = max(camera.height // 24, 4)
    return np.asarray((x + y) % (2 * period) < period)


# ---------------------------------------------------------------- contacts


def _draw_contact(canvas: Canvas, finding: Finding, camera: Camera, front: Layer) -> None:
    """Visible contact in full colour with a light rim, hidden contact shining through."""
    if not len(finding.segments):
        return
    nearest = trace(camera, finding.segments)
    visible = nearest <= front.depth + depth_bias(camera)
    traced = nearest < np.inf
    dots, hidden_dots = traced & visible, traced & ~visible
    thickness = max(2, camera.height // 260)
    paint_mask(canvas, thick(hidden_dots, thickness), SIGNAL, 0.55)
    paint_mask(canvas, thick(dots, thickness + 2), (255, 255, 255), 0.8)
    paint_mask(canvas, thick(dots, thickness), SIGNAL)


# ---------------------------------------------------------------- onto paper


def _labelled(image: Image.Image, camera: Camera, finding: Finding, label: str) -> Image.Image:
    """A ring around a contact too small to see, and the distance beside a clearance line."""
    draw = ImageDraw.Draw(image)
    x, y, _ = camera.project(finding.where)
    ends = camera.project(finding.segments if len(finding.segments) else finding.where[None])
    size = float(np.ptp(ends[..., :2].reshape(-1, 2), axis=0).max())
    reach = max(12.0, camera.height / 28.0)
    if size < 1.5 * reach and finding.kind is not FindingKind.EQUAL:
        draw.ellipse([x - reach, y - reach, x + reach, y + reach], outline=SIGNAL, width=3)
    if label:
        font = ImageFont.load_default(max(12, camera.height // 24))
        text = draw.textbbox((x + 1.5 * reach, y), label, font=font, anchor="lm")
        draw.rounded_rectangle([text[0] - 8, text[1] - 6, text[2] + 8, text[3] + 6], 6, fill=SIGNAL)
        draw.text((x + 1.5 * reach, y), label, font=font, anchor="lm", fill="white")
    return image


def _numbered(image: Image.Image, camera: Camera, findings: Sequence[Finding]) -> Image.Image:
    """Numbered marks, pushed apart where findings lie close together."""
    if not findings:
        return image
    radius = max(9.0, camera.height / 44.0)
    targets = np.array([camera.project(finding.where)[:2] for finding in findings])
    marks = _spread(targets, 2.3 * radius, radius, image.size)
    draw = ImageDraw.Draw(image)
    for target, mark in zip(targets, marks, strict=True):
        draw.line([tuple(target), tuple(mark)], fill=SIGNAL, width=2)
        draw.ellipse([*(target - 3), *(target + 3)], fill=SIGNAL)
    font = ImageFont.load_default(radius * 1.25)
    for number, mark in enumerate(marks, start=1):
        draw.ellipse([*(mark - radius), *(mark + radius)], fill=SIGNAL, outline="white", width=2)
        draw.text(tuple(mark), str(number), font=font, anchor="mm", fill="white")
    return image


def _spread(targets: Floats, apart: float, margin: float, size: tuple[int, int]) -> Floats:
    marks = targets.copy()
    for _ in range(100):
        gap = marks[:, None] - marks[None]
        length = np.linalg.norm(gap, axis=2)
        close = (length < apart) & ~np.eye(len(marks), dtype=bool)
        if not close.any():
            break
        # Marks at the very same place part along directions of their own.
        i, j = np.nonzero(close & (length == 0.0))
        gap[i, j] = np.column_stack([np.cos(i - 0.5 * j), np.sin(i - 0.5 * j)])
        push = np.where(close, (apart - length) / 2.0, 0.0)[..., None]
        marks = marks + (gap / np.maximum(np.linalg.norm(gap, axis=2), 1e-9)[..., None] * push).sum(axis=1)
        marks = np.clip(marks, margin, np.array(size) - margin)
    return marks


def _png(image: Image.Image) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, format="PNG")
    return buffer.getvalue()
