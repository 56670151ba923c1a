"""Files of records found by the paths of a profile; builds joined; records laid beside measured views."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.profile.compiler import Build, CompiledUnit, CompilerRecord, FileIndex, KernelResources, Outcome, joined
from chathpc.profile.merge import merge
from tests.profile.build import build, entry, line

RECORD = CompilerRecord(Outcome.VECTORISED, "GCC", "src/heat.c", 3)


@pytest.mark.parametrize(
    ("files", "path", "found"),
    [
        (["heat.c"], "/opt/src/heat.c", ["heat.c"]),
        (["/build/app/src/heat.c"], "src/heat.c", ["/build/app/src/heat.c"]),
        (["../src/heat.c"], "/other/place/src/heat.c", ["../src/heat.c"]),
        (["/one/src/heat.c"], "/two/src/heat.c", ["/one/src/heat.c"]),
        (["a/grid.c", "b/grid.c"], "/app/b/grid.c", ["b/grid.c"]),
        (["a/grid.c", "b/grid.c"], "/app/c/grid.c", []),
        (["a/grid.c", "b/grid.c"], "grid.c", []),
        (["./grid.c", "grid.c"], "/app/grid.c", ["./grid.c", "grid.c"]),
        (["heat.c"], "heat.cpp", []),
        (["heat.c"], "/src/preheat.c", []),
        (["heat.c"], "", []),
        ([], "heat.c", []),
    ],
)
def test_a_file_is_found_by_the_end_of_its_path(files: list[str], path: str, found: list[str]) -> None:
    assert list(FileIndex(files).find(path)) == found


_names = st.lists(st.sampled_from(["a", "b", "src", "x.c"]), min_size=1, max_size=5).map("/".join)


@given(st.lists(_names, max_size=6), _names)
def test_what_is_found_has_the_same_name_and_the_files_agree(files: list[str], path: str) -> None:
    found = FileIndex(files).find(path)
    assert all(file.rsplit("/", 1)[-1] == path.rsplit("/", 1)[-1] for file in found)
    assert path not in files or path in found or len(set(files)) > 1
    longest = max(found, key=len, default="")
    assert all(f"/{longest}".endswith(f"/{file}") for file in found)


def test_builds_are_joined_each_record_once_and_counts_add_up() -> None:
    kernel = KernelResources("k", "sm_90", 32)
    one = Build((RECORD,), (kernel,), (CompiledUnit("a.c", "gcc", True),), {"loops vectorised": 2}, 1)
    other = Build((RECORD, replace(RECORD, line=9)), (kernel,), (), {"loops vectorised": 3, "calls inlined": 1}, 4)
    found = joined([one, other])
    assert (found.records, found.kernels) == ((RECORD, replace(RECORD, line=9)), (kernel,))
    assert (found.counts, found.left_out) == ({"loops vectorised": 5, "calls inlined": 1}, 5)
    assert found.compilers == ("GCC", "gcc", "ptxas")


def test_records_lie_beside_the_measured_views_whatever_the_order() -> None:
    measured = build(entry("main", line("heat.c:3", time=1.0)))
    records = replace(measured, metrics={}, insufficient="nothing", caveats=("c",), build=Build((RECORD,)))
    for views in ([measured, records], [records, measured]):
        found = merge(views)
        assert found.tree is measured.tree
        assert found.build == Build((RECORD,))
        assert (found.insufficient, found.caveats) == ("", (*measured.caveats, "c"))
    both = merge([records, replace(records, build=Build((replace(RECORD, line=9),)))])
    assert "These are records of what the compiler did" in both.insufficient
    assert both.build is not None
    assert len(both.build.records) == 2
