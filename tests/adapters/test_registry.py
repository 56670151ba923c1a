"""Adapters of other packages: found through entry points, kept apart from ours, and never able to break them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from chathpc.adapters import registry
from chathpc.adapters.load import load
from chathpc.errors import AdapterError, UsageError

MODULE = """
from chathpc.adapters.adapter import Adapter
from chathpc.errors import AdapterError
from chathpc.profile.build import TreeBuilder
from chathpc.profile.location import Locations
from chathpc.profile.metric import Metric, Unit
from chathpc.profile.profile import Profile
from chathpc.profile.tree import NodeKind


def recognises(glance):
    if b"explode" in glance.head:
        raise RuntimeError("boom")
    return glance.head.startswith(b"FAR")


def read(path):
    text = path.read_text().split()
    if "damaged" in text:
        raise AdapterError("damaged", path=path, hint="Write it again.")
    builder = TreeBuilder()
    for name, seconds in zip(text[1::2], text[2::2]):
        builder.add("cpu.time", builder.node(-1, NodeKind.FUNCTION, name), float(seconds))
    metric = Metric("cpu.time", Unit.SECONDS, "time", "seconds")
    tree, values, _ = builder.finish([metric])
    return Profile("far", "far", tree, {"cpu.time": metric}, values, Locations.single())


ADAPTER = Adapter("far", "far files", recognises, read)
NO_ADAPTER = 42
"""


@pytest.fixture
def another_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package `far-tools` on the path, with an adapter and two entry points that give none."""
    site = tmp_path / "site"
    (site / "far_tools-1.0.dist-info").mkdir(parents=True)
    (site / "far_tools.py").write_text(MODULE)
    (site / "far_tools-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: far-tools\nVersion: 1.0\n")
    (site / "far_tools-1.0.dist-info" / "entry_points.txt").write_text(
        "[chathpc.adapters]\nfar = far_tools:ADAPTER\nhpctoolkit = far_tools:ADAPTER\n"
        "absent = far_tools_gone:ADAPTER\nnumber = far_tools:NO_ADAPTER\n"
    )
    monkeypatch.syspath_prepend(site)
    monkeypatch.delitem(sys.modules, "far_tools", raising=False)
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
    (tmp_path / "run.far").write_text("FAR solve 2.5 init 0.5")
    profile = load(tmp_path / "run.far")
    assert (profile.format, profile.total("cpu.time")) == ("far", 3.0)
    assert load(tmp_path / "run.far", format="far").total("cpu.time") == 3.0


def test_it_can_be_turned_off(another_package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "run.far").write_text("FAR solve 2.5")
    monkeypatch.setenv(registry.PLUGINS, "")
    with pytest.raises(AdapterError, match="not a profile that chathpc knows"):
        load(tmp_path / "run.far")
    with pytest.raises(UsageError, match="no format 'far'"):
        load(tmp_path / "run.far", format="far")
    monkeypatch.setenv(registry.PLUGINS, "other, far")
    assert load(tmp_path / "run.far").format == "far"


def test_it_cannot_take_the_name_of_one_of_ours(another_package: Path) -> None:
    assert [adapter.name for adapter in registry.third_party().adapters] == ["far"]


def test_what_gives_no_adapter_is_told_with_its_reason(another_package: Path) -> None:
    broken = {one.name: one for one in registry.third_party().broken}
    assert broken["absent"].reason == "ModuleNotFoundError: No module named 'far_tools_gone'"
    assert broken["number"].reason == "far_tools:NO_ADAPTER is no chathpc Adapter"
    assert {one.package for one in broken.values()} == {"far-tools"}


def test_its_failures_are_its_own(another_package: Path, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("explode")
    with pytest.raises(AdapterError, match="not a profile that chathpc knows"):
        load(tmp_path / "a")
    (tmp_path / "b").write_text("FAR solve many")
    with pytest.raises(AdapterError, match="the adapter 'far' failed: ValueError: could not convert") as caught:
        load(tmp_path / "b")
    assert "CHATHPC_PLUGINS=" in caught.value.hint
    (tmp_path / "c").write_text("FAR damaged")
    with pytest.raises(AdapterError, match="c: damaged"):
        load(tmp_path / "c")


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
