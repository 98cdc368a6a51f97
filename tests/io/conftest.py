"""One small file of every format, all written by hand: two instances of a unit cube called ``left`` and ``right``.

``right`` is turned by 90 degrees about z and moved by (5, 0, 0) where the format has instances;
STL, OBJ, OFF and PLY hold the one cube only.
"""

from __future__ import annotations

import base64
import io
import json
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

CORNERS = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
QUADS = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
TRIANGLES = [t for a, b, c, d in QUADS for t in ([a, b, c], [a, c, d])]


def stl_text(name: str = "left") -> bytes:
    lines = [f"solid {name}"]
    for triangle in TRIANGLES:
        lines.append("facet normal 0 0 0\nouter loop")
        lines.extend("vertex " + " ".join(map(repr, CORNERS[i].tolist())) for i in triangle)
        lines.append("endloop\nendfacet")
    return "\n".join([*lines, f"endsolid {name}", ""]).encode()


def stl_binary() -> bytes:
    facets = b"".join(struct.pack("<12fH", 0, 0, 0, *CORNERS[triangle].ravel(), 0) for triangle in TRIANGLES)
    return bytes(80) + struct.pack("<I", len(TRIANGLES)) + facets


def obj() -> bytes:
    lines = ["# a cube", "o left", *("v {} {} {}".format(*corner) for corner in CORNERS)]
    return "\n".join([*lines, *("f " + " ".join(f"{i + 1}//1" for i in quad) for quad in QUADS), ""]).encode()


def off() -> bytes:
    lines = ["OFF # a cube", "8 6 0", *("{} {} {}".format(*corner) for corner in CORNERS)]
    return "\n".join([*lines, *("4 " + " ".join(map(str, quad)) for quad in QUADS), ""]).encode()


def ply(order: str = "ascii") -> bytes:
    name = {"ascii": "ascii", "<": "binary_little_endian", ">": "binary_big_endian"}[order]
    header = (
        f"ply\nformat {name} 1.0\ncomment a cube\nelement vertex 8\nproperty double x\nproperty double y\n"
        "property double z\nproperty uchar red\nelement face 6\nproperty list uchar int vertex_indices\nend_header\n"
    ).encode()
    if order == "ascii":
        rows = ["{} {} {} 7".format(*corner) for corner in CORNERS]
        return header + "\n".join([*rows, *("4 " + " ".join(map(str, quad)) for quad in QUADS), ""]).encode()
    vertices = b"".join(struct.pack(order + "3dB", *corner, 7) for corner in CORNERS)
    return header + vertices + b"".join(struct.pack(order + "B4i", 4, *quad) for quad in QUADS)


def gltf_document() -> tuple[dict, bytes]:
    indices, positions = np.array(TRIANGLES, "<u2").tobytes(), CORNERS.astype("<f4").tobytes()
    return {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [
            {"name": "root", "children": [1, 2]},
            {"name": "left", "mesh": 0},
            # a quarter turn about z, rounded to float32 as exporters do
            {"name": "right", "mesh": 0, "translation": [5, 0, 0], "rotation": [0, 0, 0.70710677, 0.70710677]},
        ],
        "meshes": [{"name": "cube", "primitives": [{"attributes": {"POSITION": 1}, "indices": 0}]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5123, "count": 36, "type": "SCALAR"},
            {"bufferView": 1, "componentType": 5126, "count": 8, "type": "VEC3"},
        ],
        "bufferViews": [
            {"buffer": 0, "byteLength": len(indices)},
            {"buffer": 0, "byteOffset": len(indices), "byteLength": len(positions)},
        ],
        "buffers": [{"byteLength": len(indices) + len(positions)}],
    }, indices + positions


def gltf() -> bytes:
    document, binary = gltf_document()
    document["buffers"][0]["uri"] = "data:application/octet-stream;base64," + base64.b64encode(binary).decode()
    return json.dumps(document).encode()


def glb(document: dict | None = None, binary: bytes | None = None) -> bytes:
    if document is None or binary is None:
        document, binary = gltf_document()
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    binary += bytes(-len(binary) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(binary), b"BIN\0") + binary
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def zipped(files: dict[str, bytes]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return content.getvalue()


def model_3mf(unit: str = ' unit="inch"') -> bytes:
    vertices = "".join('<vertex x="{}" y="{}" z="{}"/>'.format(*corner) for corner in CORNERS)
    triangles = "".join('<triangle v1="{}" v2="{}" v3="{}"/>'.format(*t) for t in TRIANGLES)
    return (
        f'<model{unit} xmlns="http://schemas.microsoft.com/3dmanufacturing/core/2015/02"><resources>'
        f'<object id="1" name="left"><mesh><vertices>{vertices}</vertices>'
        f"<triangles>{triangles}</triangles></mesh></object>"
        '<object id="2" name="group"><components>'
        '<component objectid="1" transform="0 1 0 -1 0 0 0 0 1 5 0 0"/></components></object></resources>'
        '<build><item objectid="1"/><item objectid="2"/></build></model>'
    ).encode()


def dae(unit: str = '<unit name="centimeter" meter="0.01"/>') -> bytes:
    numbers = " ".join(map(repr, CORNERS.ravel().tolist()))
    corners = " ".join(f"{i} 0" for quad in QUADS for i in quad)
    return (
        '<?xml version="1.0"?><COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">'
        f'<asset>{unit}</asset><library_geometries><geometry id="cube" name="cube"><mesh>'
        f'<source id="p"><float_array id="pa" count="24">{numbers}</float_array><technique_common>'
        '<accessor source="#pa" count="8" stride="3"/></technique_common></source>'
        '<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>'
        '<polylist count="6"><input semantic="VERTEX" source="#v" offset="0"/>'
        '<input semantic="NORMAL" source="#p" offset="1"/>'
        f"<vcount>4 4 4 4 4 4</vcount><p>{corners}</p></polylist></mesh></geometry></library_geometries>"
        '<library_visual_scenes><visual_scene id="scene"><node id="l" name="left"><instance_geometry url="#cube"/>'
        '</node><node id="r" name="right"><translate>5 0 0</translate><rotate>0 0 1 90</rotate>'
        '<instance_geometry url="#cube"/></node></visual_scene></library_visual_scenes>'
        '<scene><instance_visual_scene url="#scene"/></scene></COLLADA>'
    ).encode()


def threedxml(changes: dict[str, tuple[str, str]] | None = None) -> bytes:
    """``changes``: for a member of the archive, what to replace and by what."""
    positions = ", ".join("{} {} {}".format(*corner) for corner in CORNERS)
    first = " ".join(str(i) for triangle in TRIANGLES[:4] for i in triangle)
    strips = ",".join(f"{a} {b} {d} {c}" for a, b, c, d in QUADS[2:4])
    fans = ",".join(" ".join(map(str, quad)) for quad in QUADS[4:])
    rep = (
        '<XMLRepresentation xmlns="http://www.3ds.com/xsd/3DXML"><Root><Rep><PolygonalLOD><Faces>'
        '<Face triangles="0 1 2"/></Faces></PolygonalLOD><Faces>'
        f'<Face triangles="{first}"/><Face strips="{strips}" fans="{fans}"/></Faces>'
        f"<VertexBuffer><Positions>{positions}</Positions></VertexBuffer></Rep></Root></XMLRepresentation>"
    )
    instance = (
        '<Instance3D id="{}" name="{}"><IsAggregatedBy>1</IsAggregatedBy><IsInstanceOf>2</IsInstanceOf>'
        "<RelativeMatrix>{}</RelativeMatrix></Instance3D>"
    )
    tree = (
        '<Model_3dxml xmlns="http://www.3ds.com/xsd/3DXML"><ProductStructure root="1">'
        '<Reference3D id="1" name="machine"/><Reference3D id="2" name="cube"/>'
        + instance.format(4, "left", "1 0 0 0 1 0 0 0 1 0 0 0")
        + instance.format(5, "right", "0 1 0 -1 0 0 0 0 1 5 0 0")
        + '<ReferenceRep id="6" format="TESSELLATED" associatedFile="urn:3DXML:cube.3DRep"/>'
        '<InstanceRep id="7"><IsAggregatedBy>2</IsAggregatedBy><IsInstanceOf>6</IsInstanceOf></InstanceRep>'
        "</ProductStructure></Model_3dxml>"
    )
    members = {"Manifest.xml": "<Manifest><Root>tree.3dxml</Root></Manifest>", "tree.3dxml": tree, "cube.3DRep": rep}
    for name, (old, new) in (changes or {}).items():
        assert old in members[name]
        members[name] = members[name].replace(old, new)
    return zipped({name: text.encode() for name, text in members.items()})


def step(doublings: int = 1, unit: str = "SI_UNIT(.MILLI., .METRE.)", size: tuple[float, float] = (0.0, 1.0)) -> bytes:
    """A STEP assembly: a cube as a B-rep and two placements of it, or more with every doubling.

    ``unit``: an SI unit, or how many metres a unit has.
    ``size``: the coordinates of the cube's corners.
    """
    lines: list[str] = []

    def add(text: str) -> str:
        lines.append(f"#{len(lines) + 1} = {text};")
        return f"#{len(lines)}"

    def point(x: float, y: float, z: float) -> str:
        return add(f"CARTESIAN_POINT('', ({float(x)!r}, {float(y)!r}, {float(z)!r}))")

    def direction(x: float, y: float, z: float) -> str:
        return add(f"DIRECTION('', ({x:.1f}, {y:.1f}, {z:.1f}))")

    def frame(origin: tuple[float, float, float], x_axis: tuple[float, float, float]) -> str:
        return add(f"AXIS2_PLACEMENT_3D('', {point(*origin)}, {direction(0, 0, 1)}, {direction(*x_axis)})")

    application = add("APPLICATION_CONTEXT('automotive design')")
    product_context = add(f"PRODUCT_CONTEXT('', {application}, 'mechanical')")
    design = add(f"PRODUCT_DEFINITION_CONTEXT('part definition', {application}, 'design')")
    if unit.startswith("SI_UNIT"):
        length = add(f"(LENGTH_UNIT() NAMED_UNIT(*) {unit})")
    else:
        metre = add("(LENGTH_UNIT() NAMED_UNIT(*) SI_UNIT($, .METRE.))")
        metres = add(f"LENGTH_MEASURE_WITH_UNIT(LENGTH_MEASURE({unit}), {metre})")
        exponents = add("DIMENSIONAL_EXPONENTS(1., 0., 0., 0., 0., 0., 0.)")
        length = add(f"(CONVERSION_BASED_UNIT('a unit', {metres}) LENGTH_UNIT() NAMED_UNIT({exponents}))")
    angle = add("(NAMED_UNIT(*) PLANE_ANGLE_UNIT() SI_UNIT($, .RADIAN.))")
    solid_angle = add("(NAMED_UNIT(*) SI_UNIT($, .STERADIAN.) SOLID_ANGLE_UNIT())")
    accuracy = add(
        f"UNCERTAINTY_MEASURE_WITH_UNIT(LENGTH_MEASURE(1.E-7), {length}, 'distance_accuracy_value', 'confusion')"
    )
    context = add(
        "(GEOMETRIC_REPRESENTATION_CONTEXT(3) "
        f"GLOBAL_UNCERTAINTY_ASSIGNED_CONTEXT(({accuracy})) "
        f"GLOBAL_UNIT_ASSIGNED_CONTEXT(({length}, {angle}, {solid_angle})) REPRESENTATION_CONTEXT('', ''))"
    )

    def product(name: str, representation: str) -> str:
        made = add(f"PRODUCT('{name}', '{name}', '', ({product_context}))")
        formation = add(f"PRODUCT_DEFINITION_FORMATION('', '', {made})")
        definition = add(f"PRODUCT_DEFINITION('design', '', {formation}, {design})")
        shape = add(f"PRODUCT_DEFINITION_SHAPE('', '', {definition})")
        add(f"SHAPE_DEFINITION_REPRESENTATION({shape}, {representation})")
        return definition

    corners = [point(*np.where(corner == 0.0, *size)) for corner in CORNERS]
    ends = [add(f"VERTEX_POINT('', {corner})") for corner in corners]
    edges: dict[tuple[int, int], str] = {}

    def oriented_edge(i: int, j: int) -> str:
        low, high = min(i, j), max(i, j)
        if (low, high) not in edges:
            along = add(f"VECTOR('', {direction(*(CORNERS[high] - CORNERS[low]))}, 1.0)")
            line = add(f"LINE('', {corners[low]}, {along})")
            edges[low, high] = add(f"EDGE_CURVE('', {ends[low]}, {ends[high]}, {line}, .T.)")
        return add(f"ORIENTED_EDGE('', *, *, {edges[low, high]}, {'.T.' if i < j else '.F.'})")

    faces = []
    for quad in QUADS:
        a, b, c = (CORNERS[i] for i in quad[:3])
        normal = np.cross(b - a, c - b)
        place = add(f"AXIS2_PLACEMENT_3D('', {corners[quad[0]]}, {direction(*normal)}, {direction(*(b - a))})")
        around = [oriented_edge(i, j) for i, j in zip(quad, quad[1:] + quad[:1], strict=True)]
        loop = add(f"EDGE_LOOP('', ({', '.join(around)}))")
        bound = add(f"FACE_OUTER_BOUND('', {loop}, .T.)")
        surface = add(f"PLANE('', {place})")
        faces.append(add(f"ADVANCED_FACE('', ({bound}), {surface}, .T.)"))
    shell = add(f"CLOSED_SHELL('', ({', '.join(faces)}))")
    brep = add(f"MANIFOLD_SOLID_BREP('', {shell})")
    origin = frame((0, 0, 0), (1, 0, 0))
    cube_shape = add(f"ADVANCED_BREP_SHAPE_REPRESENTATION('cube', ({origin}, {brep}), {context})")
    cube = product("cube", cube_shape)

    def pair(name: str, part: str, part_shape: str) -> tuple[str, str]:
        """A product with two instances of another one."""
        places = [frame((0, 0, 0), (1, 0, 0)), frame((5, 0, 0), (0, 1, 0))]
        whole_shape = add(f"SHAPE_REPRESENTATION('{name}', ({origin}, {', '.join(places)}), {context})")
        whole = product(name, whole_shape)
        for number, place in enumerate(places, start=1):
            use = add(f"NEXT_ASSEMBLY_USAGE_OCCURRENCE('NAUO{number}', 'NAUO{number}', '', {whole}, {part}, $)")
            shape = add(f"PRODUCT_DEFINITION_SHAPE('', '', {use})")
            move = add(f"ITEM_DEFINED_TRANSFORMATION('', '', {origin}, {place})")
            relation = add(
                f"(REPRESENTATION_RELATIONSHIP('', '', {part_shape}, {whole_shape}) "
                f"REPRESENTATION_RELATIONSHIP_WITH_TRANSFORMATION({move}) SHAPE_REPRESENTATION_RELATIONSHIP())"
            )
            add(f"CONTEXT_DEPENDENT_SHAPE_REPRESENTATION({relation}, {shape})")
        return whole, whole_shape

    latest = (cube, cube_shape)
    for _ in range(doublings):
        latest = pair("machine", *latest)
    return "\n".join(
        [
            "ISO-10303-21;",
            "HEADER;",
            "FILE_DESCRIPTION((''), '2;1');",
            "FILE_NAME('', '', (''), (''), '', '', '');",
            "FILE_SCHEMA(('AUTOMOTIVE_DESIGN'));",
            "ENDSEC;",
            "DATA;",
            *lines,
            "ENDSEC;",
            "END-ISO-10303-21;",
            "",
        ]
    ).encode()


SAMPLES: dict[str, Callable[[], bytes]] = {
    "text.stl": stl_text,
    "binary.stl": stl_binary,
    "cube.obj": obj,
    "cube.off": off,
    "text.ply": ply,
    "little.ply": lambda: ply("<"),
    "big.ply": lambda: ply(">"),
    "pair.gltf": gltf,
    "pair.glb": glb,
    "pair.3mf": lambda: zipped({"3D/3dmodel.model": model_3mf()}),
    "pair.dae": dae,
    "pair.zae": lambda: zipped({"pair.dae": dae()}),
    "pair.3dxml": threedxml,
    "pair.step": step,
}


@pytest.fixture(params=list(SAMPLES))
def sample(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The path of one sample file; a test that asks for it runs for every format."""
    path = tmp_path / request.param
    path.write_bytes(SAMPLES[request.param]())
    return path


class Builders:
    """The functions above, for tests that vary a sample."""

    gltf_document = staticmethod(gltf_document)
    glb = staticmethod(glb)
    zipped = staticmethod(zipped)
    model_3mf = staticmethod(model_3mf)
    dae = staticmethod(dae)
    threedxml = staticmethod(threedxml)
    step = staticmethod(step)
    stl_text = staticmethod(stl_text)


@pytest.fixture
def builders() -> type[Builders]:
    return Builders
