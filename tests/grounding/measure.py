"""How well the claim check tells right from wrong: `python -m tests.grounding.measure [-v] [dev|held]`.

A false sentence is caught if it is struck, or repaired into what was meant; a sound one is lost if it is struck or changed.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import yaml

from chathpc.grounding import Sentence, check
from tests.grounding.diagnoses import DIAGNOSES

LABELLED = Path(__file__).parent / "labelled.yaml"
SOUND = "sound"


@dataclass(frozen=True)
class Labelled:
    half: str
    diagnosis: str
    label: str
    text: str
    meant: str | None = None


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


def labelled(half: str | None = None) -> list[Labelled]:
    data = yaml.safe_load(LABELLED.read_text(encoding="utf-8"))
    return [
        Labelled(part, name, label, *(item if isinstance(item, list) else [item]))
        for part, diagnoses in data.items()
        if half in (None, part)
        for name, labels in diagnoses.items()
        for label, items in labels.items()
        for item in items
    ]


def outcome(item: Labelled) -> Outcome:
    grounded = check(item.text, DIAGNOSES[item.diagnosis](), form="prose")
    return Outcome(item, grounded.sentences[0] if grounded.sentences else None)


def main(arguments: list[str]) -> int:
    verbose = "-v" in arguments
    for half in [a for a in arguments if a != "-v"] or ["dev", "held"]:
        outcomes = [outcome(item) for item in labelled(half)]
        total = Counter(o.labelled.label for o in outcomes)
        right = Counter(o.labelled.label for o in outcomes if o.right)
        repaired = Counter(o.labelled.label for o in outcomes if o.status == "repaired")
        print(f"{half}: {len(outcomes)} sentences\n{'class':20} {'n':>4} {'right':>6} {'rate':>7} {'repaired':>9}")
        for label, n in total.items():
            print(f"{label:20} {n:4} {right[label]:6} {100 * right[label] / n:6.1f}% {repaired[label]:9}")
        false = [o for o in outcomes if o.labelled.label != SOUND]
        caught, n = sum(o.right for o in false), len(false)
        print(f"{'all false':20} {n:4} {caught:6} {100 * caught / n:6.1f}%")
        if verbose:
            for o in outcomes:
                if not o.right or o.status == "repaired":
                    said = o.result.text if o.result else ""
                    reason = o.result.reason if o.result else "no full stop"
                    mark = "  " if o.right else "✗ "
                    print(
                        f"{mark}{o.labelled.diagnosis}/{o.labelled.label}: {o.labelled.text}\n     {o.status} ({reason}) {said}"
                    )
        print()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
