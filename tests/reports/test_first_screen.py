"""The first screen: short enough for any terminal, with the verdict, the change and a command that can be pasted."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rich.cells import cell_len

from chathpc.profile import numbers
from chathpc.report import EditRecord, QuantityRecord, Report
from chathpc.reports import renderers, wording
from chathpc.reports.first_screen import LINES, WORDS
from chathpc.reports.style import Style
from tests.reports.sample import sample


def screen(report: Report, style: Style | None = None) -> str:
    return renderers()["screen"](report, style or Style())


def long(report: Report) -> Report:
    """The report with everything forty times as long."""
    text = "what is said is said at length, again and again, so that no screen can hold it; " * 40
    findings = [
        each.model_copy(update={"summary": text, "against": [text], "advice": [text]}) for each in report.findings * 20
    ]
    profile = report.profile.model_copy(update={"caveats": [text] * 20})
    skipped = [each.model_copy(update={"reason": text}) for each in report.examined.skipped * 20]
    examined = report.examined.model_copy(update={"skipped": skipped})
    evidence = [each.model_copy(update={"statement": text}) for each in report.evidence]
    return report.model_copy(
        update={"findings": findings, "profile": profile, "examined": examined, "evidence": evidence}
    )


@pytest.mark.parametrize("height", [None, 60, 50, 40, 30, 24])
@pytest.mark.parametrize("who", [{}, {"model": "m"}, {"reader": "m"}])
def test_it_fits_the_terminal_and_begins_with_the_verdict(height: int | None, who: dict[str, str]) -> None:
    text = screen(sample(**who), Style(height=height))
    assert text.count("\n") <= min(LINES, (height or 99) - 1)
    assert len(text.split()) <= WORDS
    assert "BOTTLENECK" in "\n".join(text.splitlines()[:5])


@pytest.mark.parametrize(
    ("paths", "told"), [(["a.cubex", "b c"], "chathpc chat a.cubex 'b c'"), (list("abcdef"), "chathpc chat a b c d …")]
)
def test_all_views_are_asked_about_together(paths: list[str], told: str) -> None:
    profile = sample().profile.model_copy(update={"paths": paths})
    assert screen(sample().model_copy(update={"profile": profile})).rstrip().endswith(told)


def test_what_is_long_is_left_out_before_the_verdict_is() -> None:
    text = screen(long(sample()), Style(height=40))
    assert "BOTTLENECK" in "\n".join(text.splitlines()[:5])
    assert "E1" not in text


def test_the_flat_profile_is_called_by_what_it_is_of() -> None:
    report = sample()
    assert report.tree is not None
    samples = report.tree.model_copy(update={"metric": "cpu.samples", "unit": "samples"})
    for tree, metric, label in (
        (report.tree, report.tree.metric, "Time "),
        (samples, "cpu.samples", "Cost "),
        (samples, "gpu.time", "GPU time "),
    ):
        text = screen(report.model_copy(update={"tree": tree, "flat_metric": metric}))
        assert [each for each in ("Time ", "Cost ", "GPU time ") if f"\n   {each}" in text] == [label]


def test_the_first_finding_has_its_change_its_gain_and_a_command_on_one_line() -> None:
    lines = screen(sample()).splitlines()
    assert any("stencil_omp.c:46: schedule(static) → schedule(guided)" in line for line in lines)
    finding = sample().findings[0]
    command = wording.command_of(finding.next_measurement)
    assert any(line.strip() == f"Verify     {command}" for line in lines)
    assert any("Gain" in line and "at most 1.54x" in line for line in lines)


def test_other_findings_have_a_line_each_with_their_share() -> None:
    lines = screen(sample()).splitlines()
    for number, finding in enumerate(sample().findings[1:], start=2):
        assert sum(line.startswith(f"{number}  {finding.title}") and " %" in line for line in lines) == 1


def test_a_share_that_a_title_tells_is_not_told_again() -> None:
    first, second, *_ = sample().findings * 2
    share = numbers.percent(second.share)
    second = second.model_copy(update={"title": f"One function has {share} of the time"})
    (told,) = [
        each
        for each in screen(sample().model_copy(update={"findings": [first, second]})).splitlines()
        if "One function" in each
    ]
    assert told.count(share) == 1


def test_a_long_name_in_a_path_is_that_of_its_author() -> None:
    first = sample().findings[0]
    where = first.where.model_copy(update={"path": ["main", "__fields_of_the_model_MOD_smooth._omp_fn.0"]})
    report = sample().model_copy(update={"findings": [first.model_copy(update={"where": where})]})
    assert "main > smooth\n" in screen(report)


def test_what_a_model_suspects_is_marked_and_comes_first_where_nothing_was_measured() -> None:
    report = sample(reader="large-model")
    assert "(suspected)" in screen(report)
    alone = screen(report.model_copy(update={"verdict": "suspected"}))
    assert "(large-model; not measured)" in " ".join(alone.split())
    assert alone.index("\nH1") < alone.index("\n1 ")


@pytest.mark.parametrize("height", [None, 24])
def test_what_a_model_suspects_is_told_with_its_reason_and_takes_no_advice_away(height: int | None) -> None:
    report = sample(reader="large-model")
    (first,) = (each for each in report.hypotheses if each.id == "H1")
    other = first.model_copy(update={"cause": "loop-invariant-work", "name": "Work that is repeated"})
    text = screen(report.model_copy(update={"hypotheses": [other]}), Style(height=height))
    assert "H1 Work that is repeated (suspected)" in text
    assert first.mechanism[:60] in " ".join(text.split())
    assert "(likely, not measured)" in text
    alone = screen(sample(), Style(height=height))
    assert [line for line in alone.splitlines() if "Change" in line] == [
        line for line in text.splitlines() if "Change" in line
    ]


@pytest.mark.parametrize("words", [("it", "waits"), ("a", "communicator"), ("`triangular_work._omp_fn.0`", "is")])
def test_of_a_long_reason_two_lines_are_told(words: tuple[str, ...]) -> None:
    report = sample(reader="m")
    (first,) = (each for each in report.hypotheses if each.id == "H1")
    other = first.model_copy(update={"cause": "loop-invariant-work", "mechanism": " ".join(words * 60)})
    lines = screen(report.model_copy(update={"hypotheses": [other]})).splitlines()
    begin = next(at for at, line in enumerate(lines) if line.startswith("   m (likely, not measured): "))
    assert lines[begin + 1].endswith(" …")
    assert not lines[begin + 2].strip()


@pytest.mark.parametrize("height", [None, 24])
@pytest.mark.parametrize("at", [0, 1])
def test_a_model_that_suspects_what_was_found_is_said_to_agree(at: int, height: int | None) -> None:
    report = sample(reader="large-model")
    found = report.findings[at]
    same = report.hypotheses[0].model_copy(update={"cause": found.cause, "where": found.where, "name": found.title})
    report = report.model_copy(update={"hypotheses": [same]})
    text = screen(report, Style(height=height))
    assert text.count(found.title) == 1
    assert "large-model suspects the same (H1, likely)" in " ".join(text.split())
    elsewhere = same.model_copy(update={"where": report.findings[2].where})
    assert "suspects the same" not in screen(report.model_copy(update={"hypotheses": [elsewhere]}))


@pytest.mark.parametrize("audience", ["newcomer", "manager"])
def test_readers_who_are_no_experts_are_told_in_words(audience: str) -> None:
    report = sample()
    told = report.model_copy(update={"explanation": report.explanation.model_copy(update={"audience": audience})})
    kept = " ".join(wording.words(one) for one in wording.told(told))
    assert " ".join(kept.split()) in " ".join(screen(told).split())


@pytest.mark.parametrize("width", [60, 80, 110])
def test_only_commands_are_wider_than_the_terminal(width: int) -> None:
    text = screen(sample(reader="m"), Style(width=width))
    wide = [line for line in text.splitlines() if cell_len(line) > width]
    assert all(line.lstrip().startswith(("Verify ", "hpcrun ", "perf ")) for line in wide)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("for schedule(static)", "for schedule(guided)", "schedule(static) → schedule(guided)"),
        ("x = pow(a, 2);", "x = a * a;", "pow(a, 2) → a * a"),
        (
            "f(std::vector<int> v)",
            "f(const std::vector<int> &v)",
            "f(std::vector<int> v) → f(const std::vector<int> &v)",
        ),
        ("omp for", "omp for nowait", ""),
        ("same", "same", ""),
        ("one\ntwo", "two\none", ""),
    ],
)
def test_a_line_that_takes_the_place_of_one_is_told_by_the_words_that_differ(old: str, new: str, said: str) -> None:
    assert wording.replaced(wording.diff([EditRecord(file="a.c", search=old, replace=new)])) == said


@pytest.mark.parametrize(("value", "plain"), [(4.0, True), (3.99, True), (3.0, False), (32.0, False)])
def test_a_part_that_is_the_whole_is_plain_but_not_what_exceeds_a_standard(value: float, plain: bool) -> None:
    record = sample().evidence[0]
    whole = QuantityRecord(value=4.0, unit="sectors", of="a coalesced request of floats")
    assert wording.is_plain(record.model_copy(update={"value": value, "whole": whole})) == plain


def test_a_healthy_program_is_promised_nothing_and_told_to_change_nothing() -> None:
    text = screen(sample().model_copy(update={"verdict": "healthy"}))
    assert "Verify" in text
    assert not {"Change", "Gain", "Confidence"} & set(text.split())


def test_where_too_little_is_known_the_first_command_says_how_to_go_on() -> None:
    report = sample().model_copy(update={"findings": [], "tree": None, "verdict": "insufficient-data"})
    none = report.examined.model_copy(update={"skipped": []})
    lacks = {"what takes the time": "chathpc measure -- ./heat 4", "another": "x"}
    profile = report.profile.model_copy(update={"not_collected": lacks})
    text = screen(report.model_copy(update={"profile": profile, "examined": none}))
    assert "\nNot measured: what takes the time: chathpc measure -- ./heat 4\n" in text
    assert "another" not in text


def test_names_of_templates_are_short_in_sentences() -> None:
    name = f"renderRows<render(const Scene&, int, int)::<lambda({', '.join(['int'] * 20)})>&>"
    report = sample()
    first = report.findings[0]
    where = first.where.model_copy(update={"function": name})
    findings = [first.model_copy(update={"where": where, "summary": f"The work in {name} is uneven."})]
    text = screen(report.model_copy(update={"findings": findings, "headline": f"Most is in {name}."}))
    assert "Most is in renderRows<…>." in text
    assert "lambda" not in text


@pytest.mark.parametrize(
    ("metric", "unit", "told"), [("gpu.kernel.count", "count", ""), ("memory.time", "bytes", "9.00 B of memory.time")]
)
def test_a_run_without_time_is_told_by_what_has_a_unit(metric: str, unit: str, told: str) -> None:
    whole = sample()
    assert whole.tree is not None
    run = replace(whole.profile.run, metric=None)
    tree = whole.tree.model_copy(update={"metric": metric, "unit": unit, "total": 9.0})
    line = wording.run_line(
        whole.model_copy(update={"profile": whole.profile.model_copy(update={"run": run}), "tree": tree})
    )
    assert [each for each in line if metric in each] == ([told] if told else [])
