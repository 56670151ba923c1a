"""Reports (.ncu-rep) through NVIDIA's own reader, the package `ncu_report`, in a process of its own.

NVIDIA's reader is native code that ends the interpreter on some damaged files (measured: 1 of 15 reports with 20 changed
bytes). So it runs in a child with limits on memory, time and answer, and a crash is an AdapterError. The child hands back JSON.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from chathpc.adapters import native
from chathpc.adapters.glance import Glance
from chathpc.adapters.nsight_compute import MAGIC
from chathpc.adapters.nsight_compute.facts import DEVICE, WANTED
from chathpc.adapters.nsight_compute.launch import (
    Instruction,
    Launch,
    Report,
    Rule,
    Triple,
    failed,
    one_dimension,
    plausible,
)
from chathpc.adapters.nsight_compute.located import LOCATED, LOCATED_PATTERN
from chathpc.adapters.nsight_compute.roofline import PATTERN
from chathpc.adapters.nsight_compute.table import normal
from chathpc.errors import AdapterError
from chathpc.profile.text import clean

#: Limits of the child: a constant, and so much for each byte of the report (a full report unpacks to some ten times its size).
_MEMORY, _MEMORY_PER_BYTE = 1 << 30, 64
_ANSWER, _ANSWER_PER_BYTE = 64 << 20, 64
_SECONDS, _SECONDS_PER_BYTE = 20, 2e-6
#: No kernel's code is longer; an address beyond it is damage.
_CODE = 1 << 40
#: Characters of source text that are taken from a report.
_SOURCE_TEXT = 16 << 20

_LFS = b"version https://git-lfs"
_SCOPES = {1: "local", 2: "global"}
DAMAGED = "Copy the file again, or profile again."


def installed() -> bool:
    """True if NVIDIA's reader can be imported, without importing it."""
    return native.installed("ncu_report")


def missing(path: Path) -> AdapterError:
    """The error for a report without NVIDIA's reader: what to install, or how to do without."""
    name = clean(path.name)
    return AdapterError(
        "a Nsight Compute report, which only NVIDIA's package ncu-report can open",
        path=path,
        hint=f"Install it: pip install 'chathpc[ncu]'. Or export the report where Nsight Compute is: "
        f"ncu --import {name} --page raw --csv > {name.rsplit('.', 1)[0]}.csv, and give that file.",
    )


def refuse_others(path: Path) -> None:
    """AdapterError for a file that is called a report and is none."""
    head = Glance(path).head
    if head.startswith(_LFS):
        raise AdapterError("a pointer of Git LFS, not the report itself", path=path, hint="Fetch it: git lfs pull.")
    if not head.startswith(MAGIC) and not path.name.endswith(".ncu-repz"):
        what = "an empty file" if not head else "not a Nsight Compute report, despite its name"
        raise AdapterError(what, path=path, offset=0, hint=DAMAGED)


def read_report(path: Path) -> Report:
    """All launches of a report. AdapterError if it is damaged, or NVIDIA's reader is not installed."""
    refuse_others(path)
    if not installed():
        raise missing(path)
    size = native.size_of(path)
    request = {
        "path": str(path.absolute()),
        "metrics": sorted({*WANTED, *DEVICE}),
        "pattern": PATTERN,
        "located": sorted(LOCATED),
        "located_pattern": LOCATED_PATTERN,
        "source_text": _SOURCE_TEXT,
    }
    limits = native.Limits(
        memory=_MEMORY + _MEMORY_PER_BYTE * size,
        answer=_ANSWER + _ANSWER_PER_BYTE * size,
        seconds=int(_SECONDS + _SECONDS_PER_BYTE * size),
    )
    launches: list[Launch] = []
    sources: dict[str, str] = {}
    with native.run(Path(__file__).with_name("child.py"), request, limits, path) as child:
        if child.size >= limits.answer:
            raise AdapterError(
                f"contains more than is read at once ({limits.answer:,} bytes)",
                path=path,
                hint="Profile fewer launches (--launch-count), or fewer sections.",
            )
        for value in child.answers():
            if "missing" in value:
                raise missing(path)
            if "error" in value:
                reason = clean(str(value["error"]))[:200]
                raise AdapterError(f"NVIDIA's reader rejects it ({reason})", path=path, hint=_hint(reason))
            if "end" in value:
                return Report(tuple(launches), sources)
            launches.append(_launch(value))
            sources |= {clean(name): text for name, text in value.get("text", {}).items()}
        ended = child.ended
    raise AdapterError(f"NVIDIA's reader {ended} on it: it is damaged", path=path, hint=DAMAGED)


def _hint(reason: str) -> str:
    if "version" in reason.lower():
        return "Install a newer reader: pip install --upgrade ncu-report."
    return DAMAGED


def _launch(value: Mapping[str, Any]) -> Launch:
    """What the child says of one launch, in SI units and without what has no value."""
    metrics = {
        name: scaled
        for name, (amount, unit) in value["metrics"].items()
        if (scaled := normal(amount, unit)) is not None
    }
    base = int(value.get("base", 0))
    return Launch(
        kernel=clean(value["kernel"]),
        metrics=metrics,
        texts=value["texts"],
        grid=_triple(metrics, "launch__grid_dim_", "launch__grid_size"),
        block=_triple(metrics, "launch__block_dim_", "launch__block_size"),
        device=_ordinal(metrics, "launch__device_id", 0),
        context=_ordinal(metrics, "launch__context_id", -1),
        stream=_ordinal(metrics, "launch__stream_id", -1),
        kind=value["kind"],
        ranges=tuple(value["ranges"]),
        rules=tuple(
            Rule(**rule | {"speedup": plausible(float(rule["speedup"])), "scope": _SCOPES.get(rule["scope"], "")})
            for rule in value["rules"]
        ),
        instructions=tuple(
            Instruction(address - base, clean(sass.strip()), clean(file), line)
            for address, sass, file, line in value.get("code", ())
            if 0 <= address - base < _CODE
        ),
        located={
            name: {
                place - base: amount
                for place, amount in zip(*pairs, strict=True)
                if 0 <= place - base < _CODE and math.isfinite(amount)
            }
            for name, pairs in value["located"].items()
        },
        base=base,
        failed=failed(metrics, **value["counted"]),
    )


def _triple(metrics: Mapping[str, float], prefix: str, whole: str) -> Triple | None:
    parts = [int(metrics[prefix + axis]) for axis in "xyz" if prefix + axis in metrics]
    return (parts[0], parts[1], parts[2]) if len(parts) == 3 else one_dimension(metrics, whole)


def _ordinal(metrics: Mapping[str, float], name: str, otherwise: int) -> int:
    """A small number that names something: contexts and streams of old drivers may be addresses, beyond int64."""
    value = metrics.get(name)
    return otherwise if value is None or not 0 <= value < 2**62 else int(value)
