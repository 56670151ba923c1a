"""A whole database: what is needed, what is optional, and what is said about it."""

from __future__ import annotations

from pathlib import Path

import pytest

from chathpc.adapters.glance import Glance
from chathpc.adapters.hpctoolkit import read, recognises
from chathpc.errors import AdapterError
from tests.adapters.hpctoolkit.bombs import File
from tests.synthetic import programs
from tests.synthetic.hpctoolkit_v4 import TIME, Database, Derived, Metric, Options, entry, function, write


def test_a_database_is_recognised_by_either_of_its_main_files(tmp_path: Path) -> None:
    write(tmp_path / "db", programs.small())
    assert recognises(Glance(tmp_path / "db"))
    assert not recognises(Glance(tmp_path / "db" / "meta.db"))
    assert not recognises(Glance(tmp_path))
    (tmp_path / "db" / "meta.db").unlink()
    assert recognises(Glance(tmp_path / "db"))


@pytest.mark.parametrize("name", ["meta.db", "profile.db"])
def test_a_database_without_a_needed_file_is_incomplete(tmp_path: Path, name: str) -> None:
    write(tmp_path, programs.small(), Options(omit=frozenset({name})))
    with pytest.raises(AdapterError, match=f"{name} is missing") as caught:
        read(tmp_path)
    assert caught.value.path == tmp_path
    assert "hpcprof" in caught.value.hint


def test_a_folder_without_either_file_is_incomplete(tmp_path: Path) -> None:
    with pytest.raises(AdapterError, match=r"meta\.db is missing"):
        read(tmp_path)


def test_optional_files_may_be_missing_and_the_numbers_do_not_change(tmp_path: Path) -> None:
    omit = frozenset({"cct.db", "trace.db", "metrics/default.yaml"})
    profile = read(write(tmp_path, programs.small(), Options(omit=omit)).path)
    assert profile.total(TIME) == 20.875
    assert profile.timeline is None
    assert "memory.leaked.bytes" not in profile.metrics
    assert len(profile.caveats) == 1  # that values per location take longer


def test_where_kernels_were_sampled_it_is_said_once(tmp_path: Path) -> None:
    said = [caveat for caveat in read(write(tmp_path / "gpu", programs.gpu()).path).caveats if "PC sampling" in caveat]
    assert len(said) == 1
    assert not any("PC sampling" in each for each in read(write(tmp_path / "cpu", programs.small()).path).caveats)


def test_a_damaged_description_of_metrics_is_a_caveat(tmp_path: Path) -> None:
    write(tmp_path, programs.small())
    (tmp_path / "metrics" / "default.yaml").write_text("roots: {")
    profile = read(tmp_path)
    (caveat,) = [c for c in profile.caveats if "default.yaml" in c]
    assert caveat.endswith("derived metrics are missing.")
    assert profile.total(TIME) == 20.875


def test_metrics_are_hidden_where_the_description_says_so(tmp_path: Path) -> None:
    profile = read(write(tmp_path, programs.small()).path)
    assert profile.metric("Bytes Freed").hidden
    assert not profile.metric("Bytes Allocated").hidden


def test_a_measured_metric_keeps_its_id_when_a_formula_has_the_same(tmp_path: Path) -> None:
    # Both are "bytes allocated" in the vocabulary: the measured one is listed, the formula is not.
    database = Database(
        [entry(function("main", samples={"Bytes Allocated": {0: 8.0}}))],
        metrics=[Metric("Bytes Allocated")],
        derived=[Derived("Bytes Allocated (B)", {"+": ["Bytes Allocated", "Bytes Allocated"]})],
    )
    profile = read(write(tmp_path, database).path)
    assert profile.total("memory.allocated.bytes") == 8.0
    assert [metric.source_name for metric in profile.metrics.values()] == ["Bytes Allocated"]


def test_a_database_without_calling_contexts_says_that_nothing_was_measured(tmp_path: Path) -> None:
    write(tmp_path, programs.small())
    with File(tmp_path / "meta.db") as meta:
        meta.put(meta.u64(0x48) + 8, "H", 0)
    with pytest.raises(AdapterError, match="nothing was measured") as caught:
        read(tmp_path)
    assert "hpcrun" in caught.value.hint


def test_a_database_without_values_is_read_with_a_caveat(tmp_path: Path) -> None:
    profile = read(write(tmp_path, Database([entry(function("main"))])).path)
    assert any(c.startswith("No metric has any value") for c in profile.caveats)
    assert profile.time is None


def test_a_context_id_that_stands_twice_is_refused(tmp_path: Path) -> None:
    first, second = function("a", samples={TIME: {0: 1.0}}), function("b")
    written = write(tmp_path, Database([entry(first, second)]))
    with File(tmp_path / "meta.db") as meta:
        meta.put(written.places[written.ids[second]] + 0x10, "I", written.ids[first])
    with pytest.raises(AdapterError, match="occurs twice"):
        read(tmp_path)


def test_a_profile_of_a_database_says_where_it_comes_from(tmp_path: Path) -> None:
    profile = read(write(tmp_path, programs.small()).path)
    assert (profile.format, profile.title, profile.sample_count) == ("HPCToolkit v4.0", "small", 6)
    (source,) = profile.sources
    assert (source.path, source.tool, source.version) == (tmp_path, "HPCToolkit", "4.0")
    assert profile.caveats == ()
    assert profile.sees_waiting
