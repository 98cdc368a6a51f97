"""Results files: what a benchmark measured, as JSON that documents quote (see ``figures``)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from impinge.lab.bench.timing import processor

_PACKAGES = ("impinge", "numpy", "numba", "coal", "python-fcl")


def save(path: Path, benchmark: str, command: str, results: Mapping[str, Any]) -> None:
    """Write a results file; it names the command, the machine, the date and the versions."""
    document = {
        "benchmark": benchmark,
        "command": command,
        "date": date.today().isoformat(),
        "machine": processor(),
        "versions": _versions(),
        **results,
    }
    path.write_text(json.dumps(document, indent=1, sort_keys=False) + "\n", encoding="utf-8")


def load(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return document


def rounded(value: float) -> float:
    """Four digits: a file that changes in fewer of them is easier to compare."""
    return float(f"{value:.4g}")


def _versions() -> dict[str, str]:
    found = {}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
