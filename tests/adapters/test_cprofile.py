"""Statistics of cProfile, by a decoder of our own: as Python's marshal reads them, and refusing what it should not."""

from __future__ import annotations

import cProfile
import marshal
import pstats
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chathpc.adapters.cprofile import ADAPTER, Damaged, decode, read
from chathpc.adapters.glance import Glance
from chathpc.errors import AdapterError
from chathpc.pipeline import explain
from chathpc.profile.metric import Clock
from chathpc.profile.profile import Profile
from chathpc.profile.tree import NodeKind
from tests.adapters.opened import opened
from tests.synthetic.cprofile import EXP, HEAT, MAIN, SOLVE, Stats, Writer, write


def file(folder: Path, data: bytes) -> Path:
    (folder / "heat.pstats").write_bytes(data)
    return folder / "heat.pstats"


def by_function(profile: Profile, metric: str) -> dict[str, float]:
    table = profile.table("function", metric)
    return {name: value for name, value in zip(table["name"], table["exclusive"], strict=True) if value}


@pytest.mark.parametrize("version", [1, 2, 3, 4])
@pytest.mark.parametrize("references", [True, False])
def test_every_version_of_the_format(version: int, references: bool, tmp_path: Path) -> None:
    profile = opened(ADAPTER, file(tmp_path, write(HEAT, version, references=references)))
    assert by_function(profile, "cpu.time") == {key[2]: facts[2] for key, facts in HEAT.items()}
    assert by_function(profile, "calls.count") == {key[2]: facts[1] for key, facts in HEAT.items()}
    assert (profile.timed, profile.metrics["cpu.time"].clock) == (True, Clock.WALL)
    tree = profile.tree
    above = {(tree.label(node), tree.label(int(tree.parent[node]))) for node in range(1, len(tree))}
    assert above == {
        ("main", "heat"), ("solve", "main"), ("<built-in method math.exp>", "solve"),
        ("<built-in method time.sleep>", "main"), ("<built-in method time.sleep>", "solve"),
    }  # fmt: skip
    assert "heat.py:10" in [tree.place(node) for node in range(len(tree))]


def test_sleeping_is_waiting_and_not_work(tmp_path: Path) -> None:
    stats: Stats = {**HEAT, ("~", 0, "<built-in method time.sleep>"): (2, 2, 30.0, 30.0, {MAIN: (2, 2, 30.0, 30.0)})}
    profile = opened(ADAPTER, file(tmp_path, write(stats)))
    (sleep,) = (node for node in range(len(profile.tree)) if "sleep" in profile.tree.label(node))
    assert profile.tree.kind[sleep] == NodeKind.PLACEHOLDER
    report = explain(profile, llm="none")
    first = report.findings[0]
    assert first.cause == "blocking-wait"
    assert (first.where.function, first.where.line) == ("main", MAIN[1])
    assert first.summary.startswith("main waits in <built-in method time.sleep> instead of working")
    assert not first.against


def test_the_hottest_function_is_named(tmp_path: Path) -> None:
    report = explain(opened(ADAPTER, file(tmp_path, write(HEAT))), llm="none")
    assert any(finding.where.function == "solve" for finding in report.findings)
    short: Stats = {MAIN: (1, 1, 1e-5, 1e-5, {})}
    assert explain(opened(ADAPTER, file(tmp_path, write(short))), llm="none").verdict == "insufficient-data"


def test_what_python_itself_writes_has_the_same_times(tmp_path: Path) -> None:
    def fib(n: int) -> int:
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    recorder = cProfile.Profile()
    recorder.enable()
    fib(15)
    sorted(range(1000), key=str)
    recorder.disable()
    path = tmp_path / "x.pstats"
    recorder.dump_stats(path)
    profile = opened(ADAPTER, path)
    stats = pstats.Stats(str(path))
    assert profile.total("cpu.time") == pytest.approx(stats.total_tt, rel=1e-12)  # type: ignore[attr-defined]
    assert profile.total("calls.count") == stats.total_calls  # type: ignore[attr-defined]


def test_a_caller_table_with_cycles_begins_at_the_programs_entry(tmp_path: Path) -> None:
    """`exec` runs the program, whose imports call it again: it has a caller, and one call more than that made. Times are those of pstats."""
    run, script, load, main, apply, one, get, test = (
        ("~", 0, "<built-in method builtins.exec>"), ("orders.py", 1, "<module>"), ("<frozen importlib._bootstrap>", 1165, "_find_and_load"),
        ("orders.py", 62, "main"), ("/lib/python3.11/site-packages/pandas/apply.py", 5, "apply"), ("orders.py", 33, "discount"),
        ("/lib/python3.11/site-packages/pandas/series.py", 7, "__getitem__"), ("~", 0, "<built-in method builtins.isinstance>"),
    )  # fmt: skip
    stats: Stats = {
        get: (900, 900, 6.0, 7.5, {one: (899, 899, 5.99, 7.49), main: (1, 1, 0.01, 0.01)}),
        run: (1, 3, 0.25, 11.0, {load: (2, 1, 0.25, 1.5)}),
        script: (1, 1, 0.25, 11.0, {run: (1, 1, 0.25, 11.0)}),
        load: (1, 2, 0.5, 2.0, {script: (1, 1, 0.25, 2.0), run: (1, 1, 0.25, 0.5)}),
        main: (1, 1, 0.01, 8.75, {script: (1, 1, 0.01, 8.75)}),
        apply: (1, 1, 0.25, 8.73, {main: (1, 1, 0.25, 8.73)}),
        one: (100, 100, 0.5, 7.99, {apply: (100, 100, 0.5, 7.99)}),
        test: (1300, 1300, 1.99, 1.99, {get: (900, 900, 1.5, 1.5), apply: (400, 400, 0.49, 0.49)}),
    }
    profile = opened(ADAPTER, file(tmp_path, write(stats)))
    tree = profile.tree
    assert profile.total("cpu.time") == pytest.approx(sum(facts[2] for facts in stats.values()))
    paths = {tuple(tree.label(above) for above in tree.path(node)): node for node in range(len(tree))}
    whole = profile.inclusive("cpu.time").dense(len(tree))
    chain = ("heat", run[2], "<module>", "main", "apply", "discount", "__getitem__")
    assert [whole[paths[chain[:size]]] for size in (4, 5, 6, 7)] == pytest.approx([8.75, 8.73, 7.99, 7.49])
    assert whole[paths[*chain, test[2]]] == pytest.approx(1.5 * 7.49 / 7.5)  # the rest below the call by main
    assert [tree.label(node) for node in np.flatnonzero(tree.parent == 0)] == [run[2]]
    found = explain(profile, llm="none").findings[0]
    assert (found.where.function, found.where.line) == ("discount", 33)
    assert found.summary.startswith("__getitem__, called at orders.py:33, has ")


def test_what_calls_itself_for_several_callers_keeps_its_time(tmp_path: Path) -> None:
    stats: Stats = {
        MAIN: (1, 1, 1.0, 9.0, {}),
        SOLVE: (1, 1, 1.0, 4.0, {MAIN: (1, 1, 1.0, 4.0)}),
        EXP: (2, 9, 7.0, 7.0, {MAIN: (1, 1, 1.0, 4.0), SOLVE: (1, 1, 1.0, 3.0), EXP: (7, 1, 5.0, 5.0)}),
    }
    profile = opened(ADAPTER, file(tmp_path, write(stats)))
    assert by_function(profile, "cpu.time") == {key[2]: facts[2] for key, facts in stats.items()}
    assert by_function(profile, "calls.count") == {key[2]: facts[1] for key, facts in stats.items()}


def test_a_hatchet_reader_finds_the_same_own_times(tmp_path: Path) -> None:
    hatchet = pytest.importorskip("hatchet")
    path = file(tmp_path, marshal.dumps(dict(HEAT)))
    frame = hatchet.GraphFrame.from_cprofile(str(path)).dataframe
    ours = by_function(opened(ADAPTER, path), "cpu.time")
    assert {name: value for name, value in zip(frame["name"], frame["time"], strict=True) if value} == pytest.approx(
        ours
    )


def test_entries_that_are_no_functions_are_passed_over(tmp_path: Path) -> None:
    stats: dict[tuple[object, ...], object] = {
        **HEAT, ("a", 1): (1, 1, 1.0, 1.0, {}), ("a", 1, "b"): (1, 1, float("nan"), 1.0, {}), ("a", 2, "b"): 3,
        ("a", 3, "b"): (1, 1, 1.0), ("c", 4, "d"): (1, 1, 0.5, 0.5, {("x", 1, "missing"): 3, ("y",): 4}), ("a", "b", 5): (1, 1, 1.0, 1.0, {}),
        ("e", 5, "f"): (1, -1, 1.0, 1.0, {}), ("g", 6, "h"): (1, 1, -1.0, 1.0, {}),
    }  # fmt: skip
    profile = opened(ADAPTER, file(tmp_path, Writer().value(stats)))
    assert profile.total("cpu.time") == pytest.approx(10.5)
    assert any("6 entries are not functions" in caveat for caveat in profile.caveats)


GOOD = write(HEAT)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (GOOD[:-1], "end too early"),
        (GOOD[:40], "end too early"),
        (b"{" + b")\x03" * 12, "nested too deeply"),
        (b"{)\x03z\x01a(\xff\xff\xff\x7fz\x01b0", "claims 2,147,483,647 parts"),
        (b"{)\x03z\x01ai\1\0\0\0s\xff\xff\xff\xffb0", "end too early"),
        (b"{)\x03z\x01ai\1\0\0\0c\0\0\0\0", "of a type that statistics never contain"),
        (b"{)\x03z\x01ar\x07\0\0\0", "reference to nothing"),
        (b"{\xa9\x03z\x01ar\x00\0\0\0", "reference to nothing"),
        (b"{)\x03z\x01al\xff\xff\0\0z\x01b", "too large"),
        (b"{)\x03z\x01af\x02xxz\x01b", "an invalid number"),
        (b"{)\x03z\x01a)\x00z\x01bN0", "a key that is not a function"),
        (b"{)\x03z\x01ai\1\0\0\0z\x01bN0", "no time of any function"),
        (b"{)\x03z\x01ai\1\0\0\0z\x01b)\x05" + b"i\0\0\0\0" * 4 + b"{00", "no time of any function"),
    ],
)
def test_damage_is_refused(data: bytes, words: str, tmp_path: Path) -> None:
    with pytest.raises(AdapterError, match=words) as caught:
        read(file(tmp_path, data))
    assert caught.value.hint


def test_nested_references_cannot_blow_up_a_hash() -> None:
    data = b"{\xa9\x03" + b"z\x01a" * 3 + b"N"
    for level in range(60):
        data += b"\xa9\x02" + (b"r" + struct.pack("<i", level)) * 2 + b"N"
    with pytest.raises(Damaged, match="a key that is not a function"):
        decode(data + b"0")


@pytest.mark.parametrize(
    "data", [b"", b"{", b"{0", b'{"a": 1}', b"{)\x02z\x01ai\1\0\0\0N0", b"(\x03\0\0\0abc", b"hello world"]
)
def test_other_bytes_are_not_taken_for_it(data: bytes, tmp_path: Path) -> None:
    assert not ADAPTER.recognises(Glance(file(tmp_path, data)))


plain = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**200), 2**200),
    st.floats(allow_nan=False),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=300),
)
keys = st.tuples(st.text(max_size=4), st.integers(), st.floats(allow_nan=False))


@given(
    st.dictionaries(
        keys, st.one_of(plain, st.tuples(plain, plain), st.dictionaries(keys, plain, max_size=3)), max_size=5
    ),
    st.integers(0, 4),
)
@settings(max_examples=80, deadline=None)
def test_decodes_what_pythons_marshal_writes(value: dict[object, object], version: int) -> None:
    assert decode(marshal.dumps(value, version)) == value


@given(st.dictionaries(keys, plain, max_size=5), st.integers(1, 4), st.booleans())
@settings(max_examples=50, deadline=None)
def test_pythons_marshal_reads_what_our_writer_writes(
    value: dict[object, object], version: int, references: bool
) -> None:
    data = Writer(version, references=references).value(value)
    assert decode(data) == value
    if version >= 3:
        assert marshal.loads(data) == value


@given(st.integers(0, len(GOOD) - 1), st.binary(min_size=1, max_size=4))
@settings(max_examples=200, deadline=None)
def test_any_damage_is_a_profile_or_an_error(at: int, new: bytes) -> None:
    data = GOOD[:at] + new + GOOD[at + len(new) :]
    try:
        decode(data)
    except Damaged as error:
        assert 0 <= error.offset <= len(data)  # noqa: PT017


def test_a_recursion_over_many_functions_is_read(tmp_path: Path) -> None:
    stats: dict[tuple[str, int, str], tuple[object, ...]] = {("a.py", 0, "f0"): (1, 1, 1.0, 1.0, {})}
    for number in range(1, 5000):
        caller = ("a.py", number - 1, f"f{number - 1}")
        stats["a.py", number, f"f{number}"] = (1, 1, 1.0, 1.0, {caller: (1, 1, 1.0, 1.0), SOLVE: 3})
    profile = read(file(tmp_path, write(stats)))
    assert profile.total("cpu.time") == 5000
    assert int(profile.tree.depth.max()) == 5000
