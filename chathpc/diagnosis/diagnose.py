"""From a profile to a diagnosis: run the rules, drop what is redundant, rank by cost × headroom, number the
evidence.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import inf, isinf

import numpy as np

from chathpc.diagnosis.access_facts import access_evidence
from chathpc.diagnosis.catalogue import cause, common
from chathpc.diagnosis.catalogue.entry import DEVICE, LANGUAGES, OTHER, Cause
from chathpc.diagnosis.command import filled, named
from chathpc.diagnosis.compiled import units_of
from chathpc.diagnosis.cores import starved
from chathpc.diagnosis.coverage import HOST_TIME, not_collected
from chathpc.diagnosis.draft import BESIDE_HOT, UNEXPLAINED, Draft, confidence, samples_behind, share_error
from chathpc.diagnosis.fact import Fact
from chathpc.diagnosis.facts import Facts, language_in
from chathpc.diagnosis.gpu_tools import Vendor, fitted, in_words_of, vendor_of
from chathpc.diagnosis.insufficient import elsewhere, interpreted, nameless, only_start_up, too_brief
from chathpc.diagnosis.joined import disagreement_evidence, with_agreement, with_disagreements
from chathpc.diagnosis.measured_gains import typical_gain
from chathpc.diagnosis.parallel_facts import parallel_evidence, spread_evidence
from chathpc.diagnosis.path_facts import PathFacts, path_facts
from chathpc.diagnosis.phases import phase_facts
from chathpc.diagnosis.records import Diagnosis, Examined, Finding, Verdict
from chathpc.diagnosis.rules import (
    GROUPS,
    HOST_GROUP,
    KERNEL_GROUPS,
    TOTALS_GROUP,
    Group,
    examined,
    has_device_values,
    has_good_timeline,
)
from chathpc.diagnosis.rules.compiler import with_loops
from chathpc.diagnosis.rules.compiler_kernels import with_resources
from chathpc.diagnosis.rules.gpu_counters import undecided
from chathpc.diagnosis.rules.gpu_predicted import with_predictions
from chathpc.diagnosis.rules.growth import with_growth
from chathpc.diagnosis.rules.hot_spots import NO_CHANGE
from chathpc.diagnosis.rules.input_output_log import is_done, is_log, processes_of, too_little_io
from chathpc.diagnosis.rules.memory import leak
from chathpc.diagnosis.statistics import interval
from chathpc.diagnosis.timeline_facts import is_traced
from chathpc.diagnosis.timeline_words import too_little, window_note
from chathpc.diagnosis.tuned_libraries import for_callers
from chathpc.diagnosis.verdict import headline_of, headroom, is_limit, verdict_of
from chathpc.profile import numbers
from chathpc.profile.activity import OPENMP, Activity, is_outlined
from chathpc.profile.metric import Aggregation, Unit
from chathpc.profile.profile import Profile
from chathpc.profile.run import EXIT_CODE, OVERHEAD, PEAK_MEMORY, positive
from chathpc.profile.source_text import no_source

#: Findings whose functions' times are told over all threads.
_SPREADS = 2
NO_TIME = "The profile has no program time, so nothing can be said about what costs time."
COPIES_ALONE = (
    "Only device copies were recorded, no kernels: whether kernels overlapped them, and so what the copies cost, is unknown. "
    "Record kernels as well."
)
#: A report lists at most this many findings: the first is what to do, the tenth is noise.
MOST_FINDINGS = 8


def diagnose(profile: Profile, facts: Facts | None = None) -> Diagnosis:
    """Findings with evidence, and the verdict on the whole; deterministic. `facts` of the same profile are used if given."""
    facts = facts or Facts(profile)
    lacking = _insufficient(facts)
    drafts = [] if lacking else [draft for group in GROUPS if group.applies(facts) for draft in _drafts(facts, group)]
    if not drafts and not lacking and not has_any_time(facts):
        lacking = NO_TIME
    few = ""
    if lacking and profile.time is not None and facts.total and not profile.insufficient:
        drafts = list(leak(facts))  # which was counted, not sampled
        if drafts:
            few, lacking = lacking, ""
    sparse = bool(lacking or few)
    path = PathFacts() if sparse else path_facts(facts)
    beside = () if sparse else (*parallel_evidence(facts), *path.evidence, *phase_facts(facts))
    differing = disagreement_evidence(profile)
    explained = drafts if lacking else _with_device_source(facts, drafts)
    kept = _behind_idle_device(_without_redundant(explained))
    kept = with_predictions(facts, with_resources(facts, with_loops(facts, kept)))
    kept = kept if lacking else with_growth(facts, kept)
    found = _one_of_hot(_rank(with_disagreements(with_agreement(facts, kept), differing)))
    ranked = [in_own_words(facts, draft) for draft in found]
    findings, evidence = _number(
        facts, ranked[:MOST_FINDINGS], beside=(*beside, *_spreads(facts, ranked), *access_evidence(facts), *differing)
    )
    unjudged = undecided(profile, beside=True) if findings and not lacking else ""
    notes = tuple(filter(None, (few, *_notes(facts), path.note, unjudged, _counted(profile) if lacking else "")))
    verdict, why = (Verdict.INSUFFICIENT, lacking) if lacking else verdict_of(facts, ranked)
    if verdict in (Verdict.HEALTHY, Verdict.HOT_SPOT) and (
        unseen := interpreted(facts, next((each.where.function for each in ranked if each.cause in UNEXPLAINED), None))
    ):
        verdict, why = Verdict.INSUFFICIENT, unseen
    diagnosis = Diagnosis(
        verdict=verdict,
        headline=why,
        findings=findings,
        evidence=evidence,
        notes=notes,
        not_collected={**(_again(facts) if sparse else {}), **not_collected(profile)},
        examined=Examined() if lacking else examined(facts),
    )
    if not why:
        why = findings[0].summary if diagnosis.blames else headline_of(facts, findings)
    return _for_program(profile, replace(diagnosis, headline=why, notes=tuple(note for note in notes if note != why)))


def _for_program(profile: Profile, found: Diagnosis) -> Diagnosis:
    """The diagnosis with its commands for the program of the profile."""
    skipped = tuple(replace(each, remedy=filled(profile, each.remedy)) for each in found.examined.skipped)
    return replace(
        found,
        headline=named(profile, found.headline),
        findings=tuple(
            replace(
                each, next_measurement=filled(profile, each.next_measurement or "", each.where.function or "") or None
            )
            for each in found.findings
        ),
        not_collected={what: filled(profile, command) for what, command in found.not_collected.items()},
        examined=replace(found.examined, skipped=skipped),
    )


def _insufficient(facts: Facts) -> str:
    """Why nothing can be concluded, as a sentence; empty where something can."""
    profile = facts.profile
    if profile.insufficient:
        return profile.insufficient
    if facts.has_host_time or has_good_timeline(facts):
        alone = facts.has_host_time and facts.timeline is None and not has_device_values(facts)
        return (too_brief(facts) or only_start_up(facts) or nameless(facts) or elsewhere(facts)) if alone else ""
    if facts.timeline is not None and facts.timeline.lack is not None:
        return too_little(facts.timeline, facts.timeline.lack)
    if has_device_values(facts):
        return COPIES_ALONE if _only_copies(profile) else undecided(profile)
    if is_log(facts):
        return too_little_io(facts)
    if is_traced(profile):
        return "Nothing ran on a GPU during the recording, so nothing can be said about what costs time there."
    if (
        profile.time is None or not facts.total or isinf(facts.samples)
    ):  # measured, but only of calls of a GPU's runtime
        return NO_TIME
    how = " (hpcrun -e REALTIME@1000)" if profile.format.startswith("HPCToolkit") else ""
    # chathpc measure has sampled as often as its tool does for a run so short.
    often = "" if PEAK_MEMORY in profile.run else f", or sample more often{how}"
    counted = numbers.count(round(facts.samples))
    return f"About {counted} samples are too few for any percentage: run longer{often}."


def _again(facts: Facts) -> Mapping[str, str]:
    """How a program is measured of which too little was, or what no reader knows how to add; nothing of what is only a log."""
    profile = facts.profile
    sampled = not profile.insufficient and profile.time is not None and profile.time.id in HOST_TIME
    more = " (With more to do: a larger problem, or more steps.)" if sampled and PEAK_MEMORY in profile.run else ""
    return (
        {"what takes the time": f"chathpc measure -- ./app{more}"}
        if (sampled or not profile.not_collected) and not is_log(facts)
        else {}
    )


def _only_copies(profile: Profile) -> bool:
    """True if of devices the sums of copies are told and nothing else; HPCToolkit always records kernels beside them."""
    if not profile.timed:
        return False
    told = {name for name, metric in profile.metrics.items() if metric.has_values and name.startswith("gpu.")}
    return any(name.startswith("gpu.copy.") for name in told) and not any(
        name.startswith("gpu.kernel.") for name in told
    )


def has_any_time(facts: Facts) -> bool:
    """True if time was measured of threads that work, or of devices."""
    return facts.has_host_time or _has_device_time(facts.profile) or has_good_timeline(facts) or is_log(facts)


def _drafts(facts: Facts, group: Group) -> Iterable[Draft]:
    """What the rules of a group find, weighed by the timeline where there is one.

    Work of the host beside a busy device costs nothing: of findings in host time only the part counts in which devices wait
    for the host. Of findings inside kernels, whose shares are of kernel time, the part counts in which kernels compute.
    """
    found: Iterable[Draft] = (draft for rule in group.rules() for draft in rule(facts))
    if group.name == HOST_GROUP and facts.profile.read_source is not no_source:
        from chathpc.diagnosis.rules.source import with_source

        found = with_source(facts, list(found))
    if group.name == HOST_GROUP and facts.profile.sampled_code:
        from chathpc.diagnosis.rules.machine_code import with_machine_code

        found = with_machine_code(facts, list(found))
    if not has_good_timeline(facts):
        return _in_run(facts, found) if group.name in (TOTALS_GROUP, *KERNEL_GROUPS) else found
    if group.name not in (HOST_GROUP, *KERNEL_GROUPS):
        return found
    if group.name == HOST_GROUP:
        part = facts.gaps.host_share
        doubt = f"The device waits for the host's own work in {numbers.percent(part)} of the window; host work that overlaps a busy device costs nothing."
        return (
            draft
            if draft.impact is not None
            else replace(draft, headroom=headroom(draft) * part, against=(*draft.against, doubt))
            for draft in found
        )
    part = facts.traced.share(facts.traced.computing)
    return (
        draft if draft.impact is not None else replace(draft, share=draft.share * part, threshold=draft.asked * part)
        for draft in found
    )


def _in_run(facts: Facts, found: Iterable[Draft]) -> Iterable[Draft]:
    """What was found in the time of devices, weighed by the part of the run in which they work at most; without what is hardly any of it."""
    part, least = facts.device_part, common()["hardly_any"].value
    for draft in found:
        if part == 1.0 or draft.impact is not None or draft.cause == "gpu-idle-host-bound":
            yield draft
        elif draft.share * part >= least:
            yield replace(draft, headroom=headroom(draft) * part)


def _with_device_source(facts: Facts, drafts: list[Draft]) -> list[Draft]:
    """`drafts` with what the source of hot kernels and of the host's calls says, where there is source; of new findings about
    kernels the part counts in which kernels compute.
    """
    if facts.profile.read_source is no_source or not has_device_values(facts):
        return drafts
    from chathpc.diagnosis.rules.gpu_source import with_kernel_source
    from chathpc.diagnosis.rules.gpu_source_host import with_host_calls

    computing = facts.traced.share(facts.traced.computing) if has_good_timeline(facts) else 1.0
    return with_host_calls(facts, with_kernel_source(facts, drafts, computing))


def _weight(draft: Draft) -> float:
    return draft.impact if draft.impact is not None else draft.share * headroom(draft)


def _without_redundant(drafts: Sequence[Draft]) -> list[Draft]:
    """Drop findings that another one names as replaced, and hot code that is already the place of a real finding."""
    replaced = {name for draft in drafts for name in draft.replaces}
    kept = [draft for draft in drafts if draft.cause not in replaced]
    worth = common()["verdict_weight"].value
    places = {
        draft.where.function
        for draft in kept
        if draft.cause not in UNEXPLAINED
        and (_weight(draft) >= worth if draft.cause in BESIDE_HOT else _weight(draft) > 0)
    }
    return [draft for draft in kept if draft.cause not in UNEXPLAINED or draft.where.function not in places]


def _behind_idle_device(drafts: Sequence[Draft]) -> list[Draft]:
    """Where a device waits for the host, what the host spends its time on explains that, and stands behind it."""
    behind = common()["behind"].value
    limit = min((_weight(draft) * behind for draft in drafts if draft.cause == "gpu-idle-host-bound"), default=inf)
    return [
        draft
        if draft.impact is not None or draft.samples == 0 or cause(draft.cause).family.startswith("gpu-")
        else replace(draft, impact=min(_weight(draft), limit))
        if _weight(draft) > limit
        else draft
        for draft in drafts
    ]


def _rank(drafts: Iterable[Draft]) -> list[Draft]:
    return sorted(drafts, key=lambda draft: (-_weight(draft), -draft.share, draft.cause, str(draft.where.function)))


def _one_of_hot(ranked: list[Draft]) -> list[Draft]:
    """`ranked` with what computes in one entry, that of its hottest place; the others stand behind it as evidence."""
    hot = [draft for draft in ranked if draft.cause == "hot-compute"]
    if len(hot) < 2:
        return ranked
    first = hot[0]
    others = (
        f"{draft.where.short}: {draft.advice[0]}"
        for draft in hot[1:]
        if draft.advice and draft.advice[0] not in first.advice
    )
    whole = replace(
        first,
        advice=(*first.advice, *(others if first.own_advice else ())),
        evidence=(*first.evidence, *(item for draft in hot[1:] for item in draft.evidence)),
        summary=f"{first.summary} {' '.join(draft.summary for draft in hot[1:])}",
        against=tuple(dict.fromkeys(item for draft in hot for item in draft.against)),
        suspected=tuple(dict.fromkeys(item for draft in hot for item in draft.suspected)),
        next_measurement=next((draft.next_measurement for draft in hot if draft.next_measurement), None),
    )
    return [whole if draft is first else draft for draft in ranked if draft is first or draft.cause != "hot-compute"]


def _spreads(facts: Facts, drafts: Sequence[Draft]) -> tuple[Fact, ...]:
    """How the time of the functions of the first findings is spread over the program's threads."""
    return () if facts.profile.time is None else spread_evidence(facts, [each.where.node for each in drafts[:_SPREADS]])


def _number(
    facts: Facts, drafts: Sequence[Draft], beside: Sequence[Fact]
) -> tuple[tuple[Finding, ...], tuple[Fact, ...]]:
    """Findings with the ids of their evidence; facts that say the same share one id. `beside` is evidence that
    is told in any case.
    """
    evidence: dict[tuple[object, ...], Fact] = {}
    findings = []
    for draft in drafts:
        ids = []
        for item in draft.evidence:
            known = evidence.get(item.says)
            if known is None:
                known = evidence[item.says] = replace(item, id=f"E{len(evidence) + 1}")
            ids.append(known.id)
        findings.append(_finding(facts, draft, tuple(dict.fromkeys(ids))))
    for item in beside:
        if item.says not in evidence:
            evidence[item.says] = replace(item, id=f"E{len(evidence) + 1}")
    return tuple(findings), tuple(evidence.values())


def _finding(facts: Facts, draft: Draft, ids: tuple[str, ...]) -> Finding:
    entry = cause(draft.cause)
    part = headroom(draft)
    probability, reason = confidence(facts, draft)
    gpu = entry.family.startswith("gpu-")
    on_device = draft.samples is not None and (gpu or (draft.samples == 0 and facts.timeline is not None))
    timed = _has_device_time(facts.profile) if on_device else facts.in_seconds
    at_place = max(_inclusive_share(facts, draft, on_device), min(draft.share, 1.0))
    # Work at a limit of the machine is helped by what helps the work.
    suspects = [each for each in draft.suspected if not is_limit(each)]
    behind = samples_behind(facts, draft) or inf
    bound = _speedup(_at_most(_removable(facts, draft, entry, at_place), behind))
    return Finding(
        cause=draft.cause,
        title=draft.title or _title(entry, draft.share),
        summary=draft.summary,
        where=draft.where,
        seconds=draft.cost if timed else None,
        share=draft.share,
        headroom=part,
        speedup_bound=None if facts.unseen else bound,  # a part of what was seen says little of the whole
        speedup_if_free=_speedup(at_place),
        # What takes the rest of the time stays: repairs gave more only where their cause cost more.
        typical_gain=typical_gain(draft.cause, bound or _speedup(_at_most(min(draft.share, 1.0), behind))),
        confidence=probability,
        confidence_reason=reason,
        evidence=ids,
        against=draft.against,
        advice=_of_callers(draft, entry)
        or tuple(
            dict.fromkeys(
                (
                    *(each for suspect in suspects for each in _catalogue(facts, draft, cause(suspect))),
                    *(() if suspects and draft.advice == NO_CHANGE else draft.advice),
                    *([] if draft.own_advice else _fitting(draft, _catalogue(facts, draft, entry))),
                )
            )
        ),
        impact=draft.impact,
        share_error=share_error(facts, draft),
        next_measurement=draft.next_measurement
        or fitted(facts.profile, entry.next_measurement, draft.where.kernel or ""),
        suspected=draft.suspected,
        origin="source" if draft.derived else "profile",
        status="derived" if draft.derived else "measured",
    )


def _title(entry: Cause, share: float) -> str:
    """The cause's title, which says "most" of no less than half."""
    return entry.title if share >= common()["most"].value else entry.title.replace(" most of ", " much of ")


def _speedup(removed: float) -> float | None:
    """Speed-up of the run without a part of it (0..1); Amdahl, AFIPS 1967. None where nothing goes, or nothing is left."""
    return 1 / (1 - removed) if 0 < removed < 1 else None


def _at_most(share: float, samples: float) -> float:
    """The largest share (0..1) that so many samples of it do not exclude; the share itself where it is nothing, or all."""
    return interval(share, samples, common()["bound_sigma"].value)[1] if 0 < share < 1 else share


def _removable(facts: Facts, draft: Draft, entry: Cause, at_place: float) -> float:
    """The part of the run (0..1) that a repair can remove at most; 0 where the catalogue states no bound. `at_place` is that of the place's
    function with all that it calls.
    """
    if entry.bound == "none" or draft.impact is not None or headroom(draft) <= 0:
        return 0.0
    if draft.removable is not None:
        return draft.removable
    return at_place if entry.bound == "place" else draft.share


def _inclusive_share(facts: Facts, draft: Draft, on_device: bool) -> float:
    """The part of the run (0..1) that the function of a finding's place has with all that it calls, recursion counted once; that of the
    cost where the place has no host time, or is one call in the function.
    """
    tree, node = facts.profile.tree, draft.where.node
    if on_device or node < 0 or draft.cause == "library-call" or tree.function[node] < 0 or not facts.has_host_time:
        return draft.share
    label, _ = tree.function_labels
    inside = tree.outermost(np.flatnonzero(label == label[tree.function[node]]).astype(np.int32))
    return float(facts.inclusive[inside].sum()) / facts.total


def _of_callers(draft: Draft, entry: Cause) -> tuple[str, ...]:
    """Advice about the call, where a library brings the kernel; where data are, and of which type, its callers can change as advised to all."""
    if entry.family != "gpu-kernel" or "data-type" in entry.traits or (draft.own_advice and draft.title):
        return ()
    return for_callers(draft.where.kernel or "")


def _catalogue(facts: Facts, draft: Draft, entry: Cause) -> tuple[str, ...]:
    """What the catalogue advises; to those who write PyTorch nothing that only those can do who write kernels, unless there is nothing
    else.
    """
    models = models_of(facts, draft.where.file or "")
    node, computes = draft.where.node, entry.id == "hot-compute"
    # A region of a team of one.
    alone = computes and facts.thread_count == 1 and node >= 0 and is_outlined(facts.profile.tree.function_name(node))
    if computes and (alone or _on_all_threads(facts, draft)):
        models = tuple(each for each in models if each != "openmp")
    if entry.family == "openmp" and "openmp" not in models and not any(map(is_outlined, facts.profile.tree.names)):
        models += ("pthreads",)
    if models == ("python",):
        own = tuple(each.do for each in entry.matching(*models) if {"python", "any"} & set(each.applies))
        if own:
            return own
    vendor = vendor_of(facts.profile) if entry.family.startswith("gpu-") else None
    if vendor is not None:  # of what its own language does not do, what is for this maker's devices
        models = tuple(dict.fromkeys((*models, _MODELS[vendor])))
    fits = entry.advice_for(*models) or entry.advice_for(*(each for each in models if each != OTHER))
    advice = tuple(in_words_of(vendor, sentence) for sentence in fits if not is_done(facts, sentence))
    if any(unit.is_tuned for unit in units_of(facts.profile.build, draft.where.file or "")):
        advice = tuple(each[:1].upper() + each[1:] for each in (_NOT_YET.sub("", sentence) for sentence in advice))
    if entry.family.startswith("gpu-") and any(map(_REPLAYS.match, facts.profile.tree.names)):
        advice = tuple(sentence for sentence in advice if "GraphLaunch" not in sentence)
    return (*advice, _MORE_THREADS) if alone else advice


def _fitting(draft: Draft, advice: tuple[str, ...]) -> tuple[str, ...]:
    """What of the catalogue's advice is for what was seen; all where none is."""
    return tuple(each for each in advice if re.search(draft.fits, each, re.IGNORECASE)) or advice


#: What is advised to those only who have not done it, in front of what is advised to all.
_NOT_YET = re.compile(r"^Compile .*, if it is not yet, and ")
_MORE_THREADS = (
    "This is an OpenMP region already, which one thread ran: use more threads (OMP_NUM_THREADS) if there are cores."
)


def _on_all_threads(facts: Facts, draft: Draft) -> bool:
    """True if threads share the work of a place already; how evenly is for other rules to tell."""
    tree, node = facts.profile.tree, draft.where.node
    if node < 0 or tree.function[node] < 0 or facts.thread_count <= 1:
        return False
    mine = facts.in_function(int(tree.function_labels[0][tree.function[node]]), facts.time)
    times = facts.grouped(np.where(mine > 0, 0, -1).astype(np.int32), 1)
    return float(times.mean()) > common()["most"].value * float(times.max())  # of two threads one alone is the half


def in_own_words(facts: Facts, draft: Draft) -> Draft:
    """The finding in the words of the device's maker, if it is about a device."""
    vendor = vendor_of(facts.profile) if cause(draft.cause).family.startswith("gpu-") else None
    if vendor not in (Vendor.AMD, Vendor.INTEL):
        return draft

    def own(text: str) -> str:
        return in_words_of(vendor, text)

    def told(item: Fact) -> Fact:
        whole = item.whole and replace(item.whole, of=own(item.whole.of))
        return replace(item, subject=own(item.subject), text=own(item.text), unit=own(item.unit), whole=whole)

    return replace(
        draft, summary=own(draft.summary), against=tuple(map(own, draft.against)), advice=tuple(map(own, draft.advice)),
        evidence=tuple(map(told, draft.evidence)),
    )  # fmt: skip


def _has_device_time(profile: Profile) -> bool:
    return profile.has("gpu.time") or profile.has("gpu.kernel.time")


def models_of(facts: Facts, file: str = "") -> tuple[str, ...]:
    """Language of a place's file and programming models of the program, for choosing advice."""
    models: list[str] = []
    language = language_in(facts.profile.tree, file)
    models += [language] if language else []
    if facts.profile.time is not None and facts.total:
        if facts.spent(*OPENMP):
            models.append("openmp")
        if facts.spent(Activity.MPI, Activity.MPI_SETUP):
            models.append("mpi")
    if is_log(facts) and processes_of(facts.profile) > 1:
        models.append("mpi")
    if _calls(facts, _PYTORCH):
        models.append("python")  # whose user writes no calls of the device's runtime
    else:
        models += [model for model, prefixes in _DEVICE_CALLS.items() if _calls(facts, prefixes)]
        vendor = vendor_of(facts.profile)
        models += [_MODELS[vendor]] if vendor is not None else []
    # HPC programs are compiled from these, and what is for devices is C++.
    models += [] if LANGUAGES & {*models} or DEVICE & {*models} else ["c", "c++", "fortran"]
    return tuple(dict.fromkeys(models))


#: Calls by which a program replays a graph of operations; who does so need not be told to.
_REPLAYS = re.compile(r"(cuda|cu|hip)GraphLaunch")
#: How the names of PyTorch's operators begin.
_PYTORCH = ("aten::",)
#: Device model → how the names of its runtime's functions begin.
_DEVICE_CALLS = {"cuda": ("cuda", "__cuda"), "hip": ("hip", "__hip"), "openmp-target": ("__tgt_", "omp_target")}

#: What a maker's devices are programmed in, where calls do not tell.
_MODELS = {Vendor.NVIDIA: "cuda", Vendor.AMD: "hip", Vendor.INTEL: "sycl"}


def _calls(facts: Facts, prefixes: tuple[str, ...]) -> bool:
    """True if a function with one of the prefixes stands in the tree."""
    return any(name.startswith(prefixes) for name in facts.profile.tree.names)


def _failed(profile: Profile) -> str:
    """That the program did not end well, which a profile of what it did until then does not show; empty where it did, as far as is known."""
    code = profile.run.get(EXIT_CODE)
    if code is None:
        return ""
    known = {-each.value: f"signal {each.value} ({each.name})" for each in signal.Signals}
    return f"The program failed: it ended with {known.get(int(code), f'status {code}')}. What it would have done after that is not in the profile."


def _counted(profile: Profile) -> str:
    """What was counted of memory and files, for which the number of samples does not matter, as a sentence; empty where nothing was."""
    told = [
        f"{metric.description.partition(' (')[0]}: {numbers.quantity(amount, metric.unit.value)}"
        for metric in profile.metrics.values()
        if metric.id.startswith(("memory.", "io."))
        and metric.unit == Unit.BYTES
        and metric.aggregation == Aggregation.SUM
        if metric.has_values and not metric.hidden and (amount := profile.total(metric.id)) > 0
    ]
    return f"Counted, not sampled: {'; '.join(told)}." if told else ""


def _notes(facts: Facts) -> Iterator[str]:
    """What a reader should know about the numbers; some may be empty."""
    yield _failed(facts.profile)
    if has_good_timeline(facts):
        yield window_note(facts.traced, prepared=facts.gaps.prepared_share > 0)
    # Before what is left out: times that lacked cores tell less of the program.
    no_core = starved(facts) if facts.profile.time is not None and facts.total else ""
    yield from (no_core, facts.profile.helpers.sentence)
    if facts.unseen:
        location, seen, passed = max(facts.unseen, key=lambda each: each[2] - each[1])
        label, others = facts.profile.where.label(location), len(facts.unseen) - 1
        also = f" ({numbers.count(others)} more also lack some)" if others else ""
        yield (
            f"{label[:1].upper()}{label[1:]} has samples for {numbers.seconds(seen)} of the {numbers.seconds(passed)} from its first to its last{also}: "
            "what it did in the rest is unknown, shares are of what was seen, and gains have no bound."
        )
    overhead = positive(facts.profile.run.get(OVERHEAD, ""))
    # Where threads had no core, what made the run longer is not known to be the profiler.
    if overhead is not None and overhead >= common()["overhead_note"].value and not no_core:
        yield f"Measuring made the run {numbers.number(1 + overhead)} times as long: what is short and frequent, such as system calls, looks larger than it is."
    setup = 0.0 if facts.profile.time is None else facts.share(Activity.MPI_SETUP)
    if setup > common()["set_up_note"].value:
        yield f"MPI start-up and shutdown take {numbers.percent(setup)} of the time; they matter less in longer runs."
