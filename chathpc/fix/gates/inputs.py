"""The change on inputs: those that are declared, with fresh seeds and several threads, others of other sizes; and answers that it brings."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial

from chathpc.fix.gates.constructs import new_numbers
from chathpc.fix.gates.examination import Examination, Problem, slower_alone
from chathpc.fix.gates.instrumented import beyond_memory
from chathpc.fix.gates.text import codes, value
from chathpc.fix.outputs import numbers_in, value_of
from chathpc.fix.project import Run
from chathpc.fix.records import Verdict
from chathpc.fix.runner import Case
from chathpc.fix.thresholds import threshold
from chathpc.profile.text import clean

#: A number that stands alone in a command, which may be a size.
_SIZE = re.compile(r"(?<=\s)\d{1,8}(?=\s|\Z)")
#: The seed of runs of other sizes: any number that is not the usual one.
_OTHER_SEED = 4711
#: Options before a number that is no size of the problem.
_NO_SIZE = re.compile(r"(?:-n|-np|-c|-t|--threads|--tasks|--seed|-s)\s+\Z")
#: Words by which a program starts threads.
_STARTS_THREADS = ("omp parallel", "pthread_create", "std::thread", "std::jthread", "std::async", "std::execution")


def declared(examined: Examination) -> Problem | None:
    """The declared inputs, each with fresh seeds if it takes one, and with all numbers of threads."""
    problem = examined.first_wrong(_cases(examined))
    examined.tried.append(
        f"{len(examined.reference.declared)} inputs" if len(examined.reference.declared) > 1 else "the declared input"
    )
    if any(run.seeded for run in examined.reference.declared):
        examined.tried.append(f"{threshold('fresh_seeds'):g} fresh seeds")
    if len(_threads(examined)) > 1:
        examined.tried.append(f"{', '.join(map(str, _threads(examined)))} threads")
    return problem


def _threads(examined: Examination) -> tuple[int, ...]:
    """The declared numbers of threads; one and several where a change makes a program parallel that was not."""
    project = examined.runner.project
    if project.threads:
        return project.threads
    before, after = ("\n".join(texts.values()) for texts in (examined.original_texts, examined.texts))
    some = (1, int(threshold("parallel_threads")))
    return some if any(after.count(word) > before.count(word) for word in _STARTS_THREADS) else ()


def _cases(examined: Examination) -> Iterator[Case]:
    for run in examined.reference.declared:
        for _ in range(int(threshold("fresh_seeds")) if run.seeded else 1):
            seed = int(examined.random.integers(1, 2**31 - 1)) if run.seeded else None
            for threads in sorted(_threads(examined)) or (None,):
                repeats = threshold("threaded_repeats") if threads is not None and threads > 1 else 1
                for _ in range(int(repeats)):
                    yield Case(run, seed, threads)
    if _threads(examined) and max(_threads(examined)) > 1:
        # More threads than cores are stopped in the middle of what they do, and races show that do not else.
        case = replace(
            examined.reference.quickest(), threads=int(threshold("oversubscribed") * max(_threads(examined))) + 1
        )
        if examined.agrees(case):
            yield from (case, case)


def other_sizes(examined: Examination) -> Problem | None:
    """Other sizes than the declared ones: whoever looks for these sizes finds others. A smaller and a larger one at least are of the run
    that is timed, whose answer is worth knowing; which of all others are tried is chance.
    """
    cases = _with_other_sizes(examined)
    timed = [each for each in cases if each[0].command == examined.reference.timed().run.command]
    usable = []
    for larger in (False, True):
        sought = [each for each in timed if each[2] == larger]
        found = next((each for each in sought if _runs(examined, each)), None)
        usable += [] if found is None else [found]
        if sought and found is None:
            examined.left_out.append(
                f"{'larger' if larger else 'smaller'} sizes: the original does not run them as well"
            )
    rest = [each for each in cases if each not in usable][: int(threshold("other_sizes")) - len(usable)]
    usable += [each for each in rest if _runs(examined, each)]
    if usable:
        examined.tried.append(f"{len(usable)} other size{'s' if len(usable) > 1 else ''}")
    for _, case, larger in usable:
        problem = examined.first_wrong([case])
        if problem is not None and larger and beyond_memory(examined, case):
            examined.left_out.append(
                f"{clean(case.name)}: there the original itself reads or writes what is not its own"
            )
        elif problem is not None:
            return problem
    return _known_sizes(examined, [(run, case) for run, case, _ in usable])


def _with_other_sizes(examined: Examination) -> list[tuple[Run, Case, bool]]:
    """Each declared run with one of its numbers a little smaller and a little larger (True), in random order."""
    cases = []
    for run in examined.reference.declared:
        for match in _sizes(run):
            size = int(match[0])
            for larger in (False, True):
                by = 1 + int(examined.random.integers(0, max(1, size // 4)))
                other = size + by if larger else size - by
                command = run.command[: match.start()] + str(other) + run.command[match.end() :]
                case = Case(replace(run, name=f"size {other} for {size} in {run.name}", command=command))
                cases.append((run, replace(case, seed=_OTHER_SEED if run.seeded else None), larger))
    return [cases[at] for at in examined.random.permutation(len(cases)).tolist()]


def _sizes(run: Run) -> Iterator[re.Match[str]]:
    """Numbers of a run's command that may be sizes."""
    for match in _SIZE.finditer(run.command):
        if int(match[0]) >= threshold("least_size") and not _NO_SIZE.search(run.command[: match.start()]):
            yield match


def _runs(examined: Examination, each: tuple[Run, Case, bool]) -> bool:
    """Whether the original works with another size, in time that is like that of the declared one."""
    usual = examined.reference.run(Case.usual(each[0]))
    limit = usual.seconds * threshold("longer_altered") + threshold("longer_seconds")
    return examined.agrees_twice(each[1], limit)


def named_sizes(examined: Examination) -> list[str]:
    """Numbers that the change brings and that are sizes of declared runs, or one beside: it may do something else from there on."""
    sizes = {int(match[0]) for run in examined.reference.declared for match in _sizes(run)}
    new = new_numbers(codes(examined.original_texts), codes(examined.texts))
    found = {number: value(number) for number in new}
    return sorted(number for number, its in found.items() if its is not None and sizes & {its - 1, its, its + 1})


def _known_sizes(examined: Examination, cases: Iterable[tuple[Run, Case]]) -> Problem | None:
    """Whether the change is fast with the declared sizes alone."""
    runner = examined.runner
    for run, case in cases:
        usual = Case.usual(run)
        mine = (examined.reference.run(usual), examined.reference.run(case))
        one, other = runner.lanes.runs([partial(runner.run, examined.changed, each) for each in (usual, case)])
        theirs = (one, other)
        if slower_alone(mine, theirs, lambda case=case: runner.run(examined.changed, case)):  # type: ignore[misc]
            return Verdict.CHEATED, f"It is fast only with the declared sizes, not with {clean(case.name)}."
    return None


def own_check(examined: Examination) -> Problem | None:
    """The check that chathpc.yaml names, on the declared inputs."""
    if examined.runner.project.check.command is None:
        return None
    examined.tell("checking with the project's own check")
    for run in examined.reference.declared:
        case = Case(run, seed=int(examined.random.integers(1, 2**31 - 1)) if run.seeded else None)
        ran = examined.runner.run(examined.changed, case)
        # What the change did to the checker is not in the original's tree; what the check runs or reads itself is the change's own in the
        # changed one.
        for built, where in ((examined.reference.built, ""), (examined.changed, " in the changed tree")):
            done = examined.runner.check_command(built, ran)
            if done is not None and not done.succeeded:
                said = clean((done.stdout + done.stderr).decode("utf-8", "replace").strip().split("\n")[-1])[:200]
                return (
                    Verdict.WRONG_ANSWER,
                    f"With {clean(case.name)} the project's check fails{where}: {said or 'no message'}.",
                )
    examined.tried.append("the project's check")
    return None


def answers(examined: Examination) -> Problem | None:
    """Numbers of the original's output that the change brings with it."""
    outputs = [
        content
        for run in examined.reference.declared
        for content in examined.reference.run(Case.usual(run)).outputs.contents.values()
        if content is not None
    ]
    found = known_answers(examined.original_texts, examined.texts, outputs)
    if found:
        return Verdict.CHEATED, f"It contains numbers that the original prints: {', '.join(map(clean, found[:3]))}."
    return None


def known_answers(original: Mapping[str, str], changed: Mapping[str, str], outputs: Iterable[bytes]) -> list[str]:
    """Numbers and words that the changed files bring and that the original prints; of the numbers those with enough digits."""
    texts = [text for text in outputs if b"\0" not in text]
    answers = {
        abs(value_of(number))
        for text in texts
        for number in numbers_in(text)
        if _significant(number.decode("ascii", "replace"))
    }
    sides = codes(original), codes(changed)
    found = []
    for number in new_numbers(*sides):
        its = value(number)
        if its is None or not _significant(number) or not math.isfinite(its) or _is_size(its):
            continue
        if any(
            answer and abs(its - answer) <= threshold("answer_distance") * answer
            for answer in answers
            if math.isfinite(answer)
        ):
            found.append(number)
    old = {each for one in sides[0] for each in one.strings}
    for each in (each for one in sides[1] for each in one.strings if each not in old):
        for number in re.findall(r"[\d.]+(?:[eE][+-]?\d+)?", each):
            if _significant(number) and any(number.encode() in text for text in texts):
                found.append(each[:40])
                break
    words = {word for text in texts for word in re.findall(rb"\b[0-9a-fA-F]{8,}\b", text)}
    for number in new_numbers(*sides):
        lowered = number.lower().removeprefix("0x").rstrip("ul").encode()
        if number.lower().startswith("0x") and any(word.lower().lstrip(b"0") == lowered.lstrip(b"0") for word in words):
            found.append(number)
    return sorted(set(found))


def _is_size(number: float) -> bool:
    """Powers of two are sizes of buffers and blocks; a program that prints its indices prints them as well."""
    return number.is_integer() and int(number).bit_count() == 1


def _significant(number: str) -> bool:
    mantissa = re.split(r"[eEdD]", number)[0] if not number.lower().startswith("0x") else number[2:]
    digits = re.sub(r"\D", "", mantissa).strip("0")
    return len(digits) >= threshold("answer_digits")
