"""What holds for the package as a whole: light to import, complete, typed."""

from __future__ import annotations

import importlib.metadata
import importlib.resources
import json
import subprocess
import sys

import pytest

import impinge

HEAVY = ("numba", "scipy", "trimesh", "typer", "rich", "jinja2")


def modules_after(statement: str) -> set[str]:
    """Top-level modules that a new interpreter has loaded after ``statement``."""
    program = f"import json, sys\n{statement}\nprint(json.dumps(sorted(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in json.loads(run.stdout)}


@pytest.mark.parametrize(
    "statement",
    [
        "import impinge",
        "import impinge; impinge.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])",
        "import impinge; impinge.shapes.prism([[0, 0], [3, 0], [0, 4]], 1)",
        "import impinge.mesh.mesh, impinge.geometry.pose, impinge.results, impinge.mesh.assembly",
    ],
)
def test_import_loads_no_heavy_package(statement: str) -> None:
    loaded = modules_after(statement)
    assert "impinge" in loaded
    assert loaded.isdisjoint(HEAVY), sorted(loaded.intersection(HEAVY))


@pytest.mark.parametrize("name", impinge.__all__)
def test_public_name_resolves_and_is_documented(name: str) -> None:
    thing = getattr(impinge, name)
    assert thing.__name__.rpartition(".")[2] == name
    assert thing.__doc__
    assert name in dir(impinge)


def test_public_names_are_sorted_and_each_has_one_home() -> None:
    assert impinge.__all__ == sorted(impinge.__all__)
    assert set(impinge.__all__) == set(impinge._HOME) | set(impinge._MODULES)


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_verb"):
        _ = impinge.no_such_verb


def test_version_is_that_of_the_installed_distribution() -> None:
    assert impinge.__version__ == importlib.metadata.version("impinge")


def test_type_information_is_installed() -> None:
    assert importlib.resources.files("impinge").joinpath("py.typed").is_file()
