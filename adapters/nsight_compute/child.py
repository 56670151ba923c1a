"""The program that opens a report with NVIDIA's reader: a process of its own, because that reader may crash on damaged files.

It is run as a script, imports nothing of chathpc, reads one request (JSON) from standard input and writes one JSON value a
line to the file that is its standard output: one for each launch, `{"end": n}` last; `{"error": "…"}` if the reader
raises something, `{"missing": true}` if there is no reader. It only reads: nothing of the reader's API that changes a
report is called.
"""

from __future__ import annotations

import json
import os
import re
import sys
from typing import Any

#: Kinds of values in NVIDIA's reader: a text, and numbers (float, double, two integers). Any other kind is no value, though it
#: reads as 0.
_STRING, _NUMBERS = 2, (3, 4, 5, 6)
#: What is known without running the kernel tells nothing of whether that worked.
NO_COUNTER = (
    "device__", "launch__", "profiler__", "breakdown:", "group:", "nvlink__", "c2clink__", "numa__",
    "smsp__maximum", "sm__maximum",
)  # fmt: skip


def main() -> None:
    """Answer one request."""
    request = json.loads(sys.stdin.buffer.read())
    out = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what native code prints is no answer
    sys.path[:] = request["import_path"]
    try:
        import ncu_report
    except (ImportError, OSError) as error:
        _say(out, {"missing": True, "reason": str(error)})
        return
    try:
        count = 0
        context = ncu_report.load_report(request["path"])  # all that follows is a view into it
        reader = _Reader(ncu_report, request)
        for number in range(context.num_ranges()):
            results = context.range_by_idx(number)
            for index in range(results.num_actions()):
                _say(out, reader.launch(results.action_by_idx(index)))
                count += 1
        _say(out, {"end": count})
    except MemoryError:
        _say(out, {"error": "it needs more memory than is allowed"})
    except Exception as error:  # noqa: BLE001  whatever NVIDIA's reader raises is about the file
        _say(out, {"error": f"{type(error).__name__}: {error}"})


def _say(out: Any, value: dict[str, Any]) -> None:
    out.write(json.dumps(value) + "\n")
    out.flush()


class _Reader:
    """Turns the launches of one report into plain values."""

    def __init__(self, module: Any, request: dict[str, Any]) -> None:
        self._module = module
        self._wanted = frozenset(request["metrics"])
        self._patterns = re.compile(request["pattern"])
        self._located = frozenset(request["located"])
        self._located_pattern = re.compile(request["located_pattern"])
        self._code: dict[tuple[str, int], tuple[str, str, int]] = {}
        self._text_left = int(request["source_text"])

    def launch(self, action: Any) -> dict[str, Any]:
        """All that is wanted of one launch."""
        metrics: dict[str, tuple[float, str]] = {}
        texts: dict[str, str] = {}
        located: dict[str, tuple[list[int], list[float]]] = {}
        addresses: set[int] = set()
        counted = {"empty": 0, "zero": 0, "measured": 0}
        for name in action.metric_names():
            if not isinstance(name, str):
                continue
            by_instruction = name in self._located or self._located_pattern.fullmatch(name)
            wanted = by_instruction or name in self._wanted or self._patterns.fullmatch(name)
            counter = not name.startswith(NO_COUNTER) and not name.endswith("peak_sustained")
            metric = action.metric_by_name(name) if wanted or counter else None
            if metric is None:
                continue
            kind = metric.kind()
            if kind == _STRING:
                if wanted:
                    texts[name] = str(metric.as_string())
                continue
            value = float(metric.as_double()) if kind in _NUMBERS else float("nan")
            if counter:
                counted["empty" if value != value else "measured" if value else "zero"] += 1
            if wanted and value == value:
                metrics[name] = (value, str(metric.unit()))
            if by_instruction and metric.num_instances() and metric.has_correlation_ids():
                located[name], known = self._instances(metric)
                addresses.update(known)
        name = action.name(action.NameBase_DEMANGLED) or action.name()
        if name is None:
            raise ValueError("a launch without a name: the report is incomplete")
        kernel = str(name)
        return {
            "kernel": kernel,
            "kind": int(action.workload_type()) if hasattr(action, "workload_type") else 0,
            "metrics": metrics,
            "texts": texts,
            "counted": counted,
            "ranges": self._ranges(action),
            "rules": self._rules(action),
            "located": located,
            **self._instructions(action, kernel, sorted(addresses)),
        }

    @staticmethod
    def _instances(metric: Any) -> tuple[tuple[list[int], list[float]], list[int]]:
        """Addresses and values, without the zeros: most reasons to stall never occur at most instructions; then all addresses."""
        values = [float(metric.as_double(i)) for i in range(int(metric.num_instances()))]
        known = metric.correlation_ids()
        places = [int(known.as_uint64(i)) for i in range(len(values))]
        pairs = [(place, value) for place, value in zip(places, values, strict=True) if value]
        return ([place for place, _ in pairs], [value for _, value in pairs]), places

    @staticmethod
    def _ranges(action: Any) -> list[str]:
        state = action.nvtx_state()
        if state is None:
            return []
        names: list[str] = []
        for identifier in state.domains():
            domain = state.domain_by_id(identifier)
            if domain is not None:
                names += [str(name) for name in domain.push_pop_ranges()]
        return names

    @staticmethod
    def _rules(action: Any) -> list[dict[str, Any]]:
        if not hasattr(action, "rule_results_as_dicts"):  # readers before 2023
            return []
        found = []
        for result in action.rule_results_as_dicts():
            message, gain = result.get("rule_message"), result.get("speedup_estimation") or {}
            if message:
                found.append(
                    {
                        "rule": str(result.get("rule_identifier", "")),
                        "name": str(result.get("name", "")),
                        "type": int(message.get("type", 0)),
                        "title": str(message.get("title", "")),
                        "text": str(message.get("message", "")),
                        "speedup": float(gain.get("speedup", 0.0)),
                        "scope": int(gain.get("type", 0)),
                    }
                )
        return found

    def _instructions(self, action: Any, kernel: str, addresses: list[int]) -> dict[str, Any]:
        """The code at each address that was looked at, and the address at which the kernel begins."""
        if not addresses:
            return {}
        functions = action.metric_by_name("launch__function_pcs")
        starts = (
            [int(functions.as_uint64(i)) for i in range(functions.num_instances())] if functions is not None else []
        )
        if functions is not None and not starts:
            starts = [int(functions.as_uint64())]
        base = min((start for start in starts if 0 < start <= addresses[0]), default=addresses[0])
        code = [self._code_at(action, kernel, address) for address in addresses]
        return {"base": base, "code": [(address, *one) for address, one in zip(addresses, code, strict=True)],
                "text": self._sources(action, {file for _, file, _ in code if file})}  # fmt: skip

    def _code_at(self, action: Any, kernel: str, address: int) -> tuple[str, str, int]:
        found = self._code.get((kernel, address))
        if found is None:
            source = action.source_info(address)
            file, line = ("", 0) if source is None else (str(source.file_name()), int(source.line()))
            found = self._code[kernel, address] = (str(action.sass_by_pc(address)), file, line)
        return found

    def _sources(self, action: Any, files: set[str]) -> dict[str, str]:
        """Text of the source files that the report carries, as far as there is room for it."""
        texts: dict[str, str] = {}
        if not files:
            return texts
        for name, text in dict(action.source_files()).items():
            if name in files and text and len(text) <= self._text_left:
                self._text_left -= len(text)
                texts[name] = text
        return texts


if __name__ == "__main__":
    main()
