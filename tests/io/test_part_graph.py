"""The expansion of products that use products: counted before anything is placed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import impinge
from impinge.io.part_graph import DEEPEST, MOST_PLACED, Node, Use, placed_instances
from impinge.io.scene import Geometry

CUBE = Geometry(np.zeros((3, 3)), np.array([[0, 1, 2]]))


def moved(x: float) -> np.ndarray:
    matrix = np.eye(4)
    matrix[0, 3] = x
    return matrix


def doubled(levels: int, shapes: list[tuple[str, Geometry]]) -> tuple[list[Use], Any, Counter[Hashable]]:
    """A root, and a maker of nodes that each use the one below twice."""
    made: Counter[Hashable] = Counter()

    def node_at(key: Hashable) -> Node:
        assert isinstance(key, int)
        made[key] += 1
        below = [Use(key - 1, moved(0.0)), Use(key - 1, moved(2.0 ** (key - 1)))] if key else []
        return Node(f"level {key}", [] if key else shapes, below)

    return [Use(levels, np.eye(4))], node_at, made


def test_matrices_names_and_order() -> None:
    nodes = {
        "top": Node(
            "top", [], [Use("pair", moved(10), "left"), Use("pair", moved(20), "right"), Use("cube", moved(5))]
        ),
        "pair": Node("pair", [("own", CUBE)], [Use("cube", moved(1)), Use("cube", moved(2), "second")]),
        "cube": Node("cube", [("", CUBE)], []),
    }
    found = placed_instances([Use("top", moved(100))], lambda key: nodes[str(key)])
    assert [(i.name, i.inside, i.matrix[0, 3]) for i in found] == [
        ("own", ("top",), 110),
        ("cube", ("top", "left"), 111),
        ("second", ("top", "left"), 112),
        ("own", ("top",), 120),
        ("cube", ("top", "right"), 121),
        ("second", ("top", "right"), 122),
        ("cube", ("top",), 105),
    ]


def test_shared_nodes_are_made_once_and_placed_often() -> None:
    roots, node_at, made = doubled(10, [("", CUBE)])
    found = placed_instances(roots, node_at)
    assert sorted(instance.matrix[0, 3] for instance in found) == list(range(1024))
    assert set(made.values()) == {1}


def test_too_many_instances_are_counted_not_placed() -> None:
    for levels, number in ((17, "262,143"), (900, r"2\*\*900")):
        roots, node_at, made = doubled(levels, [("", CUBE)])
        with pytest.raises(ValueError, match=f"it places {number} parts and groups; more than {MOST_PLACED:,}"):
            placed_instances(roots, node_at)
        assert made.total() == levels + 1


def test_groups_count_too() -> None:
    """A long chain of groups above each part would take as long as many parts."""

    def node_at(key: Hashable) -> Node:
        assert isinstance(key, int)
        wide = 1000 if key == 500 else 1
        return Node("", [] if key else [("", CUBE)], [Use(key - 1, np.eye(4))] * wide if key else [])

    with pytest.raises(ValueError, match="it places 500,001 parts and groups"):
        placed_instances([Use(500, np.eye(4))], node_at)


def test_what_shows_nothing_costs_nothing() -> None:
    roots, node_at, made = doubled(900, [])
    assert placed_instances(roots, node_at) == []
    assert made.total() == 901


def test_containing_itself_and_depth() -> None:
    nodes = {0: [1], 1: [2, 2], 2: [3, 0], 3: []}
    with pytest.raises(ValueError, match="'n0' contains itself"):
        placed_instances([Use(0, np.eye(4))], lambda key: Node(f"n{key}", [], [Use(k, np.eye(4)) for k in nodes[key]]))  # type: ignore[index]
    with pytest.raises(ValueError, match=f"nested more than {DEEPEST:,} levels deep"):
        placed_instances([Use(0, np.eye(4))], lambda key: Node("", [], [Use(key + 1, np.eye(4))]))  # type: ignore[operator]


LEVELS = 60


def doubling_3mf(builders: Any, mesh: bool) -> bytes:
    objects = "".join(
        f'<object id="{k}"><components><component objectid="{k - 1}"/><component objectid="{k - 1}"/></components>'
        "</object>"
        for k in range(10, 10 + LEVELS)
    )
    first = '<object id="9"><components><component objectid="1"/></components></object>' if mesh else '<object id="9"/>'
    item = f'<item objectid="{9 + LEVELS}"/></build>'
    model = builders.model_3mf().replace(b"</resources>", (first + objects + "</resources>").encode())
    return builders.zipped({"3D/3dmodel.model": model.replace(b"</build>", item.encode())})


def doubling_dae(builders: Any, mesh: bool) -> bytes:
    nodes = "".join(
        f'<node id="n{k}"><instance_node url="#n{k - 1}"/><instance_node url="#n{k - 1}"/></node>'
        for k in range(1, 1 + LEVELS)
    )
    first = '<node id="n0"><instance_geometry url="#cube"/></node>' if mesh else '<node id="n0"/>'
    shown = f'<node id="all"><instance_node url="#n{LEVELS}"/></node></visual_scene>'
    library = f"<library_nodes>{first}{nodes}</library_nodes><library_visual_scenes>"
    text = builders.dae().replace(b"</visual_scene>", shown.encode())
    return text.replace(b"<library_visual_scenes>", library.encode())


def doubling_3dxml(builders: Any, mesh: bool) -> bytes:
    instance = "<Instance3D><IsAggregatedBy>{}</IsAggregatedBy><IsInstanceOf>{}</IsInstanceOf></Instance3D>"
    uses = "".join(2 * instance.format(100 + k, 99 + k) for k in range(1, 1 + LEVELS))
    uses += instance.format(1, 100 + LEVELS) + (instance.format(100, 2) if mesh else "")
    return builders.threedxml({"tree.3dxml": ("</ProductStructure>", uses + "</ProductStructure>")})


@pytest.mark.parametrize(("suffix", "write"), [("3mf", doubling_3mf), ("dae", doubling_dae), ("3dxml", doubling_3dxml)])
def test_formats(tmp_path: Path, builders: Any, suffix: str, write: Any) -> None:
    path = tmp_path / f"a.{suffix}"
    path.write_bytes(write(builders, False))
    assert len(impinge.load_assembly(path)) == 2
    path.write_bytes(write(builders, True))
    for load in (impinge.load, impinge.load_assembly):
        with pytest.raises(ValueError, match=rf"a\.{suffix}: it places .* parts and groups"):
            load(path)


def many_uses(builders: Any, number: int) -> dict[str, bytes]:
    """Files that use a part, or one that shows nothing, so often."""
    model = builders.model_3mf()
    empty = b'<object id="7"/></resources>'
    document, binary = builders.gltf_document()
    document["nodes"] += [{}] * number
    document["scenes"][0]["nodes"] += range(3, 3 + number)
    instance = "<Instance3D><IsAggregatedBy>1</IsAggregatedBy><IsInstanceOf>9</IsInstanceOf></Instance3D>"
    end = "</ProductStructure>"
    return {
        "items.3mf": builders.zipped(
            {"3D/3dmodel.model": model.replace(b"<build>", b"<build>" + number * b'<item objectid="1"/>')}
        ),
        "components.3mf": builders.zipped(
            {
                "3D/3dmodel.model": model.replace(b"</resources>", empty).replace(
                    b"<components>", b"<components>" + number * b'<component objectid="7"/>'
                )
            }
        ),
        "nodes.dae": builders.dae().replace(b"</visual_scene>", number * b"<node/>" + b"</visual_scene>"),
        "nodes.glb": builders.glb(document, binary),
        "instances.3dxml": builders.threedxml({"tree.3dxml": (end, number * instance + end)}),
    }


def test_uses_are_counted_before_they_are_made(tmp_path: Path, builders: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those of parts without any geometry."""
    for name, data in many_uses(builders, 90).items():
        (tmp_path / name).write_bytes(data)
        assert len(impinge.load(tmp_path / name).faces) >= 24
    monkeypatch.setattr("impinge.io.source.MOST_USES", 50)
    for name in many_uses(builders, 0):
        with pytest.raises(ValueError, match=r"it uses parts and groups [0-9]+ times; more than 50 are not supported"):
            impinge.load(tmp_path / name)
