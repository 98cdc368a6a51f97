"""Interleaved timing: every candidate is run in every round, and the best round counts."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path


def interleaved(candidates: Mapping[str, Callable[[], object]], rounds: int = 15) -> dict[str, float]:
    """Seconds of the fastest of several rounds for each candidate.

    A round runs all candidates one after the other, so that they share whatever else the
    machine does.  The minimum is the cost without disturbance.
    """
    best = dict.fromkeys(candidates, float("inf"))
    for run in candidates.values():
        run()  # compiles, and warms the caches
    for _ in range(rounds):
        for name, run in candidates.items():
            start = time.perf_counter()
            run()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def processor() -> str:
    """The processor, the system and the version of Python."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")
        ]
        cpu = f"{names[0]} ({len(names)} cores)" if names else cpu
    return f"{cpu}, {platform.system()}, Python {platform.python_version()}"


def machine() -> str:
    """The processor, the system and the date: what a committed result must name."""
    return f"{processor()}, {date.today().isoformat()}"
