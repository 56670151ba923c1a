"""Could a second opinion win back the sound sentences that the claim check strikes? `python -m tests.bench.second_opinion [--model FILE]`.

Two kinds are tried on the seen sentences (tests/grounding) that the check strikes or repairs: a logistic regression over the words of a sentence and
the reason of the check, learned and tested on different diagnoses; and, with --model, a language model (a GGUF file, through xllamacpp) that is
shown headline, evidence and findings and asked whether they support the sentence: log p(yes) − log p(no). Printed is the part of the struck false
sentences that would be let through for a part of the struck sound ones that is won back: a judge is of use if the first is far smaller.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Sequence
from http.client import HTTPConnection
from json import dumps, loads
from pathlib import Path

import numpy as np
import numpy.typing as npt

from chathpc.diagnosis.records import Diagnosis
from tests.grounding.measure import SOUND, Outcome, diagnosis, labelled, outcome

_WON_BACK = (0.1, 0.25, 0.5, 0.75)
_FOLDS, _STEPS, _RATE, _SHRINK, _LEAST = 8, 400, 1.0, 1e-3, 3
_DIAGNOSES, _LONGEST_FACTS = 24, 3_600
_PORT = 18_977
_PROMPT = (
    "<|im_start|>system\nYou check sentences against facts of a performance measurement.<|im_end|>\n<|im_start|>user\nFacts:\n{facts}\n\n"
    "Sentence: {text}\nIs every claim of the sentence (numbers, names, direction, cause) supported by the facts? Answer Yes or No.<|im_end|>\n"
    "<|im_start|>assistant\n"
)


def main() -> None:
    """Judge and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.second_opinion", description=__doc__)
    parser.add_argument("--model", type=Path, metavar="FILE")
    options = parser.parse_args()
    struck = [one for one in map(outcome, labelled("seen")) if one.status != "supported"]
    sys.stdout.write(f"| judge | sentences | {' | '.join(f'wins {part:.0%}' for part in _WON_BACK)} |\n|{'---|' * 6}\n")
    _print("words and reasons, learned", struck, _learned(struck))
    if options.model is not None:
        sound = Counter(one.labelled.diagnosis for one in struck if one.labelled.label == SOUND)
        most = {name for name, _ in sound.most_common(_DIAGNOSES)}
        some = sorted((one for one in struck if one.labelled.diagnosis in most), key=lambda one: one.labelled.diagnosis)
        _print(options.model.stem, some, _judged(some, options.model))


def _print(judge: str, outcomes: Sequence[Outcome], scores: npt.NDArray[np.float64]) -> None:
    sound = np.array([one.labelled.label == SOUND for one in outcomes])
    cells = []
    for part in _WON_BACK:
        least = np.quantile(scores[sound], 1 - part)
        cells.append(f"lets {np.mean(scores[~sound] >= least):.1%} through")
    sys.stdout.write(f"| {judge} | {sound.sum()} sound, {(~sound).sum()} false | {' | '.join(cells)} |\n")
    sys.stdout.flush()


def _learned(outcomes: Sequence[Outcome]) -> npt.NDArray[np.float64]:
    """Cross-validated scores: no diagnosis is learned from and judged."""
    said = [
        {*re.findall(r"[a-z]+", one.labelled.text.lower()), f"={one.result.reason if one.result else ''}"}
        for one in outcomes
    ]
    counts = Counter(word for words in said for word in words)
    columns = {word: at for at, word in enumerate(word for word, n in counts.items() if n >= _LEAST)}
    table = np.zeros((len(said), len(columns) + 1))
    table[:, -1] = 1.0
    for row, words in enumerate(said):
        table[row, [columns[word] for word in words if word in columns]] = 1.0
    sound = np.array([one.labelled.label == SOUND for one in outcomes], dtype=float)
    names = sorted({one.labelled.diagnosis for one in outcomes})
    fold = np.array([names.index(one.labelled.diagnosis) % _FOLDS for one in outcomes])
    scores = np.zeros(len(said))
    for held_out in range(_FOLDS):
        seen = fold != held_out
        weight = np.where(sound[seen] > 0, 0.5 / sound[seen].mean(), 0.5 / (1 - sound[seen].mean()))
        beta = np.zeros(table.shape[1])
        for _ in range(_STEPS):
            wrong = weight * (1 / (1 + np.exp(-table[seen] @ beta)) - sound[seen])
            beta -= _RATE * (table[seen].T @ wrong / seen.sum() + _SHRINK * beta)
        scores[~seen] = table[~seen] @ beta
    return scores


def _judged(outcomes: Sequence[Outcome], model: Path) -> npt.NDArray[np.float64]:
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(model)
    parameters.n_parallel, parameters.n_ctx, parameters.n_threads_http, parameters.verbosity = 1, 4096, 1, -1
    parameters.hostnames, parameters.port, parameters.fit_params = ["127.0.0.1"], _PORT, False
    server = xllamacpp.Server(parameters)
    scores = [_score(_PROMPT.format(facts=_facts(one), text=one.labelled.text)) for one in outcomes]
    del server
    return np.array(scores)


def _facts(one: Outcome) -> str:
    known: Diagnosis = diagnosis(one.labelled.diagnosis)
    lines = [known.headline, *(item.statement for item in known.evidence)]
    for finding in known.findings:
        bound = (
            f" Without it the run could be {finding.speedup_bound:.3g}x as fast at most."
            if finding.speedup_bound
            else ""
        )
        lines += [f"Finding: {finding.title}, {finding.where.function or 'the program'}.{bound}", *finding.advice]
    return "\n".join(lines)[:_LONGEST_FACTS]


def _score(prompt: str) -> float:
    connection = HTTPConnection("127.0.0.1", _PORT)
    body = {"prompt": prompt, "n_predict": 1, "n_probs": 40, "temperature": 0, "cache_prompt": True}
    connection.request("POST", "/completion", dumps(body), {"Content-Type": "application/json"})
    answer = loads(connection.getresponse().read())
    likely = {"yes": -20.0, "no": -20.0}
    for token in answer["completion_probabilities"][0]["top_logprobs"]:
        word = token["token"].strip().lower()
        if word in likely:
            likely[word] = max(likely[word], token["logprob"])
    return likely["yes"] - likely["no"]


if __name__ == "__main__":
    main()
