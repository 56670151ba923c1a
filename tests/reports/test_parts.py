"""The parts that renderers are made of: style, columns, tables, tree rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from chathpc.errors import UsageError
from chathpc.profile import numbers
from chathpc.profile.location import Locations
from chathpc.profile.metric import Aggregation, Metric, Unit, column_of
from chathpc.profile.names import shorten_apart
from chathpc.profile.profile import Profile
from chathpc.profile.tree import CallTree, NodeKind, Relation
from chathpc.profile.values import MemoryValues
from chathpc.report import TreeRecord, TreeRow
from chathpc.reports.calltree import bar, largest, tree_lines
from chathpc.reports.rows import tree_record
from chathpc.reports.style import Style
from chathpc.reports.table import column, table_lines
from tests.diagnosis.parts import function
from tests.profile.build import build


def small_profile() -> Profile:
    """main (1 s) → loop (2 s) → line (3 s); main → f (4 s) → main's own line (0.05 s): 10.05 s in all."""
    kinds = [NodeKind.FUNCTION, NodeKind.LOOP, NodeKind.LINE, NodeKind.FUNCTION, NodeKind.LINE]
    relations = [Relation.CALL, Relation.LEXICAL, Relation.LEXICAL, Relation.CALL, Relation.LEXICAL]
    own = np.array([1.0, 2.0, 3.0, 4.0, 0.05])

    def ints(*values: int) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
        return np.array(values, dtype=np.int32)

    tree = CallTree(
        parent=ints(-1, 0, 1, 0, 3),
        end=ints(5, 3, 3, 5, 5),
        kind=np.array(kinds, dtype=np.uint8),
        relation=np.array(relations, dtype=np.uint8),
        name=ints(0, -1, -1, 1, -1),
        file=ints(0, 0, 0, 0, 0),
        line=ints(1, 2, 3, 10, 11),
        module=ints(-1, -1, -1, -1, -1),
        names=("main", "f"),
        files=("/src/a.c",),
        modules=(),
    )
    tree.check()
    time = Metric("cpu.time", Unit.SECONDS, "time", "REALTIME")
    ratio = Metric("cpu.ipc", Unit.RATIO, "instructions per cycle", "IPC", aggregation=Aggregation.DERIVED)
    values = MemoryValues(tree, {"cpu.time": column_of(own)}, {"cpu.time": column_of(tree.inclusive(own))})
    metrics = {"cpu.time": time, "cpu.ipc": ratio}
    return Profile("test", "small", tree, metrics, values, Locations.single())


def rows(record: TreeRecord) -> list[tuple[int, str, float, float]]:
    return [(row.depth, row.label, round(row.inclusive, 9), round(row.exclusive, 9)) for row in record.rows]


def test_by_function_the_time_of_loops_and_lines_belongs_to_their_function() -> None:
    record = tree_record(small_profile(), by="function")
    assert rows(record) == [(0, "main", 10.05, 6.0), (1, "f", 4.05, 4.05)]
    assert record.total == pytest.approx(10.05)


def test_by_loop_siblings_stand_largest_first() -> None:
    record = tree_record(small_profile(), by="loop")
    assert rows(record) == [(0, "main", 10.05, 1.0), (1, "loop at a.c:2", 5.0, 5.0), (1, "f", 4.05, 4.05)]


def test_by_line_every_node_is_there_and_exclusive_values_sum_to_the_total() -> None:
    record = tree_record(small_profile(), by="line", min_share=0)
    assert len(record.rows) == 5
    assert sum(row.exclusive for row in record.rows) == pytest.approx(record.total)


def test_rows_below_the_least_share_and_beyond_the_depth_are_left_out() -> None:
    assert [row.label for row in tree_record(small_profile(), by="line", min_share=0.25).rows] == [
        "main", "loop at a.c:2", "a.c:3", "f",
    ]  # fmt: skip
    assert [row.label for row in tree_record(small_profile(), by="line", min_share=0, depth=2).rows] == [
        "main", "loop at a.c:2", "f",
    ]  # fmt: skip


def test_many_that_are_too_small_each_have_a_row_together_behind_their_siblings() -> None:
    # 30 of 1 s below f, beside inner's 50 s; 2 of 1 s below inner, together below the 5 % of 100 s that a row must have.
    small = [function(f"s{at}", time=1.0) for at in range(30)]
    inner = function("inner", *(function(f"t{at}", time=1.0) for at in range(2)), time=48.0)
    profile = build(function("main", function("f", *small, inner), time=20.0))
    assert rows(tree_record(profile, min_share=0.05, rest=True)) == [
        (0, "main", 100.0, 20.0), (1, "f", 80.0, 0.0), (2, "inner", 50.0, 48.0), (2, "… 30 more", 30.0, 0.0),
    ]  # fmt: skip
    assert len(tree_record(profile, min_share=0.05).rows) == 3
    # What --depth leaves out is left out on purpose.
    assert [row.label for row in tree_record(profile, depth=2, rest=True).rows] == ["main", "f"]


def test_a_recursion_is_shown_some_levels_deep() -> None:
    """`odd` and `even` call each other 40 times, each taking 1 s: all but the first eight stand in a row."""
    inner = function("leaf", time=1.0)
    for at in range(40, 0, -1):
        inner = function("even" if at % 2 else "odd", inner, time=1.0)
    profile = build(function("main", inner, time=59.0))
    told = rows(tree_record(profile, rest=True))
    assert [label for _, label, _, _ in told] == [
        "main",
        *("even", "odd") * 4,
        "… recursion, 33 levels deeper",
    ]
    assert told[-1][2:] == (33.0, 0.0)
    assert len(tree_record(profile).rows) == 42


def test_a_metric_that_does_not_add_up_has_no_tree() -> None:
    with pytest.raises(UsageError, match=r"'cpu\.ipc' do not add up"):
        tree_record(small_profile(), metric="IPC")
    with pytest.raises(UsageError, match="no metric 'x'"):
        tree_record(small_profile(), metric="x")


def test_numbers_in_a_column_share_the_unit_of_the_largest() -> None:
    assert column([9.01, 0.13, 0.0004], 9.01, "s") == ["9.01 s", "0.13 s", "400 µs"]
    assert column([0.0451, 0.0009], 0.0451, "s") == ["45.1 ms", "0.9 ms"]
    assert column([7200.0, 36000.0], 36000.0, "s") == ["2.0 h", "10.0 h"]
    assert column([1e9, 2.5e8], 1e9, "bytes") == ["1.00 GB", "0.25 GB"]
    assert column([5.0, 45000.0], 45000.0, "samples") == ["5 samples", "45,000 samples"]
    assert column([0.0], 0.0, "s") == ["0 s"]
    assert column([9.01, 0.0, -0.0004], 9.01, "s") == ["9.01 s", "0 s", "-400 µs"]
    assert column([0.5, 0.00123, 0.0123], 0.5, "s", digits=2) == ["500 ms", "1.23 ms", "12 ms"]
    assert column([450.0, 5.0, 1.0], 450.0, "samples", digits=2) == ["450 samples", "5 samples", "1 sample"]
    assert column([1.0], float("nan"), "s") == ["1.00 s"]


@given(top=st.floats(1e-9, 1e15), unit=st.sampled_from(["s", "bytes", "count", "cycles", "percent", "ratio"]))
def test_the_largest_value_of_a_column_is_written_to_three_digits(top: float, unit: str) -> None:
    from chathpc.profile import numbers

    written, expected = column([top], top, unit)[0], numbers.quantity(top, unit)
    number, _, suffix = written.partition(" ")
    other, _, same = expected.partition(" ")
    if not other.startswith("<"):
        assert suffix == same
        # Half a unit in the third digit, and half a unit in the last decimal that the column writes.
        assert float(number.replace(",", "")) == pytest.approx(float(other.replace(",", "")), rel=0.006, abs=0.51)


def test_a_narrow_table_shortens_names_before_numbers() -> None:
    rows = [["a_function_with_a_long_name", "1,234,567.8 ms", "12,345,678"]]
    text = table_lines(["name", "total", "count"], rows, Style(width=40), right="total count")[1].plain
    assert text.endswith("  1,234,567.8 ms  12,345,678")
    assert len(text) <= 40


@pytest.mark.parametrize(
    ("share", "own", "expected"),
    [
        (1.0, 0.0, "=---------".replace("=", "-")),
        (1.0, 1.0, "=========="),
        (0.5, 0.2, "==---     "),
        (0.02, 0.02, "=         "),
        (0.004, 0.0, "          "),
        (1.7, 1.7, "=========="),
    ],
)
def test_a_bar_shows_the_share_and_its_own_part(share: float, own: float, expected: str) -> None:
    assert bar(share, own, Style(encoding="ascii")).plain == expected


def deep(depth: int) -> TreeRecord:
    made = [
        TreeRow(depth=d, label=f"level_{d}", place=f"deep.c:{d}", inclusive=1.0, exclusive=0.0, share=1.0)
        for d in range(depth)
    ]
    return TreeRecord(metric="cpu.time", unit="s", total=1.0, rows=made)


def test_a_tree_as_deep_as_python_can_not_recurse_keeps_to_the_width() -> None:
    lines = tree_lines(deep(3000), Style(width=80))
    assert len(lines) == 3000
    assert max(line.cell_len for line in lines) <= 80
    assert "(2999) level_2999" in lines[-1].plain


def test_only_the_largest_rows_are_kept_and_they_are_still_a_tree() -> None:
    made = [TreeRow(depth=0, label="main", place="", inclusive=1.0, exclusive=0, share=1.0)]
    made += [
        TreeRow(depth=1, label=f"f{n}", place="", inclusive=0.02 + n / 1e4, exclusive=0, share=0.02 + n / 1e4)
        for n in range(100)
    ]
    kept = largest(TreeRecord(metric="t", unit="s", total=1.0, rows=made), 10).rows
    assert len(kept) == 10
    assert kept[0].label == "main"
    assert {row.label for row in kept[1:]} == {f"f{n}" for n in range(91, 100)}


def test_a_tree_with_a_total_of_zero_is_drawn() -> None:
    row = TreeRow(depth=0, label="main", place="", inclusive=0.0, exclusive=0.0, share=0.0)
    assert "main" in tree_lines(TreeRecord(metric="t", unit="s", total=0.0, rows=[row]), Style())[0].plain


def test_wide_characters_do_not_shift_the_places_of_a_tree() -> None:
    made = [
        TreeRow(depth=0, label="関数" * 30, place="a.c:1", inclusive=1.0, exclusive=0, share=1.0),
        TreeRow(depth=0, label="f", place="a.c:1", inclusive=1.0, exclusive=0, share=1.0),
    ]
    lines = tree_lines(TreeRecord(metric="t", unit="s", total=1.0, rows=made), Style(width=80))
    assert [line.cell_len for line in lines] == [80, 80]


@pytest.mark.parametrize(
    ("name", "width", "short"),
    [
        ("__GI___libc_write [libc.so.6]", 29, "__GI___libc_write [libc.so.6]"),
        ("__GI___libc_write [libc.so.6]", 20, "__GI___libc_write"),
        ("__GI___libc_write [libc.so.6]", 10, "__GI…write"),
        ("    hpcrun_write [libhpcrun.so]", 18, "    hpcrun_write"),
        ("[libhpcrun.so]", 10, "[libh….so]"),
        ("<unknown procedure> 0x1e2d0 [libgomp.so.1.0.0]", 36, "<unknown> 0x1e2d0 [libgomp.so.1.0.0]"),
        ("solve(int) const [app]", 18, "solve(int) const"),
        ("__work_MOD_smooth._omp_fn.0", 26, "__work_MOD_smooth"),
        ("__work_MOD_smooth._omp_fn.0", 16, "smooth"),
        # What was shortened before keeps its own name.
        ("…::elementwise_grid_stride_kernel<…>", 18, "elementw…kernel<…>"),
        # Words are kept whole where that costs little, at `_`, `::`, blanks and capitals.
        ("starting_the_communicator_MPI", 18, "starting_the_…_MPI"),
        ("sendReceiveParallelHaloExchange", 26, "sendReceive…HaloExchange"),
        ("starting and ending MPI", 20, "starting …ending MPI"),
        ("kernel allocation", 16, "kerne…allocation"),
        ("Memcpy HtoD (Pinned -> Device)", 20, "Memcpy HtoD (…)"),
        ("void saxpy<float>(int, float*)", 12, "saxpy<…>(…)"),
        ("<unnamed>::fused_g0(<unnamed>::Tensor<int>)", 20, "…::fused_g0(…)"),
        ("void at::apply_kernel<float, at::Functor<c10::H…", 24, "void at::apply_kernel<…>"),
    ],
)
def test_of_a_name_that_is_too_long_the_load_module_goes_first(name: str, width: int, short: str) -> None:
    assert Style().shorten(name, width) == short


def test_names_that_are_alike_when_short_are_told_apart_by_what_differs() -> None:
    one, other = (
        f"std::enable_if<!T7, void>::type gemvx::kernel<int, (bool)0, (int){n}, Params<int>>(T3)" for n in (7, 6)
    )
    assert shorten_apart([one, "f", other], 32) == [
        "…::kernel<…(int)7…>(…)",
        "f",
        "…::kernel<…(int)6…>(…)",
    ]
    pair = [f"scale_backward_rowwise_adagrad_kernel_{each}_per_row<c10::Half, 2>" for each in ("cta", "warp")]
    assert shorten_apart(pair, 24) == ["scale_bac…cta_per_row<…>", "scale_ba…warp_per_row<…>"]
    functors = [
        f"void at::vectorized_kernel<(int)4, at::{each}<c10::Half>>(int, T2)" for each in ("Abs", "Fill", "Not")
    ]
    assert shorten_apart(functors, 30) == [
        "…::vectorized_kernel<…Abs…>(…)",
        "vectorized_kernel<…Fill…>(…)",
        "…::vectorized_kernel<…Not…>(…)",
    ]
    assert shorten_apart([one, one], 24) == ["…::kernel<…>(…)"] * 2
    assert shorten_apart(["a" * 60 + "1", "a" * 60 + "2"], 20) == ["aaaaaaaaaa…aaaaaaaa1", "aaaaaaaaaa…aaaaaaaa2"]


@given(
    st.lists(st.text("ab_A<>():, …", max_size=60), max_size=5, unique=True),
    st.integers(0, 50),
    st.sampled_from(["…", "..."]),
)
def test_names_that_are_told_apart_fit(names: list[str], width: int, ellipsis: str) -> None:
    assert all(len(short) <= width for short in shorten_apart(names, width, ellipsis=ellipsis))


def test_a_table_tells_names_apart_that_would_be_alike() -> None:
    rows = [(f"spread_over_all_the_ranks_and_threads_{each}_of_the_run", "1 s") for each in ("evenly", "unevenly")]
    lines = [line.plain for line in table_lines(("name", "total"), rows, Style(width=40), right="total")]
    assert ["evenly_of_the_run" in lines[1], "unevenly_of_the_run" in lines[2]] == [True, True]


def test_a_table_shortens_its_widest_column() -> None:
    cells = [("cpu.time", "x" * 200, "9.01 s"), ("gpu.time", "y", "10.0 s")]
    lines = [line.plain for line in table_lines(("metric", "name", "total"), cells, Style(width=60), right="total")]
    assert max(map(cell_len, lines)) == 60
    assert lines[1].startswith("cpu.time  xxx")
    assert lines[1].endswith(" 9.01 s")
    assert lines[2].endswith("10.0 s")


@given(st.text(max_size=50), st.sampled_from(["ascii", "latin-1", "utf-8", "cp437", "no-such-encoding"]))
def test_fitted_text_can_always_be_written(text: str, encoding: str) -> None:
    fitted = Style(encoding=encoding).name(text)
    fitted.encode("ascii" if encoding == "no-such-encoding" else encoding)


@pytest.mark.parametrize(
    ("amount", "shown"),
    [(0.0, "0.00"), (0.0123456, "0.0123"), (0.00012345, "0.000123"), (1.2345, "1.23"), (1234.5, "1234.50")],
)
def test_money_is_shown_to_three_digits_and_to_the_cent(amount: float, shown: str) -> None:
    assert numbers.money(amount, "EUR") == f"{shown} EUR"


def test_a_column_that_is_copied_from_is_shortened_last() -> None:
    row = ("gpu.kernel.shared-memory-per-block", "staticSharedMemory + dynamicSharedMemory", "96.0 kB")
    lines = [line.plain for line in table_lines(("metric", "name", "total"), [row], Style(64), whole="metric")]
    assert all(cell_len(line) <= 64 for line in lines)
    assert lines[1].split()[0] == row[0]


def test_instances_of_a_template_are_told_apart_in_a_tree() -> None:
    name = "void clover::par_ranged2d_kernel<{}(int, int, double*, clover::Buffer2D<double>&)::lambda>(clover::Range2d, T1)"
    rows = [
        TreeRow(depth=0, label=name.format(what), place="", inclusive=2.0, exclusive=2.0, share=0.5)
        for what in ("advec_cell", "flux_calc")
    ]
    lines = [line.plain for line in tree_lines(TreeRecord(metric="m", unit="s", total=4.0, rows=rows), Style(width=80))]
    assert "advec_cell" in lines[0]
    assert "flux_calc" in lines[1]
    assert all(len(line) <= 80 for line in lines)
