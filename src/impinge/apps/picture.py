"""Pictures of an assembly and of its findings, as PNG bytes, without a screen or a graphics card.

Parts are drawn in flat shading with dark feature lines, as CAD systems do; the
two parts of a finding are coloured and everything around them is a ghost.
Rendered at twice the size and averaged, which smooths all edges.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from PIL import Image, ImageDraw, ImageFont

from impinge.apps.clash import Finding, FindingKind
from impinge.apps.rasterise import Camera, Layer, looking_from, rasterise
from impinge.geometry.assembly import Assembly, Part
from impinge.geometry.cast import Floats
from impinge.geometry.pose import posed_vertices

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
_OVERVIEW_AZIMUTH, _OVERVIEW_ELEVATION = 35.0, 28.0

Colours = NDArray[np.float32]
"""(..., 3) from 0 to 255."""
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class _Scene:
    """All triangles of the assembly in world coordinates."""

    triangles: Floats
    owner: NDArray[np.int32]
    """The part of each triangle."""
    normal: Floats
    names: tuple[str, ...]

    @classmethod
    def of(cls, assembly: Assembly) -> _Scene:
        pieces = [world_triangles(part) for part in assembly]
        owner = np.repeat(np.arange(len(pieces), dtype=np.int32), [len(piece) for piece in pieces])
        triangles = np.concatenate(pieces)
        normal = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
        length = np.linalg.norm(normal, axis=1, keepdims=True)
        normal /= np.where(length > 0.0, length, 1.0)
        return cls(triangles, owner, normal, tuple(part.name for part in assembly))

    def rows(self, parts: Sequence[str]) -> NDArray[np.int64]:
        wanted = [self.names.index(name) for name in parts]
        return np.flatnonzero(np.isin(self.owner, wanted))

    def box(self, rows: NDArray[np.int64]) -> tuple[Floats, Floats]:
        corners = self.triangles[rows].reshape(-1, 3)
        return corners.min(axis=0), corners.max(axis=0)


def world_triangles(part: Part) -> Floats:
    """(m, 3, 3) corners in world coordinates."""
    return posed_vertices(part.pose, part.mesh.vertices)[part.mesh.faces]


# ---------------------------------------------------------------- the two kinds of picture


def overview_picture(
    assembly: Assembly, findings: Sequence[Finding] = (), width: int = 1200, height: int = 760
) -> bytes:
    """The whole assembly; each finding is marked with its number, counted from 1."""
    scene = _Scene.of(assembly)
    forward = looking_from(_OVERVIEW_AZIMUTH, _OVERVIEW_ELEVATION)
    camera = _fit(scene.triangles.reshape(-1, 3), forward, width, height, margin=1.06)
    large = camera.resized(width * _OVERSAMPLING, height * _OVERSAMPLING)
    layer = rasterise(large, scene.triangles)
    colours = np.array(_PALETTE, dtype=np.float32)[_palette_index(assembly) % len(_PALETTE)]
    canvas = _paper(large)
    _paint(canvas, layer.seen, _shade(scene, layer, large, colours[scene.owner]))
    _paint(canvas, _feature_lines(scene, layer), _LINE)
    small = _average(canvas)
    return _png(_numbered(small, camera, findings))


def finding_picture(assembly: Assembly, finding: Finding, width: int = 760, height: int = 520) -> bytes:
    """The two parts in colour, what is around them as a ghost, the contact in the signal colour."""
    scene = _Scene.of(assembly)
    camera = _best_camera(scene, finding, width, height)
    large = camera.resized(width * _OVERSAMPLING, height * _OVERSAMPLING)
    pair = scene.rows([finding.part_a, finding.part_b])
    nested, equal = finding.kind is FindingKind.NESTED, finding.kind is FindingKind.EQUAL
    front = _layer(scene, scene.rows([finding.part_a]) if nested else pair, large)
    ghost = _layer(scene, np.setdiff1d(np.arange(len(scene.triangles)), pair), large)
    ghost_colour = _shade(scene, ghost, large, _one_colour(scene, _GHOST))
    ghost_lines = _feature_lines(scene, ghost)
    canvas = _paper(large)
    _paint(canvas, ghost.seen, ghost_colour, 0.28)
    _paint(canvas, ghost_lines, _LINE, 0.28)
    if nested:
        shell = _layer(scene, scene.rows([finding.part_b]), large)
        _paint(canvas, shell.seen, _shade(scene, shell, large, _one_colour(scene, COLOUR_B)), 0.5)
        _paint(canvas, _feature_lines(scene, shell), _LINE, 0.7)
    is_a = (scene.owner == scene.names.index(finding.part_a))[:, None]
    colours = np.where(is_a, COLOUR_A, COLOUR_B).astype(np.float32)
    _paint(canvas, front.seen, _shade(scene, front, large, colours))
    if equal:
        other = _shade(scene, front, large, _one_colour(scene, COLOUR_B))
        striped = front.seen & _stripes(large)
        _paint(canvas, striped, other[striped[front.seen]])
    lines = _feature_lines(scene, front)
    _paint(canvas, _thick(lines, 2) if nested or equal else lines, SIGNAL if nested or equal else _LINE)
    before = front.seen & (ghost.depth < front.depth)
    _paint(canvas, before, ghost_colour[before[ghost.seen]], 0.10)
    _paint(canvas, before & ghost_lines, _LINE, 0.15)
    _draw_contact(canvas, finding, large, front)
    label = f"{finding.distance:.4g} {assembly.unit or ''}".strip() if finding.kind is FindingKind.CLEARANCE else ""
    return _png(_labelled(_average(canvas), camera, finding, label))


# ---------------------------------------------------------------- cameras


def _fit(points: Floats, forward: Floats, width: int, height: int, margin: float) -> Camera:
    """The camera whose picture just holds all points."""
    axes = Camera(np.zeros(3), forward, 1.0, width, height).axes
    seen = points @ axes.T
    low, high = seen.min(axis=0), seen.max(axis=0)
    span = max(high[1] - low[1], (high[0] - low[0]) * height / width) * margin
    return Camera((low + high) / 2.0 @ axes, forward, float(span) or 1.0, width, height)


def _framing(scene: _Scene, finding: Finding) -> tuple[Floats, float]:
    """Centre and span: the contact with the smaller of the two parts around it."""
    boxes = [scene.box(scene.rows([name])) for name in (finding.part_a, finding.part_b)]
    low, high = min(boxes, key=lambda box: float(np.linalg.norm(box[1] - box[0])))
    ends = finding.segments.reshape(-1, 3) if len(finding.segments) else finding.where[None]
    contact = float(np.linalg.norm(ends.max(axis=0) - ends.min(axis=0)))
    part = float(np.linalg.norm(high - low))
    if finding.kind is FindingKind.NESTED:
        # Enough of the outer part to recognise it.
        outer = scene.box(scene.rows([finding.part_b]))
        return (finding.where + (outer[0] + outer[1]) / 2.0) / 2.0, 1.1 * float(np.linalg.norm(outer[1] - outer[0]))
    whole = max(float(np.linalg.norm(box[1] - box[0])) for box in boxes)
    centre = (finding.where + np.clip(finding.where, low, high) + (low + high) / 2.0) / 3.0
    if finding.kind is FindingKind.EQUAL:
        return centre, 2.5 * part or 1.0
    return centre, max(1.9 * contact, 1.25 * part, min(2.0 * part, 0.8 * whole)) or 1.0


def _best_camera(scene: _Scene, finding: Finding, width: int, height: int) -> Camera:
    """Of several directions the one from which most of the contact is visible."""
    centre, span = _framing(scene, finding)
    small = (max(width // 5, 32), max(height // 5, 24))
    in_focus = np.zeros(len(scene.triangles), dtype=bool)
    in_focus[scene.rows([finding.part_a, finding.part_b])] = True
    focus, around = scene.triangles[in_focus], scene.triangles[~in_focus]
    default = Camera(centre, looking_from(_OVERVIEW_AZIMUTH, _OVERVIEW_ELEVATION), span, width, height)
    if not len(finding.segments):
        return default
    best, best_score = default, -1.0
    for elevation in (14.0, 40.0, -20.0):
        for turn in (0.0, -30.0, 30.0, -60.0, 60.0, -90.0, 90.0, -120.0, 120.0, 150.0, -150.0, 180.0):
            camera = Camera(centre, looking_from(_OVERVIEW_AZIMUTH + turn, elevation), span, *small)
            front, ghost = rasterise(camera, focus), rasterise(camera, around)
            x, y, z = _samples(finding.segments, camera)
            visible = z <= front.depth[y, x] + _depth_bias(camera)
            clear = visible & (z <= ghost.depth[y, x])
            count = len(np.unique(y[visible] * small[0] + x[visible]))
            unhidden = len(np.unique(y[clear] * small[0] + x[clear]))
            # The habitual side of the machine wins unless another shows clearly more.
            habit = 1.0 - 0.25 * abs(turn) / 180.0 - (0.4 if elevation < 0.0 else 0.0)
            score = (0.6 * count + 0.4 * unhidden + 0.5) * habit
            if score > best_score:
                best, best_score = camera, score
    return best.resized(width, height)


# ---------------------------------------------------------------- layers and shading


def _layer(scene: _Scene, rows: NDArray[np.int64], camera: Camera) -> Layer:
    """Like rasterise, with the faces numbered as in the scene."""
    layer = rasterise(camera, scene.triangles[rows])
    if len(rows) == 0:
        return layer
    face = np.where(layer.seen, rows[layer.face].astype(np.int32), np.int32(-1))
    return Layer(layer.depth, face)


def _one_colour(scene: _Scene, colour: tuple[int, int, int]) -> Colours:
    return np.full((len(scene.triangles), 3), colour, dtype=np.float32)


def _shade(scene: _Scene, layer: Layer, camera: Camera, colours: Colours) -> Colours:
    """Colours of the seen pixels: flat shading by a lamp behind the viewer's left shoulder, darker in hollows."""
    right, down, forward = camera.axes
    lamp = -0.62 * forward - 0.66 * down - 0.42 * right
    lamp /= np.linalg.norm(lamp)
    facing = scene.normal * np.where(scene.normal @ forward > 0.0, -1.0, 1.0)[:, None]
    brightness = 0.52 + 0.56 * np.clip(facing @ lamp, 0.0, None)
    lit = np.clip(colours * brightness[:, None], 0.0, 255.0).astype(np.float32)
    return np.asarray(lit[layer.face[layer.seen]] * _hollows(layer)[layer.seen][:, None])


def _hollows(layer: Layer) -> Colours:
    """Luft, Colditz and Deussen (2006), unsharp masking of the depth buffer: darker behind what is near.

    At half the resolution, which nobody can see in a blur.
    """
    seen = layer.seen[::2, ::2]
    if not seen.any():
        return np.ones(layer.depth.shape, dtype=np.float32)
    depth = layer.depth[::2, ::2]
    near, far = depth[seen].min(), depth[seen].max()
    depth = np.where(seen, depth, far)
    behind = (depth - _box_blur(depth, max(2, min(depth.shape) // 60))) / max(far - near, 1.0)
    dark: Colours = (1.0 - np.clip(2.5 * behind, 0.0, 0.35)).astype(np.float32)
    return dark.repeat(2, axis=0).repeat(2, axis=1)[: layer.depth.shape[0], : layer.depth.shape[1]]


def _box_blur(values: Floats, radius: int) -> Floats:
    size = 2 * radius + 1
    for _ in range(2):
        padded = np.pad(values, [(radius + 1, radius), (0, 0)], mode="edge")
        total = np.cumsum(padded, axis=0)
        values = ((total[size:] - total[:-size]) / size).T
    return values


def _feature_lines(scene: _Scene, layer: Layer) -> Mask:
    """Pixels where the part changes or its surface bends by more than 35 degrees."""
    lines = np.zeros(layer.face.shape, dtype=bool)
    for dy, dx in ((1, 0), (0, 1)):
        here, there = layer.face[: -dy or None, : -dx or None], layer.face[dy:, dx:]
        y, x = np.nonzero(here != there)
        f, g = here[y, x], there[y, x]
        bend = np.einsum("ij,ij->i", scene.normal[f], scene.normal[g]) < np.cos(np.radians(35.0))
        change = (f < 0) | (g < 0) | (scene.owner[f] != scene.owner[g]) | bend
        y, x = y[change], x[change]
        lines[y, x] = True
        lines[y + dy, x + dx] = True
    return lines


def _paint(canvas: Colours, where: Mask, colour: ArrayLike, strength: float = 1.0) -> None:
    """Blend a colour, or one for each pixel of ``where``, into the canvas."""
    pixels = canvas.reshape(-1, 3)
    index = np.flatnonzero(where)  # four times as fast as indexing by the mask
    new = np.asarray(colour, dtype=np.float32)
    if strength < 1.0:
        old = pixels.take(index, axis=0)
        new = old + (new - old) * np.float32(strength)
    pixels[index] = new


def _paper(camera: Camera) -> Colours:
    ramp = np.linspace(0.0, 1.0, camera.height)[:, None, None]
    paper = np.empty((camera.height, camera.width, 3), dtype=np.float32)
    paper[:] = np.array(_PAPER_TOP) * (1.0 - ramp) + np.array(_PAPER_BOTTOM) * ramp
    return paper


def _stripes(camera: Camera) -> Mask:
    """Diagonal stripes for two parts at one place."""
    y, x = np.ogrid[: camera.height, : camera.width]
    period = max(camera.height // 24, 4)
    return np.asarray((x + y) % (2 * period) < period)


# ---------------------------------------------------------------- contacts


def _samples(segments: Floats, camera: Camera) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    """Pixel positions and depths along the segments, about one to a pixel, inside the picture."""
    ends = camera.project(segments)
    length = np.abs(ends[:, 1, :2] - ends[:, 0, :2]).max(axis=1)
    # A contact far larger than the picture needs no more samples than the picture has pixels.
    count = np.clip(np.ceil(length), 1, 4 * max(camera.width, camera.height)).astype(np.int64) + 1
    which = np.repeat(np.arange(len(segments)), count)
    step = np.arange(len(which)) - np.repeat(np.cumsum(count) - count, count)
    t = (step / (count[which] - 1))[:, None]
    points = ends[which, 0] * (1.0 - t) + ends[which, 1] * t
    inside = ((points[:, :2] >= 0.0) & (points[:, :2] < [camera.width, camera.height])).all(axis=1)
    points = points[inside]
    return points[:, 0].astype(np.int64), points[:, 1].astype(np.int64), points[:, 2]


def _depth_bias(camera: Camera) -> float:
    """Contacts lie in the surfaces they are drawn on: two pixels of depth keep them from drowning."""
    return 2.0 * max(1.0, camera.height / 400.0)


def _draw_contact(canvas: Colours, finding: Finding, camera: Camera, front: Layer) -> None:
    """Visible contact in full colour with a light rim, hidden contact shining through."""
    if not len(finding.segments):
        return
    x, y, z = _samples(finding.segments, camera)
    visible = z <= front.depth[y, x] + _depth_bias(camera)
    hidden_dots, dots = np.zeros(front.face.shape, dtype=bool), np.zeros(front.face.shape, dtype=bool)
    hidden_dots[y[~visible], x[~visible]] = True
    dots[y[visible], x[visible]] = True
    thickness = max(2, camera.height // 260)
    _paint(canvas, _thick(hidden_dots, thickness), SIGNAL, 0.55)
    _paint(canvas, _thick(dots, thickness + 2), (255, 255, 255), 0.8)
    _paint(canvas, _thick(dots, thickness), SIGNAL)


def _thick(mask: Mask, radius: int) -> Mask:
    """Grow a mask by a disc."""
    grown = mask.copy()
    height, width = mask.shape
    ys, xs = np.nonzero(mask)
    for dy in range(-radius, radius + 1):
        for dx in range(-radius, radius + 1):
            if dx * dx + dy * dy <= radius * radius:
                grown[np.clip(ys + dy, 0, height - 1), np.clip(xs + dx, 0, width - 1)] = True
    return grown


# ---------------------------------------------------------------- onto paper


def _palette_index(assembly: Assembly) -> NDArray[np.int64]:
    """Parts that share a mesh share a colour."""
    order: dict[int, int] = {}
    return np.array([order.setdefault(id(part.mesh), len(order)) for part in assembly])


def _average(canvas: Colours) -> Image.Image:
    n = _OVERSAMPLING
    mean = sum(canvas[y::n, x::n] for y in range(n) for x in range(n)) / np.float32(n * n)
    return Image.fromarray(np.rint(mean).clip(0, 255).astype(np.uint8))


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
