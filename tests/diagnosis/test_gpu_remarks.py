"""What Nsight Compute's own rules say: evidence where they agree, a doubt where they do not, never a finding."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chathpc.profile.remark import Remark
from tests.diagnosis.kernels import LATENCY, One, first, found, one, report, with_stalls
from tests.diagnosis.parts import diagnosed, statements

TOOL = "Nsight Compute"


def said(
    rule: str, text: str, title: str = "", kind: str = "warning", speedup: float | None = None, scope: str = ""
) -> Remark:
    return Remark(TOOL, rule, kind, title, text, speedup=speedup, scope=scope)


def quotations(kernel: One) -> list[str]:
    diagnosis = diagnosed(report(kernel))
    return [text for text in statements(diagnosis, diagnosis.findings[0].cause) if text.startswith("1 rule")]


BANDWIDTH = one(sm_throughput=20, memory_throughput=85, dram_throughput=85)
HIGH = said(
    "SOLBottleneck",
    "More than that. The kernel uses greater than 80.0% of the peak. And so on.",
    "High Throughput",
    "ok",
)
LATENCY_ISSUE = said("SOLBottleneck", "Low throughput typically indicates latency issues.", "Latency Issue")


def test_a_rule_that_agrees_is_evidence_with_its_source_and_first_sentence() -> None:
    diagnosis = diagnosed(report(replace(BANDWIDTH, said=(HIGH,))))
    (evidence,) = [item for item in diagnosis.evidence if "SOLBottleneck" in item.source]
    assert evidence.statement == "1 rule of Nsight Compute: SOLBottleneck, “High Throughput: More than that.”"
    assert (evidence.source, evidence.value, evidence.unit) == ("Nsight Compute rule SOLBottleneck", 1, "rules")
    assert diagnosis.findings[0].against == ()


def test_a_speed_of_light_rule_that_sees_it_otherwise_speaks_against() -> None:
    plain, doubted = first(BANDWIDTH), first(replace(BANDWIDTH, said=(LATENCY_ISSUE,)))
    assert doubted.against == (
        "Nsight Compute's rule SOLBottleneck sees it otherwise: “Latency Issue: Low throughput typically indicates latency issues.”",
    )
    assert doubted.confidence < plain.confidence
    assert doubted.cause == plain.cause


@pytest.mark.parametrize("kind", ["ok", "error"])
def test_other_rules_speak_only_if_they_found_something(kind: str) -> None:
    kernel = with_stalls(one(**LATENCY), barrier=20)
    assert quotations(replace(kernel, said=(said("CPIStall", "Warps wait at a barrier.", kind=kind),))) == []
    assert len(quotations(replace(kernel, said=(said("CPIStall", "Warps wait at a barrier."),)))) == 1


@pytest.mark.parametrize(
    ("rule", "title", "text", "cycles", "agrees"),
    [
        ("CPIStall", "barrier", "Warps wait for others.", {"barrier": 20.0}, True),
        ("CPIStallBarrier", "", "Waiting for sibling warps at a CTA barrier.", {"barrier": 20.0}, True),
        ("CPIStall", "Long Scoreboard Stalls", "Waiting for L1TEX data.", {"barrier": 20.0}, False),
        ("CPIStall", "long_scoreboard", "Waiting.", {"long_scoreboard": 20.0}, True),
        ("CPIStall", "", "Waiting on a fixed latency execution dependency.", {"wait": 20.0}, True),
        ("UncoalescedGlobalAccess", "", "Expected 4 sectors, got 8 (2.00x).", {"long_scoreboard": 20.0}, True),
        ("SOLFPRoofline", "Roofline", "The kernel achieved 3% of the peak.", {"long_scoreboard": 20.0}, False),
    ],
)  # fmt: skip
def test_rules_are_quoted_for_their_own_theme_only(
    rule: str, title: str, text: str, cycles: dict[str, float], agrees: bool
) -> None:
    kernel = replace(with_stalls(one(**LATENCY), **cycles), said=(said(rule, text, title),))
    assert bool(quotations(kernel)) is agrees


def test_an_estimate_is_quoted_with_its_scope() -> None:
    tail = one(waves=1.25, sm_throughput=65, memory_throughput=20, occupancy=75, achieved_occupancy=50)
    rule = said(
        "LaunchConfiguration",
        "The partial wave may account for up to 50.0%.",
        "Tail Effect",
        "optimization",
        0.5,
        "global",
    )
    assert quotations(replace(tail, said=(rule,))) == [
        "1 rule of Nsight Compute: LaunchConfiguration, “Tail Effect: The partial wave may account for up to 50.0%.”; "
        "part of the kernel's time that could go 50.0 %."
    ]


def test_a_launch_problem_is_not_contradicted_by_what_limits_the_rest() -> None:
    tail = one(waves=1.25, sm_throughput=65, memory_throughput=20, occupancy=75, achieved_occupancy=50)
    more = said("SOLBottleneck", "Compute is more heavily utilized than Memory.", "High Compute Throughput")
    assert first(replace(tail, said=(more,))).against == ()


def test_quotations_are_short_clean_and_few() -> None:
    texts = [f"Expected {i} sectors\x1b[31m and \u202emore " + "x" * 400 for i in range(9)]
    rules = tuple(said(f"CPIStall{i}", f"long scoreboard {text}") for i, text in enumerate(texts))
    found_ = quotations(replace(with_stalls(one(**LATENCY), long_scoreboard=20), said=rules))
    assert len(found_) == 3
    assert all(len(text) < 320 and text.endswith("…”") for text in found_)
    assert all(text.isprintable() for text in found_)


def test_rules_about_another_kernel_or_the_whole_run_are_not_quoted() -> None:
    other = one("other", 0.5, sm_throughput=90, memory_throughput=10)
    assert [each.cause for each in found(replace(other, said=(HIGH,)), BANDWIDTH)] == [
        "gpu-memory-bandwidth",
        "gpu-compute-bound",
    ]
    diagnosis = diagnosed(report(replace(other, said=(HIGH,)), BANDWIDTH))
    assert not any("SOLBottleneck" in text for text in statements(diagnosis, "gpu-memory-bandwidth"))
    whole = replace(report(BANDWIDTH), remarks=(HIGH,))
    assert not any("SOLBottleneck" in item.source for item in diagnosed(whole).evidence)
