"""meta.db: names, kinds and relations of contexts; metrics and their scopes."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from chathpc.adapters.hpctoolkit import read
from chathpc.adapters.hpctoolkit.binary import DatabaseFile
from chathpc.adapters.hpctoolkit.meta import NO_SCOPE, Meta, read_meta
from chathpc.errors import AdapterError
from chathpc.profile.profile import Profile
from chathpc.profile.tree import NodeKind, Relation
from tests.adapters.hpctoolkit.bombs import File
from tests.synthetic import programs
from tests.synthetic.hpctoolkit_v4 import (
    TIME,
    Context,
    Database,
    Metric,
    Options,
    Written,
    entry,
    function,
    inlined,
    instruction,
    line,
    loop,
    point,
    without_structure,
    write,
)  # fmt: skip
from tests.synthetic.v4_meta import ID_KINDS, SCOPES, Shape

ONE = {TIME: {0: 1.0}}
METRICS, CONTEXTS, MODULES, SOURCES, FUNCTIONS = 0x38, 0x48, 0x68, 0x78, 0x88


def tree_of(path: Path, *roots: Context) -> tuple[Profile, Written]:
    written = write(path, Database(roots))
    profile = read(path)
    profile.tree.check()
    return profile, written


def node_of(profile: Profile, written: Written, context: Context) -> int:
    assert profile.tree.source_id is not None
    (node,) = np.flatnonzero(profile.tree.source_id == written.ids[context])
    return int(node)


def meta_of(path: Path) -> Meta:
    return read_meta(DatabaseFile(path / "meta.db"))


# -- contexts ----------------------------------------------------------------------------------------------


def test_elided_contexts_are_not_in_the_tree_and_their_values_are_in_those_above(tmp_path: Path) -> None:
    text = line("a.c", 2, point(0x10, {TIME: {0: 0.25}}), point(0x14, {TIME: {0: 0.5}}))
    profile, written = tree_of(tmp_path, entry(function("main", text)))
    assert len(profile.tree) == 3
    assert len(written.ids) == 5
    node = node_of(profile, written, text)
    assert profile.exclusive(TIME).at(node) == profile.inclusive(TIME).at(node) == 0.75


def test_size_and_not_pointer_says_whether_a_context_has_children(tmp_path: Path) -> None:
    text = line("a.c", 2, point(0x10, ONE))
    written = write(tmp_path, Database([entry(function("main", text))]))
    with File(tmp_path / "meta.db") as meta:
        place = written.places[written.ids[text]]
        assert struct.unpack_from("<QQ", meta.data, place)[0] == 0
        meta.put(place + 8, "Q", 0xDEAD_BEEF_0000_0007)
    assert len(read(tmp_path).tree) == 3


@pytest.mark.parametrize("grow", [8, 64])
def test_records_are_as_long_as_they_say(tmp_path: Path, grow: int) -> None:
    write(tmp_path, programs.small(), Options(Shape(grow=grow, minor=1)))
    profile = read(tmp_path)
    profile.tree.check()
    assert profile.total(TIME) == 20.875


def test_several_entry_points_are_the_roots(tmp_path: Path) -> None:
    profile, _ = tree_of(
        tmp_path, entry(function("main", samples=ONE)), entry(function("run", samples=ONE), kind=2), entry(kind=0)
    )
    tree = profile.tree
    assert sorted(tree.label(root) for root in tree.roots.tolist()) == [
        "application thread", "main thread", "unknown entry",
    ]  # fmt: skip
    assert {int(tree.kind[root]) for root in tree.roots.tolist()} == {NodeKind.ENTRY}
    assert {int(tree.relation[root]) for root in tree.roots.tolist()} == {Relation.CALL}
    assert profile.total(TIME) == 2.0


def test_kinds_and_relations_are_those_of_the_contexts(tmp_path: Path) -> None:
    callee = function("callee", samples=ONE)
    body = inlined("body", line("b.h", 9, callee), file="b.h", line=8)
    repeat = loop("a.c", 3, body, offset=0x44)
    raw = instruction("/lib/libx.so.1", 0x1F780, samples=ONE)
    main = function("main", repeat, raw, file="a.c", line=1, module="/bin/app", offset=0x40)
    profile, written = tree_of(tmp_path, entry(main))
    tree = profile.tree
    nodes = [node_of(profile, written, one) for one in (main, repeat, body, callee, raw)]
    assert [NodeKind(int(tree.kind[n])) for n in nodes] == [
        NodeKind.FUNCTION, NodeKind.LOOP, NodeKind.INLINED, NodeKind.FUNCTION, NodeKind.INSTRUCTION,
    ]  # fmt: skip
    assert [Relation(int(tree.relation[n])) for n in nodes] == [
        Relation.CALL, Relation.LEXICAL, Relation.INLINED_CALL, Relation.CALL, Relation.CALL,
    ]  # fmt: skip
    assert [tree.label(n) for n in nodes] == ["main", "loop at a.c:3", "body", "callee", "libx.so.1+0x1f780"]
    assert [tree.place(n) for n in nodes] == ["a.c:1", "a.c:3", "b.h:8", "", ""]
    assert tree.offset is not None
    assert [int(tree.offset[n]) for n in (nodes[1], nodes[4])] == [0x44, 0x1F780]
    assert [tree.module_name(n) for n in nodes] == ["/bin/app", "app", "app", "app", "/lib/libx.so.1"]


def test_names_keep_the_suffix_of_their_library_and_pseudo_files_are_no_places(tmp_path: Path) -> None:
    poll = function("__GI___poll [libc.so.6]", line("[libc.so.6]", 0, samples=ONE), file="[libc.so.6]")
    unknown = function("<unknown procedure> 0x1f780 [libgomp.so.1.0.0]", samples=ONE, file="<unknown>")
    profile, written = tree_of(tmp_path, entry(poll, unknown))
    nodes = [node_of(profile, written, one) for one in (poll, unknown)]
    assert [profile.tree.label(n) for n in nodes] == [poll.name, unknown.name]
    assert [profile.tree.place(n) for n in nodes] == ["", ""]
    assert profile.tree.file_name(nodes[0]) == "[libc.so.6]"
    assert profile.source(nodes[0]) is None


def test_a_function_of_which_nothing_is_known_is_called_unknown(tmp_path: Path) -> None:
    nothing = function(None, module=None, samples=ONE)
    anonymous = function(None, module="/bin/app", offset=0x2E00, samples=ONE)
    only_file = function(None, module=None, file="a.c", line=7, samples=ONE)
    profile, written = tree_of(tmp_path, entry(nothing, anonymous, only_file))
    nodes = [node_of(profile, written, one) for one in (nothing, anonymous, only_file)]
    labels = [profile.tree.label(n) for n in nodes]
    assert labels == ["<unknown function>", "/bin/app+0x2e00", "<unknown function>"]
    assert profile.tree.place(nodes[2]) == "a.c:7"
    table = profile.table("function", TIME)
    assert table[table.name == "<unknown function>"].exclusive.sum() == 2.0


def test_one_name_of_two_functions_is_one_entry_of_the_names(tmp_path: Path) -> None:
    profile, written = tree_of(
        tmp_path, entry(function("f", samples=ONE, file="a.c"), function("f", samples=ONE, file="b.c"))
    )
    assert list(profile.tree.names).count("f") == 1
    assert profile.table("function", TIME).exclusive.sum() == 2.0
    assert written.path == tmp_path


def test_without_structure_the_tree_is_instructions_and_a_caveat_says_so(tmp_path: Path) -> None:
    database = programs.small()
    whole = read(write(tmp_path / "whole", database).path)
    database.roots = without_structure(database.roots)
    database.traces = {}
    plain = read(write(tmp_path / "plain", database).path)
    kinds = set(plain.tree.kind.tolist())
    assert kinds == {NodeKind.ENTRY, NodeKind.INSTRUCTION}
    assert any(c.startswith("No program structure") for c in plain.caveats)
    assert not any(c.startswith("No program structure") for c in whole.caveats)
    assert plain.total(TIME) == whole.total(TIME) == plain.exclusive(TIME).sum() == 20.875


def test_runtime_states_and_gpu_operations_are_told_from_functions_of_the_same_name(tmp_path: Path) -> None:
    kernel = function("saxpy", line("s.cu", 3, inlined("fma")), module="s.gpubin", samples=ONE)
    traced = function("saxpy", module="s.gpubin")
    launch, again = (function("<gpu kernel>", one, module=None) for one in (kernel, traced))
    target = function("<omp tgt kernel>", function("region"), module=None, samples=ONE)
    copy, wait = (function(name, module=None, samples=ONE) for name in ("<gpu copyin>", "<omp barrier wait>"))
    fake = function("<gpu kernel>", function("host"), module="app", samples=ONE)
    profile, written = tree_of(
        tmp_path, entry(function("main", line("a.cu", 1, launch, again, target, copy, wait, fake)))
    )
    tree = profile.tree

    def kind(context: Context) -> NodeKind:
        return NodeKind(int(tree.kind[node_of(profile, written, context)]))

    assert [kind(one) for one in (launch, again, target, copy)] == [NodeKind.GPU_OP] * 4
    assert [kind(one) for one in (kernel, traced, target.children[0])] == [NodeKind.GPU_KERNEL] * 3
    assert kind(wait) == NodeKind.PLACEHOLDER
    assert [kind(fake), kind(fake.children[0])] == [NodeKind.FUNCTION] * 2
    # Two siblings of one name, one with the values and one for the trace, are normal.
    siblings = [n for n in range(len(tree)) if tree.label(n) == "<gpu kernel>" and tree.kind[n] == NodeKind.GPU_OP]
    assert [profile.inclusive(TIME).at(n) for n in siblings] in ([1.0, None], [None, 1.0])
    assert len({int(tree.parent[n]) for n in siblings}) == 1


def test_lexical_types_and_relations_of_the_future_are_regions_and_inlined_calls(tmp_path: Path) -> None:
    text = line("a.c", 2, point(0x10, ONE))
    written = write(tmp_path, Database([entry(function("main", text))]))
    with File(tmp_path / "meta.db") as meta:
        meta.put(written.places[written.ids[text]] + 0x15, "BB", 9, 200)
    profile = read(tmp_path)
    node = node_of(profile, written, text)
    assert (profile.tree.kind[node], profile.tree.relation[node]) == (NodeKind.REGION, Relation.INLINED_CALL)
    assert profile.total(TIME) == 1.0


def test_lines_and_offsets_of_any_size_fit(tmp_path: Path) -> None:
    text = line("a.c", (1 << 32) - 1, samples=ONE)
    raw = instruction("app", (1 << 63) - 1, samples=ONE)
    profile, written = tree_of(tmp_path, entry(function("main", text), raw))
    assert profile.tree.line[node_of(profile, written, text)] == (1 << 31) - 1
    assert profile.tree.label(node_of(profile, written, raw)) == "app+0x7fffffffffffffff"


def test_a_context_that_is_shorter_than_its_fields_is_refused_where_it_stands(tmp_path: Path) -> None:
    text = line("a.c", 2, samples=ONE)
    written = write(tmp_path, Database([entry(function("main", text))]))
    place = written.places[written.ids[text]]
    with File(tmp_path / "meta.db") as meta:
        assert meta.data[place + 0x17] == 2  # words of a source location
        meta.put(place + 0x14, "B", 7)
    with pytest.raises(AdapterError, match="shorter than its fields") as caught:
        read(tmp_path)
    assert caught.value.offset == place


@pytest.mark.parametrize(("distance", "what"), [(0, "function"), (8, "source file"), (24, "load module")])
def test_a_pointer_to_what_is_not_in_its_table_is_refused(tmp_path: Path, distance: int, what: str) -> None:
    repeat = loop("a.c", 2, point(0x10, ONE))
    main = function("main", repeat)
    written = write(tmp_path, Database([entry(main)]))
    of, at = (main, 0x20) if what == "function" else (repeat, 0x20 + distance - 8)
    with File(tmp_path / "meta.db") as meta:
        place = written.places[written.ids[of]] + at
        meta.put(place, "Q", meta.u64(place) + 1)
    with pytest.raises(AdapterError, match=f"points to a {what} that does not exist"):
        read(tmp_path)


def test_null_pointers_to_files_and_modules_mean_unknown(tmp_path: Path) -> None:
    repeat = loop("a.c", 2, point(0x10, ONE))
    main = function("main", repeat)
    written = write(tmp_path, Database([entry(main)]))
    with File(tmp_path / "meta.db") as meta:
        meta.put(written.places[written.ids[main]] + 0x20, "Q", 0)
        place = written.places[written.ids[repeat]] + 0x20
        meta.put(place, "Q", 0)
        meta.put(place + 16, "Q", 0)
    profile = read(tmp_path)
    node = node_of(profile, written, repeat)
    assert (profile.tree.file[node], profile.tree.module[node]) == (-1, -1)
    assert profile.tree.label(node) == "loop"
    assert profile.tree.label(node_of(profile, written, main)) == "<unknown function>"


# -- metrics -----------------------------------------------------------------------------------------------


def test_ids_of_values_and_of_statistics_overlap_and_are_kept_apart(tmp_path: Path) -> None:
    write(
        tmp_path,
        Database([entry(function("main", samples=ONE))], metrics=[Metric(TIME), Metric("x")]),
        Options(stats=True),
    )
    first, second = meta_of(tmp_path).metrics
    ids = [{name: scope.prop for name, scope in metric.scopes.items()} for metric in (first, second)]
    assert ids[0] == {"point": 0, "function": 1, "lex_aware": 2, "execution": 3}
    assert ids[1] == {"point": 4, "function": 5, "lex_aware": 6, "execution": 7}
    # Statistic 3 of the first metric is a count of profiles, 11, 15 and 19 its squares and extremes; 7 is its sum, and also the second
    # metric's inclusive value.
    assert (first.scopes["execution"].sum, first.scopes["function"].sum) == (7, 5)
    profile = read(tmp_path)
    assert profile.total(TIME) == 1.0
    assert not profile.metric("x").has_values


def test_scopes_are_found_by_their_type(tmp_path: Path) -> None:
    write(tmp_path, programs.small())
    metric = meta_of(tmp_path).metrics[0]
    assert {name: scope.type for name, scope in metric.scopes.items()} == {name: kind for name, kind, _ in SCOPES}
    assert metric.of_type(2) is metric.scopes["execution"]
    assert metric.of_type(77) is NO_SCOPE


def test_titles_descriptions_and_kinds_of_identifiers(tmp_path: Path) -> None:
    write(tmp_path, programs.small())
    meta = meta_of(tmp_path)
    assert (meta.title, meta.identifier_kinds) == ("small", ID_KINDS)
    assert "description" not in read(tmp_path).run  # "TODO database description" tells nothing


def test_a_description_that_says_something_is_kept(tmp_path: Path) -> None:
    write(tmp_path, programs.small())
    with File(tmp_path / "meta.db") as meta:
        at = meta.data.index(b"TODO database")
        meta.data[at : at + 4] = b"This"
    assert read(tmp_path).run["description"] == "This database description"


def test_a_database_without_a_title_is_called_by_its_folder(tmp_path: Path) -> None:
    database = programs.small()
    database.title = ""
    write(tmp_path / "my run", database)
    assert read(tmp_path / "my run").title == "my run"


def test_the_layout_before_the_release_is_refused_by_name(tmp_path: Path) -> None:
    write(tmp_path, programs.small(), Options(Shape(prerelease=True)))
    with pytest.raises(AdapterError, match=r"pre-release layout \(structures of 24, 24 and 16 bytes"):
        read(tmp_path)


@pytest.mark.parametrize("table", ["pScopeInsts", "pSummaries"])
def test_a_metric_with_a_scope_that_does_not_exist_is_refused(tmp_path: Path, table: str) -> None:
    write(tmp_path, programs.small())
    with File(tmp_path / "meta.db") as meta:
        rows = meta.u64(meta.u64(METRICS))
        place = meta.u64(rows + {"pScopeInsts": 8, "pSummaries": 16}[table])
        meta.put(place, "Q", meta.u64(place) + 8)
    with pytest.raises(AdapterError, match="propagation scope that does not exist"):
        read(tmp_path)


def test_metrics_that_share_huge_tables_are_refused(tmp_path: Path) -> None:
    # Each table fits into the file; only together they are far larger.
    names = [Metric(f"m{k}") for k in range(40)]
    write(tmp_path, Database([entry(function("main", samples={"m0": {0: 1.0}}))], metrics=names))
    with File(tmp_path / "meta.db") as meta:
        rows = meta.u64(meta.u64(METRICS))
        first = meta.u64(rows + 8)
        for number in range(40):
            meta.put(rows + 32 * number + 8, "Q", first)
            meta.put(rows + 32 * number + 0x18, "H", 160)
    with pytest.raises(AdapterError, match="share the tables of their scopes"):
        read(tmp_path)


def test_names_that_share_one_long_text_are_refused(tmp_path: Path) -> None:
    functions = [function(f"{k:04}" + "x" * 2000, samples=ONE) for k in range(200)]
    write(tmp_path, Database([entry(*functions)]))
    with File(tmp_path / "meta.db") as meta:
        # Every name begins one byte later in one text of 0.4 MB.
        at = meta.data.index(b"0000xxxx")
        end = meta.data.index(b"0199xxxx")
        meta.data[at:end] = b"y" * (end - at)
        rows = meta.u64(meta.u64(FUNCTIONS))
        for number in range(200):
            meta.put(rows + 0x28 * number, "Q", at + number)
    with pytest.raises(AdapterError, match="far more text than the file holds"):
        read(tmp_path)


def test_a_name_outside_the_section_of_names_is_read_all_the_same(tmp_path: Path) -> None:
    written = write(tmp_path, programs.small())
    with File(tmp_path / "meta.db") as meta:
        title = meta.u64(meta.u64(0x18))
        rows = meta.u64(meta.u64(FUNCTIONS))
        meta.put(rows, "Q", title)
    assert "small" in read(written.path).tree.names


@pytest.mark.parametrize("section", [MODULES, SOURCES, FUNCTIONS])
def test_empty_tables_are_read(tmp_path: Path, section: int) -> None:
    nothing = function(None, module=None, samples=ONE)
    write(tmp_path, Database([entry(nothing)]))
    with File(tmp_path / "meta.db") as meta:
        assert struct.unpack_from("<I", meta.data, meta.u64(section) + 8) == (0,)
    profile = read(tmp_path)
    assert profile.total(TIME) == 1.0
    assert np.all(profile.tree.file == -1)
