"""``python -m impinge.lab.bench NAME``"""

from __future__ import annotations

import sys
from importlib import import_module

BENCHMARKS = {
    "triangles": "the cost of each triangle kernel, and Zachmann's pre-checks",
    "pairs": "two bodies in all scenes, against coal and python-fcl [--poses N] [--save FILE] [SCENE ...]",
    "convex": "two convex bodies, against all peers that are installed [--vertices N ...] [--poses N] [--rounds N]",
    "broad": "many moving boxes, against all peers that are installed [--boxes N ...] [--worlds NAME ...] [--frames N]",
    "world": "many bodies, against peers [feeder] [small] [polytopes] [assembly] [--assembly FILE] [--frames N]",
    "choice": "what auto chooses from: methods for two meshes, hulls in a world [--parts N] [--poses N] [--rounds N]",
    "compare": "this version against another one OLD.whl [--rounds N] [--rows GROUP ...] [--match TEXT] [--compile]",
    "compile": "what the first run compiles, kernel by kernel [OLD.whl] [--most N]",
    "figures": "put the results in docs/results into README.md and docs/ [--check]",
    "start": "how long a newcomer waits for first answers [WHEEL] [--source FOLDER] [--rounds N]",
    "trackers": "GJK, V-Clip and Lin-Canny against each other and exact arithmetic [--configurations N] [--accuracy N]",
}
_WITH_OPTIONS = set(BENCHMARKS) - {"triangles"}


def main(arguments: list[str]) -> int:
    name, options = (arguments[0], arguments[1:]) if arguments else ("", [])
    if name not in BENCHMARKS or (options and name not in _WITH_OPTIONS):
        print("usage: python -m impinge.lab.bench NAME, where NAME is one of", file=sys.stderr)
        for known, what in BENCHMARKS.items():
            print(f"  {known:12} {what}", file=sys.stderr)
        return 2
    run = import_module(f"impinge.lab.bench.{name}").run
    return int((run(options) if name in _WITH_OPTIONS else run()) or 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
