"""Run in the sandbox: reads a job (JSON) from stdin, examines both kernels on the device, and prints the outcome (JSON).

python -m chathpc.fix.gpu.child < job.json

A kernel that damages its context damages no more than this process.
"""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from chathpc.errors import ChathpcError
from chathpc.fix.gpu.device import Device, driver
from chathpc.fix.gpu.examine import Bench, Code, Examined
from chathpc.fix.gpu.plan import Plan


def job(original: Code, changed: Code, seed: int, seconds: float) -> dict[str, Any]:
    """What `main` reads; `seconds` of timing, 0 for none."""
    return {"original": _plain(original), "changed": _plain(changed), "seed": seed, "seconds": seconds}


def work(asked: Mapping[str, Any], device: Device) -> dict[str, Any]:
    """Answers, then time if they agree and time is asked for."""
    bench = Bench(device, _code(asked["original"]), _code(asked["changed"]), np.random.default_rng(asked["seed"]))
    # Under compute-sanitizer everything takes many times as long.
    found = bench.answers(1, 1) if asked.get("quick") else bench.answers()
    timed: Examined | None = None
    if found.status == "same" and asked["seconds"] > 0:
        timed = bench.timed(float(asked["seconds"]))
        if timed.status != "same":
            found = timed
    timing = None if timed is None or timed.timing is None else asdict(timed.timing)
    return {"status": found.status, "statement": found.statement, "timing": timing}


def main() -> int:
    """Exits with 0 if there is an outcome; ChathpcErrors are one, too."""
    try:
        asked = json.loads(sys.stdin.buffer.read())
        device = Device(driver())
        found = {"arch": device.arch} if asked.get("ask") == "arch" else work(asked, device)
        device.close()
    except ChathpcError as error:
        found = {"status": "refused", "statement": error.message, "hint": error.hint}
    sys.stdout.write(f"\n{json.dumps(found)}\n")
    return 0


def _plain(code: Code) -> dict[str, Any]:
    return {"cubin": base64.b64encode(code.cubin).decode(), "symbol": code.symbol, "plan": code.plan.data()}


def _code(data: Mapping[str, Any]) -> Code:
    return Code(base64.b64decode(data["cubin"]), data["symbol"], Plan.of(data["plan"]))


if __name__ == "__main__":
    sys.exit(main())
