"""Fits the belief in findings to labelled profiles: `python -m tests.bench.calibrate SET... [--generated SET]`.

Claims of the seen half are fitted; then the calibration error of both halves is told, of the held-out one as one number. The
model is that of chathpc.diagnosis.draft: the log-odds of a cause being right are those of one sign, plus a constant for each
further independent sign, plus one for each thing against it, plus one where the only sign was read in the source. The constants
are the maximum a posteriori under normal priors around the beliefs that stood there before anything was measured (BEFORE), each
worth about thirty claims (WIDTH).

What a claim states is that probability times another, that its share is above the threshold, which follows from the number of
samples and of locations and is not fitted. A tool that agrees counts as a further sign. Both are told apart at the end: claims
by the number of locations that a spread is from, and by the tools that agree.

Sets named by --generated were written by those who wrote the rules, and flatter them: their claims together weigh as much as
all others together.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log
from pathlib import Path
from statistics import fmean

import numpy as np

from chathpc.adapters.load import load
from chathpc.bench.case import Label, Split
from chathpc.bench.folders import find_cases
from chathpc.bench.score import claimed_weight
from chathpc.bench.statistics import Stated, bootstrap, calibration_error
from chathpc.diagnosis.diagnose import diagnose
from chathpc.diagnosis.draft import belief
from chathpc.diagnosis.records import Finding
from chathpc.errors import ChathpcError

#: Log-odds of one sign (0.7), of a further one (0.85 with two, 0.93 with three), of a thing against it (0.68 instead of 0.85), and
#: of a sign that was read in the source (0.65 instead of 0.7).
BEFORE = (log(0.7 / 0.3), 0.87, -0.98, -0.23)
#: Standard deviation of the priors: p (1 − p) n = 1 / WIDTH² at p = 0.85 means n = 31 claims.
WIDTH = 0.5
#: More signs than this add nothing.
MOST_SIGNS = 3


@dataclass(frozen=True)
class Claim:
    """A claim of a case; `stated` is the confidence that it has now, `above` the part of that which is not belief (see draft).
    `locations` is the number of those that a spread is from, `agreeing` that of further tools with the same cause.
    """

    group: str
    split: Split
    signs: int
    against: int
    stated: float
    right: bool
    derived: bool = False
    above: float = 1.0
    locations: int = 0
    agreeing: int = 0


def claims_of(folders: Sequence[Path]) -> list[Claim]:
    """The claims about all cases that can be read, repaired ones left out."""
    claims = []
    for case in find_cases(folders).cases:
        if case.label == Label.TWIN:
            continue
        try:
            findings = diagnose(load(*case.paths)).findings
        except ChathpcError:
            continue
        for finding in findings:
            if finding.weight >= claimed_weight():
                claims.append(claim_of(finding, case.group, case.split, finding.cause in case.right | {case.second}))
    return claims


def claim_of(finding: Finding, group: str, split: Split, right: bool) -> Claim:
    """A finding as a claim: what its confidence was computed from is read from its words."""
    words = finding.confidence_reason
    signs, agreeing = int(words.split()[0]), max(_number(r"(\d+) tools agree", words) - 1, 0)
    derived = "derived from the source" in words
    believed = belief(signs, len(finding.against), derived=derived, agreeing=agreeing)
    return Claim(
        group, split, signs, len(finding.against), finding.confidence, right, derived,
        above=min(finding.confidence / believed, 1.0), locations=_number(r"spread from (\d+) ", words), agreeing=agreeing,
    )  # fmt: skip


def _number(pattern: str, words: str) -> int:
    found = re.search(pattern, words)
    return int(found[1]) if found else 0


def fit(claims: Sequence[Claim], weights: Sequence[float]) -> tuple[float, float, float, float]:
    """Log-odds of one sign, of a further one, of a thing against it, of a sign from the source: scoring (Fisher's) on
    the log posterior.
    """
    x = np.array(
        [[1.0, min(each.signs, MOST_SIGNS) - 1 + each.agreeing, each.against, each.derived] for each in claims]
    ).reshape(-1, 4)
    y, w, before = np.array([each.right for each in claims], dtype=float), np.array(weights), np.array(BEFORE)
    above = np.array([each.above for each in claims])
    found = before.copy()
    for _ in range(50):
        q = 1 / (1 + np.exp(-x @ found))
        p, slope = above * q, above * q * (1 - q)
        of = w * slope / np.maximum(p * (1 - p), 1e-12)
        gradient = x.T @ (of * (y - p)) - (found - before) / WIDTH**2
        curvature = (x.T * (of * slope)) @ x + np.eye(4) / WIDTH**2
        found = found + np.linalg.solve(curvature, gradient)
    one, sign, doubt, derived = found.tolist()
    return one, sign, doubt, derived


def weights_of(claims: Sequence[Claim], generated: Sequence[str]) -> list[float]:
    """1 for measured claims; generated ones weigh as much in all."""
    made = [each.group in generated for each in claims]
    other = len(made) - sum(made)
    return [min(1.0, other / sum(made)) if each and other else 1.0 for each in made]


def error(claims: Sequence[Claim]) -> str:
    """The calibration error of what is stated now, with its interval."""
    stated = [Stated(each.stated, each.right) for each in claims]
    low, high = bootstrap(stated, calibration_error)
    right = sum(each.right for each in claims)
    brier = fmean((each.stated - each.right) ** 2 for each in claims)
    return f"{calibration_error(stated):.3f} ({low:.3f} to {high:.3f}), Brier score {brier:.4f}, {right} of {len(claims)} claims right"


def apart(claims: Sequence[Claim]) -> list[str]:
    """Claims by what is not fitted: locations of a spread, tools that agree."""
    kinds = {f"spread from {n} locations": [each for each in claims if each.locations == n] for n in range(2, 1000)}
    kinds["no spread"] = [each for each in claims if not each.locations]
    kinds["tools agree"] = [each for each in claims if each.agreeing]
    return [
        f"{name}: {sum(each.right for each in those)} of {len(those)} right, {fmean(each.stated for each in those):.2f} stated"
        for name, those in kinds.items()
        if those
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="+", type=Path)
    parser.add_argument("--generated", action="append", default=[], metavar="SET")
    options = parser.parse_args()
    claims = claims_of(options.sets)
    seen = [each for each in claims if each.split == Split.SEEN]
    one, sign, doubt, derived = fit(seen, weights_of(seen, options.generated))
    print(
        f"log-odds: one sign {one:.2f}, a further one {sign:+.2f}, a thing against it {doubt:+.2f}, read in the source {derived:+.2f}"
    )
    for against in (0, 1):
        fitted = [1 / (1 + exp(-(one + sign * k + doubt * against))) for k in range(MOST_SIGNS)]
        now = [belief(k + 1, against) for k in range(MOST_SIGNS)]
        print(f"{against} against: fitted {np.round(fitted, 2).tolist()}, in the code {np.round(now, 2).tolist()}")
    for split in Split:
        half = [each for each in claims if each.split == split]
        print(f"{split}: calibration error {error(half)}")
        for group in dict.fromkeys(each.group for each in half):
            print(f"    {group}: {error([each for each in half if each.group == group])}")
        for words in apart(half):
            print(f"    {words}")


if __name__ == "__main__":
    main()
