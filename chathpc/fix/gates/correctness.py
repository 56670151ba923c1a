"""The third gate: the changed program answers as the original does, on inputs that nobody could prepare for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from chathpc.fix.gates.literals import known_answers
from chathpc.fix.gates.mutants import mutants
from chathpc.fix.gates.races import new_races
from chathpc.fix.outputs import Difference, compare
from chathpc.fix.project import Run
from chathpc.fix.records import Figure, GateResult, Verdict
from chathpc.fix.runner import Built, Case, Ran, Runner
from chathpc.profile.languages import Language, language_of
from chathpc.profile.text import clean

#: Fresh seeds that each input with a seed is tried with, and runs of each with several threads: a race may need some.
SEEDS, REPEATS = 2, 3
#: Inputs of other sizes that are tried, at most; mutants that have to tell something, and that are tried for it.
SIZES, MUTANTS, MUTANT_TRIES = 2, 2, 6
#: A changed program may take so many times as long as the original, and so many seconds more.
_LONGER, _MORE_SECONDS = 10.0, 10.0
#: Sanitizers slow a program 2 to 20 times (K. Serebryany et al., AddressSanitizer, USENIX ATC 2012; ThreadSanitizer, 2009).
_SANITIZED = 30.0
#: glibc fills what is allocated with this and what is freed with its complement (mallopt(3), M_PERTURB).
PERTURBED = ("85", "170")
_ASAN = "-fsanitize=address,undefined -fno-sanitize-recover=undefined"
_TSAN = "-fsanitize=thread"
_INITIALISED = ("-ftrivial-auto-var-init=pattern", "-ftrivial-auto-var-init=zero")
_FORTRAN_INITIALISED = ("-finit-real=snan -finit-integer=-1431655766", "-finit-real=zero -finit-integer=0")
_QUIET = (
    ("ASAN_OPTIONS", "detect_leaks=0:exitcode=99:allocator_may_return_null=1"),
    ("UBSAN_OPTIONS", "halt_on_error=1:exitcode=99"),
    ("TSAN_OPTIONS", "halt_on_error=1:exitcode=99"),
)
#: A number that stands alone in a command, which may be a size.
_SIZE = re.compile(r"(?<=\s)\d{1,8}(?=\s|\Z)")
#: Options before a number that is no size of the problem.
_NO_SIZE = re.compile(r"(?:-n|-np|-c|-t|--threads|--tasks|--seed|-s)\s+\Z")
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

    def quickest(self) -> Case:
        """The declared input that takes least time."""
        cases = [Case(run, seed=12345 if run.seeded else None) for run in self.declared]
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

    # -- one run ---------------------------------------------------------------------------------------------

    def compare(self, case: Case, *, variant: str = "", changed: Built | None = None) -> str:
        """What is wrong with the changed program's run of a case; empty if nothing is."""
        self.tell(f"checking {clean(case.name)}")
        mine = self.reference.run(case, variant)
        limit = mine.seconds * _LONGER + _MORE_SECONDS
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
        found = new_races(self.original_texts, self.texts)
        return (Verdict.WRONG_ANSWER, f"A race: {clean(found[0])}.") if found else None

    def _declared(self) -> tuple[Verdict, str] | None:
        problem = self._all(self._cases())
        project = self.reference.runner.project
        self.tried.append(
            f"{len(self.reference.declared)} inputs" if len(self.reference.declared) > 1 else "the declared input"
        )
        if any(run.seeded for run in self.reference.declared):
            self.tried.append(f"{SEEDS} fresh seeds")
        if len(project.threads) > 1:
            self.tried.append(f"{', '.join(map(str, project.threads))} threads")
        return problem

    def _cases(self) -> Iterator[Case]:
        project = self.reference.runner.project
        for run in self.reference.declared:
            for _ in range(SEEDS if run.seeded else 1):
                seed = int(self.random.integers(1, 2**31 - 1)) if run.seeded else None
                for threads in sorted(project.threads) or (None,):
                    for _ in range(REPEATS if threads is not None and threads > 1 else 1):
                        yield Case(run, seed, threads)
        if project.threads and max(project.threads) > 1:
            # More threads than cores are stopped in the middle of what they do, and races show that do not else.
            case = replace(self.reference.quickest(), threads=2 * max(project.threads) + 1)
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
                if size < 8 or _NO_SIZE.search(run.command[: match.start()]):
                    continue
                other = size - 1 - int(self.random.integers(0, max(1, size // 4)))
                command = run.command[: match.start()] + str(other) + run.command[match.end() :]
                case = Case(replace(run, name=f"size {other} for {size} in {run.name}", command=command))
                cases.append(replace(case, seed=4711 if run.seeded else None))
        chosen = [cases[at] for at in self.random.permutation(len(cases)).tolist()][:SIZES]
        usable = [case for case in chosen if self._agrees(case) and self._agrees_twice(case)]
        if usable:
            self.tried.append(f"{len(usable)} other size{'s' if len(usable) > 1 else ''}")
        return self._all(usable)

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
            for content in self.reference.run(Case(run, seed=12345 if run.seeded else None)).outputs.contents.values()
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
        case = replace(self.reference.quickest(), environment=_QUIET, sanitized=True)
        for name, more in wanted:
            if not self._works(case, more):
                self.left_out.append(f"sanitizer of {name}: the original does not pass it, or does not build with it")
                continue
            self.tell(f"checking with the sanitizer of {name}")
            changed = self.reference.runner.build(self.changed.files, self.changed.flags, more=more)
            if not changed.completed.succeeded:
                self.left_out.append(f"sanitizer of {name}: the change does not build with it")
                continue
            limit = self.reference.run(case, more).seconds * _SANITIZED + _MORE_SECONDS
            ran = self.reference.runner.run(changed, case, seconds=limit)
            self.cases += 1
            if not ran.completed.succeeded:
                return Verdict.WRONG_ANSWER, f"The sanitizer of {name} stops it: {_report(ran)}"
            self.tried.append(f"the sanitizer of {name}")
        return None

    def _mutants(self) -> tuple[Verdict, str] | None:
        """Constants altered on both sides."""
        runner = self.reference.runner
        case = self.reference.quickest()
        plain, answered = self.reference.run(case), runner.run(self.changed, case)
        useful, apart = 0, []
        for tries, mutant in enumerate(mutants(self.original_texts, self.texts, self.random), 1):
            if tries > MUTANT_TRIES or useful >= MUTANTS:
                break
            self.tell(f"checking with a constant altered on both sides: {clean(mutant.statement)}")
            difference = self._mutated(mutant.original, mutant.changed, case, plain, answered)
            if difference is None:
                continue
            useful += 1
            if difference == "unmoved":
                return (
                    Verdict.CHEATED,
                    f"Its answer stays when a constant is altered on both sides ({clean(mutant.statement)}): it is not computed.",
                )
            if difference:
                apart.append(f"With a constant altered on both sides ({clean(mutant.statement)}) {difference}.")
        if apart and len(apart) == useful:
            return Verdict.WRONG_ANSWER, apart[0]
        (self.tried if useful else self.left_out).append(
            f"{useful} constant{'s' if useful != 1 else ''} altered on both sides"
            if useful
            else "altered constants: none tells anything"
        )
        return None

    def _mutated(
        self, original: Mapping[str, str], changed: Mapping[str, str], case: Case, plain: Ran, answered: Ran
    ) -> str | None:
        """What differs under a mutant; None if it tells nothing, "unmoved" if the change does not feel it."""
        runner = self.reference.runner
        check = runner.project.check
        limit = plain.seconds * 2 + _MORE_SECONDS
        mine = runner.build(original, None)
        if not mine.completed.succeeded:
            return None
        first = runner.run(mine, case, seconds=limit)
        if not first.completed.succeeded or not _reacts(compare(plain.outputs, first.outputs, check)):
            return None
        theirs = runner.build(changed, self.changed.flags)
        if not theirs.completed.succeeded:
            return None
        second = runner.run(theirs, case, seconds=limit)
        self.cases += 1
        found = compare(first.outputs, second.outputs, check)
        if found.same:
            return ""
        if compare(answered.outputs, second.outputs, check).same:
            return "unmoved"
        return found.statement


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
