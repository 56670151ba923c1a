"""Reports for the browser: an example, a GPU program, trees of any size, names that want to be more than names."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import chathpc
from chathpc.fix.report import AttemptRecord, BaselineRecord, FixReport, GateRecord, SpeedupRecord
from chathpc.profile.build import ends
from chathpc.profile.location import Locations
from chathpc.profile.metric import Clock, Metric, Unit, column_of
from chathpc.profile.profile import Profile
from chathpc.profile.tree import CallTree, NodeKind, Relation
from chathpc.profile.values import MemoryValues
from chathpc.report import Report
from chathpc.reports.style import Style
from chathpc.view.records import DrawnKernel, DrawnRemark, KernelRemark
from tests.reports.sample import sample

EXAMPLES = Path(__file__).parents[3] / "examples"
HOSTILE = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "<!--<script>",
    "javascript:alert(1)",
    "{{constructor.constructor('alert(1)')()}}",
    "</title></textarea></style></noscript><script>alert(2)</script>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "a\u2028b\u2029c\u202ed",
    "__proto__",
    "constructor",
    "' onmouseover='alert(1)",
    "http://evil.example/x.js",
)


@cache
def example(name: str) -> Report:
    """The report of an example with what a page draws."""
    return chathpc.explain(chathpc.load(EXAMPLES / name / "database"), view=True)


@cache
def compared() -> Any:
    """A comparison of two examples: nearly all is gone or new."""
    database = EXAMPLES / "omp-triangle" / "database"
    return chathpc.diff(chathpc.load(database), chathpc.load(EXAMPLES / "mpi-imbalance" / "database"), view=True)


@cache
def scaled() -> str:
    """The page of a series."""
    from chathpc.reports import scale_page
    from tests.reports.test_scale_page import record_of_series

    return scale_page.render(record_of_series(), Style())


def hostile() -> Report:
    """The example with every name, path and line of source replaced by something hostile."""
    report = example("omp-triangle")
    content = json.loads(report.to_json())
    number = 0

    def worse(text: str) -> str:
        nonlocal number
        number += 1
        return f"{HOSTILE[number % len(HOSTILE)]} {text[:20]}"

    view = content["view"]
    for table in ("names", "files", "modules"):
        view[table] = [worse(text) for text in view[table]]
    for source in view["sources"]:
        for piece in source["pieces"]:
            piece["lines"] = [worse(line) for line in piece["lines"]]
    for lane in view["timeline"]["lanes"]:
        lane["title"], lane["owner"] = worse(lane["title"]), worse(lane["owner"])
    for metric in view["metrics"]:
        metric["title"] = worse(metric["title"])
    for finding in content["findings"]:
        finding["title"], finding["source"] = worse(finding["title"]), worse("source")
        finding["where"] |= {"function": worse("f"), "file": worse("g"), "path": [worse("main"), worse("f")]}
    for fact in content["evidence"]:
        fact["source"], fact["subject"], fact["statement"] = worse("source"), worse("subject"), worse("statement")
    content["headline"] = worse("headline")
    content["profile"]["title"] = worse("title")
    content["notes"] = [worse("note")]
    return Report.model_validate(content)


def wide(nodes: int, functions: int = 400, seed: int = 1) -> Profile:
    """A profile with that many contexts, each below a random one of those just before it, and times that are spread widely."""
    random = np.random.default_rng(seed)
    depth = 0
    parent = np.full(nodes, -1, dtype=np.int32)
    path = [0]
    steps = random.integers(0, 4, nodes)
    parents = parent.tolist()
    for node in range(1, nodes):
        del path[max(1, len(path) - int(steps[node])) :]
        parents[node] = path[-1]
        if len(path) < 40:
            path.append(node)
        depth = max(depth, len(path))
    parent = np.array(parents, dtype=np.int32)
    names = ["main", *(f"void solver::stage_{number}<double>(Grid const&)" for number in range(functions))]
    name = random.integers(1, len(names), nodes).astype(np.int32)
    name[0] = 0
    tree = CallTree(
        parent=parent,
        end=ends(parent),
        kind=np.full(nodes, NodeKind.FUNCTION, dtype=np.uint8),
        relation=np.full(nodes, Relation.CALL, dtype=np.uint8),
        name=name,
        file=np.where(np.arange(nodes) > 0, 0, -1).astype(np.int32),
        line=np.where(np.arange(nodes) > 0, name * 10, 0).astype(np.int32),
        module=np.zeros(nodes, dtype=np.int32),
        names=names,
        files=["/src/solver.cpp"],
        modules=["/bin/solver"],
    )
    tree.check()
    values = random.pareto(1.1, nodes) * 1e-3
    metric = Metric("cpu.time", Unit.SECONDS, "CPU time", "CPUTIME", clock=Clock.CPU)
    held = MemoryValues(tree, {metric.id: column_of(values)}, {metric.id: column_of(tree.inclusive(values))})
    return Profile("synthetic", "solver", tree, {metric.id: metric}, held, Locations.single(), timed=True)


def page(profile: Profile) -> str:
    """The page of a profile."""
    from chathpc.reports.html import render

    return render(chathpc.explain(profile, view=True), Style())


def tried() -> FixReport:
    """What `chathpc fix` might say of the example: one change that was kept, one that was not."""
    gates = [
        GateRecord(gate="build", passed=True, verdict=None, statement="It builds.", figures={}),
        GateRecord(gate="speed", passed=True, verdict=None, statement="1.52x (1.49 to 1.55).", figures={}),
    ]
    kept = AttemptRecord(
        id="c1",
        proposer="recipes",
        recipe="schedule",
        title="schedule(static) becomes schedule(guided)",
        finding="OpenMP load imbalance",
        files=["stencil_omp.c"],
        flags=None,
        verdict="accepted",
        reason="All gates passed.",
        speedup=SpeedupRecord(estimate=1.52, low=1.49, high=1.55, pairs=7),
        predicted=2.03,
        gates=gates,
    )
    failed = GateRecord(
        gate="correctness", passed=False, verdict="wrong", statement="The output differs <b>.", figures={}
    )
    other = kept.model_copy(
        update={"id": "c2", "title": "fewer barriers", "verdict": "wrong", "gates": [gates[0], failed], "speedup": None}
    )
    report = example("omp-triangle")
    return FixReport(
        verdict="improved",
        headline="The run is 1.52x as fast.",
        folder="omp-triangle",
        command="./stencil_omp 4000",
        flags="-O2",
        new_flags=None,
        sandbox="bubblewrap",
        diagnosis=report.headline,
        speedup=kept.speedup,
        seconds_before=2.26,
        seconds_after=1.49,
        accepted=["c1"],
        given_up=[],
        attempts=[kept, other],
        baselines=[BaselineRecord(flags="-O3", statement="-O3 alone gives 1.01x.", speedup=None, changed=None)],
        compiler_alone=False,
        patch="--- a/stencil_omp.c\n+++ b/stencil_omp.c\n@@ -59 +59 @@\n"
        "-#pragma omp parallel for schedule(static)\n+#pragma omp parallel for schedule(guided)\n",
        tree_before=report.tree,
        tree_after=report.tree,
        comparison=None,
        remarks=["Two runs a side were discarded."],
        work="work",
        versions={"chathpc": "0.1.0"},
    )


def kernels() -> Report:
    """The example with kernels in a roofline, a profiler's remarks, compiler remarks and what a model read."""
    report = sample(reader="big at models.example.org")
    view = example("omp-triangle").view
    assert view is not None
    names = [*view.names, "spmv_csr", "dgemm_tile<128, 128>", "attention_fwd<bf16>"]
    rows = (
        (0.18, 2.2e11, 0.4, "fp64", 9.7e12),
        (14.0, 7.1e12, 0.9, "fp64", 9.7e12),
        (180.0, 1.9e14, 0.6, "tensor", 3.12e14),
    )
    roofline = [
        DrawnKernel(
            name=len(view.names) + at,
            intensity=intensity,
            rate=rate,
            seconds=seconds,
            precision=precision,
            peak_rate=peak,
            peak_bandwidth=1.55e12,
        )
        for at, (intensity, rate, seconds, precision, peak) in enumerate(rows)
    ]
    said = DrawnRemark(
        line=52,
        said="not vectorised (dependence)",
        good=False,
        text="possible dependence between x and itself",
        by="gcc",
    )
    good = DrawnRemark(line=33, said="vectorised", good=True, text="loop vectorized using 32 byte vectors", by="gcc")
    source = view.sources[0].model_copy(update={"remarks": [said, good]})
    remark = DrawnRemark(
        line=0,
        said="Uncoalesced global accesses",
        good=False,
        text="This kernel has uncoalesced accesses.",
        by="Nsight Compute",
    )
    drawn = view.model_copy(
        update={
            "names": names,
            "roofline": roofline,
            "sources": [source, *view.sources[1:]],
            "kernel_remarks": [KernelRemark(name=len(view.names), remark=remark, speedup=0.31)],
        }
    )
    return report.model_copy(update={"view": drawn})
