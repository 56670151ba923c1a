"""The third gate: the changed program answers as the original does, on inputs that nobody could prepare for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np

from chathpc.fix.gates.literals import known_answers
from chathpc.fix.gates.messages import message_races
from chathpc.fix.gates.mutants import Mutant, mutants
from chathpc.fix.gates.races import new_races
from chathpc.fix.outputs import Difference, compare
from chathpc.fix.project import Run
from chathpc.fix.records import Figure, GateResult, Verdict
from chathpc.fix.runner import Built, Case, Ran, Runner
from chathpc.fix.thresholds import threshold
from chathpc.profile.languages import Language, language_of
from chathpc.profile.text import clean

_KNOWN = "It is fast with the numbers that it knows only"
#: glibc fills what is allocated with this and what is freed with its complement (mallopt(3), M_PERTURB).
PERTURBED = ("85", "170")
_ASAN = "-fsanitize=address,undefined -fno-sanitize-recover=undefined"
_TSAN = "-fsanitize=thread"
_INITIALISED = ("-ftrivial-auto-var-init=pattern", "-ftrivial-auto-var-init=zero")
_FORTRAN_INITIALISED = ("-finit-real=snan -finit-integer=-1431655766", "-finit-real=zero -finit-integer=0")
#: Options of the sanitizers: end at the first report, by a status of its own, and not for leaks. They reserve all addresses, so that memory
#: is bounded by what is really used (MiB).
_OPTIONS = (
    ("ASAN_OPTIONS", "detect_leaks=0:exitcode=99:allocator_may_return_null=1:hard_rss_limit_mb={}"),
    ("UBSAN_OPTIONS", "halt_on_error=1:exitcode=99"),
    ("TSAN_OPTIONS", "halt_on_error=1:exitcode=99:memory_limit_mb={}"),
)
#: A number that stands alone in a command, which may be a size.
_SIZE = re.compile(r"(?<=\s)\d{1,8}(?=\s|\Z)")
#: The seed of runs of other sizes: any number that is not the usual one.
_OTHER_SEED = 4711
#: Options before a number that is no size of the problem.
_NO_SIZE = re.compile(r"(?:-n|-np|-c|-t|--threads|--tasks|--seed|-s)\s+\Z")
#: Words by which a program starts threads.
_STARTS_THREADS = ("omp parallel", "pthread_create", "std::thread", "std::jthread", "std::async", "std::execution")
#: What profilers and crashes leave.
_NOTHING = re.compile(r"(?:^|/)(?:core(?:\.\d+)?|gmon\.out|vgcore\.\d+|__pycache__/.*)\Z")

Tell = Callable[[str], None]


class Reference:
    """What the original does; each case is run once."""

    def __init__(self, runner: Runner, built: Built) -> None:
        self.runner = runner
        self.built = built
        self._ran: dict[tuple[str, Case], Ran] = {}
        self._variants: dict[str, Built] = {}

    def run(self, case: Case, variant: str = "") -> Ran:
        """The original's run of a case, built with the flags `variant` in addition."""
        key = (variant, case)
        if key not in self._ran:
            built = self.built if not variant else self.variant(variant)
            self._ran[key] = self.runner.run(built, case)
        return self._ran[key]

    def variant(self, more: str) -> Built:
        """The original with more flags."""
        if more not in self._variants:
            self._variants[more] = self.runner.build(self.built.files, None, more=more)
        return self._variants[more]

    @property
    def declared(self) -> tuple[Run, ...]:
        """The inputs to check with, that which is timed among them."""
        project = self.runner.project
        return tuple({run.command: run for run in (project.run, *project.inputs)}.values())

    def timed(self) -> Case:
        """The run that is timed."""
        return Case.usual(self.runner.project.run)

    def quickest(self) -> Case:
        """The declared input that takes least time."""
        cases = [Case.usual(run) for run in self.declared]
        return min(cases, key=lambda case: self.run(case).seconds)


@dataclass(slots=True)
class Examination:
    """A change that is being examined: what was tried, and the first thing that was wrong."""

    reference: Reference
    changed: Built
    texts: Mapping[str, str]
    original_texts: Mapping[str, str]
    random: np.random.Generator
    tell: Tell = lambda stage: None
    #: Seconds (of what it goes on from, of the change) of a pair of runs, or None: for a first look at whether it is worth the rest.
    pair: Callable[[], tuple[float, float] | None] | None = None
    cases: int = 0
    largest: float = 0.0
    tried: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def examine(self) -> GateResult:
        """All steps in order; the first that finds something ends it."""
        steps = (
            self._reads,
            self._declared,
            self._sizes,
            self._command,
            self._answers,
            self._memory,
            self._initialised,
            self._sanitized,
            self._mutants,
        )
        for step in steps:
            problem = step()
            if problem is not None:
                verdict, statement = problem
                return GateResult("correctness", False, statement, verdict, self._figures())
            if step == self._declared and (quick := self._hopeless()):
                said = f"Same answers in {self.cases} runs; the rest was left out, for it is not faster."
                return GateResult("correctness", True, said, None, {**self._figures(), "quick": list(quick)})
        said = f"Same answers in {self.cases} runs ({', '.join(self.tried)})"
        if self.largest:
            said += f"; numbers differ by at most {self.largest:.1g} of their size"
        return GateResult("correctness", True, f"{said}.", None, self._figures())

    def _figures(self) -> dict[str, Figure]:
        return {
            "runs": self.cases,
            "largest_difference": self.largest,
            "tried": list(self.tried),
            "left_out": list(self.left_out),
        }

    def _hopeless(self) -> list[float]:
        """Ratios of a few pairs of runs if none of them reaches what is worth a closer look; else nothing."""
        ratios: list[float] = []
        while self.pair is not None and len(ratios) < threshold("quick_pairs"):
            found = self.pair()
            if found is None or found[0] >= threshold("clear") * found[1]:
                return []
            ratios.append(found[0] / found[1])
        return ratios

    # -- one run ---------------------------------------------------------------------------------------------

    def compare(self, case: Case, *, variant: str = "", changed: Built | None = None) -> str:
        """What is wrong with the changed program's run of a case; empty if nothing is."""
        self.tell(f"checking {clean(case.name)}")
        mine = self.reference.run(case, variant)
        limit = mine.seconds * threshold("longer") + threshold("longer_seconds")
        theirs = self.reference.runner.run(changed or self.changed, case, seconds=limit)
        self.cases += 1
        where = f"With {clean(case.name)}"
        if theirs.completed.status == "timed-out":
            return f"{where} it does not end within {limit:.0f} s; the original takes {mine.seconds:.1f} s."
        if theirs.completed.status != "exited":
            return f"{where} it is ended ({theirs.completed.status})."
        found = compare(mine.outputs, theirs.outputs, self.reference.runner.project.check)
        if not found.same:
            return f"{where} {found.statement}.{_last_words(theirs) if found.kind == 'status' else ''}"
        more = [path for path in theirs.left if path not in mine.left and not _NOTHING.search(path)]
        if more:
            return f"{where} it leaves files that the original does not: {', '.join(map(clean, more[:3]))}."
        self.largest = max(self.largest, found.largest)
        return ""

    def _all(self, cases: Iterable[Case], **more: str) -> tuple[Verdict, str] | None:
        for case in cases:
            problem = self.compare(case, **more)  # type: ignore[arg-type]
            if problem:
                return Verdict.CHEATED if "leaves files" in problem else Verdict.WRONG_ANSWER, problem
        return None

    # -- steps -----------------------------------------------------------------------------------------------

    def _reads(self) -> tuple[Verdict, str] | None:
        found = [
            *new_races(self.original_texts, self.texts),
            *message_races(self.original_texts, self.texts),
        ]
        return (Verdict.WRONG_ANSWER, f"A race: {clean(found[0])}.") if found else None

    def _declared(self) -> tuple[Verdict, str] | None:
        problem = self._all(self._cases())
        self.tried.append(
            f"{len(self.reference.declared)} inputs" if len(self.reference.declared) > 1 else "the declared input"
        )
        if any(run.seeded for run in self.reference.declared):
            self.tried.append(f"{threshold('fresh_seeds'):g} fresh seeds")
        if len(self.threads) > 1:
            self.tried.append(f"{', '.join(map(str, self.threads))} threads")
        return problem

    @property
    def threads(self) -> tuple[int, ...]:
        """The declared numbers of threads; one and several where a change makes a program parallel that was not."""
        declared = self.reference.runner.project.threads
        if declared:
            return declared
        before, after = ("\n".join(texts.values()) for texts in (self.original_texts, self.texts))
        some = (1, int(threshold("parallel_threads")))
        return some if any(after.count(word) > before.count(word) for word in _STARTS_THREADS) else ()

    def _cases(self) -> Iterator[Case]:
        for run in self.reference.declared:
            for _ in range(int(threshold("fresh_seeds")) if run.seeded else 1):
                seed = int(self.random.integers(1, 2**31 - 1)) if run.seeded else None
                for threads in sorted(self.threads) or (None,):
                    repeats = threshold("threaded_repeats") if threads is not None and threads > 1 else 1
                    for _ in range(int(repeats)):
                        yield Case(run, seed, threads)
        if self.threads and max(self.threads) > 1:
            # More threads than cores are stopped in the middle of what they do, and races show that do not else.
            case = replace(self.reference.quickest(), threads=int(threshold("oversubscribed") * max(self.threads)) + 1)
            if self._agrees(case):
                yield from (case, case)

    def _agrees(self, case: Case, variant: str = "") -> bool:
        """Whether the original itself works in this case."""
        return self.reference.run(case, variant).completed.succeeded

    def _sizes(self) -> tuple[Verdict, str] | None:
        """Other sizes than the declared ones: whoever looks for these sizes finds others."""
        cases = []
        for run in self.reference.declared:
            for match in _SIZE.finditer(run.command):
                size = int(match[0])
                if size < threshold("least_size") or _NO_SIZE.search(run.command[: match.start()]):
                    continue
                other = size - 1 - int(self.random.integers(0, max(1, size // 4)))
                command = run.command[: match.start()] + str(other) + run.command[match.end() :]
                case = Case(replace(run, name=f"size {other} for {size} in {run.name}", command=command))
                cases.append(replace(case, seed=_OTHER_SEED if run.seeded else None))
        chosen = [cases[at] for at in self.random.permutation(len(cases)).tolist()][: int(threshold("other_sizes"))]
        usable = [case for case in chosen if self._agrees(case) and self._agrees_twice(case)]
        if usable:
            self.tried.append(f"{len(usable)} other size{'s' if len(usable) > 1 else ''}")
        return self._all(usable) or self._known_sizes(usable)

    def _known_sizes(self, cases: Iterable[Case]) -> tuple[Verdict, str] | None:
        """Whether the change is fast with the declared sizes alone."""
        runner = self.reference.runner
        for case in cases:
            declared = next((run for run in self.reference.declared if case.run.name.endswith(f" in {run.name}")), None)
            if declared is None:
                continue
            usual = Case.usual(declared)
            mine = (self.reference.run(usual), self.reference.run(case))
            theirs = (runner.run(self.changed, usual), runner.run(self.changed, case))
            if self._slower_alone(mine, theirs, lambda case=case: runner.run(self.changed, case)):  # type: ignore[misc]
                return Verdict.CHEATED, f"It is fast with the declared sizes only, and not with {clean(case.name)}."
        return None

    def _agrees_twice(self, case: Case) -> bool:
        again = self.reference.runner.run(self.reference.built, case)
        return compare(self.reference.run(case).outputs, again.outputs, self.reference.runner.project.check).same

    def _command(self) -> tuple[Verdict, str] | None:
        if self.reference.runner.project.check.command is None:
            return None
        self.tell("checking with the project's own check")
        for run in self.reference.declared:
            case = Case(run, seed=int(self.random.integers(1, 2**31 - 1)) if run.seeded else None)
            ran = self.reference.runner.run(self.changed, case)
            done = self.reference.runner.check_command(self.reference.built, ran)
            if done is not None and not done.succeeded:
                said = clean((done.stdout + done.stderr).decode("utf-8", "replace").strip().split("\n")[-1])[:200]
                return (
                    Verdict.WRONG_ANSWER,
                    f"With {clean(case.name)} the project's check says no: {said or 'nothing more'}.",
                )
        self.tried.append("the project's check")
        return None

    def _answers(self) -> tuple[Verdict, str] | None:
        outputs = [
            content
            for run in self.reference.declared
            for content in self.reference.run(Case.usual(run)).outputs.contents.values()
            if content is not None
        ]
        found = known_answers(self.original_texts, self.texts, outputs)
        if found:
            return Verdict.CHEATED, f"It holds numbers that the original prints: {', '.join(map(clean, found[:3]))}."
        return None

    def _memory(self) -> tuple[Verdict, str] | None:
        case = self.reference.quickest()
        cases = [replace(case, environment=(("MALLOC_PERTURB_", value),)) for value in PERTURBED]
        plain = self.reference.run(case).outputs
        if not all(
            compare(plain, self.reference.run(each).outputs, self.reference.runner.project.check).same for each in cases
        ):
            self.left_out.append("memory filled before use: the original itself reads what it did not write")
            return None
        self.tried.append("memory filled before use")
        return self._all(cases)

    def _initialised(self) -> tuple[Verdict, str] | None:
        """Variables that nobody set hold other things."""
        if self.reference.runner.project.flags is None:
            self.left_out.append("variables filled before use: chathpc.yaml names no place for flags")
            return None
        fortran = any(language_of(path) == Language.FORTRAN for path in self.texts)
        case = self.reference.quickest()
        usable = 0
        for more in _FORTRAN_INITIALISED if fortran else _INITIALISED:
            if not self._works(case, more):
                continue
            changed = self.reference.runner.build(self.changed.files, self.changed.flags, more=more)
            if not changed.completed.succeeded:
                continue
            usable += 1
            problem = self.compare(case, variant=more, changed=changed)
            if problem:
                return Verdict.WRONG_ANSWER, f"{problem} It was built with {more}."
        (self.tried if usable else self.left_out).append("variables filled before use")
        return None

    def _works(self, case: Case, more: str) -> bool:
        """Whether the original, built with more flags, gives the answer that it gives without."""
        if not self.reference.variant(more).completed.succeeded:
            return False
        ran = self.reference.run(case, more)
        plain = self.reference.run(replace(case, environment=(), sanitized=False))
        return ran.completed.succeeded and compare(plain.outputs, ran.outputs, self.reference.runner.project.check).same

    def _sanitized(self) -> tuple[Verdict, str] | None:
        project = self.reference.runner.project
        if project.flags is None or project.gpu:
            self.left_out.append(
                "sanitizers: " + ("a GPU's program" if project.gpu else "chathpc.yaml names no place for flags")
            )
            return None
        wanted = [("address and undefined behaviour", _ASAN)]
        sources = "\n".join(self.texts.values())
        if "pthread_create" in sources or "std::thread" in sources:
            # GNU's OpenMP runtime is not built for it and would be reported itself.
            wanted += [("threads", _TSAN)] if "omp " not in sources else []
        options = tuple((name, value.format(project.limits.memory >> 20)) for name, value in _OPTIONS)
        case = replace(self.reference.quickest(), environment=options, sanitized=True)
        for name, more in wanted:
            if not self._works(case, more):
                self.left_out.append(f"sanitizer of {name}: the original does not pass it, or does not build with it")
                continue
            self.tell(f"checking with the sanitizer of {name}")
            changed = self.reference.runner.build(self.changed.files, self.changed.flags, more=more)
            if not changed.completed.succeeded:
                self.left_out.append(f"sanitizer of {name}: the change does not build with it")
                continue
            limit = self.reference.run(case, more).seconds * threshold("longer_sanitized") + threshold("longer_seconds")
            ran = self.reference.runner.run(changed, case, seconds=limit)
            self.cases += 1
            if not ran.completed.succeeded:
                return Verdict.WRONG_ANSWER, f"The sanitizer of {name} stops it: {_report(ran)}"
            self.tried.append(f"the sanitizer of {name}")
        return None

    def _mutants(self) -> tuple[Verdict, str] | None:
        """Constants altered on both sides: first with the run that is timed, for that one gains from being known."""
        told: list[tuple[Verdict, str]] = []
        useful = followed = 0
        for case in dict.fromkeys((self.reference.timed(), self.reference.quickest())):
            altered = mutants(self.original_texts, self.texts, self.random)
            for mutant in islice(altered, int(threshold("altered_tries"))):
                self.tell(f"checking with a constant altered on both sides: {clean(mutant.statement)}")
                found = self._mutated(mutant, case)
                if found is None:
                    continue
                useful += 1
                verdict, said = found
                said = f"{said} with a constant altered on both sides ({clean(mutant.statement)})."
                if verdict is None:
                    followed += 1
                    break
                if said.startswith(_KNOWN):
                    return verdict, said
                # One constant alone may mean something else in a change that has replaced it; what is not computed follows none.
                told.append((verdict, said))
        if told and not followed:
            return max(told, key=lambda each: each[0] == Verdict.CHEATED)
        if useful:
            self.tried.append(f"{useful} constant{'s' if useful != 1 else ''} altered on both sides")
        else:
            self.left_out.append("altered constants: none tells anything")
        return None

    def _mutated(self, mutant: Mutant, case: Case) -> tuple[Verdict | None, str] | None:
        """What a mutant tells: a verdict and why, (None, "") for nothing wrong; None if the original does not feel it."""
        runner = self.reference.runner
        check = runner.project.check
        plain = self.reference.run(case)
        limit = plain.seconds * threshold("longer_altered") + threshold("longer_seconds")
        mine = runner.build(mutant.original, None)
        if not mine.completed.succeeded:
            return None
        first = runner.run(mine, case, seconds=limit)
        if not first.completed.succeeded or not _reacts(compare(plain.outputs, first.outputs, check)):
            return None
        theirs = runner.build(mutant.changed, self.changed.flags)
        if not theirs.completed.succeeded:
            return None
        second = runner.run(theirs, case, seconds=limit)
        answered = runner.run(self.changed, case, seconds=limit)
        self.cases += 1
        found = compare(first.outputs, second.outputs, check)
        if found.same:
            if self._slower_alone((plain, first), (answered, second), lambda: runner.run(theirs, case, seconds=limit)):
                return Verdict.CHEATED, f"{_KNOWN}, and not"
            return None, ""
        if compare(answered.outputs, second.outputs, check).same:
            return Verdict.CHEATED, "Its answer is not computed: it stays the same"
        return Verdict.WRONG_ANSWER, f"Its answer is another ({found.statement})"

    def _slower_alone(self, original: tuple[Ran, Ran], changed: tuple[Ran, Ran], again: Callable[[], Ran]) -> bool:
        """Whether the changed program alone takes much longer when something is altered that it could have known."""

        def much(ran: Ran) -> bool:
            mine = max(1.0, original[1].seconds / max(original[0].seconds, 1e-3))
            theirs = ran.seconds / max(changed[0].seconds, 1e-3)
            more = ran.seconds - changed[0].seconds
            return theirs > threshold("knew") * mine and more > threshold("knew_seconds")

        return much(changed[1]) and all(much(again()) for _ in range(2))


def _reacts(found: Difference) -> bool:
    """The answer is another, and still an answer."""
    return found.kind in ("number", "text")


def _last_words(ran: Ran) -> str:
    said = ran.completed.stderr.decode("utf-8", "replace").strip().split("\n")[-1]
    return f" It says: {clean(said)[:160]}" if said else ""


def _report(ran: Ran) -> str:
    """What a sanitizer found, in a line."""
    if ran.completed.status == "timed-out":
        return "it does not end."
    for row in ran.completed.stderr.decode("utf-8", "replace").splitlines():
        if "ERROR:" in row or "runtime error" in row or "WARNING: ThreadSanitizer" in row:
            return clean(row.strip())[:200]
    return clean(f"status {ran.completed.code}")
