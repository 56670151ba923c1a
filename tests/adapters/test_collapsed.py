"""Collapsed stacks: what is written comes back; what is none is counted, and never taken for one."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chathpc.adapters.collapsed import ADAPTER, read
from chathpc.adapters.glance import Glance
from chathpc.errors import AdapterError
from chathpc.pipeline import explain
from chathpc.profile.profile import Profile
from chathpc.profile.tree import NodeKind
from tests.adapters.opened import opened
from tests.synthetic.collapsed import HEAT, write


def stacks(profile: Profile) -> dict[tuple[str, ...], float]:
    tree, column = profile.tree, profile.exclusive("cpu.samples")
    return {
        tuple(tree.label(step) for step in tree.path(node)): value
        for node, value in zip(column.nodes.tolist(), column.values.tolist(), strict=True)
    }


def test_stacks_come_back(tmp_path: Path) -> None:
    (tmp_path / "x").write_text(write(HEAT))
    profile = opened(ADAPTER, tmp_path / "x")
    bare = {tuple(name.removesuffix("_[k]").removesuffix("_[i]") for name in names): count for names, count in HEAT}
    assert stacks(profile) == bare
    assert profile.sample_count == 504
    modules = {profile.tree.label(node): profile.tree.module_name(node) for node in range(len(profile.tree))}
    assert modules["clear_page_erms"] == "[kernel.kallsyms]"
    assert profile.tree.has(NodeKind.INLINED)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_other_encodings_and_line_ends(encoding: str, end: str, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(write(HEAT, end=end).rstrip().encode(encoding))
    assert opened(ADAPTER, tmp_path / "x").total("cpu.samples") == 504
    (tmp_path / "y").write_bytes(gzip.compress(write(HEAT).encode(encoding)))
    assert opened(ADAPTER, tmp_path / "y").total("cpu.samples") == 504


def test_places_without_names_are_in_the_library_that_the_stack_tells(tmp_path: Path) -> None:
    text = "main;step;<unknown> 0x1e2d0 [libgomp.so.1.0.0] 3\nlibgomp.so.1.0.0+0x1cd8d;f._omp_fn.0;[libm.so.6] 1\n"
    (tmp_path / "x").write_text(text)
    tree = read(tmp_path / "x").tree
    modules = {tree.label(node).split()[0]: tree.module_name(node) for node in range(len(tree))}
    assert (modules["main"], modules["<unknown>"]) == (None, "libgomp.so.1.0.0")
    assert (modules["libgomp.so.1.0.0+0x1cd8d"], modules["[libm.so.6]"]) == ("libgomp.so.1.0.0", "libm.so.6")


def test_waiting_in_a_runtime_without_names_is_not_told_as_computing(tmp_path: Path) -> None:
    """In microseconds: 48 of 100 s are in libgomp, and no stack was seen so often."""
    (tmp_path / "x").write_text(f"main;work {52 * 10**6}\nmain;<unknown> 0x1f780 [libgomp.so.1.0.0] {48 * 10**6}\n")
    profile = read(tmp_path / "x")
    assert profile.sample_count is None
    report = explain(profile, llm="none")
    assert "48.0 % of the time is waiting" in report.headline
    assert all(each.error is None for each in report.evidence)


def test_lines_that_are_no_stacks_are_counted(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("# why\n// and where\n\n" + write(HEAT) + "nonsense\nmain;solve -4\n")
    profile = opened(ADAPTER, tmp_path / "x")
    assert profile.total("cpu.samples") == 504
    assert profile.caveats[-1] == "2 of 7 lines are not stacks and were skipped."


def test_places_and_modules_in_names_are_taken_apart(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("main (heat.py:40);solve (heat.py:12) 7\nlibc.so.1`write;unix`fop_write 2\n; 1\n")
    profile = opened(ADAPTER, tmp_path / "x")
    table = profile.table("line", "cpu.samples").set_index("line")
    assert table.loc[12, "exclusive"] == 7
    labels = [profile.tree.label(node) for node in range(len(profile.tree))]
    assert {"main", "solve", "write", "fop_write", "[unknown]"} <= set(labels)
    assert profile.tree.module_name(labels.index("write")) == "libc.so.1"


def test_names_keep_their_blanks_and_numbers_may_be_fractions(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("operator new(unsigned long);f(int, int) 2.5\na b;c 3 4\n")
    assert stacks(opened(ADAPTER, tmp_path / "x")) == {
        ("operator new(unsigned long)", "f(int, int)"): 2.5,
        ("a b", "c 3"): 4,
    }


@pytest.mark.parametrize("first", ["<module> (heat.py:4)", "<init>", "<lambda>"])
def test_a_stack_may_begin_with_a_name_in_angle_brackets(first: str, tmp_path: Path) -> None:
    """As py-spy writes the stacks of a script: `py-spy record -f raw`."""
    (tmp_path / "x").write_text(
        f"{first};main (heat.py:7) 5\n{first};_find_and_load (<frozen importlib._bootstrap>:1176) 2\n"
    )
    profile = opened(ADAPTER, tmp_path / "x")
    assert profile.total("cpu.samples") == 7
    assert "_find_and_load" in profile.tree.names


@pytest.mark.parametrize("text", ["no stack\n", "", "# only comments\n", "a;b 0\n", "a;b 1e9\n", "a;b\n"])
def test_without_a_stack_the_file_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "x").write_text(text)
    with pytest.raises(AdapterError):
        read(tmp_path / "x")


@pytest.mark.parametrize(
    "data",
    [
        b"int main(void) { int i; for (i = 0; i < 9; i++) ; return 0; }\n",
        b"a,b,c 1\n2,3,4 5\n",
        b"hello world 12\nthere are 13\n",
        b'{"a;b": 1}\n',
        b"<x>a;b 1\n",
        b"<a href='x'>b; c 1\n",
        b"<?xml version='1.0'?>\n<a>b;c</a>; 1\nd;e 2\n",
        b"<!-- a;b 1\nc;d 2\n",
        b"a;b 1\n\0\0\0",
        b"x = 1; // set\ny = 2; // set\nz;w 3\n",
        b"",
        b"\x7fELF;;; 1\n" + bytes(range(256)),
    ],
)
def test_other_files_are_not_taken_for_stacks(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(data)
    assert not ADAPTER.recognises(Glance(tmp_path / "x"))


def test_a_stack_of_a_hundred_thousand_frames(tmp_path: Path) -> None:
    (tmp_path / "x").write_text(write([(("a",) * 100_000, 5), (("a", "b"), 1)]))
    profile = read(tmp_path / "x")
    assert int(profile.tree.depth.max()) == 99_999
    assert profile.table("function", "cpu.samples").set_index("name").loc["a", "inclusive"] == 6


names = st.text(st.characters(categories=["L", "N", "P", "S"], exclude_characters=";`"), min_size=1, max_size=8).filter(
    lambda name: not name.endswith(("_[k]", "_[i]", "_[j]")) and not name.startswith(("#", "//"))
)


@given(st.lists(st.tuples(st.lists(names, min_size=1, max_size=5).map(tuple), st.integers(1, 10**5)), min_size=1))
@settings(max_examples=60, deadline=None)
def test_any_stacks_come_back(rows: list[tuple[tuple[str, ...], int]]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x"
        path.write_text(write(rows))
        expected = Counter[tuple[str, ...]]()
        for frames, count in rows:
            expected[frames] += count
        assert stacks(read(path)) == dict(expected)
