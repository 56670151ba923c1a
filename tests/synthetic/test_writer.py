"""The writer of synthetic databases, held against a reader that shares no code with it, llnl-hatchet, and arithmetic by hand."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
import yaml

from tests.synthetic import plain_reader, programs
from tests.synthetic.hpctoolkit_v4 import (
    TIME,
    Context,
    Database,
    Location,
    Options,
    Written,
    entry,
    function,
    line,
    loop,
    point,
    without_structure,
    write,
    write_large,
)  # fmt: skip
from tests.synthetic.plain_reader import Ctx, Image
from tests.synthetic.v4_meta import Shape


class Read:
    """A database as the plain reader sees it."""

    def __init__(self, path: Path) -> None:
        self.meta = Image(path / "meta.db", b"meta", b"_meta.db")
        self.props, self.stats, self.scopes = plain_reader.read_metrics(self.meta)
        self.roots = plain_reader.read_tree(self.meta)
        self.profile_db = Image(path / "profile.db", b"prof", b"_prof.db")
        self.profiles = plain_reader.read_profiles(self.profile_db)

    def contexts(self) -> list[Ctx]:
        found, stack = [], self.roots[::-1]
        while stack:
            found.append(stack.pop())
            stack += found[-1].children[::-1]
        return found

    def called(self, name: str) -> Ctx:
        return next(c for c in self.contexts() if c.function is not None and c.function[0] == name)

    def at_line(self, line: int) -> Ctx:
        return next(c for c in self.contexts() if c.line == line)

    def value(self, profile: int, context: int, scope: str, metric: str = TIME) -> float:
        table = (
            {v: k for k, v in self.props.items()}
            if profile
            else {v[:2]: k for k, v in self.stats.items() if v[2:] == ("$$", 0)}
        )
        return self.profiles[profile][2].get((context, table[metric, scope]), 0.0)


@pytest.fixture
def small(tmp_path: Path) -> Read:
    write(tmp_path / "db", programs.small())
    return Read(tmp_path / "db")


def test_scopes_are_those_of_the_format(small: Read) -> None:
    assert small.scopes == {"point": (1, 255), "function": (3, 0), "lex_aware": (0, 255), "execution": (2, 255)}


def test_total_of_each_thread_is_the_sum_of_its_samples(small: Read) -> None:
    # thread 0: 0.25 + 2 + 4 + 0.5 + 0.125 + 1; thread 1: 1 + 3 + 0.5 + 0.5 + 8
    assert [small.value(p, 0, "execution") for p in (1, 2, 0)] == [7.875, 13.0, 20.875]
    assert [small.value(p, 0, "function") for p in (1, 2, 0)] == [0.0, 0.0, 0.0]


def test_function_scope_stops_at_calls_and_at_inlined_calls(small: Read) -> None:
    work = small.called("work").id
    assert (small.value(1, work, "function"), small.value(2, work, "function")) == (6.0, 4.0)
    assert (small.value(1, work, "execution"), small.value(2, work, "execution")) == (6.5, 4.5)
    assert small.value(0, small.called("clamp").id, "function") == 1.0
    assert small.value(0, small.called("main").id, "function") == 0.25


def test_lex_aware_of_a_loop_leaves_out_the_loops_inside_it(small: Read) -> None:
    outer, inner = small.at_line(7).id, small.at_line(9).id
    assert (small.value(0, outer, "function"), small.value(0, outer, "lex_aware")) == (10.0, 3.0)
    assert (small.value(0, inner, "function"), small.value(0, inner, "lex_aware")) == (7.0, 7.0)


def test_function_scope_adds_up_to_the_total_over_functions_and_called_instructions(small: Read) -> None:
    heads = [c for c in small.contexts() if c.entry >= 0 or c.propagation == 0]
    assert sum(small.value(0, c.id, "function") for c in heads) == 20.875


def test_sampled_instructions_have_values_but_do_not_stand_in_the_tree(small: Read) -> None:
    in_tree = {c.id for c in small.contexts()}
    with_values = {context for context, _ in small.profiles[0][2]} - {0}
    assert len(in_tree) == 18
    assert len(with_values - in_tree) == 6  # the points
    leaf = small.at_line(8)
    assert (leaf.children, leaf.children_at > 0) == ([], True)
    assert small.called("<omp barrier wait>").children_at == 0


def test_places_of_contexts_are_written_as_given(small: Read) -> None:
    assert small.called("work").function == ("work", "app", 0x1000, "work.c", 5)
    header = small.at_line(7)
    assert (header.flags, header.lexical_type, header.file, header.module, header.offset) == (
        6,
        1,
        "work.c",
        "app",
        0x1020,
    )
    assert [(r.entry, r.children[0].lexical_type) for r in small.roots] == [(1, 0), (2, 3)]
    assert small.called("clamp").relation == 2


def test_identifier_tuples_name_node_core_and_thread(small: Read) -> None:
    summary, first, second = small.profiles
    assert (summary[0], summary[1], first[0]) == (True, 0, False)
    assert plain_reader.read_tuple(small.profile_db, second[1]) == [(1, 1, 0, 0x7F0100), (7, 0, 1, 1), (3, 0, 1, 1)]


def test_cct_db_has_the_values_of_profile_db(tmp_path: Path, small: Read) -> None:
    by_context = plain_reader.read_contexts(Image(tmp_path / "db" / "cct.db", b"ctxt", b"__ctx.db"))
    by_profile = {(c, m, p): v for p, (_, _, vs) in enumerate(small.profiles) if p > 0 for (c, m), v in vs.items()}
    assert by_context == by_profile
    assert sum(by_profile[0, 3, profile] for profile in (1, 2)) == 20.875


def test_traces_point_at_contexts(tmp_path: Path) -> None:
    database = programs.small()
    written = write(tmp_path, database)
    lines = plain_reader.read_traces(Image(tmp_path / "trace.db", b"trce", b"trace.db"))
    ids = {time: 0 if c is None else written.ids[c] for line in database.traces.values() for time, c in line}
    assert lines == {1: [(t, ids[t]) for t in (1000, 6000, 11000, 16000)], 2: [(t, ids[t]) for t in (2000, 9000)]}


def test_children_stand_before_their_parents_block(small: Read) -> None:
    for context in small.contexts():
        for child in context.children:
            assert child.place < context.place or context.entry >= 0
            if child.children:
                assert child.children[0].place < child.place


def test_all_statistics_count_every_profile_that_reaches_a_context(tmp_path: Path) -> None:
    write(tmp_path, programs.small(), Options(stats=True))
    read = Read(tmp_path)
    work = read.called("work").id
    by_name = {v: k for k, v in read.stats.items()}
    values = read.profiles[0][2]

    def stat(scope: str, formula: str, combine: int, context: int = work) -> float:
        return values.get((context, by_name[TIME, scope, formula, combine]), 0.0)

    assert [stat("execution", "1", 0), stat("execution", "$$", 0), stat("execution", "$$", 1), stat("execution", "$$", 2)] == [
        2.0, 11.0, 4.5, 6.5,
    ]  # fmt: skip
    assert stat("point", "1", 0) == 2.0
    assert stat("function", "1", 0, context=0) == 2.0
    assert len(by_name) == len(read.stats) == 4 * 4 * 5


def test_taxonomy_names_scopes_and_formulas_that_a_yaml_reader_resolves(tmp_path: Path) -> None:
    write(tmp_path, programs.small(), Options(stats=True))
    found = yaml.safe_load((tmp_path / "metrics" / "default.yaml").read_text())
    roots = {root["name"]: root for root in found["roots"]}
    assert list(roots) == [TIME, "perf::page-faults", "Bytes Allocated", "Bytes Freed", "Bytes Leaked"]
    assert roots[TIME]["variants"]["Sum"]["formula"]["exclusive"]["standard"]["scope"] == "function"
    leaked = roots["Bytes Leaked"]["variants"][""]["formula"]["inclusive"]["standard"]["-"]
    assert [part["metric"] for part in leaked] == ["Bytes Allocated", "Bytes Freed"]
    assert list(roots[TIME]["variants"]) == ["Sum", "Mean", "StdDev", "CfVar", "Min", "Max"]
    assert roots["Bytes Freed"]["visible by default"] is False


@pytest.mark.parametrize("grow", [8, 16])
def test_a_newer_minor_version_has_larger_structures_and_the_same_content(tmp_path: Path, grow: int) -> None:
    write(tmp_path / "old", programs.small())
    write(tmp_path / "new", programs.small(), Options(shape=Shape(minor=3, grow=grow)))
    old, new = Read(tmp_path / "old"), Read(tmp_path / "new")
    assert (new.meta.minor, len(new.meta.data) > len(old.meta.data)) == (3, True)
    assert [values for _, _, values in new.profiles] == [values for _, _, values in old.profiles]
    assert [(c.id, c.function, c.file, c.line) for c in new.contexts()] == [
        (c.id, c.function, c.file, c.line) for c in old.contexts()
    ]
    cct = [plain_reader.read_contexts(Image(tmp_path / d / "cct.db", b"ctxt", b"__ctx.db")) for d in ("old", "new")]
    assert cct[0] == cct[1]


def test_prerelease_sizes_are_written_into_the_header(tmp_path: Path) -> None:
    write(tmp_path, programs.small(), Options(shape=Shape(prerelease=True)))
    meta = Image(tmp_path / "meta.db", b"meta", b"_meta.db")
    assert meta.at(meta.u64(0x38) + 0xC, "BBB") == (24, 24, 16)


def test_without_summary_values_the_summary_profile_is_empty(tmp_path: Path) -> None:
    write(tmp_path, programs.small(), Options(summary=False))
    read = Read(tmp_path)
    assert read.profiles[0] == (True, 0, {})
    assert read.value(2, 0, "execution") == 13.0


def test_without_structure_there_are_only_called_instructions(tmp_path: Path) -> None:
    database = programs.small()
    database.roots, database.traces = without_structure(database.roots), {}
    write(tmp_path, database, Options(omit=frozenset({"trace.db"})))
    read = Read(tmp_path)
    assert {(c.lexical_type, c.relation, c.propagation) for c in read.contexts() if c.entry < 0} == {(3, 1, 0)}
    assert read.value(0, 0, "execution") == 20.875
    assert not (tmp_path / "trace.db").exists()


def test_shuffled_identifiers_change_no_value(tmp_path: Path) -> None:
    write(tmp_path, programs.small(), Options(seed=5))
    read = Read(tmp_path)
    assert read.value(0, read.called("work").id, "execution") == 11.0


def test_an_elided_context_with_children_is_refused(tmp_path: Path) -> None:
    bad = point(1, {})
    bad.children.append(line("a.c", 1))
    with pytest.raises(ValueError, match="elided"):
        write(tmp_path, Database([entry(bad)]))


def test_a_chain_of_many_levels_keeps_its_total(tmp_path: Path) -> None:
    tip: Context = line("a.c", 1, point(1, {TIME: {0: 2.5}}))
    for _ in range(3000):
        tip = line("a.c", 2, function("f", tip))
    written: Written = write(tmp_path, Database([entry(function("main", tip))]))
    profiles = plain_reader.read_profiles(Image(tmp_path / "profile.db", b"prof", b"_prof.db"))
    assert len(written.places) == 6003
    assert profiles[1][2][0, 3] == profiles[1][2][1, 3] == 2.5


# -- llnl-hatchet ------------------------------------------------------------------------------------------


def hatchet_frame(path: Path):  # type: ignore[no-untyped-def]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import hatchet

        return hatchet.GraphFrame.from_hpctoolkit_latest(str(path))


def test_hatchet_reads_the_same_values(tmp_path: Path) -> None:
    work = function("work", loop("a.c", 5, line("a.c", 6, point(1, {TIME: {0: 3.0, 1: 1.0}}))))
    text = line("a.c", 2, work, point(2, {TIME: {1: 0.5}}))
    write(tmp_path, Database([entry(function("main", text))], [Location(0), Location(1)]))
    frame = hatchet_frame(tmp_path).dataframe
    rows = {row["name"]: (row["time (inc)"], row["time"]) for _, row in frame.iterrows()}
    assert rows["function: work"] == (4.0, 4.0)
    assert rows["function: main"] == (4.5, 0.5)
    assert rows["loop a.c:5"] == (4.0, 4.0)
    assert rows["entry"][0] == 4.5


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("large")
    write_large(path, 3000, 3, seed=11)
    return path


def test_a_large_database_has_the_asked_number_of_contexts_and_is_consistent(large: Path) -> None:
    read = Read(large)
    contexts = read.contexts()
    assert len(contexts) == len({c.id for c in contexts}) == 3000
    depth = {id(root): 0 for root in read.roots}
    for c in contexts:
        depth.update({id(child): depth[id(c)] + 1 for child in c.children})
    assert 40 <= max(depth.values()) <= 62
    total = [
        sum(p[2].get((c.id, 1), 0.0) for c in contexts if c.propagation == 0 or c.entry >= 0) for p in read.profiles
    ]
    assert total == [p[2][0, 3] for p in read.profiles]
    assert total[0] == sum(total[1:])
    for c in contexts:  # inclusive of each = own samples + those of the children, elided ones being its own
        assert read.value(0, c.id, "execution") >= sum(read.value(0, child.id, "execution") for child in c.children)


def test_a_large_database_reads_equal_in_cct_db(large: Path) -> None:
    by_context = plain_reader.read_contexts(Image(large / "cct.db", b"ctxt", b"__ctx.db"))
    by_profile = {
        (c, m, p): v for p, (_, _, vs) in enumerate(Read(large).profiles) if p > 0 for (c, m), v in vs.items()
    }
    assert by_context == by_profile


def test_siblings_of_a_large_database_differ(large: Path) -> None:
    for c in Read(large).contexts():
        keys = [(k.lexical_type, k.relation, k.function, k.file, k.line) for k in c.children]
        assert len(keys) == len(set(keys))


def test_hatchet_reads_a_large_database_with_the_same_total(large: Path) -> None:
    frame = hatchet_frame(large).dataframe
    read = Read(large)
    assert len(frame) == 3000
    assert frame["time (inc)"].max() == read.profiles[0][2][0, 3]
    by_function = frame[[node.frame["type"] == "function" for node in frame.index]]["time"].sum()
    assert np.isclose(by_function, read.profiles[0][2][0, 3], rtol=1e-12)


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path, large: Path) -> None:
    write_large(tmp_path, 3000, 3, seed=11)
    for name in ("meta.db", "profile.db", "cct.db", "trace.db", "metrics/default.yaml"):
        assert (tmp_path / name).read_bytes() == (large / name).read_bytes()
