"""Formulas of metrics/default.yaml, worked out by hand."""

from __future__ import annotations

import errno
import math
import textwrap
from pathlib import Path

import numpy as np
import pytest

from chathpc.adapters.hpctoolkit import read
from chathpc.adapters.hpctoolkit.derived import LARGEST_FILE, DerivedMetric, Formula, read_derived
from chathpc.errors import AdapterError
from chathpc.profile.metric import Aggregation, Unit
from tests.synthetic.hpctoolkit_v4 import TIME, Database, Derived, Metric, Options, entry, function, line, write
from tests.synthetic.v4_rest import Formula as WrittenFormula

IDS = {"A": "a", "B (sec)": "b"}
VALUES = {"a": np.array([6.0, 0.0, -4.0]), "b": np.array([3.0, 2.0, 0.0])}
#: The brace is why the file is parsed at all.
INPUTS = """\
# {
version: 0
inputs:
  - &A
    metric: A
    scope: function
    formula: $$
    combine: sum
  - &B
    metric: B (sec)
    scope: function
    formula: $$
    combine: sum
  - &N
    metric: A
    scope: function
    formula: 1
    combine: sum
  - &S
    metric: A
    scope: function
    formula: ($$^2)
    combine: sum
  - &M
    metric: A
    scope: function
    formula: $$
    combine: max
  - &C
    metric: never measured
    scope: function
    formula: $$
    combine: sum
roots:
"""


def root(formula: str, name: str = "D", more: str = "", kind: str = "exclusive") -> str:
    return (
        f"  - name: {name}\n    description: what {name} is\n{more}"
        f'    variants:\n      "":\n        render: [number]\n        formula:\n          {kind}:\n            standard: {formula}\n'
    )


def derived(tmp_path: Path, text: str) -> tuple[list[DerivedMetric], frozenset[str]]:
    path = tmp_path / "default.yaml"
    path.write_text(text)
    return read_derived(path, IDS)


def one(tmp_path: Path, formula: str) -> Formula | None:
    found = derived(tmp_path, INPUTS + root(formula))[0]
    return found[0].exclusive if found else None


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("*A", [6, 0, -4]),
        ("7", [7]),
        ("-2.5e3", [-2500]),
        ("{/: [*A, *B]}", [2, 0, -math.inf]),
        ('{"*": [100, {/: [*A, *B]}]}', [200, 0, -math.inf]),
        ('{"-": [*A, *B]}', [3, -2, -4]),
        ('{"-": [*A]}', [-6, 0, 4]),
        ('{"-": [*A, *B, 1]}', [2, -3, -5]),
        ("{+: [*A, *B, 1, 1]}", [11, 4, -2]),
        ("{^: [*A, 2]}", [36, 0, 16]),
        ("{sqrt: [{^: [*A, 2]}]}", [6, 0, 4]),
        ("{sqrt: [*A]}", [math.sqrt(6), 0, math.nan]),
        ("{min: [*A, *B, 1]}", [1, 0, -4]),
        ("{max: [*A, *B, 1]}", [6, 2, 1]),
        ("{ln: [*B]}", [math.log(3), math.log(2), -math.inf]),
        ("{log: [{+: [*B, 97]}]}", [2, math.log10(99), math.log10(97)]),
        ("{floor: [{/: [*A, 4]}]}", [1, 0, -1]),
        ("{ceil: [{/: [*A, 4]}]}", [2, 0, -1]),
        ("{/: [0, 0]}", [math.nan]),
        ("{+: [&two 2, *two]}", [4]),
    ],
)
def test_an_operator_is_applied_to_its_operands_from_left_to_right(
    tmp_path: Path, formula: str, expected: list[float]
) -> None:
    compiled = one(tmp_path, formula)
    assert compiled is not None
    np.testing.assert_allclose(compiled.evaluate(VALUES.__getitem__), expected, rtol=1e-15)


@pytest.mark.parametrize(
    "formula",
    [
        "*N", "*S", "*M", "*C",  # not sums: counts are an integer 1 as formula, "($$^2)" is wrong in all databases
        "{/: [*A, *N]}", "{+: [*A, *C]}",
        '{"%": [*A, *B]}', "{}", "{+: []}", "{+: *A}", "{sqrt: [*A, *B]}", "{+: [*A], -: [*B]}",
        "text", "[*A, *B]", "{metric: [*A], formula: $$, combine: sum}", "~",
    ],
)  # fmt: skip
def test_what_is_no_formula_over_sums_is_left_out(tmp_path: Path, formula: str) -> None:
    assert one(tmp_path, formula) is None


def test_a_formula_of_ten_thousand_steps_by_doubling_aliases_is_left_out(tmp_path: Path) -> None:
    doubled = ["  - &L0 {+: [*A, *A]}"] + [f"  - &L{n} {{+: [*L{n - 1}, *L{n - 1}]}}" for n in range(1, 60)]
    text = INPUTS.replace("roots:\n", "\n".join(doubled) + "\nroots:\n")
    assert derived(tmp_path, text + root("*L59")) == ([], frozenset())
    (few,), _ = derived(tmp_path, text + root("*L3"))
    assert few.exclusive is not None
    assert few.exclusive.evaluate(VALUES.__getitem__).tolist() == [96, 0, -64]


def test_a_formula_that_holds_itself_is_left_out(tmp_path: Path) -> None:
    assert one(tmp_path, "&loop {+: [*A, *loop]}") is None


def test_nesting_is_followed_to_a_depth_no_real_file_reaches(tmp_path: Path) -> None:
    def nested(depth: int) -> str:
        return "{+: [1, " * depth + "0" + "]}" * depth

    compiled = one(tmp_path, nested(40))
    assert compiled is not None
    assert compiled.evaluate(VALUES.__getitem__).tolist() == [40]
    with pytest.raises(AdapterError, match="nested too deeply"):
        one(tmp_path, nested(60))


def test_a_root_has_a_name_a_description_and_may_be_hidden(tmp_path: Path) -> None:
    text = (
        INPUTS
        + root("{+: [*A, *B]}", "X (sec)", "    visible by default: false\n", "inclusive")
        + root("*A", "A", "    visible by default: false\n")
        + root("*A", "[a, list]")
        + "  - just text\n  - name: no variants\n  - {name: odd, variants: {'': text}}\n  - {name: odd2, variants: {'': {formula: 1}}}\n"
        + "  - {name: odd3, variants: {Mean: {formula: {inclusive: {standard: *A}}}}}\n"
        + "  - {name: summed, variants: {Sum: {formula: {inclusive: {standard: *A}, exclusive: {custom: *A}}}}}\n"
        + "  - {name: numbered, description: [1], variants: {'': {formula: {exclusive: {standard: 5}}}}}\n"
    )
    found, hidden = derived(tmp_path, text)
    assert [metric.name for metric in found] == ["X (sec)", "summed", "numbered"]
    assert hidden == {"X (sec)", "A"}
    first, second, third = found
    assert (first.visible, first.description, first.exclusive) == (False, "what X (sec) is", None)
    assert first.inclusive == Formula(("a", "b", ("+", 2)))
    assert (second.visible, second.exclusive) == (True, None)
    assert third.description == "numbered"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("roots: [{name: *nowhere}]", "undefined alias 'nowhere'"),
        ("roots: {a: b]", "not valid YAML in line 1"),
        ("roots:\n  - {a: b]\n", "not valid YAML in line 2"),
        ("a: {}", "no list of metrics"),
        ("[{}]", "no list of metrics"),
        ("roots: [text, 1, {}, ]\n".replace("{}, ", "'{'"), "no list of metrics"),
        ("roots: {name: A}", "no list of metrics"),
        ("{a: " * 200, "nested too deeply"),
    ],
)
def test_a_file_that_is_no_list_of_metrics_is_refused(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(AdapterError, match=words):
        derived(tmp_path, text)


def test_a_mapping_with_a_key_that_is_no_text_is_read(tmp_path: Path) -> None:
    assert derived(tmp_path, INPUTS + "  - {[a, b]: c, {d: e}: f, name: odd}\n") == ([], frozenset())


def test_what_is_not_a_small_readable_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "folder.yaml").mkdir()
    with pytest.raises(AdapterError, match="not a regular file"):
        read_derived(tmp_path / "folder.yaml", IDS)
    with (tmp_path / "large.yaml").open("wb") as file:
        file.truncate(LARGEST_FILE + 1)
    with pytest.raises(AdapterError, match="far larger"):
        read_derived(tmp_path / "large.yaml", IDS)


def test_an_error_of_the_file_system_is_told_in_its_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> str:
        raise OSError(errno.EIO, "Input/output error")

    (tmp_path / "default.yaml").touch()
    monkeypatch.setattr(Path, "read_text", fail)
    with pytest.raises(AdapterError, match="Input/output error"):
        read_derived(tmp_path / "default.yaml", IDS)


def test_a_file_without_formulas_is_not_parsed_and_says_nothing(tmp_path: Path) -> None:
    assert derived(tmp_path, "") == ([], frozenset())
    text = INPUTS.replace("# {", "")
    assert derived(tmp_path, text) == ([], frozenset())
    assert derived(tmp_path, text + "not: [valid") == ([], frozenset())


def test_block_style_says_the_same_as_flow_style(tmp_path: Path) -> None:
    block = textwrap.indent("-:\n  - *A\n  - *B\n", " " * 14)
    (found,), _ = derived(tmp_path, INPUTS + root("\n" + block))
    assert found.exclusive == Formula(("a", "b", ("-", 2)))


# -- in a database -----------------------------------------------------------------------------------------


def occupancy() -> Database:
    """Two kernels: 8 of 64 and 48 of 64 warps; an unmeasured third; and a metric that is nowhere."""
    counts = {"GKER:FGP_ACT_ACUMU": {0: 8.0}, "GKER:FGP_MAX_ACUMU": {0: 64.0}}
    full = {"GKER:FGP_ACT_ACUMU": {0: 48.0}, "GKER:FGP_MAX_ACUMU": {0: 64.0}}
    kernels = [
        function("<gpu kernel>", function(f"k{k}", samples=s), module=None) for k, s in enumerate([counts, full])
    ]
    idle = function("k2", samples={TIME: {0: 1.0}})
    occupied: WrittenFormula = {"*": [100, {"/": ["GKER:FGP_ACT_ACUMU", "GKER:FGP_MAX_ACUMU"]}]}
    return Database(
        [entry(function("main", line("a.cu", 1, *kernels), idle))],
        metrics=[Metric(TIME), Metric("GKER:FGP_ACT_ACUMU"), Metric("GKER:FGP_MAX_ACUMU"), Metric("nowhere")],
        derived=[
            Derived("GKER:OCC_THR", occupied, "theoretical occupancy", "%6.2f %%"),
            Derived("twice nowhere", {"+": ["nowhere", "nowhere"]}, visible=False),
        ],
    )


def test_a_derived_metric_is_its_formula_at_each_context_and_on_the_totals(tmp_path: Path) -> None:
    profile = read(write(tmp_path, occupancy()).path)
    metric = profile.metric("GKER:OCC_THR")
    assert (metric.id, metric.unit, metric.aggregation) == ("gpu.kernel.occupancy", Unit.PERCENT, Aggregation.DERIVED)
    assert metric.has_values
    assert not metric.hidden
    own = {profile.tree.label(n): v for n, v in zip(*_pairs(profile.exclusive(metric.id)), strict=True)}
    assert own == {"k0": 12.5, "k1": 75.0}
    below = {profile.tree.label(n): v for n, v in zip(*_pairs(profile.inclusive(metric.id)), strict=True)}
    # 100 × (8 + 48) / 128 at all above; division by zero at k2 is no value.
    assert (below["main"], below["main thread"], below["a.cu:1"]) == (43.75, 43.75, 43.75)
    assert "k2" not in below
    assert profile.total("GKER:OCC_THR") == 43.75


def test_a_derived_metric_of_unmeasured_ones_is_listed_without_values(tmp_path: Path) -> None:
    profile = read(write(tmp_path, occupancy()).path)
    metric = profile.metric("twice nowhere")
    assert metric.hidden
    assert not metric.has_values
    assert len(profile.exclusive(metric.id)) == 0
    assert profile.total(metric.id) == 0.0


def test_a_formula_for_exclusive_values_alone_gives_no_inclusive_ones(tmp_path: Path) -> None:
    # So it is with the facts of kernels, which mean nothing above the kernel.
    samples = {"A": {0: 6.0}, "B (sec)": {0: 3.0}}
    database = Database([entry(function("main", samples=samples))], metrics=[Metric("A"), Metric("B (sec)")])
    write(tmp_path, database)
    (tmp_path / "metrics" / "default.yaml").write_text(INPUTS + root("{/: [*A, *B]}", "GKER:BLKS"))
    profile = read(tmp_path)
    assert profile.exclusive("GKER:BLKS").values.tolist() == [2.0]
    assert len(profile.inclusive("GKER:BLKS")) == 0
    assert profile.total("GKER:BLKS") == 2.0


def test_means_and_deviations_of_all_statistics_are_not_taken_from_the_file(tmp_path: Path) -> None:
    # hpcprof's "($$^2)" is the plain sum, and its standard deviation the root of a negative number.
    database = occupancy()
    database.derived = ()
    profile = read(write(tmp_path, database, Options(stats=True)).path)
    assert set(profile._by_source_name) == {metric.name for metric in database.metrics}


def _pairs(column: object) -> tuple[list[int], list[float]]:
    nodes, values = column.nodes, column.values  # type: ignore[attr-defined]
    return nodes.tolist(), values.tolist()
