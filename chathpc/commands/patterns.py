"""`chathpc patterns`: the catalogue of performance problems, to read and to search."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from chathpc.commands.options import patterns_option
from chathpc.commands.output import answer, output_options, style_for

if TYPE_CHECKING:
    from chathpc.diagnosis.catalogue.entry import Cause


@click.group("patterns")
def command() -> None:
    """Look up why programs are slow, and what to do.

    The catalogue behind the findings: signs, what speaks against them, the possible gain, advice, thresholds with their
    sources. Patterns of your own are read from the folder 'patterns' next to your config.yaml (docs/patterns.md).

    For example: chathpc patterns search false sharing
    """


@command.command("list")
@click.option("--family", metavar="NAME", help="Only one family: host, openmp, mpi, gpu-system, gpu-kernel.")
@patterns_option
@output_options(("text", "json"))
def list_patterns(family: str | None, patterns: Path | None, form: str, output: str | None) -> None:
    """List all patterns by family.

    For example: chathpc patterns list --family openmp
    """
    from chathpc.diagnosis.catalogue import causes
    from chathpc.diagnosis.catalogue.entry import FAMILIES
    from chathpc.errors import UsageError

    if family is not None and family not in FAMILIES:
        raise UsageError(f"There is no family '{family}'.", hint=f"Families are {', '.join(FAMILIES)}.")
    with _catalogue(patterns):
        chosen = [cause for cause in causes() if family in (None, cause.family)]
    if form == "json":
        answer(_json([_summary(cause) for cause in chosen]), output)
        return
    from chathpc.reports.pattern import listing

    answer(listing(chosen, style_for(output)), output)


@command.command("show")
@click.argument("name", metavar="ID")
@patterns_option
@output_options(("text", "json"))
def show(name: str, patterns: Path | None, form: str, output: str | None) -> None:
    """Show one pattern in full.

    For example: chathpc patterns show omp-load-imbalance
    """
    from chathpc.diagnosis.catalogue import cause

    with _catalogue(patterns):
        entry = cause(name)
    if form == "json":
        answer(_json(_entry(entry)), output)
        return
    from chathpc.reports.pattern import entry_text

    answer(entry_text(entry, style_for(output)), output)


@command.command("search")
@click.argument("words", metavar="WORDS...", nargs=-1, required=True)
@click.option("-n", "most", metavar="N", type=click.IntRange(min=1), default=10, show_default=True, help="At most N.")
@patterns_option
@output_options(("text", "json"))
def search(words: tuple[str, ...], most: int, patterns: Path | None, form: str, output: str | None) -> None:
    """Find patterns by words in their titles, symptoms and advice, best match first.

    Exits with 1 where nothing is found.

    For example: chathpc patterns search slow allreduce
    """
    from chathpc.diagnosis.catalogue import causes
    from chathpc.diagnosis.catalogue.search import search as find
    from chathpc.errors import ChathpcError

    with _catalogue(patterns):
        hits = find(words, causes())[:most]
    if form == "json":
        found = [
            {**_summary(hit.cause), "score": round(hit.score, 3), "words": list(hit.words), "text": hit.text}
            for hit in hits
        ]
        answer(_json(found), output)
    else:
        from chathpc.reports.pattern import hits_text

        answer(hits_text(hits, style_for(output)) if hits else "", output)
    if not hits:
        raise ChathpcError(
            f"No pattern matches: {' '.join(words)}.", hint="Use other words, or 'chathpc patterns list'."
        )


@contextmanager
def _catalogue(patterns: Path | None) -> Iterator[None]:
    from chathpc.diagnosis.catalogue import extended
    from chathpc.llm.settings import patterns_folder

    with extended(patterns_folder(patterns)):
        yield


def _summary(cause: Cause) -> dict[str, object]:
    return {
        "id": cause.id,
        "title": cause.title,
        "family": cause.family,
        "detected": cause.detected,
        "headroom": cause.headroom,
        "origin": list(cause.origin),
    }


def _entry(cause: Cause) -> dict[str, object]:
    """All fields of an entry as plain values."""
    return {
        **_summary(cause),
        "what": cause.what,
        "why": cause.why,
        "evidence": list(cause.evidence),
        "speaks_against": list(cause.speaks_against),
        "gain": cause.gain,
        "headroom_source": cause.headroom_source,
        "thresholds": {
            name: {"value": each.value, "unit": each.unit, "source": each.source}
            for name, each in cause.thresholds.items()
        },
        "advice": [
            {
                "applies": list(each.applies),
                "do": each.do,
                "example": None
                if each.example_language is None
                else {"language": each.example_language, "before": each.example_before, "after": each.example_after},
            }
            for each in cause.advice
        ],
        "next_measurement": {"command": cause.next_measurement.command, "tells": cause.next_measurement.tells},
        "references": list(cause.references),
        "keywords": list(cause.keywords),
        "functions": list(cause.functions),
    }


def _json(content: object) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"
