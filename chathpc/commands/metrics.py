"""`chathpc metrics`."""

from __future__ import annotations

import json
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

import click

from chathpc.commands.allocation import keep_freed_memory
from chathpc.commands.options import PROFILE, all_threads_option, quiet_option
from chathpc.commands.output import answer, check_output, output_options, style_for
from chathpc.commands.progress import Progress

if TYPE_CHECKING:
    from chathpc.profile.profile import Profile
    from chathpc.reports.style import Style


@click.command("metrics")
@click.argument("path", type=PROFILE)
@all_threads_option
@output_options(("text", "json"))
@quiet_option
def command(path: Path, all_threads: bool, form: str, output: str | None, quiet: bool) -> None:
    """List what was measured, and where.

    For example: chathpc metrics hpctoolkit-app-database
    """
    check_output(output, [path])
    with Progress(quiet=quiet) as progress:
        progress("reading the profile")
        keep_freed_memory([path])
        import chathpc

        profile = chathpc.load(path)
        profile = profile.everything if all_threads else profile
        text = _json(profile) if form == "json" else _text(profile, style_for(output))
    answer(text, output)


def _spread(profile: Profile) -> dict[str, float] | None:
    """Smallest, mean and largest total of the time over the locations that have any; None where one has those of several added up."""
    import numpy as np

    from chathpc.profile.profile import RANKS_ADDED, THREADS_ADDED

    if profile.time is None or profile.told(RANKS_ADDED) > 1 or profile.told(THREADS_ADDED) > 1:
        return None
    totals = profile.location_totals(profile.time.id)
    timed = np.isfinite(totals)
    ranks, totals = profile.where.rank[timed & ~profile.where.is_gpu], totals[timed]
    if len(totals) == 0 or ((ranks < 0).any() and (ranks >= 0).any()):
        return None
    return {"count": len(totals), "min": float(totals.min()), "mean": float(totals.mean()), "max": float(totals.max())}


def _json(profile: Profile) -> str:
    from dataclasses import asdict

    from chathpc.diagnosis.command import filled
    from chathpc.diagnosis.facts import Facts
    from chathpc.profile.run import run_facts

    facts = Facts(profile)
    metrics = [
        {
            "id": metric.id,
            "source_name": metric.source_name,
            "unit": metric.unit.value,
            "total": total if metric.has_values and isfinite(total := profile.total(metric.id)) else None,
            "description": metric.description,
        }
        for metric in profile.metrics.values()
    ]
    content = {
        "schema": "chathpc-metrics/1",
        "title": profile.title,
        "format": profile.format,
        "contexts": len(profile.tree),
        "shape": profile.shape,
        "run": asdict(run_facts(profile, facts.samples if facts.has_host_time else None)),
        "metrics": metrics,
        "locations": {"count": len(profile.where), "time": _spread(profile)},
        "caveats": list(profile.caveats),
        "not_collected": {what: filled(profile, how) for what, how in profile.not_collected.items()},
    }
    return json.dumps(content, indent=2) + "\n"


def _text(profile: Profile, style: Style) -> str:
    from chathpc.diagnosis.command import filled
    from chathpc.profile import numbers
    from chathpc.profile.run import run_facts, run_words
    from chathpc.reports.page import Page

    page = Page(style)
    contexts = numbers.quantity(len(profile.tree), "contexts")
    words = (profile.title, profile.format, *run_words(run_facts(profile)), contexts)
    page.paragraph(" · ".join(words), indent=0, style="dim")
    if profile.helpers.sentence:
        page.paragraph(profile.helpers.sentence, indent=0, style="dim")
    page.blank()
    rows = []
    time = profile.time.id if profile.time is not None else ""
    shown = [one for one in profile.metrics.values() if not one.hidden]
    for metric in sorted((one for one in shown if one.has_values), key=lambda one: (one.id != time, one.id)):
        value = profile.total(metric.id)
        # What has a value for each kernel, such as its registers, has none for the run.
        total = numbers.quantity(value, metric.unit.value) if isfinite(value) else "no total"
        rows.append((metric.id, metric.source_name, metric.unit.value, total))
    page.table(("metric", "name in the source", "unit", "total"), rows, right="total", whole="metric")
    empty = sorted(one.id for one in shown if not one.has_values)
    if empty:
        page.blank()
        page.paragraph(", ".join(empty), label="No values")
    spread = _spread(profile)
    if spread is not None and profile.time is not None:
        page.heading("Locations")
        low, mean, high = (numbers.quantity(spread[key], profile.time.unit.value) for key in ("min", "mean", "max"))
        count = numbers.count(spread["count"])
        page.paragraph(f"{count} with {profile.time.title}: min {low}, mean {mean}, max {high}.")
    page.section("Bear in mind", profile.caveats)
    if profile.not_collected:
        page.heading("Not collected", "what would show it")
        for missing, how in profile.not_collected.items():
            page.remedy(missing, filled(profile, how), "")
    return page.text()
