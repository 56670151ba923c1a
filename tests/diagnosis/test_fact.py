"""A fact as data and as a sentence: one template for each kind, the same sentence for the same fact, nothing else in it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chathpc.diagnosis.fact import Bound, Fact, Form, Kind, Part, Quantity, amount, sentence, told
from chathpc.diagnosis.records import Place

TIME = Fact("E1", Kind.AMOUNT, "file operations", 2.0, "s", "perf, cycles: sum", form=Form.MANY)
RUN = Quantity(8.0, "s")
NAMED = replace(TIME, subject="sweep", form=Form.NAME)
PARTS = (Part("least", 1.0, "s"), Part("mean", 2.0, "s"), Part("most", 4.0, "s"))


@pytest.mark.parametrize(
    ("fact", "expected"),
    [
        (TIME, "File operations take 2.00 s."),
        (replace(TIME, whole=RUN), "File operations take 2.00 s of 8.00 s (25.0 %)."),
        (
            replace(NAMED, whole=Quantity(4.0, "s", "MPI time")),
            "sweep takes 2.00 s of the 4.00 s of MPI time (50.0 %).",
        ),
        (replace(NAMED, bound=Bound.ABOUT), "sweep takes about 2.00 s."),
        (
            replace(TIME, parts=(Part("write", 1.0, "s"), Part("read", 0.5, "s"))),
            "File operations take 2.00 s: write 1.00 s, read 500 ms.",
        ),
        (replace(TIME, parts=(Part("write"),)), "File operations take 2.00 s, mostly write."),
        (
            replace(NAMED, value=3.0, unit="samples", whole=Quantity(4.0, "samples")),
            "sweep has 3 samples of 4 samples (75.0 %).",
        ),
        (replace(TIME, subject="memory", form=Form.ONE, unit="bytes", value=2e6), "Memory is 2.00 MB."),
        (
            replace(NAMED, kind=Kind.SHARE, value=0.25, unit="ratio", whole=Quantity(of="the page faults")),
            "sweep has 25.0 % of the page faults.",
        ),
        (
            replace(NAMED, kind=Kind.VALUE, value=1.5, unit="x", subject="the speed-up", form=Form.ONE),
            "The speed-up is 1.50x.",
        ),
        (replace(NAMED, kind=Kind.COUNT, value=1, unit="callers"), "sweep has 1 caller."),
        (replace(NAMED, kind=Kind.COUNT, value=1, unit="launches"), "sweep has 1 launch."),
        (replace(NAMED, kind=Kind.COUNT, value=1, unit="copies"), "sweep has 1 copy."),
        (replace(NAMED, kind=Kind.COUNT, value=1, unit="blocks a launch"), "sweep has 1 block a launch."),
        (
            replace(
                NAMED,
                kind=Kind.VALUE,
                value=45.0,
                unit="percent",
                subject="the throughput",
                form=Form.ONE,
                whole=Quantity(of="its peak"),
            ),
            "The throughput is 45.0 % of its peak.",
        ),
        (
            replace(
                TIME, kind=Kind.RATE, value=2e6, unit="bytes/s", parts=(Part("", 8e6, "bytes"), Part("", 4.0, "s"))
            ),
            "File operations are 2.00 MB a second (8.00 MB in 4.00 s).",
        ),
        (
            replace(TIME, kind=Kind.MEAN, subject="a call", form=Form.ONE, whole=Quantity(10, "calls")),
            "A call takes 2.00 s on average, over 10 calls.",
        ),
        (
            replace(NAMED, kind=Kind.SPREAD, parts=PARTS, whole=Quantity(4, "threads")),
            "sweep takes 1.00 s at least, 2.00 s on average and 4.00 s at most, over 4 threads.",
        ),
        (
            replace(NAMED, kind=Kind.COMPARISON, whole=Quantity(4.0, "s", "the median of 8 ranks")),
            "sweep takes 2.00 s, the median of 8 ranks 4.00 s (0.500 times as much).",
        ),
        (
            replace(NAMED, kind=Kind.COMPARISON, whole=Quantity(0.0, "s", "the other rank")),
            "sweep takes 2.00 s, the other rank 0 s.",
        ),
        (
            replace(NAMED, kind=Kind.COMPARISON, unit="times", whole=Quantity(of="the mean")),
            "sweep is 2.00 times the mean.",
        ),
        (
            replace(
                NAMED,
                kind=Kind.EFFICIENCY,
                value=0.6,
                unit="ratio",
                whole=Quantity(0.8, "ratio"),
                parts=(Part("load balance", 0.75, "ratio"), Part("transfer", 0.8, "ratio")),
            ),
            "sweep is 60.0 % = load balance 75.0 % × transfer 80.0 %, below the 80.0 % that POP recommends.",
        ),
        (
            replace(NAMED, kind=Kind.PATH, subject="the critical path", form=Form.ONE, whole=RUN),
            "The critical path takes 2.00 s of 8.00 s (25.0 %). Work off this path costs no time.",
        ),
        (replace(NAMED, kind=Kind.CODE, text="needs the load before it"), "sweep needs the load before it."),
        (
            replace(NAMED, kind=Kind.SOURCE, where=Place("sweep", "/src/a.c", 7), text="calls exp(x)"),
            "The source at a.c:7 calls exp(x).",
        ),
        (
            replace(NAMED, kind=Kind.REMARK, value=2, unit="records", tool="GCC", text="not vectorised"),
            "2 records of GCC: not vectorised.",
        ),
    ],
)
def test_each_kind_has_its_template(fact: Fact, expected: str) -> None:
    assert sentence(fact) == fact.statement == expected


def test_every_kind_makes_a_sentence() -> None:
    for kind in Kind:
        assert sentence(replace(TIME, kind=kind, whole=RUN, parts=PARTS, text="It is so.")).endswith(".")


def test_the_share_is_that_of_the_whole_in_the_same_unit() -> None:
    assert replace(TIME, whole=RUN).share == 0.25
    assert replace(TIME, whole=Quantity(8.0, "calls")).share is None
    assert TIME.share is None
    assert replace(TIME, kind=Kind.COMPARISON, whole=RUN).share is None


def test_facts_are_the_same_by_what_they_say_not_by_who_measured_them() -> None:
    assert replace(TIME, id="E2", source="other", tool="x", error=0.1).says == TIME.says
    assert replace(TIME, value=2.0001).says != TIME.says  # the same sentence, another value
    source = replace(TIME, kind=Kind.SOURCE, text="calls exp(x)", where=Place("f", "a.c", 7))
    assert replace(source, where=Place("f", "a.c", 8)).says != source.says


def test_names_are_changed_wherever_the_sentence_holds_them() -> None:
    fact = replace(NAMED, whole=Quantity(4.0, "s", "sweep's time"), parts=(Part("sweep", 1.0, "s"),))
    assert "sweep" not in sentence(fact.renamed(lambda text: text.replace("sweep", "f")))


@pytest.mark.parametrize(
    ("value", "unit", "expected"),
    [(1, "threads", "1 thread"), (2, "threads", "2 threads"), (1, "s", "1.00 s"), (0.5, "ratio", "50.0 %"), (1, "bytes", "1.00 B")],
)  # fmt: skip
def test_a_value_is_told_with_its_unit(value: float, unit: str, expected: str) -> None:
    assert told(value, unit) == expected


def test_the_number_of_a_fact_stands_in_another_sentence_with_its_unit_its_bound_and_its_range() -> None:
    ends = (Part("least", 7.61, "s"), Part("median", 14.0, "s"), Part("most", 20.4, "s"))
    assert amount(Fact("E1", Kind.SPREAD, "f", 14.0, "s", "", Quantity(8, "threads"), ends)) == "7.61 s to 20.4 s"
    assert amount(Fact("E2", Kind.SHARE, "f", 0.982, "ratio", "", bound=Bound.AT_MOST)) == "at most 98.2 %"
    assert amount(Fact("E3", Kind.RATE, "copies", 25e9, "bytes/s", "")) == "25.0 GB a second"
    assert amount(Fact("E4", Kind.COUNT, "f", 1, "threads", "")) == "1 thread"
