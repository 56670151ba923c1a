"""Adapters of other packages: found through entry points, kept apart from ours, and never able to break them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from chathpc.adapters import registry
from chathpc.adapters.load import load
from chathpc.errors import AdapterError, UsageError

#: The example of the documentation, with an entry that gives no adapter and a way to fail.
EXAMPLE = (
    (Path(__file__).resolve().parents[2] / "docs" / "adapters.md").read_text().split("```python\n")[1].split("```")[0]
)
SIGNATURE = "def recognises(glance: Glance) -> bool:"
MODULE = (
    EXAMPLE.replace(SIGNATURE, SIGNATURE + "\n    explode(glance)")
    + """

def explode(glance):
    if b"explode" in glance.head:
        raise RuntimeError("boom")


NO_ADAPTER = 42
"""
)


@pytest.fixture
def another_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package `node-tools` on the path, with an adapter and two entry points that give none."""
    site = tmp_path / "site"
    (site / "node_tools-1.0.dist-info").mkdir(parents=True)
    (site / "nodelog_adapter.py").write_text(MODULE)
    (site / "node_tools-1.0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: node-tools\nVersion: 1.0\n"
    )
    (site / "node_tools-1.0.dist-info" / "entry_points.txt").write_text(
        "[chathpc.adapters]\nnodelog = nodelog_adapter:ADAPTER\nhpctoolkit = nodelog_adapter:ADAPTER\n"
        "absent = node_tools_gone:ADAPTER\nnumber = nodelog_adapter:NO_ADAPTER\n"
    )
    monkeypatch.syspath_prepend(site)
    monkeypatch.delitem(sys.modules, "nodelog_adapter", raising=False)
    monkeypatch.delenv(registry.PLUGINS, raising=False)
    return site


def test_every_entry_point_of_ours_gives_an_adapter_of_its_name() -> None:
    ours = registry.built_in()
    assert ours.broken == ()
    points = {p.name for p in registry.distribution("chathpc").entry_points if p.group == registry.GROUP}
    assert {adapter.name for adapter in ours.adapters} == points
    orders = [adapter.order for adapter in ours.adapters]
    assert orders == sorted(orders)


def test_an_adapter_of_another_package_reads_its_format(another_package: Path, tmp_path: Path) -> None:
    (tmp_path / "run.log").write_text("# nodelog\n0 solve 2.5\n1 init 0.5\n")
    profile = load(tmp_path / "run.log")
    assert (profile.format, profile.total("cpu.time")) == ("nodelog", 3.0)
    assert load(tmp_path / "run.log", format="nodelog").total("cpu.time") == 3.0


def test_it_can_be_turned_off(another_package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "run.log").write_text("# nodelog\n0 solve 2.5")
    monkeypatch.setenv(registry.PLUGINS, "")
    with pytest.raises(AdapterError, match="not a profile that chathpc knows"):
        load(tmp_path / "run.log")
    with pytest.raises(UsageError, match="Unknown format 'nodelog'"):
        load(tmp_path / "run.log", format="nodelog")
    monkeypatch.setenv(registry.PLUGINS, "other, nodelog")
    assert load(tmp_path / "run.log").format == "nodelog"


def test_it_cannot_take_the_name_of_one_of_ours(another_package: Path) -> None:
    assert [adapter.name for adapter in registry.third_party().adapters] == ["nodelog"]


def test_what_gives_no_adapter_is_told_with_its_reason(another_package: Path) -> None:
    broken = {one.name: one for one in registry.third_party().broken}
    assert broken["absent"].reason == "ModuleNotFoundError: No module named 'node_tools_gone'"
    assert broken["number"].reason == "nodelog_adapter:NO_ADAPTER is not a chathpc Adapter"
    assert {one.package for one in broken.values()} == {"node-tools"}


def test_its_failures_are_its_own(another_package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_text("explode")
    with pytest.raises(AdapterError, match="not a profile that chathpc knows"):
        load(tmp_path / "a")
    (tmp_path / "b").write_text("# nodelog\n0 solve many")
    with pytest.raises(AdapterError, match="b: line 2 is not RANK FUNCTION SECONDS"):
        load(tmp_path / "b")
    monkeypatch.setattr("nodelog_adapter.read_text", lambda path: 1 / 0)
    with pytest.raises(AdapterError, match="the adapter 'nodelog' failed: ZeroDivisionError") as caught:
        load(tmp_path / "b")
    assert "CHATHPC_PLUGINS=" in caught.value.hint


def test_the_example_of_the_documentation_is_short_and_works(another_package: Path, tmp_path: Path) -> None:
    assert len(EXAMPLE.splitlines()) <= 60
    (tmp_path / "run.log").write_text("# nodelog\n0 solve 2.5\n1 solve 0.5\n0 init 1\n")
    profile = load(tmp_path / "run.log")
    profile.tree.check()
    assert profile.locations["label"].tolist() == ["rank 0", "rank 1"]
    assert profile.locations["cpu.time"].tolist() == [3.5, 0.5]


def test_without_an_installation_the_remedy_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        raise registry.PackageNotFoundError(name)

    monkeypatch.setattr(registry, "distribution", absent)
    registry.built_in.cache_clear()
    try:
        with pytest.raises(registry.ChathpcError, match="not installed") as caught:
            registry.built_in()
        assert "pip install" in caught.value.hint
    finally:
        registry.built_in.cache_clear()
