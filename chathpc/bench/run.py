"""Runs all cases, each in a process of its own."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from chathpc.adapters import native
from chathpc.bench.case import Case
from chathpc.bench.outcome import Outcome, from_data

_CHILD = Path(__file__).with_name("child.py")
#: Bytes that a child may write: an outcome has some kilobytes.
_ANSWER = 1 << 26
#: Processor seconds of one case unless the caller says otherwise. Without a model the slowest of our own takes two.
SECONDS = 600


def run_cases(
    cases: Sequence[Case],
    *,
    llm: str = "none",
    base_url: str | None = None,
    seconds: int = SECONDS,
    jobs: int = 1,
    progress: Callable[[str], None] = lambda name: None,
) -> list[Outcome]:
    """The outcome of every case, in their order. `jobs` processes at once; more than one disturb each other's times.

    A case that crashes, hangs (more than `seconds` of processor time) or cannot be read has an outcome with a `failure`.
    """

    def one(case: Case) -> Outcome:
        progress(case.name)
        return _contained(case, llm, base_url, seconds)

    if jobs == 1:
        return [one(case) for case in cases]
    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(one, cases))


def _contained(case: Case, llm: str, base_url: str | None, seconds: int) -> Outcome:
    request = {"paths": [str(path.resolve()) for path in case.paths], "llm": llm, "base_url": base_url}
    limits = native.Limits(memory=sys.maxsize, answer=_ANSWER, seconds=seconds)
    with native.run(_CHILD, request, limits, case.paths[0]) as child:
        answers = list(child.answers())
        outcome = from_data(answers[0]) if answers else Outcome(failure=f"its process {child.ended}")
    # Where the sets lie on this machine is nobody's business on a page that is published.
    folder = f"{case.paths[0].resolve().parent}/"
    return replace(outcome, failure=outcome.failure.replace(folder, ""))
