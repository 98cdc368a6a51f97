"""What the first run compiles, kernel by kernel, with nothing kept.

``python -m impinge.lab.bench compile [OLD.whl] [--most N]``

Each version compiles everything in one new process (``impinge warmup`` uses two).  Seconds are those of the processor:
they depend less on what else the machine does.  A function that several kernels call is counted where it came first.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

import impinge
from impinge.lab.bench.timing import machine

REST = "imports, cold functions and all else"

# Runs in both versions, so it uses only what both have.
_WORKER = """
import json, time
start = time.process_time()
from numba.core import event

class Listener(event.Listener):
    def __init__(self):
        self.depth, self.seconds = 0, {}
    def on_start(self, happening):
        self.depth += 1
        if self.depth == 1:
            self.begin = time.process_time()
    def on_end(self, happening):
        self.depth -= 1
        if self.depth == 0:
            function = happening.data["dispatcher"].py_func
            name = f"{function.__module__}.{function.__name__}"
            self.seconds[name] = self.seconds.get(name, 0.0) + time.process_time() - self.begin

listener = Listener()
event.register("numba:compile", listener)
from impinge.apps.warmup import PARTS
for part in PARTS.values():
    part()
print(json.dumps([time.process_time() - start, listener.seconds]))
"""


def compile_seconds(folder: Path) -> dict[str, float]:
    """Seconds of each kernel of the version in a folder; under REST what is not part of any."""
    with tempfile.TemporaryDirectory() as empty:
        environment = {**os.environ, "PYTHONPATH": str(folder), "IMPINGE_CACHE_DIR": empty, "IMPINGE_KERNELS": "jit"}
        command = [sys.executable, "-c", _WORKER]
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    total, kernels = json.loads(done.stdout.splitlines()[-1])
    return {**kernels, REST: total - sum(kernels.values())}


def report(old: Mapping[str, float] | None, new: Mapping[str, float], most: int) -> Table:
    """The kernels that take longest, and the sums."""
    table = Table("", *(["old, s"] if old else []), "new, s")
    for column in table.columns[1:]:
        column.justify = "right"
    versions = [new] if old is None else [old, new]
    names = sorted(set().union(*versions), key=lambda name: -max(version.get(name, 0.0) for version in versions))
    for name in names[:most]:
        table.add_row(name, *(f"{version[name]:.2f}" if name in version else "" for version in versions))
    table.add_section()
    table.add_row(
        f"all {len(names) - 1} kernels and the rest", *(f"{sum(version.values()):.1f}" for version in versions)
    )
    return table


def run(arguments: Sequence[str] = ()) -> int:
    parser = argparse.ArgumentParser(prog="python -m impinge.lab.bench compile", description=__doc__.partition("\n")[0])
    parser.add_argument("wheel", type=Path, metavar="OLD.whl", nargs="?", help="a version to compare with")
    parser.add_argument("--most", type=int, metavar="N", default=25, help="rows; the slowest come first (25)")
    options = parser.parse_args(arguments)
    if options.wheel is not None and not zipfile.is_zipfile(options.wheel):
        parser.error(f"{options.wheel} is not a wheel")
    console = Console()
    if not console.is_terminal:
        console = Console(width=120)
    console.print(f"[bold]Compile[/bold]  {machine()}")
    old = None
    if options.wheel is not None:
        with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(options.wheel) as wheel:
            wheel.extractall(folder)
            old = compile_seconds(Path(folder))
    console.print(report(old, compile_seconds(Path(impinge.__file__).parents[1]), options.most))
    return 0
