"""COLLADA (DAE, ZAE)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import impinge
from impinge.io.formats import collada


def changed(path: Path, builders: Any, *changes: tuple[str, str]) -> Path:
    text = builders.dae().decode()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)
    return path


def test_coordinates_are_not_rounded_to_float32(tmp_path: Path, builders: Any) -> None:
    path = changed(tmp_path / "a.dae", builders, ("0.0 0.0 1.0 0.0 1.0 0.0", "0.0 0.0 0.1 0.0 1.0 0.0"))
    mesh = impinge.load_assembly(path).parts[0].mesh
    assert mesh.vertices[1, 2] == 0.1
    assert mesh.polygon.tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]


def test_patches_over_one_vertex_list_stay_one_part(tmp_path: Path, builders: Any) -> None:
    start = '<input semantic="VERTEX" source="#v" offset="0"/>'
    more = (
        f"<triangles material='red' count='1'>{start}<p>0 1 2</p></triangles><polygons>{start}<p>0 1 3 2</p></polygons>"
        f"<tristrips>{start}<p>0 1 2 3</p></tristrips><trifans>{start}<p>0 1 3 2</p></trifans>"
        f"<lines count='1'>{start}<p>0 1</p></lines></mesh>"
    )
    first, second = impinge.load_assembly(changed(tmp_path / "a.dae", builders, ("</mesh>", more)))
    assert first.mesh is second.mesh
    assert len(first.mesh.vertices) == 8
    assert len(first.mesh.faces) == 12 + 1 + 2 + 2 + 2


def test_a_node_used_twice_and_nested_transforms(tmp_path: Path, builders: Any) -> None:
    use = '<node name="{}"><translate>{} 0 0</translate><instance_node url="#l"/></node></visual_scene>'
    path = changed(
        tmp_path / "a.dae", builders, ("</visual_scene>", use.format("a", 8)), ("</visual_scene>", use.format("b", 9))
    )
    assembly = impinge.load_assembly(path)
    assert [part.name for part in assembly] == ["left", "right", "a/left", "b/left"]
    assert [part.pose[0, 3] for part in assembly] == [0, 5, 8, 9]
    assert len({id(part.mesh) for part in assembly}) == 1


@pytest.mark.parametrize(
    ("text", "unit"),
    [("", "m"), ('<unit meter="0.001"/>', "mm"), ('<unit meter="0.0254"/>', "in"), ('<unit meter="0.5"/>', "0.5 m")],
)
def test_units(tmp_path: Path, builders: Any, text: str, unit: str) -> None:
    path = tmp_path / "a.dae"
    path.write_bytes(builders.dae(text))
    assert impinge.load_assembly(path).unit == unit
    assert impinge.load_assembly(path, unit="m").unit == "m"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('url="#cube"', 'url="#nothing"', "reference '#nothing' leads nowhere"),
        ('url="#cube"', 'url="other.dae#cube"', "leads nowhere inside the file"),
        ("<vcount>4 4", "<vcount>4 5", "do not match its counts"),
        ("<vcount>4 4", "<vcount>2 6", "fewer than three corners"),
        ('count="8" stride', 'count="9" stride', "too short"),
        ("<translate>5 0 0</translate>", '<instance_node url="#r"/>', "'right' contains itself"),
        ("<rotate>0 0 1 90", "<rotate>0 0 0 90", "has no meaning"),
        ("<rotate>0 0 1 90</rotate>", "<skew>1</skew>", "<skew> transformation, which is not supported"),
        ('<instance_geometry url="#cube"/>', '<instance_controller url="#cube"/>', "skin or morph"),
        ('meter="0.01"', 'meter="-1"', "its unit is -1.0 metres"),
        ("<scene>", "<scene_of>", "its XML is binary or broken"),
    ],
)
def test_broken_files(tmp_path: Path, builders: Any, old: str, new: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        impinge.load(changed(tmp_path / "broken.dae", builders, (old, new)))


def test_zae_without_dae(tmp_path: Path, builders: Any) -> None:
    path = tmp_path / "a.zae"
    path.write_bytes(builders.zipped({"readme.txt": b""}))
    with pytest.raises(ValueError, match=r"holds no \.dae file"):
        impinge.load(path)


def test_transformations_are_multiplied_once_however_often_a_node_is_used(
    tmp_path: Path, builders: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """50 kilobytes, a node of a thousand transformations and a thousand uses, took half a minute."""
    multiplied = []
    local_matrix = collada._local_matrix
    monkeypatch.setattr(collada, "_local_matrix", lambda node: multiplied.append(node) or local_matrix(node))
    uses = '<visual_scene id="scene"><node>' + '<instance_node url="#l"/>' * 100 + "</node>"
    path = changed(tmp_path / "a.dae", builders, ('<visual_scene id="scene">', uses))
    assert len(impinge.load_assembly(path)) == 102
    assert len(multiplied) == len(set(multiplied)) == 3
