"""The first gate: only what may be edited is changed, and nothing is brought in that an honest change has no use for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from chathpc.fix import globs
from chathpc.fix.gates.constructs import hides, look
from chathpc.fix.gates.text import codes
from chathpc.fix.project import Project
from chathpc.fix.records import Candidate, GateResult, Verdict
from chathpc.profile.text import clean

#: Files of a change with more are not looked at (characters).
LARGEST = 4_000_000
#: Families that are no cheating: they may be honest, and are refused because what they do cannot be told.
_HONEST = frozenset({"include", "assembler", "pragma", "rounding", "attribute", "file", "early end"})
#: A flag that makes code faster and nothing else.
_FLAG = re.compile(
    r"-O(?:\d|[sg])?|-g[0-3]?|-f(?:no-)?(?:unroll(?:-all)?-loops|inline(?:-functions)?|tree-vectorize|tree-slp-vectorize|prefetch-loop-arrays|lto"
    r"|omit-frame-pointer|peel-loops|split-loops|loop-interchange|loop-block|loop-nest-optimize|graphite-identity|ipa-pta|openmp|openmp-simd"
    r"|ivopts|gcse|schedule-insns2?|version-loops-for-strides|tree-loop-distribution|vect-cost-model=\w+|semantic-interposition"
    r"|strict-aliasing|stack-arrays|frontend-optimize|backtrace"
    r"|plt|align-loops=\d+|align-functions=\d+|fat-lto-objects)(?:=(?:auto|\d+))?"
    r"|-ffp-contract=off|-flto=\w+|-fopenmp=\w+|-m(?:arch|tune|cpu)=[\w.+-]+|-mprefer-vector-width=\d+|-m(?:avx|avx2|fma|sse[\d.]+|avx512\w+)|-pthread|-pipe|-qopenmp|-xHost"
)
#: Flags by which a program may compute something else than the standard says.
_LOOSE = re.compile(
    r"-Ofast|-ff(?:ast-math|inite-math-only|p-contract=(?!off).*|p-model=.*)|-funsafe-math-optimizations|-fassociative-math|-freciprocal-math"
    r"|-fno-(?:math-errno|trapping-math|signed-zeros)|-fp-model.*"
)


def judge(candidate: Candidate, project: Project, original: Mapping[str, str], tree: Sequence[str]) -> GateResult:
    """Whether `candidate` stays within its bounds. `original` are the texts of the files that may be edited, `tree` all paths."""
    problem = _paths(candidate, project, tree) or _flags(candidate, project)
    if problem:
        return _no(Verdict.OUT_OF_SCOPE, problem)
    changed = {path: text for path, text in candidate.files.items() if text != original.get(path)}
    if not changed and (candidate.flags is None or (project.flags and candidate.flags == project.flags.value)):
        return _no(Verdict.OUT_OF_SCOPE, "The change is empty.")
    if any(hides(original.get(path, ""), text) for path, text in changed.items()):
        return _no(Verdict.CHEATED, "The change contains invisible characters.", families=["hidden"])
    headers = set(tree) | {PurePosixPath(path).name for path in tree}
    found = look(codes(original), codes({**original, **changed}), headers)
    if found:
        verdict = Verdict.OUT_OF_SCOPE if all(one.family in _HONEST for one in found) else Verdict.CHEATED
        said = "; ".join(one.statement for one in found)
        return _no(verdict, f"The change {clean(said)}.", families=[one.family for one in found])
    count = len(changed)
    said = f"Changes {count} file{'s' if count != 1 else ''} that may be edited." if changed else "Changes only flags."
    return GateResult("scope", True, said, figures={"files": sorted(changed)})


def _no(verdict: Verdict, statement: str, families: Sequence[str] = ()) -> GateResult:
    return GateResult("scope", False, statement, verdict, {"families": list(families)} if families else {})


def _paths(candidate: Candidate, project: Project, tree: Sequence[str]) -> str:
    """What is wrong with the files, in a sentence; empty if nothing is."""
    links = {path for path in tree if (project.root / path).is_symlink()}
    for path, text in candidate.files.items():
        shown = clean(path)[:200]
        pure = PurePosixPath(path)
        if not path or pure.is_absolute() or ".." in pure.parts or str(pure) != path or "\\" in path or "\0" in path:
            return f"{shown} is not a path inside the folder."
        if not globs.matches(path, project.edit) or globs.matches(path, project.protect):
            return f"{shown} may not be edited."
        if path in links or any(str(parent) in links for parent in pure.parents):
            return f"{shown} is reached through a link."
        if len(text) > LARGEST:
            return f"{shown} is too large to check."
        if "\0" in text:
            return f"{shown} contains a NUL byte and is not text."
    return ""


def _flags(candidate: Candidate, project: Project) -> str:
    if candidate.flags is None:
        return ""
    if project.flags is None:
        return "The change sets compiler flags, but chathpc.yaml declares no `flags`."
    own = set(project.flags.value.split())
    for flag in candidate.flags.split():
        if flag in own:
            continue
        if _LOOSE.fullmatch(flag):
            return f"The flag {clean(flag)[:80]} lets the compiler change results."
        if not _FLAG.fullmatch(flag):
            return f"The flag {clean(flag)[:80]} is not a pure optimisation flag."
    missing = [
        flag
        for flag in own
        if flag.startswith(("-D", "-I", "-std", "-f", "-ffp")) and flag not in candidate.flags.split()
    ]
    return f"The flag {clean(missing[0])[:80]} is missing." if missing else ""
