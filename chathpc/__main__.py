"""The program `chathpc`, also as `python -m chathpc`."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line. Ctrl-C while it is still imported ends in a line, too."""
    try:
        from chathpc.commands.main import main as run

        return run()
    except KeyboardInterrupt:
        sys.stderr.write("\nchathpc: interrupted\n")
        return 130


if __name__ == "__main__":
    sys.exit(main())
