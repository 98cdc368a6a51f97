"""XML: no entities, no blow-up, and numbers in text."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import impinge
from impinge.io.source import MAX_EXPANDED, Source
from impinge.io.xml_tree import elements_of, float_runs, floats_in, integer_runs, integers_in, tree_of

LAUGHS = (
    "<!DOCTYPE a [<!ENTITY l0 'ha'>" + "".join(f"<!ENTITY l{k} '{10 * f'&l{k - 1};'}'>" for k in range(1, 12)) + "]>"
)


def source(limit: int = MAX_EXPANDED) -> Source:
    return Source(Path("a.xml"), max_expanded=limit)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize(
    "doctype", [LAUGHS, "<!DOCTYPE a>", '<!DOCTYPE a SYSTEM "file:///etc/passwd">', "<!-- x -->" * 10_000 + LAUGHS]
)
def test_document_type_declarations_are_refused(encoding: str, doctype: str) -> None:
    data = f'<?xml version="1.0"?>{doctype}<a>&l11;</a>'.encode(encoding)
    for parse in (tree_of, lambda *arguments: list(elements_of(*arguments))):
        with pytest.raises(ValueError, match="the file has a document type declaration, which is not supported"):
            parse(data, source(), "the file")


def test_formats_refuse_them(tmp_path: Path, builders: Any) -> None:
    mesh = LAUGHS.encode() + builders.model_3mf().replace(b'name="left"', b'name="&l11;"')
    scene = builders.dae().replace(b'<?xml version="1.0"?>', LAUGHS.encode())
    tree = ("<Model_3dxml", LAUGHS + "<Model_3dxml")
    files = {
        "a.3mf": builders.zipped({"3D/3dmodel.model": mesh}),
        "a.dae": scene,
        "a.zae": builders.zipped({"a.dae": scene}),
        "a.3dxml": builders.threedxml({"tree.3dxml": tree}),
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(ValueError, match=rf"{name}: .* has a document type declaration"):
            impinge.load(tmp_path / name)


def test_the_word_is_allowed_inside() -> None:
    root = tree_of(b"<a b='&lt;!DOCTYPE'><!-- <!DOCTYPE a> --><![CDATA[<!DOCTYPE]]></a>", source())
    assert root.text == "<!DOCTYPE"


@pytest.mark.parametrize(
    "data",
    [b"", b"no XML", b"<a>", b"<a/><b/>", b"<a b=1/>", b"<?xml version='1.0' encoding='klingon'?><a/>", b"\xff\xfe<"],
)
def test_broken_documents(data: bytes) -> None:
    for parse in (tree_of, lambda *arguments: list(elements_of(*arguments))):
        with pytest.raises(ValueError, match="the file is binary or broken"):
            parse(data, source(), "the file")


def test_many_small_elements_take_more_than_their_text() -> None:
    data = b"<a>" + b"<b/>" * 1000 + b"</a>"
    assert len(tree_of(data, source(400_000))) == 1000
    with pytest.raises(ValueError, match="would take more than 50,000 bytes"):
        tree_of(data, source(50_000))


def test_attributes_take_more_than_their_text() -> None:
    data = b"<a " + b" ".join(b'a%d=""' % k for k in range(1000)) + b"/>"
    assert len(tree_of(data, source(600_000)).attrib) == 1000
    for parse in (tree_of, lambda *arguments: list(elements_of(*arguments, cleared=(b"vertex",)))):
        with pytest.raises(ValueError, match="would take more than 200,000 bytes"):
            parse(data, source(200_000), "the file")


def test_elements_that_are_cleared_take_less() -> None:
    data = b"<a>" + b'<vertex x="1" y="2" z="3"/>' * 1000 + b"</a>"
    assert len(list(elements_of(data, source(200_000), cleared=(b"vertex",)))) == 1001
    with pytest.raises(ValueError, match="would take more than 200,000 bytes"):
        next(elements_of(data, source(200_000)))


def test_runs_of_numbers() -> None:
    values, lengths = integer_runs(" 1 2\t-3,, 4\n,5 6")
    assert (values.tolist(), lengths.tolist()) == ([1, 2, -3, 4, 5, 6], [3, 0, 1, 2])
    assert [part.tolist() for part in integer_runs("")] == [[], [0]]
    for text in ("1 2,1-2", "1 2.5", "1;2", "1 2,x"):
        with pytest.raises(ValueError, match="a list of integers holds something else"):
            integer_runs(text)
    values, lengths = float_runs(["1.5 2", "", " 1e-320 "])
    assert (values.tolist(), lengths.tolist()) == ([1.5, 2.0, 1e-320], [2, 0, 1])


@pytest.mark.parametrize("text", ["0.1 1e22 -0.0 5e-324 1.7976931348623157e308 nan inf", "+1 -2."])
def test_short_and_long_texts_hold_the_same_numbers(text: str) -> None:
    short, long = floats_in(text), floats_in(text + 500 * " ")
    assert short.tobytes() == long.tobytes()


@pytest.mark.parametrize("suffix", ["3mf", "dae", "3dxml"])
def test_deeply_nested_documents(tmp_path: Path, builders: Any, suffix: str) -> None:
    path = tmp_path / f"a.{suffix}"
    depth = 100_000
    deep = "<node>" * depth + "</node>" * depth
    if suffix == "3mf":
        path.write_bytes(
            builders.zipped({"3D/3dmodel.model": builders.model_3mf().replace(b"<build>", f"{deep}<build>".encode())})
        )
    elif suffix == "3dxml":
        path.write_bytes(builders.threedxml({"tree.3dxml": ("</ProductStructure>", deep + "</ProductStructure>")}))
    else:
        path.write_bytes(builders.dae().replace(b"</visual_scene>", f"{deep}</visual_scene>".encode()))
        with pytest.raises(ValueError, match=r"a\.dae: its parts are nested more than 1,000 levels deep"):
            impinge.load(path)
        return
    assert len(impinge.load(path).faces) == 24


def test_numbers() -> None:
    assert floats_in(" 1 -2.5\n3e-3\t0.1 ").tolist() == [1.0, -2.5, 3e-3, 0.1]
    assert integers_in("1 -2\n 3").tolist() == [1, -2, 3]
    for text in ("", " \n "):
        assert floats_in(text).tolist() == integers_in(text).tolist() == []
    for text in ("1 x", "x", "1,2", "1 2 \u0664"):
        with pytest.raises(ValueError, match="a list of numbers holds something else: '"):
            floats_in(text)
    with pytest.raises(ValueError, match=r"a list of integers holds something else: '1 2\.5'"):
        integers_in("1 2.5")


@pytest.mark.parametrize("ends", [(b"<a><!--", b"--></a>"), (b'<a><b c="', b'"/></a>'), (b"<!--", b"--><a/>")])
def test_long_tokens_are_scanned_a_few_times(ends: tuple[bytes, bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    """Expat scans what it has of a token once for each piece that it is given: pieces must grow."""
    pieces = []

    class Counting(ElementTree.XMLParser):  # type: ignore[type-arg]
        def feed(self, data: bytes) -> None:
            pieces.append(len(data))
            super().feed(data)

    monkeypatch.setattr(ElementTree, "XMLParser", Counting)
    data = (b">" * 2**22).join(ends)
    assert [element.tag for element in elements_of(data, source())][-1] == "a"
    assert sum(pieces) == len(data)
    assert len(pieces) < 24
    assert tree_of(data, source()).tag == "a"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-16-be", "latin-1"])
@pytest.mark.parametrize(
    "declared",
    [
        'xmlns="{}"', "xmlns='{}'", 'xmlns:p="{}"', 'xmlns \n =\t "{}"', 'xmlns:' + 150 * "p" + '="{}"',
        "xmlns" + 150 * " " + '="{}"', "xmlns=" + 150 * " " + '"{}"', 'xmlns="\u00e9\'>{}"',
    ],
)  # fmt: skip
def test_long_name_spaces_are_refused(encoding: str, declared: str) -> None:
    """The parser copies them for each element: a megabyte of name and one of elements took minutes."""
    long = f"<?xml version='1.0' encoding='{encoding}'?><a><b {declared.format(201 * 'u')}><c/></b></a>".encode(
        encoding
    )
    for parse in (tree_of, lambda *arguments: list(elements_of(*arguments))):
        with pytest.raises(ValueError, match="the file has a name space with a name of more than 200 letters"):
            parse(long, source(), "the file")


@pytest.mark.parametrize(
    "inside",
    ["xmlns", "xmlns=", "xmlns:" * 16, 'xmlns="' * 100_000, "<b xmlns='http://a.b/c' d='" + 9999 * "e" + "'/>"],
)
def test_other_name_spaces_are_not(inside: str) -> None:
    root = tree_of(f"<a xmlns='{190 * 'u'}' xmlns:p='v'>{inside}</a>".encode(), source())
    assert root.tag == "{" + 190 * "u" + "}a"


def test_comments_and_instructions_leave_no_trace() -> None:
    """Nor does text that they cut into pieces take time that grows with the square of their number."""
    data = b"<a>" + b"1<!-- x -->2<?y z?> " * 100_000 + b"<b/>3<!-- x -->4</a>"
    for root in (tree_of(data, source()), list(elements_of(data, source()))[-1]):
        assert root.text == "12 " * 100_000
        assert [(each.tag, each.tail) for each in root] == [("b", "34")]
