"""Small files, and the command to run on them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from impinge.cli.main import app

QUADS = ((1, 3, 4, 2), (5, 6, 8, 7), (1, 2, 6, 5), (3, 7, 8, 4), (1, 5, 7, 3), (2, 4, 8, 6))


def _corners(x: float) -> list[tuple[float, float, float]]:
    return [(x + i, j, k) for k in (0, 1) for j in (0, 1) for i in (0, 1)]


def _cube(name: str, x: float, first: int) -> str:
    lines = [f"o {name}", *("v {} {} {}".format(*corner) for corner in _corners(x))]
    return "\n".join([*lines, *("f " + " ".join(str(first + i - 1) for i in quad) for quad in QUADS), ""])


@pytest.fixture(scope="session")
def cubes() -> Callable[..., str]:
    """OBJ: unit cubes named cube0, cube1, ... that start at these x."""

    def text(*places: float) -> str:
        return "".join(_cube(f"cube{i}", x, 1 + 8 * i) for i, x in enumerate(places))

    return text


@pytest.fixture(scope="session")
def cubes_3mf() -> Callable[..., bytes]:
    """3MF, which names its unit: unit cubes named cube0, cube1, ... that start at these x."""

    def archive(unit: str, *places: float) -> bytes:
        triangles = [(q[0] - 1, q[i] - 1, q[i + 1] - 1) for q in QUADS for i in (1, 2)]
        faces = "".join('<triangle v1="{}" v2="{}" v3="{}"/>'.format(*face) for face in triangles)
        objects = "".join(
            f'<object id="{i + 1}" name="cube{i}" type="model"><mesh><vertices>'
            + "".join('<vertex x="{}" y="{}" z="{}"/>'.format(*corner) for corner in _corners(x))
            + f"</vertices><triangles>{faces}</triangles></mesh></object>"
            for i, x in enumerate(places)
        )
        items = "".join(f'<item objectid="{i + 1}"/>' for i in range(len(places)))
        namespace = "http://schemas.microsoft.com/3dmanufacturing/core/2015/02"
        model = (
            f'<model unit="{unit}" xmlns="{namespace}"><resources>{objects}</resources><build>{items}</build></model>'
        )
        data = io.BytesIO()
        with zipfile.ZipFile(data, "w") as file:
            file.writestr("3D/3dmodel.model", model)
        return data.getvalue()

    return archive


@pytest.fixture(scope="session")
def run() -> Callable[..., Result]:
    return lambda *arguments: CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str | bytes], str]:
    """Write a file into a directory of the test's own, which is the current one."""
    monkeypatch.chdir(tmp_path)

    def write_file(name: str, content: str | bytes) -> str:
        place = tmp_path / name
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(content.encode() if isinstance(content, str) else content)
        return name

    return write_file
