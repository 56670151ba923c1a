"""The change under instruments: memory and variables filled before use, and the sanitizers of the compiler."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from chathpc.fix.gates.examination import Examination, Problem
from chathpc.fix.outputs import compare
from chathpc.fix.records import Verdict
from chathpc.fix.runner import Case, Ran
from chathpc.fix.thresholds import threshold
from chathpc.profile.languages import Language, language_of
from chathpc.profile.text import clean

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


def memory(examined: Examination) -> Problem | None:
    """Memory that is allocated or freed holds other things than zeros."""
    case = examined.reference.quickest()
    cases = [replace(case, environment=(("MALLOC_PERTURB_", value),)) for value in PERTURBED]
    plain = examined.reference.run(case).outputs
    filled = examined.runner.lanes.runs([partial(examined.reference.run, each) for each in cases])
    if not all(compare(plain, each.outputs, examined.runner.project.check).same for each in filled):
        examined.left_out.append("memory filled before use: the original itself reads uninitialised memory")
        return None
    examined.tried.append("memory filled before use")
    return examined.first_wrong(cases)


def variables(examined: Examination) -> Problem | None:
    """Variables that nobody set hold other things."""
    if examined.runner.project.flags is None:
        examined.left_out.append("variables filled before use: chathpc.yaml declares no `flags`")
        return None
    fortran = any(language_of(path) == Language.FORTRAN for path in examined.texts)
    case = examined.reference.quickest()
    usable = 0
    for more in _FORTRAN_INITIALISED if fortran else _INITIALISED:
        changed = examined.built_with(more)
        if not changed.completed.succeeded or not examined.works(case, more):
            continue
        usable += 1
        problem = examined.compare(case, more, changed)
        if problem:
            return Verdict.WRONG_ANSWER, f"{problem} It was built with {more}."
    (examined.tried if usable else examined.left_out).append("variables filled before use")
    return None


def sanitizers(examined: Examination) -> Problem | None:
    """Built with the compiler's sanitizers, where the original passes these."""
    project = examined.runner.project
    if project.flags is None or project.gpu:
        examined.left_out.append(
            "sanitizers: " + ("a GPU's program" if project.gpu else "chathpc.yaml declares no `flags`")
        )
        return None
    wanted = [("address and undefined behaviour", _ASAN)]
    sources = "\n".join(examined.texts.values())
    if "pthread_create" in sources or "std::thread" in sources:
        # GNU's OpenMP runtime is not built for it and would be reported itself.
        wanted += [("threads", _TSAN)] if "omp " not in sources else []
    case = _sanitized(examined, examined.reference.quickest())
    for name, more in wanted:
        examined.tell(f"checking with the sanitizer of {name}")
        changed = examined.built_with(more)
        if not examined.works(case, more):
            examined.left_out.append(f"sanitizer of {name}: the original fails it or does not build with it")
            continue
        if not changed.completed.succeeded:
            examined.left_out.append(f"sanitizer of {name}: the change does not build with it")
            continue
        limit = examined.reference.run(case, more).seconds * threshold("longer_sanitized") + threshold("longer_seconds")
        ran = examined.runner.run(changed, case, seconds=limit)
        examined.cases += 1
        if not ran.completed.succeeded:
            return Verdict.WRONG_ANSWER, f"The sanitizer of {name} stops it: {_report(ran)}"
        examined.tried.append(f"the sanitizer of {name}")
    return None


def _sanitized(examined: Examination, case: Case) -> Case:
    memory = examined.runner.project.limits.memory >> 20
    return replace(case, environment=tuple((name, value.format(memory)) for name, value in _OPTIONS), sanitized=True)


def beyond_memory(examined: Examination, case: Case) -> bool:
    """Whether the original passes the sanitizer of addresses, but not in this case: it is too large for it, and its answer is chance."""
    usual = _sanitized(examined, examined.reference.quickest())
    return examined.works(usual, _ASAN) and not examined.works(_sanitized(examined, case), _ASAN)


def _report(ran: Ran) -> str:
    """What a sanitizer found, in a line."""
    if ran.completed.status == "timed-out":
        return "it does not end."
    for row in ran.completed.stderr.decode("utf-8", "replace").splitlines():
        if "ERROR:" in row or "runtime error" in row or "WARNING: ThreadSanitizer" in row:
            return clean(row.strip())[:200]
    return clean(f"status {ran.completed.code}")
