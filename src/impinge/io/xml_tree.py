"""XML as a tree of elements, and numbers in its text.

Document type declarations are refused: their entities can multiply without bound.  So are long names of name spaces,
which stand before each name inside them: one of a megabyte made 20,000 empty elements take minutes.  Comments are not
even handed to the tree, which would copy all text before each of them.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any, cast
from xml.etree import ElementTree
from xml.parsers import expat

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Floats
from impinge.io.source import Source

_ELEMENT = 300
"""Bytes of an element in the tree, when it has children; 7 million of them are parsed in about 4 s."""

_CLEARED = 100
"""Bytes of an element that was cleared."""

_ATTRIBUTE = 450
"""Bytes of an attribute: 50 where many elements have the same one, 300 and more in an element that has many."""

_SHORT = 400
"""Letters of a text that Python converts faster than numpy does, with the handling of its warnings: a matrix."""

_FEW = 7
"""Attributes of an element that is cleared."""

_PIECE = 2**16
"""Bytes that are parsed at a time, at first.

Expat before 2.6 scans a tag or comment that is not complete from its start for each piece (CVE-2023-52425), so pieces
grow until it is: then a long one takes a time that is proportional to its length.
"""

_LONG_NAME_SPACE = re.compile(
    rb"""xmlns(?: :[^\s=<]{101}
              | (?: :[^\s=<]{1,100})? (?: \s{101}
                                         | \s{0,100}= (?: \s{101} | \s{0,100}(?: "[^"<]{201} | '[^'<]{201} ))))""",
    re.VERBOSE,
)
"""The declaration of a name space with more than 200 bytes, or what might hide one.

Every part is bounded, so that the search takes a time that is proportional to the length.
"""


class _RootReached(Exception):
    """The prolog is over."""


def tree_of(data: bytes, source: Source, what: str = "its XML") -> ElementTree.Element:
    """The root element, with all that is below it."""
    _check(data, source, what)
    builder: ElementTree.TreeBuilder = ElementTree.TreeBuilder()
    try:
        parser = _parser(builder, builder.end)
        parser.feed(data)
        return cast(ElementTree.Element, parser.close())
    except (ElementTree.ParseError, LookupError) as error:  # LookupError: an encoding that does not exist
        raise ValueError(f"{what} is binary or broken ({error})") from error


def elements_of(
    data: bytes, source: Source, what: str = "its XML", cleared: Sequence[bytes] = ()
) -> Iterator[ElementTree.Element]:
    """Every element when it is complete, the root last.

    Those with the ``cleared`` names are many, and the caller clears each of them before the next is read.
    """
    _check(data, source, what, cleared)
    builder: ElementTree.TreeBuilder = ElementTree.TreeBuilder()
    complete: list[ElementTree.Element] = []

    def end(tag: str) -> None:
        complete.append(builder.end(tag))

    try:
        parser = _parser(builder, end)
        start, piece = 0, _PIECE
        while start < len(data):
            parser.feed(data[start : start + piece])
            start, piece = start + piece, 2 * piece
            if complete:
                yield from complete
                complete.clear()
                piece = _PIECE
        parser.close()
        yield from complete
    except (ElementTree.ParseError, LookupError) as error:
        raise ValueError(f"{what} is binary or broken ({error})") from error


def _parser(builder: ElementTree.TreeBuilder, end: Callable[[str], Any]) -> Any:
    """Without ``comment`` and ``pi``: a TreeBuilder itself copies the text before each of them."""
    target: Any = SimpleNamespace(start=builder.start, end=end, data=builder.data, close=builder.close)
    return ElementTree.XMLParser(target=target)


def _check(data: bytes, source: Source, what: str, cleared: Sequence[bytes] = ()) -> None:
    """None of the formats that are read here uses a document type declaration."""
    small = sum(data.count(b"<" + name) for name in cleared)
    elements = data.count(b"<") - data.count(b"</") - small
    attributes = max(0, data.count(b"=") - _FEW * small)
    source.take(len(data) + _ELEMENT * elements + _CLEARED * small + _ATTRIBUTE * attributes, what)
    if _LONG_NAME_SPACE.search(_in_utf_8(data)):
        raise ValueError(f"{what} has a name space with a name of more than 200 letters")

    def refuse(*_: object) -> None:
        raise ValueError(f"{what} has a document type declaration, which is not supported")

    def stop(*_: object) -> None:
        raise _RootReached

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = stop
    try:
        start, piece = 0, _PIECE
        while start < len(data):  # a declaration can only stand before the root element
            parser.Parse(data[start : start + piece], False)
            start, piece = start + piece, 2 * piece
    except (_RootReached, expat.ExpatError, LookupError):
        return  # what is broken is told by the parser of the whole


def _in_utf_8(data: bytes) -> bytes:
    """The same text, of which UTF-16 has zeros at the start (or a mark) and all other encodings have none."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", errors="replace").encode()
    if b"\0" in data[:2]:
        return data.decode("utf-16-be" if data[0] == 0 else "utf-16-le", errors="replace").encode()
    return data


def floats_in(text: str) -> Floats:
    """Numbers that stand between blanks, without a string for each of them on the way."""
    return cast(Floats, _numbers(text, np.float64))


def integers_in(text: str) -> NDArray[np.int64]:
    return cast("NDArray[np.int64]", _numbers(text, np.int64))


def float_runs(texts: Sequence[str]) -> tuple[Floats, NDArray[np.int64]]:
    """The numbers of many texts in one row, and how many each of them holds."""
    return floats_in(" ".join(texts)), _run_lengths("\0".join(texts), "\0")


def integer_runs(text: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Integers between blanks and commas in one row, and how many stand between two commas.

    Examples
    --------
    >>> [part.tolist() for part in integer_runs("4 5 6,7 8,,9")]
    [[4, 5, 6, 7, 8, 9], [3, 2, 0, 1]]
    """
    values, lengths = integers_in(text.replace(",", " ")), _run_lengths(text, ",")
    if len(values) != lengths.sum():
        raise ValueError(f"a list of integers holds something else: {' '.join(text[:60].split())!r}")
    return values, lengths


def _run_lengths(text: str, separator: str) -> NDArray[np.int64]:
    """How many words stand between two separators."""
    raw = np.frombuffer(text.encode("utf-8", errors="replace"), dtype=np.uint8)
    ends = raw == ord(separator)
    blank = ends | (raw <= ord(" "))
    starts = ~blank
    starts[1:] &= blank[:-1]
    boundaries = np.searchsorted(np.flatnonzero(starts), np.flatnonzero(ends))
    return np.diff(np.concatenate([[0], boundaries, [np.count_nonzero(starts)]]))


def _numbers(text: str, kind: type[np.float64] | type[np.int64]) -> NDArray[Any]:
    if not text or text.isspace():
        return np.empty(0, dtype=kind)
    if len(text) < _SHORT and text.isascii() and "_" not in text:
        try:
            return np.array([*map(float if kind is np.float64 else int, text.split())], dtype=kind)
        except (ValueError, OverflowError):
            pass  # what is wrong is told below
    with warnings.catch_warnings():
        # numpy only warns when a text with numbers ends in something else.
        warnings.filterwarnings("error", category=DeprecationWarning, message=".*string or file could not be read.*")
        try:
            return np.fromstring(text, dtype=kind, sep=" ")
        except (DeprecationWarning, ValueError) as error:
            what = "numbers" if kind is np.float64 else "integers"
            raise ValueError(f"a list of {what} holds something else: {' '.join(text[:60].split())!r}") from error
