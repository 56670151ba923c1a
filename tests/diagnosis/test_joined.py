"""Tools that differ: evidence of its own, and a doubt about the findings that rest on it."""

from __future__ import annotations

from dataclasses import replace

from chathpc.diagnosis.draft import Draft, fact
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.joined import disagreement_evidence, with_disagreements
from chathpc.diagnosis.records import Place
from chathpc.profile.remark import Disagreement
from tests.profile.build import build, call

LAUNCH = Disagreement(
    "void axpy<4>(float*)",
    "time of a launch",
    "gpu.kernel.time",
    "s",
    (("Nsight Systems", 4e-5), ("Nsight Compute", 8e-5)),
    0,
)
SHARE = Disagreement("solve", "part of the time", "cpu.time", "ratio", (("HPCToolkit", 0.5), ("perf", 0.25)), 0)
PROFILE = replace(build(call("solve", time=2.0)), disagreements=(LAUNCH, SHARE))


def draft(metric, **where):
    facts = Facts(PROFILE)
    item = fact(facts, "It takes 2 s.", 2.0, subject="solve", how="by hand", metric=metric, unit="s")
    return Draft("hot-compute", Place(**where), "It is slow.", 2.0, 1.0, (item,))


def test_each_difference_is_one_item_with_both_tools():
    launch, share = disagreement_evidence(PROFILE)
    assert launch.statement.startswith(
        "Nsight Systems and Nsight Compute differ on void axpy<4>: time of a launch is 40.0 µs and 80.0 µs (a tool that"
    )
    assert (launch.value, launch.unit, launch.tool) == (2.0, "ratio", "Nsight Systems, Nsight Compute")
    assert launch.where is not None
    assert launch.where.kernel == "void axpy<4>(float*)"
    assert "part of the time is 50.0 % and 25.0 %" in share.statement
    assert share.where is not None
    assert share.where.kernel is None


def test_a_finding_about_the_same_thing_gets_the_evidence_and_a_doubt_if_it_rests_on_it():
    evidence = disagreement_evidence(PROFILE)
    doubted, aware, other = with_disagreements(
        [draft("cpu.time", function="solve"), draft("cpu.cycles", function="solve"), draft("cpu.time", function="f")],
        evidence,
    )
    assert evidence[1] in doubted.evidence
    assert len(doubted.against) == 1
    assert evidence[1] in aware.evidence
    assert aware.against == ()
    assert len(other.evidence) == 1


def test_a_difference_without_a_place_or_a_first_value_is_told_all_the_same():
    lost = replace(SHARE, node=-1, values=(("A", 0.0), ("B", 0.5)), quantity="something else", unit="count")
    (item,) = disagreement_evidence(replace(PROFILE, disagreements=(lost,)))
    assert item.statement == "A and B differ on solve: something else is 0 and 0.500."
    assert item.value == 0.0
