"""``python -m impinge.lab.papers NAME [--steps N] [--out DIRECTORY]``"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from impinge.errors import MissingExtra

EXPERIMENTS = {
    "table1": "Lin et al. 1996, Table 1: pipes and torus, falling and bouncing",
    "torpedo": "Lin et al. 1996, Fig. 6: the torpedo at rest in its pivot",
    "chain": "Ponamgi et al. 1995, Table 1: a chain of interlocked rings, by several hierarchies",
    "insertion": "Ponamgi et al. 1995, Table 2: a bolt is screwed into a nut; critical points on its crest",
    "combs": "Ponamgi et al. 1997, Fig. 1: comb polyhedra, the worst case",
    "caps": "Ponamgi et al. 1995, Figs. 7 to 9: hull features, concavities, boundary loops and caps",
    "volumes": "Lin et al. 1996, section 5: oriented boxes, axis-aligned boxes and spheres",
    "coherence": "Mirtich 1997, Fig. 10: a sphere turns beside a cube; Lin-Canny, V-Clip and GJK",
    "satellite": "Mirtich 1997, section 3.2: features passed in an orbit and in a straight fall",
    "arithmetic": "Mirtich 1997, section 3.3: the operations of GJK and of V-Clip, counted",
    "icollide": "Lin et al. 1996, Graphs 1 to 6: many polytopes; fixed-size cubes and dynamic boxes",
    "hashing": "Mirtich 1997, Table 1: hashing with and without coherence, four simulations",
    "culling": "Mirtich 1997, Fig. 4: eight coins and the floor, pairs for the narrow phase",
    "resting": "Mirtich 1997, section 2.3: sweep and prune at rest, and the remedies",
    "allpairs": "Ponamgi et al. 1995, Fig. 1a: all pairs colliding, the worst case of broad phases",
}


def main(arguments: Sequence[str]) -> int:
    names = "\n".join(f"  {name:12} {what}" for name, what in EXPERIMENTS.items())
    parser = argparse.ArgumentParser(
        prog="python -m impinge.lab.papers",
        description=f"The experiments of the papers:\n{names}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", choices=EXPERIMENTS, metavar="NAME", help="the experiment")
    parser.add_argument("--steps", type=int, metavar="N", help="a shorter run: at most N steps of each motion or row")
    parser.add_argument(
        "--out", type=Path, default=Path(), metavar="DIRECTORY", help="where pictures go; here if left out"
    )
    options = parser.parse_args(arguments)
    if options.steps is not None and options.steps < 1:
        parser.error(f"--steps is {options.steps}; it must be 1 or more")
    if not options.out.is_dir():
        parser.error(f"--out: {options.out} is not a directory")
    try:
        import_module(f"impinge.lab.papers.{options.name}").run(options.steps, options.out)
    except MissingExtra as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
