"""The report is one file that needs no other, with one picture for each finding."""

from __future__ import annotations

import base64
import io
import os
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from impinge.apps import report as report_module
from impinge.apps.clash import ClashCheck, Finding, FindingKind, check
from impinge.apps.demo.engine_bay import CLEARANCE, engine_bay
from impinge.apps.picture import SIGNAL, finding_picture
from impinge.apps.report import report, write_report
from impinge.apps.scene import Scene
from impinge.apps.solids import OpenPart
from impinge.lab.scenes.shapes import box
from impinge.mesh.assembly import Assembly, Part

VOID = {"meta", "img", "br", "link", "input", "hr"}


class Page(HTMLParser):
    """Collects addresses and checks that every element is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.sources: list[str] = []
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.tags: list[str] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            if name == "src":
                self.sources.append(value or "")
            elif name == "href":
                self.links.append(value or "")
            elif name == "id":
                self.ids.add(value or "")
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def decoded(source: str) -> np.ndarray:
    prefix = "data:image/png;base64,"
    assert source.startswith(prefix)
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(source[len(prefix) :]))).convert("RGB")).astype(int)


def has_signal(image: np.ndarray) -> bool:
    return bool((np.abs(image - SIGNAL).max(axis=2) < 12).sum() > 20)


def is_self_contained(text: str, page: Page) -> bool:
    addresses = [*page.sources, *page.links]
    inside = all(address.startswith(("data:", "#")) for address in addresses)
    return inside and not re.search(r"https?://|@import|url\(", text) and "script" not in page.tags


@pytest.mark.nojit_slow
def test_report_of_the_engine_bay() -> None:
    bay = engine_bay()
    result = check(bay, CLEARANCE)
    findings = result.findings
    text = report(bay, result, "Engine bay")
    page = Page(text)
    assert is_self_contained(text, page)
    assert len(page.sources) == 1 + len(findings)
    for source in page.sources:
        image = decoded(source)
        assert image.std() > 10.0
        assert has_signal(image)
    assert len(set(page.sources)) == len(page.sources)
    for number, finding in enumerate(findings, start=1):
        assert finding.description in page.text
        assert f"#finding-{number}" in page.links
        assert f"finding-{number}" in page.ids
    assert "3 mm" in page.text
    assert "4 mm" in page.text
    assert len(text) < 5_000_000


def result_of(*findings: Finding, clearance: float = 0.0, open_parts: tuple[OpenPart, ...] = ()) -> ClashCheck:
    return ClashCheck(findings, clearance, "auto", (), open_parts)


def small(name: str) -> tuple[Assembly, ClashCheck]:
    parts = tuple(Part(label, box(1, 1, 1), np.eye(4)) for label in (name, "other"))
    where = np.full(3, 0.5)
    finding = Finding(FindingKind.EQUAL, name, "other", 0.0, where, np.empty((0, 2, 3)), f"{name}.")
    return Assembly(parts), result_of(finding)


@pytest.fixture
def small_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_module, "OVERVIEW_SIZE", (48, 36))
    monkeypatch.setattr(report_module, "PICTURE_SIZE", (40, 30))


@pytest.mark.usefixtures("small_pictures")
def test_names_from_files_are_escaped() -> None:
    name = '<script src="http://evil">&"quoted"'
    page = Page(report(*small(name), name))
    assert "script" not in page.tags
    assert name in page.text
    assert all(source.startswith("data:") for source in page.sources)


@pytest.mark.usefixtures("small_pictures")
def test_report_without_findings_says_so() -> None:
    assembly, _ = small("one")
    page = Page(report(assembly, result_of(clearance=2.0), "Nothing"))
    assert len(page.sources) == 1
    assert "No findings" in page.text
    assert "within 2 of each other" in page.text


@pytest.mark.usefixtures("small_pictures")
def test_report_says_its_unit_and_what_was_not_checked() -> None:
    assembly, result = small("one")
    page = Page(report(Assembly(assembly.parts, "in"), result, "Inches", remarks=["b.stl was converted."]))
    assert "Lengths and coordinates are in in." in page.text
    assert "At (0.5, 0.5, 0.5) in" in page.text
    assert "b.stl was converted." in page.text
    open_parts = (OpenPart("one", 3), OpenPart("other", 1))
    page = Page(report(assembly, result_of(open_parts=open_parts), "Open"))
    assert "No unit is named" in page.text
    assert "lying inside them: one (3 open edges), other (1 open edge)." in page.text


@pytest.mark.usefixtures("small_pictures")
def test_written_file_is_the_report_and_progress_reaches_the_end(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    target = tmp_path / "größe.html"
    write_report(target, *small("größe"), "Größe", lambda done, total: seen.append((done, total)))
    assert target.read_text("utf-8") == report(*small("größe"), "Größe")
    assert seen == [(0, 2), (1, 2), (2, 2)]


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The pictures begun, in order, by name of the first part."""
    begun: list[str] = []

    def draw(scene: Scene, finding: Finding, *size: int) -> bytes:
        begun.append(finding.part_a)
        return finding_picture(scene, finding, *size)

    monkeypatch.setattr(report_module, "finding_picture", draw)
    return begun


@pytest.mark.nojit_slow
@pytest.mark.usefixtures("small_pictures")
def test_any_number_of_threads_draws_the_same_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    assembly, result = small("one")
    (finding,) = result.findings
    crossing = np.array([[[0.0, 0.0, 0.5], [1.0, 0.0, 0.5]]])
    findings = [replace(finding, kind=kind, segments=crossing) for kind in FindingKind]
    texts = set()
    for threads in (1, 2, 5):
        monkeypatch.setattr(os, "cpu_count", lambda threads=threads: threads)
        texts.add(report(assembly, result_of(*findings), "Same"))
    assert len(texts) == 1


@pytest.mark.usefixtures("small_pictures")
def test_the_scene_is_made_once_and_progress_tells_of_each_picture(
    monkeypatch: pytest.MonkeyPatch, drawn: list[str]
) -> None:
    made: list[Scene] = []
    make = Scene.of
    monkeypatch.setattr(Scene, "of", lambda assembly: made.append(make(assembly)) or made[-1])
    assembly, result = small("one")
    seen: list[tuple[int, int]] = []
    report(assembly, result_of(*result.findings * 7), "Once", lambda done, total: seen.append((done, total)))
    assert len(made) == 1
    assert len(drawn) == 7
    assert seen == [(done, 8) for done in range(9)]


@pytest.mark.usefixtures("small_pictures")
def test_an_interrupt_begins_no_further_picture(drawn: list[str]) -> None:
    assembly, result = small("one")

    def interrupt(done: int, total: int) -> None:
        if done == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        report(assembly, result_of(*result.findings * 200), "Interrupted", interrupt)
    assert len(drawn) < 200


@pytest.mark.usefixtures("small_pictures")
def test_a_failure_while_drawing_reaches_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(scene: Scene, finding: Finding, *size: int) -> bytes:
        raise ValueError(f"{finding.part_a} cannot be drawn")

    monkeypatch.setattr(report_module, "finding_picture", fail)
    with pytest.raises(ValueError, match="one cannot be drawn"):
        report(*small("one"), "Failed")
