"""``python -m impinge.lab.bench NAME``"""

from __future__ import annotations

import sys
from importlib import import_module

BENCHMARKS = {"triangles": "the cost of each triangle kernel, and Zachmann's pre-checks"}


def main(arguments: list[str]) -> int:
    if len(arguments) != 1 or arguments[0] not in BENCHMARKS:
        print("usage: python -m impinge.lab.bench NAME, where NAME is one of", file=sys.stderr)
        for name, what in BENCHMARKS.items():
            print(f"  {name:12} {what}", file=sys.stderr)
        return 2
    import_module(f"impinge.lab.bench.{arguments[0]}").run()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
