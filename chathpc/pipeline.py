"""From a profile to a report: diagnose, prune, word, ground. One direction, no way back."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from chathpc.diagnosis.catalogue import cause, ids
from chathpc.diagnosis.command import filled
from chathpc.diagnosis.coverage import HOST_TIME
from chathpc.diagnosis.diagnose import diagnose
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.flat_profile import flat_profile
from chathpc.diagnosis.gpu_tools import fitted
from chathpc.diagnosis.records import Diagnosis, Finding, Place, Verdict
from chathpc.diagnosis.verdict import is_about_devices
from chathpc.errors import UsageError
from chathpc.profile.activity import is_interface
from chathpc.profile.languages import language_of
from chathpc.profile.profile import Profile
from chathpc.profile.run import run_facts
from chathpc.profile.source_text import check_named
from chathpc.profile.text import clean
from chathpc.reading.explaining import Outgoing, explain_in_words, outgoing
from chathpc.report import (
    ChangeRecord,
    EvidenceRecord,
    ExaminedRecord,
    FindingRecord,
    FlatRecord,
    HypothesisRecord,
    MetricRecord,
    ProfileRecord,
    PruningRecord,
    Report,
    TreeRecord,
    TreeRow,
    VerdictName,
)

if TYPE_CHECKING:
    from chathpc.llm.settings import Settings
    from chathpc.prompts.loader import Audience
    from chathpc.pruners.prune import PruningResult

#: Tokens of the pruned tree in a report, unless the caller says otherwise: what fits on a page.
TREE_TOKENS = 1500

#: Lines that a statement of Fortran may continue (Fortran 2008, 3.3.2.6).
_CONTINUED = 255
#: Characters of a source line in a report; generated code can have lines of any length.
LONGEST_SOURCE_LINE = 200

Progress = Callable[[str], None]
#: A profile, its path, or the paths of several views of one run.
Given = Profile | str | Path | Sequence[str | Path]
#: Makes changes of the source, by the number of the finding that each answers.
Propose = Callable[[Profile, Diagnosis], Mapping[int, ChangeRecord]]


def explain(
    profile: Given,
    *,
    llm: str = "none",
    base_url: str | None = None,
    confidential: str | None = None,
    tokens: int = TREE_TOKENS,
    patterns: Path | None = None,
    source: Sequence[str | Path] = (),
    audience: Audience | None = None,
    propose: Propose | None = None,
    view: bool = False,
    progress: Progress | None = None,
    notice: Progress | None = None,
) -> Report:
    """Explain what costs time in `profile` (or the profile at that path, or at those paths if they are views of one run), why, and what to do.

    `llm` is a SPEC: none, local[:MODEL], openai:MODEL, auto, or several with commas, tried in turn. The verdict, the findings and
    the numbers do not depend on it. `base_url` is the server of openai:MODEL; `confidential` (none, default, all) says what it gets
    placeholders for. `tokens` bounds the size of the call tree. `patterns` is a folder with patterns of your own; without it the one
    of the settings is taken. `source` are folders with source that the profile did not bring; below the working folder a file is
    found by its name where one only fits, and a hosted model is not shown it. `audience` (expert, newcomer, manager)
    is that of the settings if not given. `propose` makes changes of the source for findings; without it there are none. With `view` the report
    has what a page draws: trees, tables, threads, timeline, source. `progress` is told the stage that begins, `notice` (or `progress`) what a
    question to a model at a server needs.
    """
    from chathpc.diagnosis.catalogue import extended
    from chathpc.llm.settings import patterns_of

    settings = _settings(base_url, confidential, patterns, source, audience)
    stages = _Stages(progress or (lambda stage: None))
    with extended(patterns_of(settings)):
        diagnosed = _diagnosed(profile, settings, stages)
        return _reported(
            *diagnosed,
            stages,
            llm=llm,
            settings=settings,
            tokens=tokens,
            propose=propose,
            view=view,
            notice=notice or progress,
        )


def prompt(
    profile: Given,
    *,
    llm: str,
    base_url: str | None = None,
    confidential: str | None = None,
    tokens: int = TREE_TOKENS,
    patterns: Path | None = None,
    source: Sequence[str | Path] = (),
    audience: Audience | None = None,
    progress: Progress | None = None,
) -> Outgoing:
    """What `explain` with the same arguments would send to the model first; no model is called. UsageError if nothing would be sent."""
    from chathpc.diagnosis.catalogue import extended
    from chathpc.llm.settings import patterns_of

    settings = _settings(base_url, confidential, patterns, source, audience)
    stages = _Stages(progress or (lambda stage: None))
    with extended(patterns_of(settings)):
        profile, facts, diagnosis = _diagnosed(profile, settings, stages)
        with stages("prune"):
            pruning = pruned(profile, facts, diagnosis, tokens)
        return outgoing(profile, diagnosis, pruning, llm=llm, settings=settings)


def report_of(profile: Profile, facts: Facts, diagnosis: Diagnosis, *, propose: Propose | None = None) -> Report:
    """The report, in the catalogue's words, of a profile that is diagnosed already, with the changes that `propose` makes."""
    from chathpc.llm.settings import load_settings

    stages = _Stages(lambda stage: None)
    settings = load_settings()
    return _reported(
        profile, facts, diagnosis, stages, llm="none", settings=settings, tokens=TREE_TOKENS, propose=propose
    )


def _settings(
    base_url: str | None,
    confidential: str | None,
    patterns: Path | None,
    source: Sequence[str | Path],
    audience: Audience | None,
) -> Settings:
    from chathpc.llm.settings import load_settings

    given = {"base_url": base_url, "confidential": confidential, "patterns": patterns, "source": source}
    return load_settings({**given, "audience": audience})


def _diagnosed(profile: Given, settings: Settings, stages: _Stages) -> tuple[Profile, Facts, Diagnosis]:
    check_named(settings.source)
    if not isinstance(profile, Profile):
        from chathpc.adapters.load import load

        with stages("load"):
            paths = [profile] if isinstance(profile, str | Path) else profile
            if not isinstance(paths, Sequence) or not paths or not all(isinstance(each, str | Path) for each in paths):
                raise UsageError("Give a profile, its path, or the paths of several views of one run.")
            profile = load(*paths)
    profile = profile.with_sources(settings.source, below=Path())
    with stages("diagnose"):
        facts = Facts(profile)
        return profile, facts, diagnose(profile, facts)


def _reported(
    profile: Profile,
    facts: Facts,
    diagnosis: Diagnosis,
    stages: _Stages,
    *,
    llm: str,
    settings: Settings,
    tokens: int,
    propose: Propose | None = None,
    view: bool = False,
    notice: Progress | None = None,
) -> Report:
    with stages("prune"):
        pruning = pruned(profile, facts, diagnosis, tokens)
        changes = {} if propose is None else propose(profile, diagnosis)
    with stages("explain"):
        explanation, hypotheses = explain_in_words(
            profile, diagnosis, pruning, llm=llm, settings=settings, notice=notice
        )
    drawn = None
    if view:
        from chathpc.view.draw import view_of

        with stages("draw"):
            drawn = view_of(profile, facts, diagnosis)
    of_device = pruning.metric in HOST_TIME and is_about_devices(facts, diagnosis.findings)
    flat = flat_profile(profile, facts, "gpu.time" if of_device else pruning.metric)
    report = Report(
        profile=_profile_record(profile, facts, diagnosis),
        verdict=_verdict(diagnosis, hypotheses),
        headline=diagnosis.headline,
        findings=[_finding_record(profile, finding, changes.get(at)) for at, finding in enumerate(diagnosis.findings)],
        hypotheses=[_settled_by(profile, each) for each in hypotheses],
        evidence=[EvidenceRecord.model_validate(item) for item in diagnosis.evidence],
        notes=list(diagnosis.notes),
        explanation=explanation,
        examined=ExaminedRecord.model_validate(diagnosis.examined),
        flat=[FlatRecord(name=clean(row.name), share=row.share, own=row.is_own) for row in flat],
        flat_metric="gpu.time" if of_device else pruning.metric,
        tree=_tree_record(profile, pruning),
        pruning=PruningRecord.model_validate(pruning),
        timings=stages.seconds,
        versions=_versions(profile),
        view=drawn,
    )
    return _without_credentials(report)


def _settled_by(profile: Profile, hypothesis: HypothesisRecord) -> HypothesisRecord:
    """The hypothesis with the command that would settle it, for the profile's own program and devices."""
    if hypothesis.trial is None or hypothesis.trial not in ids():
        return hypothesis
    where = hypothesis.where
    told = filled(
        profile, fitted(profile, cause(hypothesis.trial).next_measurement, where.kernel or ""), where.function or ""
    )
    return hypothesis.model_copy(update={"measurement": told})


def _verdict(diagnosis: Diagnosis, hypotheses: Sequence[HypothesisRecord]) -> VerdictName:
    """The verdict of the diagnosis; a hypothesis that is held likely makes a suspicion of a hot spot, and nothing else."""
    likely = any(each.is_shown and each.confidence == "likely" for each in hypotheses)
    return Verdict.SUSPECTED.value if diagnosis.verdict == Verdict.HOT_SPOT and likely else diagnosis.verdict.value


def _without_credentials(report: Report) -> Report:
    """`report` without what looks like a key or password: texts that a program gives to a profiler, such as names of ranges, can
    hold anything.
    """
    from chathpc.privacy.credentials import redactor

    redact = redactor()
    texts: set[str] = set()

    def without(value: object, change: Callable[[str], str]) -> object:
        if isinstance(value, dict):
            return {change(key): without(item, change) for key, item in value.items()}
        if isinstance(value, list):
            # Columns of numbers have no text.
            plain = value and isinstance(value[0], (int, float))
            return value if plain else [without(item, change) for item in value]
        return change(value) if isinstance(value, str) else value

    def collect(text: str) -> str:
        texts.add(text)
        return text

    content = report.model_dump(by_alias=True)
    without(content, collect)
    told = {text: redact(text) for text in texts}
    changed = any(text != other for text, other in told.items())
    return Report.model_validate(without(content, told.__getitem__)) if changed else report


class _Stages:
    """Names the stages and takes their time."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        self.progress(name)
        begin = time.perf_counter()
        yield
        self.seconds[name] = round(time.perf_counter() - begin, 6)


# -- pruning -------------------------------------------------------------------------------------------------


def pruned(profile: Profile, facts: Facts, diagnosis: Diagnosis, tokens: int = TREE_TOKENS) -> PruningResult:
    """The tree and metrics that bear on a diagnosis, the tree in about `tokens` tokens."""
    from chathpc.pruners.prune import prune

    focus = [finding.where.node for finding in diagnosis.findings if finding.where.node >= 0]
    metrics = list(dict.fromkeys(item.metric for item in diagnosis.evidence if item.metric in profile.metrics))
    opaque = None
    if profile.time is not None:
        call = facts.activities.call
        opaque = (call >= 0) & (call != np.arange(len(call)))
        if profile.timed:  # who instruments calls measures each for itself, also one inside another
            label = profile.tree.function_labels[0]
            opaque &= ~profile.tree.where_name(is_interface) | (label == label[np.maximum(call, 0)])
    result = prune(
        profile,
        focus=focus,
        metrics=[name for name in metrics if name],
        token_budget=tokens,
        opaque=opaque,
    )
    return replace(result, metrics_before=sum(metric.has_values for metric in profile.metrics.values()))


# -- records -------------------------------------------------------------------------------------------------


def _profile_record(profile: Profile, facts: Facts, diagnosis: Diagnosis) -> ProfileRecord:
    return ProfileRecord(
        format=profile.format,
        paths=[clean(str(source.path)) for source in profile.sources],
        title=profile.title,
        shape=profile.shape,
        run=run_facts(profile, facts.samples if facts.has_host_time else None),
        contexts=len(profile.tree),
        locations=len(profile.where),
        # A derived metric may have no value for the whole run (NaN, which JSON cannot say).
        metrics=[
            MetricRecord(id=metric.id, source_name=metric.source_name, unit=metric.unit.value, total=total)
            for metric in profile.metrics.values()
            if metric.has_values and not metric.hidden and isfinite(total := profile.total(metric.id))
        ],
        caveats=list(profile.caveats),
        not_collected=dict(diagnosis.not_collected),
    )


def _source_line(profile: Profile, place: Place) -> str | None:
    """The line of source at a place, where it came with the profile and is not empty; of Fortran with the lines that it continues."""
    if place.node < 0 or not place.file or not place.line:
        return None
    before = _CONTINUED if language_of(place.file) == "fortran" else 0
    excerpt = profile.read_source(place.file, place.line, before)
    lines = [] if excerpt is None else [line.strip() for line in excerpt.lines[: place.line - excerpt.first + 1]]
    text = lines.pop() if lines else ""
    while lines and lines[-1].endswith("&"):
        text = f"{lines.pop()[:-1].lstrip('&').rstrip()} {text.lstrip('&').lstrip()}"
    return text[:LONGEST_SOURCE_LINE] or None


def _finding_record(profile: Profile, finding: Finding, change: ChangeRecord | None) -> FindingRecord:
    found = FindingRecord.model_validate(finding)
    return found.model_copy(update={"source": _source_line(profile, finding.where), "change": change})


def _tree_record(profile: Profile, pruning: PruningResult) -> TreeRecord | None:
    from chathpc.pruners.outline import outline

    if pruning.metric is None:
        return None
    return TreeRecord(
        metric=pruning.metric,
        unit=profile.metrics[pruning.metric].unit.value,
        total=pruning.pruned.totals[pruning.metric],
        rows=[TreeRow.model_validate(row) for row in outline(pruning.pruned, pruning.metric)],
    )


def _versions(profile: Profile) -> dict[str, str]:
    from chathpc import __version__

    tools = {source.tool: source.version for source in profile.sources if source.version}
    return {"chathpc": __version__, **tools, "numpy": np.__version__}
