"""Diagnoses of measured programs, against what their authors planted and what experts concluded."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from chathpc.adapters.load import load
from chathpc.diagnosis.diagnose import diagnose
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.records import Diagnosis, Finding, Verdict
from chathpc.diagnosis.refutation import refuting
from chathpc.errors import ChathpcError
from chathpc.pipeline import explain
from chathpc.profile.source_text import no_source
from tests.diagnosis.parts import check
from tests.diagnosis.poorer import POORER

DATA = Path(os.environ.get("CHATHPC_TEST_DATA") or Path(__file__).parents[2].parent / "shared" / "data")
needs_data = pytest.mark.skipif(
    not DATA.is_dir(), reason="needs measured databases (CHATHPC_TEST_DATA, or ../shared/data beside the repository)"
)
APPS = sorted(path.parent for path in DATA.glob("apps/*/NOTES.json"))
PLANTED = sorted(path.parent for path in DATA.glob("planted/p*/truth.json"))
TWINS = [folder for folder in PLANTED if (folder / "database-fixed").is_dir()]
DATABASES = sorted(
    {path.parent for pattern in ("meta.db", "experiment.xml") for path in DATA.glob(f"**/{pattern}")},
    key=lambda path: str(path),
)

#: What host times, call paths, the collected events and the source can show.
DETECTED = {
    "allocation-churn",
    "blocking-wait",
    "expensive-math",
    "healthy",
    "io-bound",
    "io-small-requests",
    "loop-invariant-work",
    "memory-leak",
    "mpi-collective-wait",
    "memory-bandwidth",
    "mpi-communication-bound",
    "mpi-late-sender",
    "mpi-load-imbalance",
    "omp-critical-contention",
    "omp-fine-grained-regions",
    "omp-load-imbalance",
    "omp-serial-fraction",
    "page-faults",
    "quadratic-algorithm",
    "redundant-copies",
    "redundant-recursion",
    "strided-access",
    "unoptimised-build",
}
#: Of these, what only the source shows: hardware counters or several runs would be needed otherwise.
FROM_SOURCE = {
    "memory-bandwidth",
    "quadratic-algorithm",
    "redundant-recursion",
    "strided-access",
}


@cache
def diagnosis_of(database: Path) -> Diagnosis:
    return diagnose(load(database))


def truth_of(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "truth.json").read_text()))


def with_cause(*wanted: str) -> list[Path]:
    return [folder for folder in PLANTED if truth_of(folder)["cause"] in wanted]


def concluded(diagnosis: Diagnosis) -> set[str]:
    return {diagnosis.verdict.value, *(finding.cause for finding in diagnosis.findings)}


def last_component(name: str | None) -> str:
    """`Array2<int>::index` → `index`."""
    return (name or "").rsplit("::", 1)[-1]


@needs_data
def test_every_planted_cause_that_a_profile_can_show_is_one_that_can_be_detected() -> None:
    visible = {truth_of(folder)["cause"] for folder in PLANTED if truth_of(folder)["visible_in_profile"]}
    assert visible <= DETECTED


@needs_data
@pytest.mark.parametrize(
    "folder", [folder for folder in PLANTED if not truth_of(folder)["visible_in_profile"]], ids=lambda path: path.name
)
def test_what_a_profile_cannot_show_is_not_concluded(folder: Path) -> None:
    diagnosis = diagnosis_of(folder / "database")
    assert truth_of(folder)["cause"] not in concluded(diagnosis)
    assert diagnosis.verdict != "bottleneck"


@needs_data
@pytest.mark.parametrize("folder", APPS, ids=lambda path: path.name)
def test_nothing_that_experts_call_wrong_is_said_about_an_application(folder: Path) -> None:
    wrong = set(json.loads((folder / "NOTES.json").read_text())["wrong_causes"])
    assert not wrong & concluded(diagnosis_of(folder / "database"))


@needs_data
@pytest.mark.parametrize("folder", with_cause(*DETECTED), ids=lambda path: f"{path.name}-{truth_of(path)['cause']}")
def test_the_planted_cause_is_the_first_finding_at_its_place(folder: Path) -> None:
    truth, diagnosis = truth_of(folder), diagnosis_of(folder / "database")
    right = {truth["cause"], *truth["acceptable"]}
    if diagnosis.verdict == "healthy":
        assert "healthy" in right
        return
    first = diagnosis.findings[0]
    assert first.cause in right
    if places := truth.get("acceptable_functions"):
        assert last_component(first.where.function) in {last_component(name) for name in places}


@needs_data
@pytest.mark.parametrize("folder", with_cause(*FROM_SOURCE), ids=lambda path: f"{path.name}-{truth_of(path)['cause']}")
def test_without_its_source_a_cause_that_only_the_source_shows_is_not_named_nor_taken_for_another(folder: Path) -> None:
    profile = replace(load(folder / "database"), read_source=no_source)
    found = concluded(diagnose(profile))
    assert not found & FROM_SOURCE
    assert not [cause for cause in found if cause.startswith(("omp-", "mpi-", "io-")) or cause == "oversubscription"]


@needs_data
@pytest.mark.parametrize("folder", TWINS, ids=lambda path: f"{path.name}-{truth_of(path)['cause']}")
def test_the_repaired_twin_has_lost_the_planted_cause_or_half_of_its_share(folder: Path) -> None:
    planted = truth_of(folder)["cause"]
    after = diagnosis_of(folder / "database-fixed").findings
    if not after or after[0].cause != planted:
        return
    assert share_of(diagnosis_of(folder / "database").findings, planted) > 2 * after[0].share


def share_of(findings: tuple[Finding, ...], cause: str) -> float:
    return max((finding.share for finding in findings if finding.cause == cause), default=0.0)


@needs_data
@pytest.mark.parametrize("database", DATABASES, ids=lambda path: str(path.relative_to(DATA)))
def test_evidence_of_any_database_hangs_together_and_makes_a_report(database: Path) -> None:
    try:
        profile = load(database)
    except ChathpcError:
        pytest.skip("this database is refused, as the tests of the adapters want it")
    check(diagnose(profile))
    report = explain(profile)
    assert type(report).model_validate_json(report.to_json()) == report


def faulty() -> list[Path]:
    """Planted programs with a fault, and mini-apps that an expert does not call healthy."""
    notes = {folder: json.loads((folder / "NOTES.json").read_text()) for folder in APPS}
    apps = [folder for folder, note in notes.items() if "healthy" not in note["acceptable_causes"]]
    return [folder for folder in PLANTED if not truth_of(folder)["healthy"]] + apps


@needs_data
@pytest.mark.parametrize("folder", faulty(), ids=lambda path: path.name)
def test_no_faulty_program_is_called_healthy_however_little_is_known_of_it(folder: Path) -> None:
    assert diagnosis_of(folder / "database").verdict != Verdict.HEALTHY
    profile = load(folder / "database")
    called = {lacking: diagnose(poorer(profile)).verdict for lacking, poorer in POORER.items()}
    assert Verdict.HEALTHY not in called.values(), called


@needs_data
@pytest.mark.parametrize("folder", [*PLANTED, *APPS], ids=lambda path: path.name)
def test_what_is_a_bottleneck_does_not_become_healthy_by_losing_sight(folder: Path) -> None:
    if diagnosis_of(folder / "database").verdict == Verdict.BOTTLENECK:
        profile = load(folder / "database")
        assert Verdict.HEALTHY not in {diagnose(poorer(profile)).verdict for poorer in POORER.values()}


@needs_data
@pytest.mark.parametrize("folder", PLANTED, ids=lambda folder: folder.name)
def test_nothing_measured_excludes_the_cause_that_was_planted(folder: Path) -> None:
    assert refuting(Facts(load(folder / "database")), truth_of(folder)["cause"]) == ()
