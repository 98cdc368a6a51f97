"""3MF."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import impinge


def saved(path: Path, builders: Any, **models: bytes) -> Path:
    path.write_bytes(builders.zipped({f"3D/{name}.model": model for name, model in models.items()}))
    return path


def test_names_and_groups(tmp_path: Path, builders: Any) -> None:
    model = builders.model_3mf().replace(b'<item objectid="1"/>', b'<item objectid="1" partnumber="A-7"/>')
    assembly = impinge.load_assembly(saved(tmp_path / "a.3mf", builders, **{"3dmodel": model}))
    assert [part.name for part in assembly] == ["A-7", "left"]


@pytest.mark.parametrize(("text", "unit"), [("", "mm"), (' unit="micron"', "um"), (' unit="foot"', "ft")])
def test_units(tmp_path: Path, builders: Any, text: str, unit: str) -> None:
    path = saved(tmp_path / "a.3mf", builders, **{"3dmodel": builders.model_3mf(text)})
    assert impinge.load_assembly(path).unit == unit


def test_objects_of_another_model_file(tmp_path: Path, builders: Any) -> None:
    """The production extension: only the object that is asked for, not all that the other file holds."""
    root = (
        b'<model xmlns:p="http://schemas.microsoft.com/3dmanufacturing/production/2015/06"><resources><object id="9">'
        b'<components><component p:path="/3D/other.model" objectid="1"/></components></object></resources>'
        b'<build><item objectid="9"/></build></model>'
    )
    second = builders.model_3mf().replace(b'<object id="2"', b'<object id="3"><mesh/></object><object id="2"')
    assembly = impinge.load_assembly(saved(tmp_path / "a.3mf", builders, **{"3dmodel": root, "other": second}))
    assert [(part.name, len(part.mesh.faces)) for part in assembly] == [("left", 12)]


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (b'unit="inch"', b'unit="cubit"', "its unit 'cubit' is not one of micron"),
        (b'<item objectid="1"/>', b'<item objectid="5"/>', "there is no object '5'"),
        (b'<component objectid="1"', b'<component objectid="2"', "'group' contains itself"),
        (b'transform="0 1', b'transform="0', "reshape"),
        (b'v1="0"', b'v9="0"', "not a readable 3MF file"),
    ],
)
def test_broken_files(tmp_path: Path, builders: Any, old: bytes, new: bytes, reason: str) -> None:
    model = builders.model_3mf()
    assert old in model
    with pytest.raises(ValueError, match=reason):
        impinge.load(saved(tmp_path / "a.3mf", builders, **{"3dmodel": model.replace(old, new)}))


def test_archive_without_model(tmp_path: Path, builders: Any) -> None:
    with pytest.raises(ValueError, match=r"holds no \.model file"):
        impinge.load(saved(tmp_path / "a.3mf", builders))


def test_meshes_of_extensions_are_skipped(tmp_path: Path, builders: Any) -> None:
    vertices = b"<vertices>" + 3 * b'<vertex x="7" y="7" z="7"/>' + b"</vertices>"
    mesh = b'<triangles><triangle v1="0" v2="1" v3="2"/></triangles>'
    extra = b"<object id='8'><displacementmesh>" + vertices + mesh + b'</displacementmesh></object><object id="1"'
    model = builders.model_3mf().replace(b'<object id="1"', extra, 1)
    mesh_of_file = impinge.load(saved(tmp_path / "a.3mf", builders, **{"3dmodel": model}))
    assert len(mesh_of_file.faces) == 24
    assert mesh_of_file.vertices.max() == 5.0


def test_too_many_kinds_of_elements_are_refused(tmp_path: Path, builders: Any) -> None:
    model = builders.model_3mf().replace(b"<build>", b"".join(b"<n%d/>" % k for k in range(11_000)) + b"<build>")
    with pytest.raises(ValueError, match="has more than 10,000 kinds of elements"):
        impinge.load(saved(tmp_path / "a.3mf", builders, **{"3dmodel": model}))
