"""What the command starts with: so little that Ctrl-C has no time to come before it is listened to."""

import sys

from impinge.cli.exit_codes import INTERRUPTED


def run() -> None:
    """The entry point of the command; the rest is loaded here, half a second at worst."""
    try:
        from impinge.cli.main import run as run_command

        run_command()
    except KeyboardInterrupt:
        print("impinge: interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)
