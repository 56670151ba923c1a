"""`python -m chathpc`."""

from __future__ import annotations

import sys

from chathpc.commands.main import main

if __name__ == "__main__":
    sys.exit(main())
