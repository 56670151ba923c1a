"""What GCC 12, Clang 14 and ptxas 13 wrote of tests/data/compiler_records/heat.c and axpy.cu, against what a person reads there."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
import yaml

import chathpc
from chathpc.profile.compiler import Build, KernelResources, Obstacle, Outcome

DATA = Path(__file__).resolve().parents[2] / "data" / "compiler_records"
#: The loops of heat.c by the line of their header.
SCALE, TOTAL, COLUMN, FIND, SWEEP, REACT = 12, 19, 27, 35, 42, 49


def build(name: str) -> Build:
    found = chathpc.load(DATA / name).build
    assert found is not None
    return found


def loops(found: Build) -> dict[int, Obstacle | None]:
    """Loop → why it was not vectorised; None for one that was."""
    return {
        record.line: record.obstacle
        for record in found.records
        if record.outcome in (Outcome.VECTORISED, Outcome.NOT_VECTORISED)
    }


def refused(found: Build) -> set[tuple[int, str, Obstacle | None]]:
    return {(item.line, item.callee, item.obstacle) for item in found.records if item.outcome == Outcome.NOT_INLINED}


def test_the_loops_are_where_the_source_has_them() -> None:
    lines = (DATA / "heat.c").read_text().splitlines()
    assert all(
        lines[number - 1].lstrip().startswith(("for", "while")) for number in (SCALE, TOTAL, COLUMN, FIND, SWEEP, REACT)
    )


def test_messages_of_gcc_at_o3() -> None:
    found = build("gcc-O3.txt")
    assert loops(found) == {
        SCALE: None, TOTAL: None, COLUMN: Obstacle.CALL, FIND: Obstacle.TRIP_COUNT, SWEEP: Obstacle.UNSTATED, REACT: Obstacle.MATH_CALL,
    }  # fmt: skip
    assert refused(found) == {(7, "exp", Obstacle.BODY_ELSEWHERE), (28, "cell", Obstacle.BODY_ELSEWHERE)}
    assert next(record.at for record in found.records if record.line == REACT) == 7
    (unit,) = found.units
    assert (unit.file, unit.optimised) == ("heat.c", True)


def test_records_of_gcc_at_o2_tell_reasons_that_its_messages_do_not() -> None:
    found = build("gcc-O2.opt-record.json.gz")
    assert loops(found) == {
        SCALE: Obstacle.ALIASING, TOTAL: Obstacle.LEVEL, COLUMN: Obstacle.CALL, FIND: Obstacle.TRIP_COUNT, SWEEP: Obstacle.DEPENDENCE,
        REACT: Obstacle.MATH_CALL,
    }  # fmt: skip
    assert refused(found) == {(7, "exp", Obstacle.BODY_ELSEWHERE), (28, "cell", Obstacle.BODY_ELSEWHERE)}
    assert {record.function for record in found.records if record.line == SWEEP} == {"sweep"}
    assert found.units[0].compiler == "GCC 12.2.0"


@pytest.mark.parametrize("name", ["clang-O2.opt.yaml", "clang-O2.txt"])
def test_remarks_of_clang_as_documents_and_as_text(name: str) -> None:
    found = build(name)
    missed = {line: obstacle for line, obstacle in loops(found).items() if line != SCALE}
    # In text only "call instruction" is said of exp; in the documents another remark names the function.
    react = Obstacle.MATH_CALL if name.endswith("yaml") else Obstacle.CALL
    assert missed == {
        TOTAL: Obstacle.REDUCTION_ORDER, COLUMN: Obstacle.CALL, FIND: Obstacle.TRIP_COUNT, SWEEP: Obstacle.DEPENDENCE, REACT: react,
    }  # fmt: skip
    assert {record.at for record in found.records if record.line == TOTAL} == {20}


def test_every_loop_remark_of_the_documents_is_counted() -> None:
    """Against PyYAML, which reads the same documents with its own parser."""

    class Loader(yaml.CSafeLoader):
        pass

    Loader.add_multi_constructor(
        "!", lambda loader, tag, node: {"tag": tag, **loader.construct_mapping(node, deep=True)}
    )
    documents = list(yaml.load_all((DATA / "clang-O2.opt.yaml").read_text(), Loader=Loader))
    missed = [item for item in documents if item["Pass"] == "loop-vectorize" and item["tag"] == "Missed"]
    passed = [item for item in documents if item["Pass"] == "loop-vectorize" and item["tag"] == "Passed"]
    calls = [item for item in documents if item["Pass"] == "inline" and item["tag"] == "Missed"]
    found = build("clang-O2.opt.yaml")
    assert found.counts == {
        "loops not vectorised": len(missed),
        "loops vectorised": len(passed),
        "calls not inlined": len(calls),
        "calls inlined": len([item for item in documents if item["Pass"] == "inline" and item["tag"] == "Passed"]),
    }
    assert {record.line for record in found.records if record.outcome == Outcome.NOT_VECTORISED} == {
        item["DebugLoc"]["Line"] for item in missed
    }


def test_every_loop_of_gccs_records_is_counted() -> None:
    """Against a search of the JSON's top level."""
    records = json.loads(gzip.decompress((DATA / "gcc-O2.opt-record.json.gz").read_bytes()))[2]
    missed = [item for item in records if item["message"] and str(item["message"][0]).startswith("couldn't vectorize")]
    assert build("gcc-O2.opt-record.json.gz").counts["loops not vectorised"] == len(missed) == 6


@pytest.mark.parametrize("name", ["gcc-O0.txt", "clang-O0.opt.yaml"])
def test_a_build_without_optimisation_is_known_by_the_passes_that_did_not_run(name: str) -> None:
    (unit,) = build(name).units
    assert unit.optimised is False
    assert build(name).records == ()


def test_ptxas() -> None:
    found = build("ptxas.txt").kernels
    assert len(found) == 4
    assert found[0] == KernelResources("_Z5blendILi24EEvPdPKdi", "sm_90", 24, 312, 324, 484, 0)
    assert found[3] == KernelResources("_Z4axpyPfPKffi", "sm_80", 10, 0, 0, 0, 1024)


def test_records_alone_are_insufficient_and_say_what_they_hold_and_what_to_measure() -> None:
    report = chathpc.explain(DATA / "gcc-O3.txt", llm="none")
    assert report.verdict == "insufficient-data"
    assert report.findings == []
    assert "1 call inlined, 2 calls not inlined, 4 loops not vectorised, 2 loops vectorised" in report.headline
    assert "chathpc explain database gcc-O3.txt" in report.headline
    assert any("chathpc measure" in command for command in report.profile.not_collected.values())
