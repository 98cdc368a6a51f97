"""First contact: how long a newcomer waits for the first answers, in new environments with empty caches.

``python -m impinge.lab.bench start [WHEEL] [--source FOLDER] [--rounds N]``

WHEEL is one with ready-compiled kernels (``bash .ci/release DIR`` makes it); --source names a checkout, from which
impinge is installed as README says.  Each is installed in a new virtual environment, which needs the network, and
every process starts with an empty home and an empty kernel cache.  pip byte-compiles what it installs; from the second
round on all files are in the page cache.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from impinge.lab.bench.timing import machine

_ANSWERS = """
import time
start = time.perf_counter()
import sys, json, impinge
cube = impinge.shapes.box(1, 1, 1)
impinge.collides(cube, cube)
first, scipy = time.perf_counter(), "scipy" in sys.modules
world = impinge.World()
world.add(cube), world.add(cube)
world.detect()
frame = time.perf_counter()
hull = impinge.ConvexHull(cube)
impinge.distance(hull, hull)
print(json.dumps([first - start, frame - first, time.perf_counter() - frame, scipy, "numba" in sys.modules]))
"""


class Environment:
    """A new virtual environment with impinge in it."""

    def __init__(self, folder: Path, what: str) -> None:
        self.folder = folder
        subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
        self._run("pip", "install", "--quiet", what)

    def _run(self, command: str, *arguments: str) -> str:
        with tempfile.TemporaryDirectory(dir=self.folder) as home:
            variables = {key: value for key, value in os.environ.items() if key.startswith(("PIP_", "LANG", "LC_"))}
            variables |= {"HOME": home, "PATH": f"{self.folder / 'venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"}
            path = self.folder / "venv" / "bin" / command
            done = subprocess.run(
                [str(path), *arguments], env=variables, cwd=home, stdout=subprocess.PIPE, text=True, check=True
            )
        return done.stdout

    def answers(self) -> tuple[float, float, float, float, bool, bool]:
        """Seconds of the process, up to the first answer, for a frame and for hulls more; whether scipy, Numba came."""
        start = time.perf_counter()
        printed = self._run("python", "-c", _ANSWERS)
        return (time.perf_counter() - start, *json.loads(printed))

    def demo(self) -> float:
        """Seconds of ``impinge demo``."""
        start = time.perf_counter()
        self._run("impinge", "demo")
        return time.perf_counter() - start


def rows(name: str, environment: Environment, rounds: int) -> list[tuple[str, str, str]]:
    """What is shown of one way to install it: the first round and the median."""
    answers = [environment.answers() for _ in range(rounds)]
    demos = [environment.demo() for _ in range(rounds)]

    def seconds(values: Sequence[float]) -> tuple[str, str]:
        return f"{values[0]:.2f}", f"{sorted(values)[len(values) // 2]:.2f}"

    came = [what for what, is_there in zip(("scipy", "numba"), answers[0][4:], strict=True) if is_there]
    return [
        (f"{name}: import and first collides", *seconds([each[1] for each in answers])),
        (f"{name}: first World frame, more", *seconds([each[2] for each in answers])),
        (f"{name}: first distance of hulls, more", *seconds([each[3] for each in answers])),
        (f"{name}: the whole process, with the interpreter", *seconds([each[0] for each in answers])),
        (f"{name}: impinge demo", *seconds(demos)),
        (f"{name}: of scipy and numba, the first collides imports", ", ".join(came) or "neither", ""),
    ]


def run(arguments: Sequence[str] = ()) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m impinge.lab.bench start", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("wheel", type=Path, nargs="?", metavar="WHEEL", help="with ready-compiled kernels")
    parser.add_argument("--source", type=Path, metavar="FOLDER", help="a checkout, installed as README says")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="processes of each kind (3)")
    options = parser.parse_args(arguments)
    given = {"wheel": options.wheel, "source": options.source}
    if not any(given.values()):
        parser.error("name a wheel, or a checkout by --source")
    console = Console()
    if not console.is_terminal:
        console = Console(width=120)
    console.print(f"[bold]First contact[/bold]  {machine()}")
    table = Table("seconds", "first", "median")
    for column in table.columns[1:]:
        column.justify = "right"
    with tempfile.TemporaryDirectory() as folder:
        for name, path in given.items():
            if path is not None:
                home = Path(folder) / name
                home.mkdir()
                with console.status(f"installing {path.name}"):
                    environment = Environment(home, str(path.resolve()))
                with console.status("measuring"):
                    for row in rows(name, environment, options.rounds):
                        table.add_row(*row)
    console.print(table)
    return 0
