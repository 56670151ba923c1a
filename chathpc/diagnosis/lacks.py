"""What a profile lacks for the checks of its rules, and what would supply it."""

from __future__ import annotations

import shlex
from pathlib import PurePath

import numpy as np

from chathpc.diagnosis.catalogue import common
from chathpc.diagnosis.compiled import units_of
from chathpc.diagnosis.coverage import not_collected
from chathpc.diagnosis.device import samples_metric
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.gpu_tools import counters as counters_command
from chathpc.diagnosis.gpu_tools import timeline as timeline_command
from chathpc.diagnosis.rules import Lack
from chathpc.profile.activity import OPENMP, Activity
from chathpc.profile.classification import is_one_liner, template_library
from chathpc.profile.languages import Language, language_of
from chathpc.profile.metric import Clock
from chathpc.profile.run import NO_COUNTERS
from chathpc.profile.source_text import files_of, no_source
from chathpc.profile.tree import NodeKind

#: Who compiles a file to have remarks; headers are compiled with what includes them.
_COMPILERS: dict[Language | None, str] = {Language.C: "gcc", Language.CPP: "g++", Language.FORTRAN: "gfortran"}
#: Those whose compilers say what they did, and with which options.
_RECORDED = (*_COMPILERS, Language.CUDA, Language.HIP)
_HEADERS, _ANY = (".h", ".hh", ".hpp", ".hxx"), PurePath("app.c")
#: So many files that a source may be are named.
_RIVALS = 4


def source(facts: Facts) -> Lack | None:
    """No source of any of the lines that take longest."""
    if facts.profile.read_source is not no_source and any(
        facts.profile.source(node, context=0) is not None for node in facts.hot_lines
    ):
        return None
    if not facts.profile.tree.has(NodeKind.LINE, NodeKind.LOOP) and not (facts.profile.tree.line > 0).any():
        return Lack("no source lines recorded", _command(facts, "source lines", "compile with -g and measure again"))
    hottest = next((facts.profile.tree.file_name(node) for node in facts.hot_lines), None)
    rivals = files_of(facts.profile.read_source).rivals(hottest or "")
    if rivals:
        listed = f"{', '.join(rivals[:_RIVALS])}{', …' if len(rivals) > _RIVALS else ''}"
        return Lack(f"several files are called {hottest} ({listed})", "--source DIR")
    return Lack("source not found", "--source DIR")


def counters(facts: Facts) -> Lack | None:
    """No cache misses counted."""
    metric = facts.profile.metrics.get("cpu.cache.misses")
    if metric is not None and metric.has_values:
        return None
    if NO_COUNTERS in facts.profile.run:
        return Lack("no hardware counters", "this machine has none")
    return Lack("no hardware counters", _command(facts, "hardware counters", "perf record -e cache-misses ./app"))


def remarks(facts: Facts) -> Lack | None:
    """Nothing that a compiler says of loops or calls, though it might."""
    if (facts.profile.build is not None and facts.profile.build.records) or not _is_recorded(facts):
        return None
    # A compiler has nothing to say of waiting.
    files, sums = facts.profile.tree.files, facts.computing_by_file
    hot = (PurePath(files[each]) for each in np.argsort(-sums, kind="stable").tolist() if sums[each] > 0)
    file = next((each for each in hot if each.suffix not in _HEADERS and language_of(each.name) in _COMPILERS), _ANY)
    compiler = _COMPILERS[language_of(file.name)]
    known = next((unit for unit in units_of(facts.profile.build, str(file)) if unit.options), None)
    level = "-O2" if known is None else " ".join(filter(None, (known.options, known.flags)))
    flags = f"{level} -g -fopt-info-vec-missed -fopt-info-inline-missed"
    return Lack("no remarks of a compiler", f"{compiler} {flags} -c {shlex.quote(file.name)} 2> build.log")


def options(facts: Facts) -> Lack | None:
    """Neither how files were compiled nor small functions of C++'s library, inlined or not, which show it as well."""
    build, tree = facts.profile.build, facts.profile.tree
    if (build is not None and any(unit.optimised is not None for unit in build.units)) or not _is_recorded(facts):
        return None
    shows = (tree.kind == NodeKind.INLINED) & template_library(tree) | tree.where_name(is_one_liner)
    if shows[facts.time > 0].any():
        return None
    return Lack("compiler options unknown", "readelf --debug-dump=info --dwarf-depth=1 ./app > opts.txt")


def _is_recorded(facts: Facts) -> bool:
    """False if the costliest line is in a language whose compilers write down neither options nor remarks that are read here, or in one
    without a compiler.
    """
    return facts.hottest_language is None or facts.hottest_language in _RECORDED


def waiting(facts: Facts) -> Lack | None:
    """A clock that stands still while a thread waits, or something else than a clock."""
    if facts.profile.sees_waiting:
        return None
    time = facts.profile.time
    clock = time is not None and time.clock == Clock.CPU
    reason = "the profiler's clock stops while a thread waits" if clock else "what was counted does not show waiting"
    return Lack(reason, _command(facts, "waiting", "measure with a wall clock"))


def threads(facts: Facts) -> Lack | None:
    """Times of threads and ranks are not told apart, though there may be several."""
    where = facts.profile.where
    if len(where) > 1 or (len(where) == 1 and (where.rank[0] >= 0 or where.thread[0] >= 0) and not _is_parallel(facts)):
        return None
    return Lack("threads and ranks not distinguished", _command(facts, "threads", "measure each thread and rank"))


def _is_parallel(facts: Facts) -> bool:
    spent = facts.spent(Activity.MPI, Activity.MPI_SETUP, *OPENMP)
    return spent > common()["hardly_any"].value * facts.total


def timeline(facts: Facts) -> Lack | None:
    """It is not known when devices worked."""
    if facts.timeline is not None and facts.timeline.lack is None:
        return None
    reason = "no device timeline"
    if facts.device_work is not None:
        sampled = samples_metric(facts.profile) is not None
        reason = f"{reason} without PC sampling" if sampled else "no timeline of the host's calls"
    return Lack(reason, _command(facts, "timeline", timeline_command(facts.profile)))


def kernel_counters(facts: Facts) -> Lack | None:
    """No counters of kernels."""
    from chathpc.diagnosis.kernel_counters import has_counters

    if has_counters(facts.profile):
        return None
    return Lack("no kernel counters", _command(facts, "counters of kernels", counters_command(facts.profile)))


def _command(facts: Facts, what: str, otherwise: str) -> str:
    """The command that the profile's own tool would collect something with, else a general one."""
    found = (command for name, command in not_collected(facts.profile).items() if name.startswith(what))
    return next(found, otherwise)


def stalls(facts: Facts) -> Lack | None:
    """Neither samples of what warps wait for nor counters, which tell it too."""
    return None if samples_metric(facts.profile) is not None else kernel_counters(facts)


def kernel_remarks(facts: Facts) -> Lack | None:
    """Nothing that a device's compiler says of kernels, nor counters, which tell of spills too."""
    build = facts.profile.build
    return None if build is not None and (build.kernels or build.units) else kernel_counters(facts)
