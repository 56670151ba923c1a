"""Real v4 databases against numbers that other readers took from them.

`truth.json` (public and own databases) comes from the reference reader of HPCToolkit's own tests, which reads profile.db,
cross-checked with an independent one that reads cct.db. `EXPECTED.json` (own databases) also has what hpcproftt, a C++
program, prints for the raw measurement files of each thread.
"""

from __future__ import annotations

import json
import os
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chathpc.adapters.glance import Glance
from chathpc.adapters.hpctoolkit import read, recognises
from chathpc.adapters.hpctoolkit.values import DatabaseValues
from chathpc.errors import AdapterError
from chathpc.profile.metric import Aggregation, Column, Metric
from chathpc.profile.profile import Profile
from chathpc.profile.tree import FloatArray, NodeKind, Relation

REPOSITORY = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("CHATHPC_TEST_DATA", REPOSITORY.parent / "shared" / "data"))
pytestmark = pytest.mark.skipif(
    not (DATA / "hpctoolkit").is_dir(),
    reason="needs measured databases (CHATHPC_TEST_DATA, or ../shared/data beside the repository)",
)

OWN = sorted(path.parent for path in (DATA / "hpctoolkit").glob("*/database/meta.db"))
PUBLIC = [
    path.parent for path in sorted((DATA / "hpctoolkit-upstream").glob("*/*/meta.db"))
    if "prerelease" not in path.parts[-3]
]  # fmt: skip
PRERELEASE = sorted(path.parent for path in (DATA / "hpctoolkit-upstream").glob("hpcviewer-prerelease/*/meta.db"))
PROGRAMS = sorted(path.parent for room in ("planted", "apps") for path in (DATA / room).glob("*/database*/meta.db"))
#: As many values per metric are read one by one.
SMALL = 3000

#: Where functions are nested lexically in others (outlined regions of gfortran), the truth counts them twice: see below.
NESTED = {"cloverleaf-2rank"}


def name_of(path: Path) -> str:
    return path.parent.name if path.name == "database" else f"{path.parent.name}/{path.name}"


@cache
def profile_of(path: Path) -> Profile:
    return read(path).everything


@cache
def truth_of(path: Path) -> dict[str, Any]:
    place = path if (path / "truth.json").exists() else path.parent
    found: dict[str, Any] = json.loads((place / "truth.json").read_text())
    return found


@cache
def expected_of(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((path.parent / "EXPECTED.json").read_text())
    return found


#: Adds up as what it is made of does; no reader lists it among what was measured. Its values have a test of their own.
COMPUTED = "Bytes Leaked"


def recorded(profile: Profile) -> list[Metric]:
    return [m for m in profile.metrics.values() if m.aggregation != Aggregation.DERIVED and m.source_name != COMPUTED]


def summed(profile: Profile) -> list[Metric]:
    return [m for m in recorded(profile) if m.aggregation == Aggregation.SUM and m.has_values]


def counted_values(profile: Profile, truth: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """(metric, its values in the truth) for metrics that may be added up."""
    names = {metric.source_name for metric in summed(profile)}
    return ((name, values) for name, values in truth["values"].items() if name in names)


def by_name(profile: Profile, metric: Metric, by: str = "function") -> dict[str, tuple[float, float]]:
    """{name: (exclusive, inclusive)} in the tool's unit; rows of one name (in several files or modules) added up."""
    table = profile.table(by, metric.id).groupby("name")[["exclusive", "inclusive"]].sum() / metric.scale
    return {str(name): (float(own), float(below)) for name, own, below in table.itertuples()}


def function_scope(profile: Profile, metric: Metric) -> FloatArray:
    """HPCToolkit's function scope, from exclusive values: what a node has and all below it up to calls, in the tool's unit."""
    tree = profile.tree
    values = profile.exclusive(metric.id).dense(len(tree)) / metric.scale
    lexical = (tree.relation == Relation.LEXICAL) & (tree.parent >= 0)
    for node in range(len(tree) - 1, -1, -1):
        if lexical[node]:
            values[tree.parent[node]] += values[node]
    return values


def base(path: str) -> str:
    return path.rsplit("/", 1)[-1]


def close(expected: object) -> Any:
    return pytest.approx(expected, rel=1e-9, abs=1e-12)


with_truth = pytest.mark.parametrize("path", OWN + PUBLIC, ids=name_of)
own = pytest.mark.parametrize("path", OWN, ids=name_of)
every = pytest.mark.parametrize("path", OWN + PUBLIC + PROGRAMS, ids=name_of)


# -- the tree ---------------------------------------------------------------------------------------------------------


@with_truth
def test_the_tree_has_the_shape_that_the_reference_reader_found(path: Path) -> None:
    tree, truth = profile_of(path).tree, truth_of(path)
    tree.check()
    assert len(tree) == truth["n_contexts_in_tree"]
    assert int(tree.depth.max()) == truth["max_tree_depth"]
    types = truth["context_types"]
    kinds = Counter(tree.kind.tolist())
    assert kinds[NodeKind.ENTRY] == types["entry_point"] == len(tree.roots)
    assert kinds[NodeKind.LOOP] == types.get("loop", 0)
    assert kinds[NodeKind.LINE] == types.get("line", 0)
    assert kinds[NodeKind.INSTRUCTION] == types.get("instruction", 0)
    of_functions = NodeKind.FUNCTION, NodeKind.INLINED, NodeKind.GPU_KERNEL, NodeKind.GPU_OP, NodeKind.PLACEHOLDER
    assert sum(kinds[kind] for kind in of_functions) == types.get("function", 0)
    below = tree.relation[tree.parent >= 0]
    assert np.count_nonzero(below == Relation.LEXICAL) == types.get("rel:lexical", 0)
    assert np.count_nonzero(below == Relation.CALL) == types.get("rel:call", 0)
    assert np.count_nonzero(below == Relation.INLINED_CALL) == types.get("rel:inlined_call", 0)


@with_truth
def test_entry_points_are_those_of_the_reference_reader(path: Path) -> None:
    tree, truth = profile_of(path).tree, truth_of(path)
    assert tree.source_id is not None
    found = {int(tree.source_id[root]): (tree.label(root), len(tree.children(root))) for root in tree.roots.tolist()}
    assert found == {one["ctx_id"]: (one["name"], one["n_children"]) for one in truth["entry_points"]}


@own
def test_counts_are_those_that_hpcproftt_prints(path: Path) -> None:
    profile, printed = profile_of(path), expected_of(path)["hpcproftt"]["db"]
    assert len(profile.tree) == printed["n_context_nodes_in_meta_db"]
    assert len(profile.tree.modules) == printed["nModules"]
    assert len(profile.tree.files) == printed["nFiles"]
    assert len(profile.tree.roots) == printed["nEntryPoints"]
    assert len(profile.where) + 1 == printed["n_profiles"]
    assert profile.title == printed["title"]
    assert len(recorded(profile)) == printed["nMetrics"]
    # Directories were shortened in the databases afterwards, so the last parts of the paths are compared.
    others = expected_of(path)["upstream_reader"]
    assert Counter(map(base, profile.tree.files)) == Counter(base(name) for name, _ in others["files"])
    assert Counter(map(base, profile.tree.modules)) == Counter(map(base, others["modules"]))


# -- sums over all locations -------------------------------------------------------------------------------------------


@with_truth
def test_metrics_with_values_and_their_totals_are_those_of_the_reference_reader(path: Path) -> None:
    profile, truth = profile_of(path), truth_of(path)
    measured = {m.source_name: m for m in recorded(profile)}
    assert {name: metric.has_values for name, metric in measured.items()} == {
        one["name"]: one["has_values"] for one in truth["metrics"]
    }
    counted = {
        name: one["total"] * measured[name].scale
        for name, one in truth["values"].items()
        if measured[name] in summed(profile)
    }
    assert {name: profile.total(name) for name in counted} == close(counted)
    # The reference reader adds up what is set, not counted; the period of PC sampling is 4096 cycles in all of these.
    for name in set(truth["values"]) - set(counted):
        assert name in ("GSAMP:PER (cyc)", "GCYCLES:TIMESTAMP")
        assert 0 < profile.total(name) <= truth["values"][name]["total"]
        assert profile.total(name) == 4096 or name != "GSAMP:PER (cyc)"


@with_truth
def test_functions_have_the_values_of_the_reference_reader(path: Path) -> None:
    profile, truth = profile_of(path), truth_of(path)
    for name, values in counted_values(profile, truth):
        found = by_name(profile, profile.metric(name))
        for function, expected in values["top_functions_exclusive"]:
            assert found[function][0] == close(expected), (name, function)
        for function, expected in values["top_functions_inclusive_outermost"]:
            assert found[function][1] == close(expected), (name, function)


@with_truth
def test_contexts_have_the_values_of_the_reference_reader(path: Path) -> None:
    profile, truth = profile_of(path), truth_of(path)
    assert profile.tree.source_id is not None
    node_of = {number: node for node, number in enumerate(profile.tree.source_id.tolist())}
    for name, values in counted_values(profile, truth):
        metric = profile.metric(name)
        inclusive, scope = profile.inclusive(name), function_scope(profile, metric)
        for one in values["top_contexts_inclusive"]:
            node = node_of[one["ctx_id"]]
            assert (inclusive.at(node) or 0.0) / metric.scale == close(one["inclusive"]), (name, one["path"])
            assert scope[node] == close(one["exclusive_function_scope"]), (name, one["path"])
            assert len(profile.tree.path(node)) == len(one["path"])
        for one in values["entry_points"]:
            node = node_of[one["ctx_id"]]
            assert (inclusive.at(node) or 0.0) / metric.scale == close(one["inclusive"])
            assert scope[node] == close(one["function_scope"])


@with_truth
@pytest.mark.parametrize(("kind", "key"), [(NodeKind.LINE, "top_lines"), (NodeKind.LOOP, "top_loops_function_scope")])
def test_lines_and_loops_have_the_values_of_the_reference_reader(path: Path, kind: NodeKind, key: str) -> None:
    profile, truth = profile_of(path), truth_of(path)
    tree = profile.tree
    for name, values in counted_values(profile, truth):
        scope = function_scope(profile, profile.metric(name))
        found: dict[tuple[str | None, int], float] = defaultdict(float)
        for node in np.flatnonzero(tree.kind == kind).tolist():
            found[tree.file_name(node), int(tree.line[node])] += scope[node]
        for file, number, expected in values[key]:
            assert found[file, int(number)] == close(expected), (name, file, number)


@own
def test_functions_lines_and_loops_are_those_of_the_expectations(path: Path) -> None:
    profile, expected = profile_of(path), expected_of(path)["upstream_reader"]
    for name in expected["top10_exclusive"]:
        found = by_name(profile, profile.metric(name))
        assert {k: found[k][0] for k, _ in expected["top10_exclusive"][name]} == close(
            dict(expected["top10_exclusive"][name])
        )
        assert {k: found[k][1] for k, _ in expected["top10_inclusive"][name]} == close(
            dict(expected["top10_inclusive"][name])
        )
    first = expected["metrics"][0]["name"]
    lines, loops = (_by_place(profile, profile.metric(first), kind) for kind in (NodeKind.LINE, NodeKind.LOOP))
    # Scope function of a line is the line's own value; that of a loop without its inner loops is lex_aware.
    for place, value in expected["top10_lines_function_scope_first_metric"]:
        assert lines[place] == close(value), place
    for place, value in expected["top10_loops_lexaware_first_metric"]:
        assert loops[place] == close(value), place


def _by_place(profile: Profile, metric: Metric, kind: NodeKind) -> dict[str, float]:
    """{file.c:12: own value of the lines, or of the loops without inner loops}, in the tool's unit."""
    tree = profile.tree
    column = profile.exclusive(metric.id).dense(len(tree)) / metric.scale
    lexical = (tree.relation == Relation.LEXICAL) & (tree.parent >= 0) & (tree.kind != NodeKind.LOOP)
    for node in range(len(tree) - 1, -1, -1):
        if lexical[node]:
            column[tree.parent[node]] += column[node]
    found: dict[str, float] = defaultdict(float)
    for node in np.flatnonzero(tree.kind == kind).tolist():
        found[f"{(tree.file_name(node) or '').rsplit('/', 1)[-1]}:{tree.line[node]}"] += column[node]
    return found


@own
def test_modules_have_what_addr2line_finds_in_the_raw_measurements(path: Path) -> None:
    # One value per instruction was measured; the module of each was told without hpcprof.
    profile = profile_of(path)
    for source in expected_of(path)["addr2line_exclusive_first_metric"].values():
        metric = next(
            m
            for m in summed(profile)
            if profile.total(m.id) / m.scale == pytest.approx(source["total_all_modules"], rel=1e-5)
        )
        table = profile.table("module", metric.id)
        found = {base(str(name)): value / metric.scale for name, value in zip(table.name, table.exclusive, strict=True)}
        for module, value in source["other_modules"].items():
            if module.startswith(("lib", "ld-", "mca_")):
                assert found[module] == pytest.approx(value, rel=1e-5, abs=1e-4), module


@every
def test_exclusive_values_and_those_of_locations_sum_to_the_total(path: Path) -> None:
    profile = profile_of(path)
    profile.tree.check()
    for metric in summed(profile):
        total = profile.total(metric.id)
        assert profile.exclusive(metric.id).sum() == close(total), metric.id
        assert np.nansum(profile.location_totals(metric.id)) == close(total), metric.id
        assert profile.table("function", metric.id).exclusive.sum() == close(total), metric.id


# -- nested functions --------------------------------------------------------------------------------------------------


@every
def test_only_lexically_nested_functions_make_the_function_scope_count_twice(path: Path) -> None:
    """Summed over functions, entry points and calls without a function, HPCToolkit's function scope gives the total,
    except where the compiler's debug information puts one function inside another: gfortran does that with outlined
    OpenMP regions. There the outer one's value includes the inner one's, and the sum exceeds the total by just that.
    """
    profile = profile_of(path)
    tree = profile.tree
    owner = tree.function == np.arange(len(tree))
    nested = owner & (tree.relation == Relation.LEXICAL) & (tree.parent >= 0)
    for metric in summed(profile):
        scope = function_scope(profile, metric)
        assert scope[owner].sum() - scope[nested].sum() == close(profile.total(metric.id) / metric.scale), metric.id
        doubly = scope[nested].sum() > 0
        assert doubly == (name_of(path) in NESTED), "nested functions with values"


@with_truth
def test_the_reference_reader_counts_no_function_twice_in_these_databases(path: Path) -> None:
    # So its exclusive values may be compared with ours as they are; cloverleaf, which differs, has no truth.
    for values in truth_of(path)["values"].values():
        assert values["consistency"]["sum_minus_total"] == pytest.approx(0, abs=1e-9 * abs(values["total"]))


# -- locations ---------------------------------------------------------------------------------------------------------


@with_truth
def test_each_location_has_the_totals_of_the_reference_reader(path: Path) -> None:
    profile, truth = profile_of(path), truth_of(path)
    assert len(profile.where) == truth["n_profiles"]
    where = profile.where
    parts = {
        "RANK": where.rank, "THREAD": where.thread, "CORE": where.core,
        "GPUCONTEXT": where.gpu_context, "GPUSTREAM": where.stream,
    }  # fmt: skip
    # Profiles stand in the order of the file; numbers of the summary profile are left out.
    for location, one in enumerate(truth["profiles"]):
        given = {kind: logical for kind, logical, _ in one["tuple"] if kind in parts}
        assert {kind: int(parts[kind][location]) for kind in given} == given
        assert all(int(parts[kind][location]) == -1 for kind in parts if kind not in given)
        for metric in summed(profile):
            total = float(np.nan_to_num(profile.location_totals(metric.id)[location])) / metric.scale
            assert total == close(one["totals"].get(metric.source_name, 0.0)), metric.id
    hosts = [
        next((physical for kind, _, physical in one["tuple"] if kind == "NODE"), None) for one in truth["profiles"]
    ]
    pairs = set(zip(hosts, where.node.tolist(), strict=True))
    assert len(pairs) == len(set(hosts)) == len(set(where.node.tolist()))


@own
def test_threads_have_the_sums_of_their_measurement_files(path: Path) -> None:
    # hpcproftt's sums over a thread's raw file (printed with six digits a value), found by rank and thread.
    profile, files = profile_of(path), {}
    for measurement in expected_of(path)["hpcproftt"]["measurements"].values():
        for one in measurement.values():
            words = one["id_tuple"].replace("(SINGLE)", "").replace("(", " ").replace(")", " ").split()
            numbers = {
                word.rstrip(":"): int(words[at + 1])
                for at, word in enumerate(words[:-1])
                if word in ("RANK:", "THREAD:")
            }
            files[numbers.get("RANK", -1), numbers["THREAD"]] = one["metric_sums"]
    places = list(zip(profile.where.rank.tolist(), profile.where.thread.tolist(), strict=True))
    assert set(places) == set(files)
    for metric in summed(profile):
        totals = np.nan_to_num(profile.location_totals(metric.id)) / metric.scale
        expected = [files[place].get(metric.source_name, 0.0) for place in places]
        assert totals.tolist() == pytest.approx(expected, rel=1e-5, abs=1e-5)


@own
def test_functions_of_each_location_are_those_of_the_expectations(path: Path) -> None:
    profile, expected = profile_of(path), expected_of(path)["upstream_reader"]
    of_function, names = profile.tree.function_labels
    for index, by_metric in expected.get("per_profile_top8", {}).items():
        for name, values in by_metric.items():
            metric = profile.metric(name)
            sums = profile.values.grouped(metric.id, of_function, len(names))[int(index) - 1] / metric.scale
            for function, value in values["exclusive"]:
                assert sums[names.index(function)] == close(value), (index, function)


@pytest.mark.parametrize(
    "path",
    [p for p in OWN + PUBLIC if truth_of(p)["n_contexts_in_tree"] * truth_of(p)["n_profiles"] < SMALL],
    ids=name_of,
)
def test_values_per_location_are_the_same_from_both_files_and_add_up(path: Path) -> None:
    profile = profile_of(path)
    tree, by_context = profile.tree, profile.values
    assert isinstance(by_context, DatabaseValues)
    assert by_context.contexts is not None
    by_profile = replace(by_context, contexts=None)
    nodes = np.arange(len(tree), dtype=np.int32)
    group = nodes % 7 - 1
    for metric in sorted(summed(profile), key=lambda m: m.id)[:4]:
        inclusive = by_context.per_location(metric.id, nodes, inclusive=True)
        exclusive = by_context.per_location(metric.id, nodes, inclusive=False)
        assert by_profile.per_location(metric.id, nodes, inclusive=True) == close(inclusive)
        assert by_profile.per_location(metric.id, nodes, inclusive=False) == close(exclusive)
        totals = by_context.location_totals(metric.id), by_profile.location_totals(metric.id)
        np.testing.assert_allclose(*totals, rtol=1e-9)
        assert inclusive.sum(axis=0) == close(profile.inclusive(metric.id).dense(len(tree)))
        assert exclusive.sum(axis=0) == close(profile.exclusive(metric.id).dense(len(tree)))
        sums = by_context.grouped(metric.id, group.astype(np.int32), 6)
        expected = np.stack([exclusive[:, group == number].sum(axis=1) for number in range(6)], axis=1)
        assert sums == close(expected)


# -- traces ------------------------------------------------------------------------------------------------------------


@with_truth
def test_traces_are_those_of_the_reference_reader(path: Path) -> None:
    profile, truth = profile_of(path), truth_of(path)
    timeline = profile.timeline
    if not truth.get("n_traces"):
        assert timeline is None or not timeline.lanes
        return
    assert timeline is not None
    # Index 0 is the summary, so that of the first location is 1.
    elements = {lane.location + 1: len(lane.start) for lane in timeline.lanes}
    assert elements == dict(truth["trace"]["samples_per_trace"])
    assert profile.sample_count == (sum(elements.values()) or None)
    assert (timeline.begin, timeline.end) == (truth["trace"]["min"], truth["trace"]["max"])
    for lane in timeline.lanes:
        assert lane.start.min(initial=timeline.end) >= timeline.begin
        assert lane.start.max(initial=timeline.begin) <= timeline.end
        assert lane.node.min(initial=0) >= -1
        assert lane.node.max(initial=0) < len(profile.tree)


# -- GPUs --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [p for p in PUBLIC if "gpu" in truth_of(p)], ids=name_of)
def test_kernels_and_gpu_operations_have_the_values_of_the_reference_reader(path: Path) -> None:
    profile, gpu = profile_of(path), truth_of(path)["gpu"]
    tree = profile.tree
    for key, kind in (("operations_inclusive", NodeKind.GPU_OP), ("kernels_inclusive", NodeKind.GPU_KERNEL)):
        for name, expected in gpu.get(key, {}).items():
            nodes = [n for n in np.flatnonzero(tree.kind == kind).tolist() if tree.label(n) == name]
            if not nodes and kind == NodeKind.GPU_KERNEL:
                continue  # without structure, or the placeholder itself: see function names above
            for metric, value in expected.items():
                found = profile.metric(metric)
                if found.aggregation == Aggregation.SUM:
                    inclusive = profile.inclusive(metric)
                    assert sum(inclusive.at(n) or 0.0 for n in nodes) / found.scale == close(value), (name, metric)


#: name → (the same by hand from measured metrics at one node).
RATIOS: dict[str, tuple[str, str, float]] = {
    "GKER:OCC_THR": ("GKER:FGP_ACT_ACUMU", "GKER:FGP_MAX_ACUMU", 100.0),
    "GKER:THR_REG": ("GKER:THR_REG_ACUMU", "GKER:COUNT", 1.0),
    "GKER:BLK_THR": ("GKER:BLK_THR_ACUMU", "GKER:COUNT", 1.0),
    "GKER:BLKS": ("GKER:BLKS_ACUMU", "GKER:COUNT", 1.0),
    "GKER:LMEM (B)": ("GKER:LMEM_ACUMU (B)", "GKER:COUNT", 1.0),
}


def metrics_described(path: Path) -> set[str]:
    """Names of default.yaml, for runs whose kernels were described."""
    if not truth_of(path)["values"].get("GKER:FGP_MAX_ACUMU"):
        return set()
    text = (path / "metrics" / "default.yaml").read_text()
    return {line.split(": ", 1)[1] for line in text.splitlines() if line.startswith("  - name: ")}


@pytest.mark.parametrize("path", [p for p in PUBLIC if RATIOS.keys() & metrics_described(p)], ids=name_of)
def test_derived_metrics_of_kernels_are_ratios_of_measured_ones(path: Path) -> None:
    profile = profile_of(path)
    by_source = {metric.source_name: metric for metric in profile.metrics.values()}
    present = [name for name in RATIOS if name in by_source and by_source[name].has_values]
    assert present
    size = len(profile.tree)
    for name in present:
        above, below, factor = RATIOS[name]
        numerator, denominator = (function_scope(profile, by_source[one]) for one in (above, below))
        values = profile.exclusive(name).dense(size)
        at = denominator > 0
        assert at.any()
        assert values[at] == close(factor * numerator[at] / denominator[at]), name
        assert not values[~at].any()
        assert profile.total(name) == close(factor * profile.total(above) / profile.total(below))


def test_bytes_leaked_are_bytes_allocated_less_bytes_freed() -> None:
    # 370,000 bytes are never freed, nor are the 4,096 of the buffer of stdout: program/memio.c and EXPECTED.json.
    profile = profile_of(DATA / "hpctoolkit" / "memio-memleak-io" / "database")
    assert profile.total("Bytes Leaked") == 370_000 + 4_096
    leaked, allocated, freed = (
        profile.inclusive(name).dense(len(profile.tree)) for name in ("Bytes Leaked", "Bytes Allocated", "Bytes Freed")
    )
    assert leaked == close(allocated - freed)
    own, held, released = (
        profile.exclusive(name).dense(len(profile.tree)) for name in ("Bytes Leaked", "Bytes Allocated", "Bytes Freed")
    )
    assert own == close(held - released)
    assert own.sum() == 374_096
    assert profile.location_totals("Bytes Leaked").tolist() == [374_096]
    assert profile.values.per_location("memory.leaked.bytes", profile.tree.roots).tolist() == [[374_096]]
    table = profile.table("function", "Bytes Leaked").set_index("name")
    assert table.loc["alloc_leaked", "inclusive"] == 370_000
    assert profile.total("IO Bytes Read") == profile.total("IO Bytes Written") == 204_800


# -- refused -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PRERELEASE, ids=name_of)
def test_a_database_of_a_pre_release_layout_is_refused_by_name(path: Path) -> None:
    assert recognises(Glance(path))
    assert truth_of(path)["refuse"]
    with pytest.raises(AdapterError, match="pre-release layout") as caught:
        read(path)
    assert "2022.10" in caught.value.hint


# -- hatchet -----------------------------------------------------------------------------------------------------------


@every
def test_a_graphframe_and_back_keeps_every_value(path: Path) -> None:
    profile = profile_of(path)
    again = Profile.from_graphframe(profile.graphframe())
    again.tree.check()
    assert len(again.tree) == len(profile.tree)
    assert {m.id for m in again.metrics.values()} == {m.id for m in profile.metrics.values() if m.has_values}
    for metric in again.metrics:
        if profile.metrics[metric].aggregation != Aggregation.SUM:
            continue
        assert again.total(metric) == close(profile.total(metric))
        for ours, theirs in ((profile.exclusive, again.exclusive), (profile.inclusive, again.inclusive)):
            assert _values_by_path(again, theirs(metric)) == close(_values_by_path(profile, ours(metric))), metric


def _values_by_path(profile: Profile, column: Column) -> dict[tuple[str, ...], float]:
    """Sum of the values of the nodes with one path of labels; siblings of one label are told apart by nothing else."""
    tree = profile.tree
    found: dict[tuple[str, ...], float] = defaultdict(float)
    for node, value in zip(column.nodes.tolist(), column.values.tolist(), strict=True):
        found[tuple(tree.label(one) for one in tree.path(node))] += value
    return {path: value for path, value in found.items() if value}


def test_all_of_the_databases_are_read_and_how_many_hatchet_reads_is_printed() -> None:
    import hatchet

    rows = []
    for path in OWN + PUBLIC:
        if path.parent.name == "contexts-small":
            continue  # a minute in hatchet
        name = next(iter(truth_of(path)["values"]))
        total = truth_of(path)["values"][name]["total"]
        assert profile_of(path).exclusive(name).sum() == pytest.approx(
            profile_of(path).total(profile_of(path).metric(name).id), rel=1e-9
        )
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                frame = hatchet.GraphFrame.from_hpctoolkit_latest(str(path)).dataframe
            theirs = f"{len(frame)} of {len(profile_of(path).tree)} contexts"
        except (KeyError, ValueError, TypeError, IndexError, AttributeError) as error:
            theirs = f"{type(error).__name__}: {error}"
        rows.append((name_of(path), f"{total:g}", theirs))
    read_by_hatchet = sum("contexts" in theirs for _, _, theirs in rows)
    print(f"\nread by chathpc: {len(rows)} of {len(rows)}; by hatchet: {read_by_hatchet}")
    for row in rows:
        print("  {:42} {:>14}  hatchet: {}".format(*row))
