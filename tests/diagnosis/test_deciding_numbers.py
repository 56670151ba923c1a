"""No number by which something is decided stands in Python: such numbers stand in YAML, with a unit and a source.

Every numeric literal of the rules, of the modules beside them, of the comparison and of the gates of changes is looked at. What is left is either no threshold
by its form (see `bare_numbers`) or listed below with the reason. New numbers belong into the entry of a cause in
chathpc/diagnosis/catalogue, into its common.yaml where several causes share them, or into the thresholds.yaml of chathpc/comparison
or chathpc/fix.

What this cannot see: thresholds of 0 and 1, and bounds of slices (how many of a list are looked at or told).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import chathpc
from chathpc.comparison.thresholds import thresholds
from chathpc.diagnosis.catalogue import causes, common
from chathpc.fix.thresholds import thresholds as of_changes
from chathpc.scale.thresholds import thresholds as of_series

PACKAGE = Path(chathpc.__file__).parent
#: Modules that decide what is said of a profile, and whether a change is accepted. Recognisers of source (diagnosis/source) and recipes
#: have thresholds of their own kind; what they propose the gates judge.
ROOMS = ("diagnosis", "diagnosis/rules", "diagnosis/sass", "diagnosis/assembly", "comparison", "fix", "fix/gates")

TOLD = "how many things a sentence or a report lists, or characters of a name"
WORK = "bounds the work on huge input; what is left out has least"
UNIT = "a unit: seconds and nanoseconds, bytes of a page"
HALF = "by definition: more than half of something is most of it"
TWO = "one alone makes no comparison"
ROUNDING = "what sums of floating point numbers differ by"
FORMULA = "part of a formula or a numerical method, which the docstring names"
LABEL = "a label, a layout or an encoding"
OPTION = "what holds unless the user says otherwise; the option or chathpc.yaml tells it"
SEED = "any number would do"
FITTED = "fitted to labelled profiles by tests/bench/calibrate.py, with its source at the place"

#: Modules of which every number is of one kind.
WHOLE = {
    "diagnosis/sass/instruction.py": LABEL,  # registers and bits of NVIDIA's instructions
    "diagnosis/assembly/instruction.py": LABEL,  # operands and widths of the host's instructions
    "diagnosis/sass/opcodes.py": LABEL,  # operands of NVIDIA's instructions
    "fix/project_schema.py": OPTION,  # defaults, bounds and examples of chathpc.yaml, units of its values
}
#: Module, then the constant or function that the numbers stand in.
ALLOWED = {
    "comparison/comparable.py": {"_LONGEST": TOLD},
    "comparison/function_names.py": {"_LONGEST": WORK},
    "comparison/compare.py": {"_what_would": TOLD},
    "comparison/matching.py": {"LONGEST": TOLD, "_reduce": LABEL, "_mixed": LABEL, "_path_sums": LABEL},
    "comparison/noise.py": {
        "_ROUNDING": ROUNDING,
        "_NORMAL_FROM": FORMULA,
        "_HALVINGS": FORMULA,
        "_COARSE": FORMULA,
        "_FURTHEST": FORMULA,
        "_WIDEST": FORMULA,
        "Noise._variances": FORMULA,
        "_prior": FORMULA,
        "_quantile": FORMULA,
        "_probability": FORMULA,
        "_outside": FORMULA,
    },
    "comparison/tables.py": {"MOST": TOLD},
    "comparison/run.py": {"Run.library_labels": LABEL},
    "comparison/shares.py": {"MOST": TOLD, "_ROUNDING": ROUNDING},
    "comparison/words.py": {"_NAMES": TOLD, "_MOST": TOLD, "_SMALL": TOLD, "_STEPS": TOLD, "_NAME": TOLD},
    "diagnosis/access_facts.py": {"MOST": TOLD, "_busiest": FORMULA},
    "diagnosis/command.py": {"_COMM": LABEL, "_launcher": TWO},
    "diagnosis/assembly/loop.py": {
        "_LOOPS": WORK,
        "_LARGEST": WORK,
        "_PASSES": WORK,
        "_PAGE": UNIT,
        "_LINE": UNIT,
        "hottest_loop": HALF,
    },
    "diagnosis/compiled.py": {"MOST_LINES": WORK, "LEAST_SHARE": WORK},
    "diagnosis/critical_path.py": {"MOST": WORK, "_of_lane": TWO},
    "diagnosis/facts.py": {"_LINES": WORK},
    "diagnosis/flat_profile.py": {"MOST": TOLD, "_SMALLEST": TOLD},
    "diagnosis/device.py": {"MOST_KERNELS": WORK},
    "diagnosis/diagnose.py": {"_SPREADS": TOLD, "MOST_FINDINGS": TOLD},
    "diagnosis/doing.py": {"_LOOKED_AT": WORK},
    "diagnosis/draft.py": {
        "_ONE_SIGN": FITTED,
        "_FURTHER_SIGN": FITTED,
        "_DOUBT": FITTED,
        "_MOST_SIGNS": FITTED,
        "_FROM_SOURCE": FITTED,
        "confidence": FORMULA,
    },
    "diagnosis/efficiency.py": {"on_ideal_network": ROUNDING, "of_threads": ROUNDING},
    "diagnosis/concurrency.py": {"concurrency": TWO, "_process": TWO, "_NANO": UNIT},
    "diagnosis/gaps.py": {"_TO_NANO": UNIT},
    "diagnosis/insufficient.py": {"_LISTED": TOLD},
    "diagnosis/kernel_counters.py": {"_whole": ROUNDING},
    "diagnosis/kernel_totals.py": {"_UNIONS": WORK, "_NANO": UNIT, "_ALIKE": TOLD},
    "diagnosis/lacks.py": {"_RIVALS": TOLD},
    "diagnosis/measured_gains.py": {"_QUARTERS": FORMULA, "_FEWEST": TWO},
    "diagnosis/message_facts.py": {"_NANO": UNIT},
    "diagnosis/nested.py": {"_MOST_RANGES": WORK, "_FEW": WORK, "longest": WORK, "_touching": WORK},
    "diagnosis/parallel_facts.py": {"_NAMED": TOLD, "rank_times": TWO, "thread_times": TWO},
    "diagnosis/path_facts.py": {
        "_MOST_LANES": WORK,
        "_NAMED": TOLD,
        "_LEAST": TOLD,
        "_NANO": UNIT,
        "_MESSAGES": LABEL,
        "_LOCKS": LABEL,
        "CALLS": LABEL,
    },
    "diagnosis/phases.py": {"BINS": FORMULA, "_LOOKED_AT": WORK, "steady_state": FORMULA, "_NANO": UNIT},
    "diagnosis/sampled_lanes.py": {"MOST_RECORDED": WORK},
    "diagnosis/statistics.py": {
        "MAD_TO_SIGMA": FORMULA,
        "MEAN_TO_SIGMA": FORMULA,
        "interval": FORMULA,
        "spread_error": FORMULA,
        "FEWEST": FORMULA,
    },
    "diagnosis/timeline_facts.py": {"_NANO": UNIT, "_TOLD": TOLD},
    "diagnosis/rules/gpu_predicted.py": {"_MOST": TOLD, "_fact": TOLD},
    "diagnosis/rules/compiler.py": {"_MOST": TOLD, "_sites": TOLD},
    "diagnosis/rules/compiler_kernels.py": {"_MOST": WORK},
    "diagnosis/rules/compute.py": {"_LISTED": TOLD},
    "diagnosis/rules/gpu_blame.py": {"_LONGEST": TOLD},
    "diagnosis/rules/gpu_counters.py": {"_CONFIGURATIONS": WORK, "_LISTED": TOLD},
    "diagnosis/rules/gpu_gaps.py": {"_LOOKED_AT": WORK, "_LATE": WORK, "FEW_RANKS": TWO},
    "diagnosis/rules/gpu_launch.py": {"_ROUNDING": ROUNDING},
    "diagnosis/rules/gpu_launches.py": {"_LOOKED_AT": WORK},
    "diagnosis/rules/gpu_remarks.py": {"_LONGEST": TOLD, "_MOST": TOLD},
    "diagnosis/rules/gpu_source.py": {"_MOST_KERNELS": WORK, "_MOST_FILES": WORK, "_MOST_FINDINGS": TOLD},
    "diagnosis/rules/gpu_source_host.py": {"_MOST_LINES": WORK},
    "diagnosis/rules/gpu_timeline.py": {"_LOOKED_AT": WORK, "_NANO": UNIT},
    "diagnosis/rules/gpu_warps.py": {"_NAMED": TOLD},
    "diagnosis/rules/input_output.py": {"imbalance": TWO, "_by_rank": TWO},
    "diagnosis/rules/input_output_log.py": {
        "_MOST_CELLS": WORK,
        "imbalance": TWO,
        "slowest": "the slowest and the fastest rank, which are known",
        "bound": HALF,
        "metadata": HALF,
        "targets": HALF,
    },
    "diagnosis/rules/memory.py": {"_PAGE": UNIT},
    "diagnosis/rules/mpi.py": {"ranks": TWO, "_PARTS": TOLD},
    "diagnosis/rules/threads.py": {"small_tasks": TWO, "barriers": TWO},
    "diagnosis/rules/openmp.py": {"team": TWO, "_NANO": UNIT, "_LISTED": TOLD},
    "diagnosis/sass/flow.py": {"_BLOCKS": WORK, "_STEPS": WORK, "loads_behind": WORK},
    "fix/cmake_lists.py": {"_DEEPEST": WORK},
    "fix/gates/altered.py": {"_altered": LABEL},
    "fix/gates/build.py": {"_KEPT": TOLD, "_MOST": WORK},
    "fix/gates/chain.py": {"Chain._correctness.pair": TWO},
    "fix/effects.py": {"_MOST": WORK, "_plain": LABEL},
    "fix/gates/effects.py": {"_TOLD": TOLD},
    "fix/gates/examination.py": {"slower_alone": ROUNDING},
    "fix/gates/inputs.py": {"_OTHER_SEED": SEED},
    "fix/gates/races.py": {"_LONGEST": WORK},
    "fix/gates/scope.py": {"LARGEST": WORK},
    "fix/gates/text.py": {"value": LABEL},
    "fix/globs.py": {"MOST_ENTRIES": WORK, "_open_bracket": LABEL},
    "fix/lanes.py": {"Lanes.learn": ROUNDING},
    "fix/ledger.py": {"NONE": LABEL, "Ledger.__init__": LABEL},
    "fix/makefile.py": {"_MOST_LINES": WORK, "_LONGEST": WORK, "_DEEPEST": WORK},
    "fix/original.py": {"_SHOWN": TOLD},
    "fix/outputs.py": {"_SHOWN": TOLD, "_REAL": LABEL},
    "fix/patch.py": {"_GIT_SECONDS": WORK, "unified": LABEL},
    "fix/project_file.py": {"_LARGEST_FILE": WORK, "_example": LABEL},
    "fix/records.py": {"identity": LABEL},
    "fix/result.py": {"_ROWS": TOLD, "_GIVEN_UP": TOLD},
    "fix/runner.py": {"_SEED": SEED, "_beyond_system": LABEL},
    "fix/session.py": {"Budget": OPTION},
    "fix/source_facts.py": {"_MOST": WORK},
    "fix/speed.py": {
        "RESAMPLES": FORMULA,
        "_FEWEST_FOR_INTERVAL": FORMULA,
        "_MAD": FORMULA,
        "walsh": FORMULA,
        "bootstrap_interval": FORMULA,
        "_critical": FORMULA,
        "judge": UNIT,
        "drift": FORMULA,
        "outliers": ROUNDING,
        "measure_pairs": FORMULA,
    },
    "fix/suggest.py": {"_written": OPTION},
    "fix/workspace.py": {
        "MOST_FILES": WORK,
        "_FICLONE": LABEL,
        "remove": LABEL,
        "Workspace.prepare": LABEL,
        "Workspace.locked": LABEL,
    },
}

#: Calls whose arguments behind the first say how a value is written, or how an array lies in memory.
_WRITING = frozenset({"number", "shorten", "shortened", "round", "_bounded", "reshape"})
#: Arguments that say how many signs agree (each is told in the evidence), or how large a cache is.
_COUNTS = frozenset({"signs", "axis", "maxsize", "ddof"})
_BITS = (ast.LShift, ast.RShift, ast.BitAnd, ast.BitOr, ast.Pow, ast.FloorDiv, ast.Mod)
_ENUMS = frozenset({"Enum", "IntEnum", "StrEnum", "Flag"})


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def bare_numbers(source: str) -> Iterator[tuple[str, float, int]]:
    """Numbers of a module that may decide something: the constant or function that they stand in, value, line.

    Left out by their form: 0 and 1; indices and slices; members of enumerations; percentages (`/ 100`, `* 100`, `min(…, 100)`);
    exponents, bits, whole halves and remainders; `len(…)` against 2; numbers of signs, and of digits of what is written.
    """
    yield from _in(ast.parse(source), "")


def _in(node: ast.AST, owner: str) -> Iterator[tuple[str, float, int]]:
    if isinstance(node, ast.Constant):
        if isinstance(node.value, int | float) and not isinstance(node.value, bool) and node.value not in (0, 1):
            yield owner, node.value, node.lineno
        return
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        if isinstance(node, ast.ClassDef) and _ENUMS & {_name(base) for base in node.bases}:
            return
        # Functions inside a function belong to it.
        owner = owner if owner and not owner[0].isupper() else f"{owner}.{node.name}".lstrip(".")
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        first, value = targets[0], node.value
        if isinstance(first, ast.Tuple) and isinstance(value, ast.Tuple):
            for target, each in zip(first.elts, value.elts, strict=True):
                yield from _assigned(target, each, owner)
            return
        if value is not None:
            yield from _assigned(first, value, owner)
        return
    for child in _looked_at(node):
        yield from _in(child, owner)


def _assigned(target: ast.expr, value: ast.expr, owner: str) -> Iterator[tuple[str, float, int]]:
    if _name(target) not in _COUNTS:
        yield from _in(value, owner or ast.unparse(target))


def _looked_at(node: ast.AST) -> list[ast.AST]:
    """The parts of a node in which a number may decide something."""
    if isinstance(node, ast.Subscript):
        return [node.value]
    if isinstance(node, ast.keyword) and node.arg in _COUNTS:
        return []
    if isinstance(node, ast.Call):
        name = _name(node.func)
        arguments: list[ast.AST] = [*node.args, *node.keywords]
        if name in _WRITING:
            arguments = [*node.args[: 0 if name == "reshape" else 1]]
        elif name == "range":
            arguments = []
        elif name in ("min", "max"):
            arguments = [each for each in arguments if not _is(each, 100)]
        return [node.func, *arguments]
    if isinstance(node, ast.BinOp):
        if isinstance(node.op, _BITS):
            return [each for each in (node.left, node.right) if not isinstance(each, ast.Constant)]
        if isinstance(node.op, ast.Mult | ast.Div):
            return [each for each in (node.left, node.right) if not _is(each, 100)]
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        counts = any(isinstance(each, ast.Call) and _name(each.func) == "len" for each in sides)
        return [each for each in sides if not (counts and _is(each, 2))]
    return list(ast.iter_child_nodes(node))


def _is(node: ast.AST, value: float) -> bool:
    return isinstance(node, ast.Constant) and node.value == value


def modules() -> dict[str, Path]:
    return {f"{room}/{file.name}": file for room in ROOMS for file in sorted((PACKAGE / room).glob("*.py"))}


# -- the rule ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("module", modules())
def test_no_number_that_decides_stands_bare_in_python(module: str) -> None:
    known = ALLOWED.get(module, {})
    found = [] if module in WHOLE else list(bare_numbers(modules()[module].read_text(encoding="utf-8")))
    bare = [
        f"{module}:{line}: {value:g} in {owner or 'the module'}"
        for owner, value, line in found
        if owner not in known or (known[owner] == TWO and value != 2)
    ]
    assert not bare, f"{'; '.join(bare)}: move it to YAML with unit and source, or say here why it decides nothing"


def test_the_list_of_exceptions_holds_nothing_that_is_gone() -> None:
    files = modules()
    gone = [module for module in (*WHOLE, *ALLOWED) if module not in files]
    for module, known in ALLOWED.items():
        owners = {owner for owner, _, _ in bare_numbers(files[module].read_text(encoding="utf-8"))}
        gone += [f"{module}: {owner}" for owner, why in known.items() if owner not in owners]
    assert gone == []


# -- the rule can fail -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "owner", "value"),
    [
        ("def rule(share):\n    return share > 0.3", "rule", 0.3),
        ("def rule(a, b):\n    return a > 2 * b", "rule", 2),
        ("def rule(a, b):\n    return a >= b / 2", "rule", 2),
        ("def rule(a):\n    a /= 2\n    return a", "rule", 2),
        ("def rule(a, least=0.1):\n    return a > least", "rule", 0.1),
        ("def rule(a, *, least: float = 5):\n    return a > least", "rule", 5),
        ("def rule(a):\n    return min(a, 90)", "rule", 90),
        ("def rule(a):\n    return a if a else 0.5", "rule", 0.5),
        ("def rule(a):\n    return len(a) > 3", "rule", 3),
        ("def rule(a):\n    def inner():\n        return a > 7\n    return inner", "rule", 7),
        ("class Facts:\n    def is_many(self):\n        return self.count > 20", "Facts.is_many", 20),
        ("class Facts:\n    limit: float = 0.7", "Facts", 0.7),
        ("_LIMIT = 0.3", "_LIMIT", 0.3),
        ("_LIMIT: float = 256 * 1024", "_LIMIT", 256),
        ("_ONE, _OTHER = 'a', -0.4", "_OTHER", 0.4),
        ("LIMITS = {'small': 64}", "LIMITS", 64),
        ("rule = lambda a: a > 12", "rule", 12),
    ],
)
def test_a_bare_number_is_seen(source: str, owner: str, value: float) -> None:
    assert (owner, value) in [(found, number) for found, number, _ in bare_numbers(source)]


@pytest.mark.parametrize(
    "source",
    [
        "def rule(a):\n    return a > 0 and a < 1 and a != -1 and a > 0.0",
        "def rule(a):\n    return a[:3], a[2], a[-4:8]",
        "def rule(a):\n    return a / 100 + 100 * a + min(a, 100)",
        "def rule(a):\n    return a ** 2 + (a >> 3 & 7) + len(a) // 2",
        "def rule(a):\n    return len(a) < 2 and is_yes(True)",
        "def rule(a):\n    signs = 2\n    return Draft(signs=3 if a else signs)",
        "def rule(a):\n    return numbers.number(a, 2), shorten(a, 40), round(a, 3)",
        "class Kind(IntEnum):\n    FIRST = 5",
        "def rule(a):\n    return a > cause('x').threshold('y') > common()['z'].value",
        "'''In words: 0.3 of 12.'''\nX = f'{1.0:.3f} of 17'",
    ],
)
def test_what_decides_nothing_by_its_form_is_left_alone(source: str) -> None:
    assert list(bare_numbers(source)) == []


# -- what stands in YAML is what Python reads ----------------------------------------------------------------------


def read_names() -> Iterator[tuple[str, str]]:
    """How a threshold is asked for in Python (`threshold`, `common`), and its name."""
    for file in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
                asked = node.value
                if (isinstance(asked, ast.Call) and _name(asked.func) == "common") or _name(asked) == "limit":
                    yield "common", str(node.slice.value)
            elif isinstance(node, ast.Call) and _name(node.func) == "threshold" and node.args:
                yield from (
                    ("threshold", str(each.value)) for each in ast.walk(node.args[0]) if isinstance(each, ast.Constant)
                )


def test_every_threshold_that_is_read_is_there() -> None:
    of_causes = {name for cause in causes() for name in cause.thresholds}
    asked = set(read_names())
    assert {name for how, name in asked if how == "common"} <= set(common())
    assert {name for how, name in asked if how == "threshold"} <= of_causes | set(thresholds()) | set(
        of_changes()
    ) | set(of_series())


def test_no_threshold_is_there_that_nothing_reads() -> None:
    text = "\n".join(file.read_text(encoding="utf-8") for file in sorted(PACKAGE.rglob("*.py")))
    names = {
        *common(),
        *thresholds(),
        *of_changes(),
        *of_series(),
        *(name for cause in causes() for name in cause.thresholds),
    }
    assert sorted(name for name in names if f'"{name}"' not in text) == []


@pytest.mark.parametrize(
    ("room", "name"),
    [
        (room, name)
        for room, all_ in (("comparison", thresholds), ("fix", of_changes), ("scale", of_series))
        for name in all_()
    ],
)
def test_thresholds_of_a_room_have_a_source(room: str, name: str) -> None:
    found = {"comparison": thresholds, "fix": of_changes, "scale": of_series}[room]()[name]
    assert len(found.source) > 40
