"""A stand-in for NVIDIA's reader with the same interface, for reports of our own: the magic bytes, then JSON.

`tests.synthetic.nsight_compute.write_report` writes such reports. As in NVIDIA's reader, a metric without a value has the kind 0
and reads as 0. `behaviour` in a report makes the reader fail in the ways in which NVIDIA's was seen to fail.
"""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from typing import Any


class IMetric:
    def __init__(self, name: str, fields: dict[str, Any]) -> None:
        self._name, self._fields = name, fields
        self._instances: list[list[float]] = fields.get("instances", [])

    def kind(self) -> int:
        value = self._fields["value"]
        return 0 if value is None else 2 if isinstance(value, str) else 4

    def unit(self) -> str:
        return str(self._fields.get("unit", ""))

    def as_string(self) -> str:
        return str(self._fields["value"])

    def as_double(self, index: int | None = None) -> float:
        if index is not None:
            return float(self._instances[index][1])
        value = self._fields["value"]
        return 0.0 if value is None or isinstance(value, str) else float(value)

    def as_uint64(self, index: int | None = None) -> int:
        return int(self.as_double(index))

    def num_instances(self) -> int:
        return len(self._instances)

    def has_correlation_ids(self) -> bool:
        return bool(self._instances)

    def correlation_ids(self) -> IMetric:
        return IMetric(self._name, {"value": 0, "instances": [[0, place] for place, _ in self._instances]})


class ISourceInfo:
    def __init__(self, file: str, line: int) -> None:
        self._file, self._line = file, line

    def file_name(self) -> str:
        return self._file

    def line(self) -> int:
        return self._line


class INvtxDomainInfo:
    def __init__(self, ranges: list[str]) -> None:
        self._ranges = ranges

    def push_pop_ranges(self) -> tuple[str, ...]:
        return tuple(self._ranges)


class INvtxState:
    def __init__(self, domains: list[list[str]]) -> None:
        self._domains = domains

    def domains(self) -> tuple[int, ...]:
        return tuple(range(len(self._domains)))

    def domain_by_id(self, identifier: int) -> INvtxDomainInfo:
        return INvtxDomainInfo(self._domains[identifier])


class IAction:
    NameBase_FUNCTION, NameBase_DEMANGLED, NameBase_MANGLED = 0, 1, 2

    def __init__(self, fields: dict[str, Any]) -> None:
        self._fields = fields

    def name(self, base: int = 0) -> str:
        return str(self._fields["kernel"])

    def workload_type(self) -> int:
        return int(self._fields.get("type", 0))

    def metric_names(self) -> tuple[str, ...]:
        return tuple(self._fields["metrics"])

    def metric_by_name(self, name: str) -> IMetric | None:
        fields = self._fields["metrics"].get(name)
        return None if fields is None else IMetric(name, fields)

    def nvtx_state(self) -> INvtxState | None:
        domains = self._fields.get("nvtx")
        return None if domains is None else INvtxState(domains)

    def rule_results_as_dicts(self) -> list[dict[str, Any]]:
        return list(self._fields.get("rules", []))

    def source_info(self, address: int) -> ISourceInfo | None:
        found = self._fields.get("code", {}).get(str(address))
        return ISourceInfo(found[1], found[2]) if found and found[1] else None

    def sass_by_pc(self, address: int) -> str:
        found = self._fields.get("code", {}).get(str(address))
        return str(found[0]) if found else ""

    def source_files(self) -> dict[str, str]:
        return dict(self._fields.get("sources", {}))


class IRange:
    def __init__(self, actions: list[dict[str, Any]]) -> None:
        self._actions = actions

    def num_actions(self) -> int:
        return len(self._actions)

    def action_by_idx(self, index: int) -> IAction:
        return IAction(self._actions[index])


class IContext:
    def __init__(self, ranges: list[list[dict[str, Any]]]) -> None:
        self._ranges = ranges

    def num_ranges(self) -> int:
        return len(self._ranges)

    def range_by_idx(self, index: int) -> IRange:
        return IRange(self._ranges[index])


def load_report(path: str) -> IContext:
    data = Path(path).read_bytes()
    if not data.startswith(b"NVR\0"):
        raise RuntimeError(f"not a report: {path}")
    fields = json.loads(data[4:])
    behaviour = fields.get("behaviour", "")
    if behaviour == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    elif behaviour == "hang":
        while True:
            pass
    elif behaviour == "sleep":
        time.sleep(600)
    elif behaviour == "memory":
        _ = bytearray(64 << 30)
    elif behaviour == "print":
        os.write(1, b"the reader says something\n")
    elif behaviour == "exit":
        os._exit(3)
    elif behaviour:
        raise RuntimeError(behaviour)
    return IContext(fields["ranges"])
