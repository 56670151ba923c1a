"""Questions about kernels for whoever plays the model, and the answers into a recording that names no source.

    python -m tests.predict.relayed FOLDER RECORDING --labels CSV --sources DIR [--programs FILE] [--counts FILE] [--sample N] [--flops]

Each question is written to FOLDER/questions/NAME.txt; its answer is the text of FOLDER/answers/NAME.txt. NAME is NNN-alone, NNN-examples or
NNN-counts for the launches of a sample, and NNN-statements, NNN-values, NNN-times for the launches of the table of operations, where a question
is written once the one before is answered. Answers that are there are added to RECORDING; the same command again adds those that came since,
and says which are missing. No question holds a label.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from chathpc.bench.predict import run
from chathpc.bench.predict.counted import read_counts
from chathpc.bench.predict.flops import chain
from chathpc.bench.predict.labels import read_labels, read_programs
from chathpc.bench.predict.questions import Kind
from chathpc.bench.predict.run import keep
from chathpc.llm.backend import Completion, Request
from chathpc.llm.recorded import Recording

NAMES: dict[str, Kind] = {"alone": "source", "examples": "examples", "counts": "counts"}


class Relay:
    """Writes questions and takes their answers, one file each."""

    def __init__(self, folder: Path, recording: Path, model: str) -> None:
        self.questions, self.answers = folder / "questions", folder / "answers"
        self.questions.mkdir(parents=True, exist_ok=True)
        self.answers.mkdir(exist_ok=True)
        self.file, self.model = recording, model
        self.recorded = Recording(recording)
        self.missing: list[str] = []
        self.faulty: list[str] = []

    def ask(
        self, name: str, about: tuple[str, str, str], request: Request, problem: Callable[[str], str]
    ) -> str | None:
        """The answer under `name`, which is recorded; None where there is none yet, or one that cannot be used."""
        system, user = (message["content"] for message in request.messages())
        question = f"=== system\n{system}\n\n=== user\n{user}\n"
        file, answered = self.questions / f"{name}.txt", self.answers / f"{name}.txt"
        if not file.exists() or file.read_text() != question:
            file.write_text(question)
            if answered.exists():  # it answers another question
                answered.rename(answered.with_suffix(".stale"))
        if not answered.exists():
            self.missing.append(name)
            return None
        text = answered.read_text().strip()
        if fault := problem(text):
            self.faulty.append(f"{name}: {fault}")
            return None
        if self.recorded.find(request) is None:
            keep(self.file, request, Completion(text, self.model, None, None, "stop", 0.0), about)
        return text


def main() -> None:
    """Write, take and record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("recording", type=Path)
    for option in ("--labels", "--sources"):
        parser.add_argument(option, type=Path, required=True)
    for option in ("--programs", "--counts"):
        parser.add_argument(option, type=Path)
    parser.add_argument("--sample", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--model", default="large-model")
    parser.add_argument("--kinds", nargs="*", choices=tuple(NAMES), default=("alone", "counts"))
    parser.add_argument("--flops", action="store_true")
    given = parser.parse_args()
    labels = read_labels(given.labels, read_programs(given.programs) if given.programs else None)
    labels = run.with_source(labels, given.sources)
    relay = Relay(given.folder, given.recording, given.model)
    if given.flops:
        for number, program in enumerate(run.programs_of(run.table_of(labels), given.sources), 1):
            about = program.label.program, program.label.kernel

            def ask(
                kind: str,
                request: Request,
                problem: Callable[[str], str],
                number: int = number,
                about: tuple[str, str] = about,
            ) -> str | None:
                return relay.ask(f"{number:03}-{kind.rpartition(' ')[2]}", (kind, *about), request, problem)

            chain(program, ask)
    else:
        counted = read_counts(given.counts) if given.counts and given.counts.exists() else None
        chosen, others = run.sample_of(labels, given.sample, given.seed)
        spare = run.programs_of(others, given.sources) if "examples" in given.kinds else ()
        for number, program in enumerate(run.programs_of(chosen, given.sources), 1):
            for name in given.kinds:
                for question in run.questions_of([NAMES[name]], [program], spare, counted):
                    asked = question.kind, question.program, question.kernel
                    relay.ask(f"{number:03}-{name}", asked, question.request, lambda text: "")
    told = f"{len(relay.missing)} questions have no answer yet: {', '.join(relay.missing[:8])}{' …' if len(relay.missing) > 8 else ''}"
    sys.stdout.write("\n".join([told, *relay.faulty]) + "\n")


if __name__ == "__main__":
    main()
