"""The interpreter against the host's own arithmetic: semantics.cu computes each group of operations on both sides, and counts differences."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from chathpc.predict import cubin, lowering
from chathpc.predict.build import ToolkitMissingError, build, find_toolkit, recipe_of_sources, run
from chathpc.sandbox import choose

PROGRAM = Path(__file__).parent / "semantics.cu"
GROUPS = {
    "integers", "wide", "floats", "doubles", "conversions", "halves", "functions", "flow", "calls", "lanes", "variables", "counter", "shared",
    "atomics", "copied", "spoken", "half-float", "half-half", "bfloat", "bytes", "tf32", "doubles-8x8x4",
}  # fmt: skip


@pytest.mark.proprietary
def test_kernels_compute_what_the_host_computes(tmp_path: Path) -> None:
    try:
        toolkit = find_toolkit()
    except ToolkitMissingError:
        pytest.skip("NVIDIA's compiler is not there")
    # Without contraction, which the host's compiler does not do either.
    built = build(recipe_of_sources([PROGRAM], ["-std=c++17", "--fmad=false"]), work=tmp_path, toolkit=toolkit)
    modules = []
    for path in built.cubins:
        text = path.with_suffix(".sass")
        done = subprocess.run([toolkit.tool("nvdisasm"), "-c", path], capture_output=True, check=True)
        text.write_bytes(done.stdout)
        modules.append((cubin.read(path), list(lowering.disassembled(text))))
    lowered = lowering.lower(modules)
    assert not lowered.unknown
    (tmp_path / "code").write_bytes(lowered.data)
    (tmp_path / "settings").write_text("want *\nwhole 1\n")
    environment = {"CHATHPC_MACHINE": str(tmp_path)}
    done = run(built, [], work=tmp_path, sandbox=choose(), environment=environment, seconds=120)
    said = dict(line.split()[:2] for line in done.stdout.decode().splitlines() if len(line.split()) > 1)
    assert {name: said.get(name) for name in GROUPS} == dict.fromkeys(GROUPS, "0"), done.stderr[-2000:]
    launches = [json.loads(line) for line in (tmp_path / "launches").read_text().splitlines()]
    assert all(each["complete"] and not each["faults"] and not each["unknown"] for each in launches if "kernel" in each)
