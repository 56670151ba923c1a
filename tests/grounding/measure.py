"""How well the claim check tells right from wrong: `python -m tests.grounding.measure [-v] [seen|held-out]`.

A false sentence is caught if it is struck or repaired; a sound one is lost if it is struck or changed. The sentences of
labelled.yaml, practice.yaml and corpus/ are seen: the checker was made with them. Those of fresh/ are held out: somebody else wrote
and labelled them without reading the checker, and other sentences of the same author were opened (moved to corpus/), those on other
diagnoses. A sentence is sound if all that it claims follows from its diagnosis (evidence, findings, notes,
what the catalogue says of their causes) or from arithmetic on it; what is only true in general is unsupported. Sentences whose label
can be argued about are left out. The rates are also given for the sentences that the default local model wrote (asked as in `explain`), for those that a
large model wrote as answers to eight kinds of readers (`assistant`), and for those that a person wrote. -v lists what went wrong among the
seen ones and never the others: whoever works on the checker must not look into fresh/.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from chathpc.diagnosis.fact import Fact, Kind
from chathpc.diagnosis.records import Diagnosis, Finding, Place, Verdict
from chathpc.grounding import Checker, Sentence
from tests.grounding.diagnoses import DIAGNOSES

LABELLED = Path(__file__).parent / "labelled.yaml"
PRACTICE = Path(__file__).parent / "practice.yaml"
CORPUS = Path(__file__).parent / "corpus"
FRESH = Path(__file__).parent / "fresh"
SOUND = "sound"
HALVES = ("seen", "held-out")


@dataclass(frozen=True)
class Labelled:
    half: str
    diagnosis: str
    label: str
    text: str
    meant: str | None = None
    author: str = "written"


@dataclass(frozen=True)
class Outcome:
    labelled: Labelled
    result: Sentence | None

    @property
    def status(self) -> str:
        return self.result.status if self.result else "struck"

    @property
    def right(self) -> bool:
        if self.labelled.label == SOUND:
            return self.status == "supported"
        return self.status != "supported"

    @property
    def repaired_as_meant(self) -> bool:
        return self.result is not None and self.status == "repaired" and self.result.text == self.labelled.meant


@cache
def _yaml(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def _place(data: dict[str, Any] | None) -> Place | None:
    return None if data is None else Place(**data)


@cache
def diagnosis(name: str) -> Diagnosis:
    """The evidence set `name`: one of diagnoses.py, or of a file of corpus/ or fresh/, none of which share a name."""
    if name in DIAGNOSES:
        return DIAGNOSES[name]()
    folder = next(folder for folder in (CORPUS, FRESH) if (folder / f"{name}.yaml").exists())
    data = _yaml(folder / f"{name}.yaml")["diagnosis"]
    findings = tuple(
        Finding(
            **{
                **{"seconds": None, "speedup_bound": None},
                **finding,
                "where": _place(finding["where"]),
                **{key: tuple(finding[key]) for key in ("evidence", "against", "advice")},
            }
        )
        for finding in data["findings"]
    )
    evidence = tuple(_fact(item) for item in data["evidence"])
    return Diagnosis(Verdict(data["verdict"]), data["headline"], findings, evidence, tuple(data["notes"]))


def _fact(item: Mapping[str, Any]) -> Fact:
    """A fact of the corpus, which holds ready sentences."""
    rest = {key: value for key, value in item.items() if key != "statement"}
    return Fact(**{**rest, "kind": Kind.REMARK, "text": item["statement"], "where": _place(item.get("where"))})


def labelled(half: str | None = None) -> list[Labelled]:
    return [
        item
        for item in (*_earlier(), *_practice(), *_files(CORPUS, "seen"), *_files(FRESH, "held-out"))
        if half in (None, item.half)
    ]


def _earlier() -> Iterable[Labelled]:
    for diagnoses in _yaml(LABELLED).values():
        for name, labels in diagnoses.items():
            for label, items in labels.items():
                for item in items:
                    yield Labelled("seen", name, label, *(item if isinstance(item, list) else [item]))


def _practice() -> Iterable[Labelled]:
    for name, labels in _yaml(PRACTICE).items():
        for label, texts in labels.items():
            for text in texts:
                yield Labelled("seen", name, label, text, author="practice")


def _files(folder: Path, half: str) -> Iterable[Labelled]:
    for path in sorted(folder.glob("*.yaml")):
        data = _yaml(path)
        for author in ("written", "model", "practice", "assistant"):
            for label, items in data.get(author, {}).items():
                for text in items:
                    yield Labelled(half, path.stem, label, text, author=author)


@cache
def checker(name: str) -> Checker:
    return Checker.of(diagnosis(name))


@cache
def outcome(item: Labelled) -> Outcome:
    grounded = checker(item.diagnosis).check(item.text, form="prose")
    return Outcome(item, grounded.sentences[0] if grounded.sentences else None)


def rates(outcomes: Iterable[Outcome]) -> tuple[float, float]:
    """The parts of the false sentences that are caught, and of the sound ones that are lost."""
    false, sound = [], []
    for one in outcomes:
        (sound if one.labelled.label == SOUND else false).append(one.right)
    return sum(false) / len(false), 1 - sum(sound) / len(sound)


def table(half: str, outcomes: Sequence[Outcome]) -> Iterable[str]:
    """A line for each class, with how many of it were judged rightly."""
    total = Counter(o.labelled.label for o in outcomes)
    right = Counter(o.labelled.label for o in outcomes if o.right)
    repaired = Counter(o.labelled.label for o in outcomes if o.status == "repaired")
    yield f"{half}: {len(outcomes)} sentences on {len({o.labelled.diagnosis for o in outcomes})} sets of evidence"
    yield f"{'class':20} {'n':>4} {'right':>6} {'rate':>7} {'repaired':>9}"
    for label, n in total.items():
        yield f"{label:20} {n:4} {right[label]:6} {100 * right[label] / n:6.1f}% {repaired[label]:9}"
    model = [o for o in outcomes if o.labelled.author == "model"]
    large = [o for o in outcomes if o.labelled.author == "assistant"]
    person = [o for o in outcomes if o.labelled.author not in ("model", "assistant")]
    by_author = (("the default local model", model), ("a large model", large), ("a person", person))
    for name, some in (("all", outcomes), *((f"written by {author}", some) for author, some in by_author)):
        if some:
            caught, lost = rates(some)
            false = sum(o.labelled.label != SOUND for o in some)
            yield (
                f"{name} ({len(some)}): {100 * caught:.1f} % of {false} false ones caught, "
                f"{100 * lost:.1f} % of {len(some) - false} sound ones lost"
            )


def _mistakes(outcomes: Iterable[Outcome]) -> Iterable[str]:
    for o in outcomes:
        if not o.right or o.status == "repaired":
            said = o.result.text if o.result and o.status == "repaired" else ""
            reason = o.result.reason if o.result else "no full stop"
            mark = "  " if o.right else "✗ "
            yield f"{mark}{o.labelled.diagnosis}/{o.labelled.label}: {o.labelled.text}\n     {o.status} ({reason}) {said}"


def main(arguments: list[str]) -> int:
    for half in [a for a in arguments if a != "-v"] or HALVES:
        outcomes = [outcome(item) for item in labelled(half)]
        print("\n".join(table(half, outcomes)))
        if "-v" in arguments and half == "seen":
            print("\n".join(_mistakes(outcomes)))
        print()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
