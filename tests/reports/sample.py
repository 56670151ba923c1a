"""A report made up by hand: a stencil on four OpenMP threads whose triangular loop is shared unevenly.

The numbers hang together: 9.01 s of thread time, 3.17 s at the barrier, speed-up bound 1 / (1 − 3.17 / 9.01) = 1.54.
"""

from __future__ import annotations

from chathpc.diagnosis.fact import Kind
from chathpc.profile.metric import Clock, Unit
from chathpc.profile.run import RunFacts
from chathpc.report import (
    ChangeRecord,
    EditRecord,
    EvidenceRecord,
    ExaminedRecord,
    ExplanationRecord,
    FindingRecord,
    FlatRecord,
    HypothesisRecord,
    MetricRecord,
    PlaceRecord,
    ProfileRecord,
    PruningRecord,
    Report,
    SkippedRecord,
    StatementRecord,
    TreeRecord,
    TreeRow,
)

LOOP = PlaceRecord(
    function="triangular_work",
    file="/home/user/stencil/src/stencil_omp.c",
    line=47,
    path=["main", "time_step", "triangular_work"],
)
SORT = PlaceRecord(
    function="void sort_cells<std::pair<double, unsigned long> >(std::vector<std::pair<double, unsigned long>, "
    "std::allocator<std::pair<double, unsigned long> > >&) [clone ._omp_fn.0]",
    file="/home/user/stencil/src/cells.hpp",
    line=112,
)
OUTPUT = PlaceRecord(
    function="write_plane", file="/home/user/stencil/src/output.c", line=23, path=["main", "write_plane", "fprintf"]
)
TIME = "cpu.time.wall"


def _fact(
    number: int, statement: str, value: float, unit: str = "s", where: PlaceRecord | None = LOOP
) -> EvidenceRecord:
    source = "profile.db, REALTIME: exclusive, summed over threads"
    return EvidenceRecord(
        id=f"E{number}",
        kind=Kind.REMARK,
        subject="the run",
        statement=statement,
        metric=TIME,
        value=value,
        unit=unit,
        where=where,
        source=source,
    )


EVIDENCE = [
    _fact(1, "Threads wait 3.17 s of 9.01 s (35.2 % ± 0.5) at the end of the loop at stencil_omp.c:47.", 3.17),
    _fact(2, "The busiest thread computes 1.47 s in the loop, the idlest 0.34 s: 4.32 times as much.", 4.32, "ratio"),
    _fact(3, "The work per iteration grows with the thread number: 0.34, 0.71, 1.09 and 1.47 s.", 1.47),
    _fact(4, "One thread of four runs while the others are idle for 0.92 s (10.2 %).", 0.92, where=SORT),
    _fact(5, "sort_cells takes 0.92 s and is called once a time step, outside any parallel region.", 0.92, where=SORT),
    _fact(6, "write_plane makes 40,000 calls to write of 512 B each.", 40000, "count", OUTPUT),
    _fact(7, "These calls take 0.41 s (4.55 %).", 0.41, where=OUTPUT),
    _fact(8, "The profile holds 45,000 samples; a share of 35.2 % is known to ± 0.5 % points.", 45000, "samples", None),
]

FINDINGS = [
    FindingRecord(
        cause="omp-load-imbalance",
        title="OpenMP load imbalance",
        summary="Threads that have finished their part of the loop wait at its end for the one with the most work.",
        where=LOOP,
        seconds=3.17,
        share=3.17 / 9.01,
        speedup_bound=1 / (1 - 3.17 / 9.01),
        speedup_if_free=None,
        typical_gain=None,
        confidence=0.93,
        confidence_reason="3 independent signs, share known to ± 0.5 % points from 45,000 samples",
        evidence=["E1", "E2", "E3", "E8"],
        against=[],
        advice=[
            "schedule(guided) or schedule(dynamic, 16) on the loop at line 47: its iterations do not cost the same.",
            "Pair long and short iterations (i with n-1-i), so that a static schedule is even.",
        ],
        change=ChangeRecord(
            file="/home/user/stencil/src/stencil_omp.c",
            line=46,
            says="Give the loop schedule(guided)",
            edits=[
                EditRecord(
                    file="/home/user/stencil/src/stencil_omp.c",
                    search="#pragma omp parallel for schedule(static)",
                    replace="#pragma omp parallel for schedule(guided)",
                )
            ],
        ),
        next_measurement="OMP_SCHEDULE=guided hpcrun -e REALTIME -t ./stencil_omp, with schedule(runtime) on the loop",
    ),
    FindingRecord(
        cause="omp-serial-fraction",
        title="Serial part between parallel regions",
        summary="Cells are sorted by one thread while the other three wait.",
        where=SORT,
        seconds=0.92,
        share=0.92 / 9.01,
        speedup_bound=1 / (1 - 0.92 / 9.01),
        speedup_if_free=None,
        typical_gain=None,
        confidence=0.68,
        confidence_reason="2 independent signs, 1 thing against it",
        evidence=["E4", "E5", "E8"],
        against=["The sort may overlap with output."],
        advice=["Sort per thread and merge, or use __gnu_parallel::sort."],
        next_measurement=None,
    ),
    FindingRecord(
        cause="io-small-requests",
        title="Small writes",
        summary="The output is written in many small pieces.",
        where=OUTPUT,
        seconds=0.41,
        share=0.41 / 9.01,
        speedup_bound=1 / (1 - 0.41 / 9.01),
        speedup_if_free=None,
        typical_gain=None,
        confidence=0.45,
        confidence_reason="1 independent sign",
        evidence=["E6", "E7"],
        against=["The file system was not measured."],
        advice=["setvbuf(file, NULL, _IOFBF, 1 << 20) before the first fprintf."],
        next_measurement="hpcrun -e IO -e REALTIME -t ./stencil_omp",
    ),
]

_ROWS = [
    (0, "main", "main.c:11", 9.01, 0.02),
    (1, "time_step", "stencil_omp.c:88", 8.36, 0.05),
    (2, "triangular_work", "stencil_omp.c:44", 6.91, 0.0),
    (3, "loop at stencil_omp.c:47", "stencil_omp.c:47", 3.61, 0.12),
    (4, "stencil_omp.c:49", "stencil_omp.c:49", 2.31, 2.31),
    (4, "exp", "libm.so.6", 1.18, 1.18),
    (3, "<omp barrier wait>", "", 3.17, 3.17),
    (3, "stencil_omp.c:52", "stencil_omp.c:52", 0.13, 0.13),
    (2, SORT.function or "", "cells.hpp:112", 0.92, 0.31),
    (3, "std::__introsort_loop<std::pair<double, unsigned long>*, long>", "stl_algo.h:1944", 0.61, 0.61),
    (2, "exchange", "halo.c:30", 0.48, 0.48),
    (1, "write_plane", "output.c:23", 0.41, 0.03),
    (2, "fprintf", "libc.so.6", 0.38, 0.38),
    (1, "initialise", "main.c:71", 0.22, 0.22),
]


def told(model: str | None) -> list[StatementRecord]:
    """The facts in words: the catalogue's alone, or a model's with one of the catalogue's and one that was dropped."""
    text = "A loop with the default schedule gives every thread the same number of iterations, not the same work."
    rows = [(text, ["E1", "E3"], "the catalogue", None)]
    if model is not None:
        rows = [
            ("Threads wait 3.17 s at the end of the loop in triangular_work.", ["E1"], model, None),
            ("The busiest thread computes 1.47 s, the idlest 0.34 s.", ["E2"], "the catalogue", None),
            ("The program is limited by memory bandwidth.", [], model, "most of its words are not the fact's"),
        ]
    return [
        StatementRecord(kind="retold", text=text, cites=cites, by=by, dropped_because=why)
        for text, cites, by, why in rows
    ]


def hypotheses(by: str) -> list[HypothesisRecord]:
    """What a model suspects: one with a change, one with doubts, one that nobody is shown."""
    return [
        HypothesisRecord(
            id="H1",
            cause="omp-load-imbalance",
            name="OpenMP load imbalance",
            where=LOOP,
            mechanism="The inner loop of `triangular_work` runs up to `i`, so that later iterations cost more than the first.",
            cites=["E1", "stencil_omp.c:47"],
            against=[],
            confidence="likely",
            share=3.17 / 9.01,
            trial="change",
            change=[
                EditRecord(
                    file="stencil_omp.c",
                    search="#pragma omp for schedule(static)\n  for (int i = 0; i < n; i++)",
                    replace="#pragma omp for schedule(guided)\n  for (int i = 0; i < n; i++)",
                )
            ],
            status="suspected",
            by=by,
        ),
        HypothesisRecord(
            id="H2",
            cause="other",
            name="sort of cells that are sorted",
            where=SORT,
            mechanism="The cells hardly move between two steps, and are sorted anew all the same.",
            cites=["E5"],
            against=["How far cells move was not measured."],
            confidence="possible",
            share=0.92 / 9.01,
            trial=None,
            change=[],
            status="suspected",
            by=by,
            supported=True,
        ),
        HypothesisRecord(
            id="H3",
            cause="io-small-requests",
            name="Small writes",
            where=OUTPUT,
            mechanism="",
            cites=[],
            against=[],
            confidence="unlikely",
            share=0.41 / 9.01,
            trial="io-small-requests",
            change=[],
            status="suspected",
            by=by,
        ),
    ]


def statements(by: str) -> list[StatementRecord]:
    """What it says beside, and what was dropped."""
    return [
        StatementRecord(kind="advice", text="Sort the cells once a hundred steps.", cites=[], by=by, dropped_because="“hundred” is a number that is no slot"),
        StatementRecord(kind="reading", text="Threads meet at the end of the loop, 3.17 s in all.", cites=["E1"], by=by, dropped_because=None),
    ]  # fmt: skip


def sample(*, model: str | None = None, reader: str | None = None) -> Report:
    """The report, without a model, with sentences by `model`, or with what `reader` suspects."""
    facts = told(model)
    return Report(
        profile=ProfileRecord(
            format="hpctoolkit",
            paths=["stencil/database"],
            title="stencil_omp",
            shape="4 threads",
            run=RunFacts(
                nodes=1,
                ranks=0,
                threads=4,
                gpus=0,
                gpu_streams=0,
                openmp=True,
                wall_seconds=2.26,
                metric=TIME,
                total=9.01,
                unit=Unit.SECONDS,
                clock=Clock.WALL,
                collected="sampled",
                event="REALTIME",
                samples=1802,
                helper_threads=0,
                helper_time=0.0,
            ),
            contexts=128,
            locations=4,
            metrics=[MetricRecord(id=TIME, source_name="REALTIME", unit="s", total=9.01)],
            caveats=["Time at the barrier is attributed by the OpenMP runtime's own report (OMPT)."],
            not_collected={
                "Hardware counters (cache, IPC)": "hpcrun -e PAPI_TOT_CYC -e PAPI_TOT_INS -e PAPI_L2_TCM -t ./stencil_omp 4096",
                "A trace (who waits for whom)": "hpcrun -e REALTIME -t ./stencil_omp",
            },
        ),
        verdict="bottleneck",
        headline="35.2 % of the thread time is waiting at an OpenMP barrier: the loop's work is shared unevenly.",
        findings=FINDINGS,
        evidence=EVIDENCE,
        notes=["The kernel counted 0.3 s of system time; it is too little to be judged."],
        hypotheses=[] if reader is None else hypotheses(reader),
        explanation=ExplanationRecord(
            text=" ".join(each.text for each in facts if each.dropped_because is None),
            model=model or reader,
            statements=[*facts, *([] if reader is None else statements(reader))],
        ),
        examined=ExaminedRecord(
            run=["load imbalance", "barrier waiting", "late senders"],
            skipped=[
                SkippedRecord(
                    checks=["quadratic-algorithm", "strided-access"], reason="source not found", remedy="--source DIR"
                )
            ],
        ),
        flat=[
            FlatRecord(name="triangular_work", share=0.41, own=True),
            FlatRecord(name="waiting in OpenMP", share=0.352, own=False),
            FlatRecord(name="sort_cells", share=0.102, own=True),
        ],
        tree=TreeRecord(
            metric=TIME,
            unit="s",
            total=9.01,
            rows=[
                TreeRow(depth=d, label=label, place=place, inclusive=inc, exclusive=exc, share=inc / 9.01)
                for d, label, place, inc, exc in _ROWS
            ],
        ),
        pruning=PruningRecord(
            contexts_before=128, contexts_after=14, metrics_before=1, metrics_after=1, time_kept_share=0.97, tokens=812
        ),
        timings={"read": 0.0214, "diagnose": 0.0052},
        versions={"chathpc": "0.1.0"},
    )
