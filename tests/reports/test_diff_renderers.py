"""A comparison as every renderer writes it: complete, within the width, and safe whatever names a profile holds."""

from __future__ import annotations

import json
from dataclasses import replace

import jsonschema
import pytest
from markdown_it import MarkdownIt
from rich.cells import cell_len
from rich.text import Text

import chathpc
from chathpc.comparison import words
from chathpc.comparison.record import Diff
from chathpc.profile.profile import Profile
from chathpc.profile.tree import NodeKind, Relation
from chathpc.reports import FORMATS, diff_renderers
from chathpc.reports.style import Style
from tests.diagnosis.parts import barrier, function, libc, libm, main, thread, wall
from tests.profile.build import build, line, node
from tests.reports.test_hostile import HOSTILE


def program(pow_time: float, malloc_time: float, *more: str, name: str = "state") -> Profile:
    parts = (function(f"part{at:02}", time=0.5 + malloc_time / 4) for at in range(16))
    state = function(name, line("g.c:7", libm("pow", time=pow_time)), time=1.0, at="src/g.c:5")
    push = function("push", line("p.c:9", libc("malloc", time=malloc_time), time=0.5))
    lone = (function(each, time=1.0) for each in more)
    return build(main(state, push, *parts, *lone, time=1.0, values=None), thread(barrier(time=2.0)))


def sample() -> Diff:
    return chathpc.diff(
        program(6.0, 1.0, "old_name"), program(1.0, 4.0, "new_name", "another"), fail_on_regression=0.05
    )


def text_of(found: Diff, **style: object) -> str:
    return diff_renderers()["text"](found, Style(**style))  # type: ignore[arg-type]


def test_every_format_of_a_report_is_one_of_a_comparison() -> None:
    assert tuple(diff_renderers()) == FORMATS


def test_rows_that_are_left_out_as_noise_are_in_a_sum_so_that_the_table_adds_up() -> None:
    found = sample()
    changed = [row.model_copy(update={"beyond_noise": at == 0}) for at, row in enumerate(found.functions)]
    quiet = sum(row.change for row in changed[1:])
    text = text_of(found.model_copy(update={"functions": changed}), width=200)
    assert f"{len(changed) - 1} more within noise, together {words.signed(quiet, found.unit)}" in text
    assert quiet


def test_the_outcome_comes_first_then_where_why_and_how_sure() -> None:
    text = text_of(sample())
    order = [
        "SLOWER",
        "GATE",
        "Before",
        "After",
        "Where it changed",
        "Findings",
        "By kind of work",
        "By function",
        "± is the error",
    ]
    assert sorted(text.index(word) for word in order) == [text.index(word) for word in order]


def test_the_lines_add_up_to_the_total() -> None:
    found = sample()
    lines = text_of(found, verbose=True).split("Where it changed")[1].split("Findings")[0].splitlines()
    numbers = [float(line.split(" s ")[0].replace("−", "-").replace(",", "")) for line in lines if " s  " in line]
    assert sum(numbers[:-1]) == pytest.approx(numbers[-1], abs=0.05)
    assert len(numbers) == len(found.shares) + 2


def test_small_changes_are_summed_unless_all_are_asked_for() -> None:
    assert len(sample().shares) > 12
    assert "smaller changes" in text_of(sample())
    assert "smaller changes" not in text_of(sample(), verbose=True)
    assert "more changed (-v shows them)" in text_of(sample())


@pytest.mark.parametrize("width", [60, 80, 110])
@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
@pytest.mark.parametrize("verbose", [False, True])
def test_no_line_is_wider_than_the_terminal(width: int, encoding: str, verbose: bool) -> None:
    long = "std::vector<std::pair<double, unsigned long>, std::allocator<int>> grid::very_long_name_of_a_function(int)"
    found = chathpc.diff(program(6.0, 1.0, name=long), program(1.0, 4.0, name=long), fail_on_regression=0.05)
    text = text_of(found, width=width, encoding=encoding, verbose=verbose)
    assert [line for line in text.splitlines() if cell_len(line) > width] == []
    text.encode(encoding)


def test_what_is_faster_is_green_and_what_is_slower_red() -> None:
    coloured = text_of(sample(), colour=True)
    assert "\x1b[1;31mSLOWER" in coloured
    assert "\x1b[32m" in coloured
    assert [line.rstrip() for line in Text.from_ansi(coloured).plain.splitlines()] == text_of(sample()).splitlines()


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_names_act_on_nothing(name: str, form: str) -> None:
    one, other = program(6.0, 1.0, name=name), program(1.0, 4.0, f"new{name}", name=name)
    found = chathpc.diff(replace(one, title=name), replace(other, title=f"{name}2"))
    text = diff_renderers()[form](found, Style())
    assert all(character == "\n" or character.isprintable() for character in text)
    if form == "json":
        json.loads(text)
    if form == "markdown":
        tokens = MarkdownIt("gfm-like", {"linkify": False}).enable("table").parse(text)
        kinds = {child.type for token in tokens for child in (token.children or [])} | {token.type for token in tokens}
        assert not kinds & {"html_inline", "html_block", "link_open", "image"}
        assert text.count("\n## Where it changed") == 1


def test_markdown_has_tables_with_whole_rows() -> None:
    text = diff_renderers()["markdown"](
        chathpc.diff(program(6.0, 1.0, name="a|b"), program(1.0, 4.0, name="a|b")), Style()
    )
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    tables: list[list[int]] = []
    cells = 0
    for token in tokens:
        if token.type == "table_open":
            tables.append([])
        elif token.type == "tr_open":
            cells = 0
        elif token.type in ("td_open", "th_open"):
            cells += 1
        elif token.type == "tr_close":
            tables[-1].append(cells)
    assert [set(rows) for rows in tables] == [{4}, {6}, {6}, {6}]
    assert "**Slower.**" in text


def test_the_way_to_a_change_is_prose_with_its_names_as_code_and_small_times_have_digits() -> None:
    """170 ms before and 8.26 ms after beside each other, in one unit: a decimal is left for the smaller."""
    one, other = (
        build(main(function("<gpu copyin>", function("f", time=each)), time=0.01)) for each in (0.17, 0.00826)
    )
    found = chathpc.diff(wall(one), wall(other))
    text = diff_renderers()["markdown"](found, Style())
    assert "| 170.0 ms | 8.3 ms | `f`, below `<program root>` \\> `main` \\> `copies to the device` |" in text
    assert "below <program root> > main" in text_of(found)


def test_kernels_have_no_table_where_they_are_the_functions() -> None:
    def device(seconds: float, of_host: dict[str, float]) -> Profile:
        values = {"gpu.time": seconds, "gpu.kernel.time": seconds}
        kernel = node(NodeKind.GPU_KERNEL, Relation.CALL, "step", values=values)
        return replace(build(main(kernel, values=of_host)), timed=True)

    for of_host, count in (({}, 0), ({"cpu.time": 1.0}, 1)):
        found = chathpc.diff(device(1.0, of_host), device(3.0, of_host))
        assert len(found.kernels) == 1
        assert text_of(found).count("By GPU kernel") == count


def test_what_is_not_comparable_has_findings_and_no_numbers() -> None:
    found = chathpc.diff(wall(program(6.0, 1.0)), program(6.0, 1.0))
    text = text_of(found)
    assert text.splitlines()[2].startswith("NOT COMPARABLE  Time was taken from a wall clock")
    assert "Where it changed" not in text
    assert "As before: " in text
    assert "**Not comparable.**" in diff_renderers()["markdown"](found, Style())


def test_other_measurements_and_kernels_are_shown() -> None:
    one, other = (
        build(main(function("f", time=4.0), values={"cpu.time": 1.0, "io.read.bytes": read})) for read in (2e6, 3e6)
    )
    found = chathpc.diff(one, other)
    assert "io.read.bytes  2.00 MB  3.00 MB   +50.0 %" in text_of(found)
    assert "| `io.read.bytes` | 2.00 MB | 3.00 MB | +50.0 % |" in diff_renderers()["markdown"](found, Style())


def test_a_comparison_conforms_to_the_published_schema() -> None:
    from pathlib import Path

    schema = json.loads((Path(__file__).parents[2] / "docs" / "diff-schema.json").read_text(encoding="utf-8"))
    for found in (sample(), chathpc.diff(wall(program(6.0, 1.0)), program(6.0, 1.0))):
        written = json.loads(found.to_json())
        jsonschema.validate(written, schema)
        assert json.loads(diff_renderers()["json"](found, Style())) == written
        del written["schema"]
        with pytest.raises(jsonschema.ValidationError, match="'schema' is a required property"):
            jsonschema.validate(written, schema)
