"""What a model has shown that it can do: a short test, and its result kept for the choice of the prompt form."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from time import monotonic

from chathpc.llm.backend import Backend, Form, Request
from chathpc.llm.places import cache_folder

#: Results of another test are not comparable; raise this number when the test changes.
TEST_VERSION = 1
#: Seconds for each of the two answers.
DEADLINE = 120.0

#: id, subject, number and unit; no number is part of another, and none can be had from the others by arithmetic.
_FACTS = (
    ("E1", "assemble_matrix", "12.7 s", "computes for"),
    ("E2", "exchange_halo", "8.31 s", "waits for its neighbours for"),
    ("E3", "write_checkpoint", "945 MB", "writes"),
)
_GROUNDING_SYSTEM = (
    "You explain measurements of a program to the person who wrote it. Use only the facts given. "
    "Copy each number with its unit exactly as it stands; give no other number."
)
_SCHEMA_SYSTEM = (
    "You explain measurements of a program to the person who wrote it. Answer in JSON: for each fact one object with the "
    "fact's id in `evidence` and one sentence about it in `text`. The sentence names the function, and where the number "
    "belongs it has the fact's id in braces, such as {E9}, instead of the number."
)
_SCHEMA: Mapping[str, object] = {
    "type": "object",
    "properties": {
        "sentences": {
            "type": "array",
            "minItems": len(_FACTS),
            "maxItems": len(_FACTS),
            "items": {
                "type": "object",
                "properties": {
                    "text": {"type": "string"},
                    "evidence": {"type": "array", "minItems": 1, "items": {"enum": [fact[0] for fact in _FACTS]}},
                },
                "required": ["text", "evidence"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["sentences"],
    "additionalProperties": False,
}
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


@dataclass(frozen=True, slots=True)
class Fitness:
    """The result of a test.

    `tokens_per_second` is the speed of generation, `first_token` the seconds until it began (loading excluded); null if
    nothing came. `schema_ok`: JSON to a schema, each sentence about the evidence that it names. `numbers_ok`: numbers copied,
    none invented.
    """

    model: str
    tokens_per_second: float | None
    first_token: float | None
    schema_ok: bool
    numbers_ok: bool

    @property
    def forms(self) -> tuple[Form, ...]:
        """The prompt forms that the model is fit for, best first."""
        structured: tuple[Form, ...] = ("structured",) if self.schema_ok and self.numbers_ok else ()
        prose: tuple[Form, ...] = ("prose",) if self.numbers_ok else ()
        return structured + prose


def examine(backend: Backend) -> Fitness:
    """Ask `backend` two short questions and judge the answers; raises what `complete` raises."""
    backend.complete(Request(_GROUNDING_SYSTEM, "Answer with the word ready.", max_tokens=4, deadline=DEADLINE))
    times = []
    started = monotonic()
    prose = backend.complete(
        Request(
            _GROUNDING_SYSTEM,
            f"{_facts()}\n\nWrite two or three sentences about these facts.",
            max_tokens=180,
            deadline=DEADLINE,
        ),
        on_token=lambda _piece: times.append(monotonic()),
    )
    structured = backend.complete(
        Request(
            _SCHEMA_SYSTEM,
            f"{_facts()}\n\nWrite the JSON.",
            max_tokens=400,
            json_schema=_SCHEMA,
            deadline=DEADLINE,
        )
    )
    speed = None
    if len(times) > 1 and times[-1] > times[0]:
        speed = ((prose.completion_tokens or len(times)) - 1) / (times[-1] - times[0])
    return Fitness(
        model=prose.model,
        tokens_per_second=speed,
        first_token=times[0] - started if times else None,
        schema_ok=structured.finish_reason == "stop" and is_disciplined(structured.text),
        numbers_ok=copies_numbers(prose.text),
    )


def _facts() -> str:
    return "\n".join(f"{name}: the function {subject} {verb} {value}." for name, subject, value, verb in _FACTS)


def copies_numbers(text: str) -> bool:
    """Whether `text` has at least two of the three numbers, and none that was not given."""
    given = {_NUMBER.findall(value)[0] for _, _, value, _ in _FACTS}
    # An id that is cited, such as [E2], is no number.
    said = set(_NUMBER.findall(re.sub(r"\bE\d\b", "", text)))
    return len(said) >= 2 and said <= given


def is_disciplined(text: str) -> bool:
    """Whether `text` is JSON to the schema and each sentence is about the fact that it names, with its placeholder."""
    try:
        answer = json.loads(text, strict=False)
        sentences = answer["sentences"]
        pairs = [(str(sentence["text"]), list(sentence["evidence"])) for sentence in sentences]
    except (ValueError, LookupError, TypeError, RecursionError):
        return False
    if [names for _, names in sorted(pairs, key=lambda pair: str(pair[1]))] != [[fact[0]] for fact in _FACTS]:
        return False
    subjects = {name: subject for name, subject, _, _ in _FACTS}
    for sentence, (name,) in pairs:
        mentioned = {subject for subject in subjects.values() if subject in sentence}
        rest = sentence.replace(f"{{{name}}}", "")
        if mentioned != {subjects[name]} or rest == sentence or _NUMBER.search(rest):
            return False
    return True


def remembered(identity: str, environ: Mapping[str, str] | None = None) -> Fitness | None:
    """The last result for the model `identity`, or None."""
    path = _path(identity, environ)
    if path is None:
        return None
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["test"] != TEST_VERSION or content["identity"] != identity:
            return None
        return Fitness(**content["fitness"])
    except (OSError, ValueError, LookupError, TypeError):
        return None


def remember(identity: str, fitness: Fitness, environ: Mapping[str, str] | None = None) -> Path | None:
    """Keep a result; returns the file, or None where there is no place for it."""
    path = _path(identity, environ)
    if path is None:
        return None
    content = {"test": TEST_VERSION, "identity": identity, "fitness": asdict(fitness), "fit_for": fitness.forms}
    unfinished = path.with_suffix(f".{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
        unfinished.replace(path)
    except OSError:
        with suppress(OSError):
            unfinished.unlink()
        return None
    return path


def _path(identity: str, environ: Mapping[str, str] | None) -> Path | None:
    base = cache_folder(os.environ if environ is None else environ)
    name = hashlib.sha256(identity.encode()).hexdigest()[:16]
    return None if base is None else base / "fitness" / f"{name}.json"
