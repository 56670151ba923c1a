"""Run as a process of its own (see chathpc.adapters.native): one case, so that its memory is its own and a crash is only its.

Reads one request (JSON) from standard input, writes the outcome as one JSON value to standard output.
"""

from __future__ import annotations

import json
import os
import sys


def main() -> None:
    """Answer one request: {"paths": […], "llm": SPEC, "base_url": URL or null, "import_path": […]}."""
    request = json.loads(sys.stdin.buffer.read())
    out = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what engines of models print is no outcome
    sys.path[:] = request["import_path"]
    from pathlib import Path

    from chathpc.bench.outcome import Outcome, measure, to_data

    try:
        outcome = measure([Path(path) for path in request["paths"]], request["llm"], request["base_url"])
    except MemoryError:
        outcome = Outcome(failure="out of memory")
    except Exception as error:  # noqa: BLE001  a bug in chathpc is a failed case, and the others are still measured
        outcome = Outcome(failure=f"internal error, please report it: {type(error).__name__}: {error}"[:300])
    out.write(json.dumps(to_data(outcome)) + "\n")
    out.flush()


if __name__ == "__main__":
    main()
