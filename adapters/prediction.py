"""What `chathpc predict` wrote as JSON (chathpc-prediction/1): a companion of a profile, whose kernels it says something about.

It holds no measurements. Given beside a profile without counters (`chathpc explain trace.nsys-rep prediction.json`) it tells
what probably limits the kernels.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from math import inf, isfinite
from pathlib import Path
from typing import Any

from chathpc.adapters.adapter import Adapter
from chathpc.adapters.glance import Glance
from chathpc.adapters.stacks import Stacks
from chathpc.errors import AdapterError
from chathpc.profile.profile import Profile
from chathpc.profile.remark import PredictedKernel
from chathpc.profile.text import clean

TOOL = "chathpc predict"
_SCHEMA = "chathpc-prediction/1"
_STARTS = re.compile(rf'^\s*\{{\s*"schema"\s*:\s*"{_SCHEMA}"')
#: Bytes of a prediction of thousands of kernels, and kernels of one program.
_LARGEST, _KERNELS = 64 << 20, 10_000
_SECTOR = 32
_AGAIN = "Write it again: chathpc predict … -o FILE.json"
_LONGEST_NAME = 20_000


def recognises(glance: Glance) -> bool:
    """True for JSON that begins with the schema's name."""
    return _STARTS.match(glance.text[:4096]) is not None


def read(path: Path) -> Profile:
    """All kernels of the prediction, in a profile without measurements. AdapterError for what has not the schema's form."""
    try:
        if path.stat().st_size > _LARGEST:
            raise AdapterError(
                f"more than {_LARGEST >> 20} MiB", path=path, hint="Predict single kernels: --kernel NAME."
            )
        data = json.loads(path.read_bytes())
        device = clean(str(data["device"]["name"]))[:_LONGEST_NAME]
        found = tuple(_kernel(each, device) for each in data["kernels"][:_KERNELS])
    except OSError as error:
        raise AdapterError(f"cannot be read ({error.strerror})", path=path) from error
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
        said = clean(" ".join(str(error).split()))[:200]
        raise AdapterError(
            f"has not the form of {_SCHEMA} ({type(error).__name__}: {said})", path=path, hint=_AGAIN
        ) from error
    if not found:
        raise AdapterError("no kernel in this prediction", path=path, hint=_AGAIN)
    return replace(
        Stacks().profile(path, (), format="Prediction", tool=TOOL, title=clean(path.stem)),
        insufficient="A prediction contains no measurements: give it together with the profile whose kernels it is about.",
        predicted=found,
    )


def _kernel(data: Any, device: str) -> PredictedKernel:
    time, roofs, memory = data["time"], data["roofs"], data["bytes"]
    seconds = time["seconds"]
    asked = sum(_number(value) for name, value in memory["requested"].items() if name.startswith("global"))
    moved = _SECTOR * sum(_number(value) for name, value in memory["sectors"].items() if name.startswith("global"))
    bound = str(data["bound"])
    if bound not in ("bandwidth", "compute"):
        raise ValueError(f"bound is {bound[:20]!r}")
    return PredictedKernel(
        kernel=clean(str(data["kernel"]))[:_LONGEST_NAME],
        device=device,
        bound=bound,
        probability=min(_number(data["probability"]), 1.0),
        limiter=clean(str(time["limiter"]))[:40],
        seconds=(
            _number(seconds["value"]),
            _number(seconds["low"]),
            inf if seconds["high"] is None else _number(seconds["high"]),
        ),
        kind=clean(str(roofs[0]["kind"]))[:40] if roofs else "",
        intensity=_number(roofs[0]["intensity"]) if roofs else 0.0,
        balance=_number(roofs[0]["balance"]) if roofs else 0.0,
        used=min(asked / moved, 1.0) if moved else None,
    )


def _number(value: Any) -> float:
    found = float(value)
    if not isfinite(found) or found < 0 or isinstance(value, str):
        raise ValueError(f"{str(value)[:20]} is no amount")
    return found


ADAPTER = Adapter(
    name="prediction",
    reads="Predictions of chathpc predict (JSON), read together with the profile of the kernels",
    recognises=recognises,
    read=read,
    order=5,
)
