"""Hostile databases end as they should: in a profile that says what is wrong with it, or in an AdapterError; in time and memory."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import chathpc
from tests.adapters.contained import Server
from tests.adapters.hpctoolkit import bombs
from tests.adapters.hpctoolkit.bombs import BOMBS, Bomb
from tests.synthetic.hpctoolkit_v4 import TIME


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as running:
        yield running


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that other users can enter, unlike pytest's."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)
        if (Path(name) / "db").is_dir():
            (Path(name) / "db").chmod(0o755)


@pytest.mark.parametrize("bomb", BOMBS, ids=lambda bomb: bomb.name)
def test_a_bomb_ends_as_it_should(server: Server, folder: Path, bomb: Bomb) -> None:
    outcome = server.run(bomb.make(folder), unprivileged=bomb.unprivileged)
    assert outcome.kind in bomb.right, outcome.detail
    if outcome.kind == "profile":
        assert bomb.caveat in " ".join(outcome.caveats)
    else:
        assert outcome.hint, "an AdapterError says what to do"


def test_there_are_enough_bombs_and_their_names_differ() -> None:
    assert len({bomb.name for bomb in BOMBS}) == len(BOMBS) >= 60


def test_names_of_a_profile_are_printable(folder: Path) -> None:
    for make in (bombs.hostile_names, bombs.hostile_metric_names):
        profile = chathpc.load(make(folder))
        metrics = [text for m in profile.metrics.values() for text in (m.id, m.source_name, m.description)]
        tree = profile.tree
        for text in (*tree.names, *tree.files, *tree.modules, *metrics, *profile.caveats, profile.title):
            assert text.isprintable(), text


def test_values_that_are_no_numbers_do_not_spread(folder: Path) -> None:
    import numpy as np

    for number, make in enumerate((bombs.nan_in_the_summary, bombs.infinities_in_the_summary)):
        place = folder / str(number)
        place.mkdir()
        try:
            profile = chathpc.load(make(place))
        except chathpc.AdapterError:
            continue
        for name in profile.metrics:
            assert np.isfinite(profile.total(name))
            assert np.isfinite(profile.inclusive(name).values).all()


def test_source_text_from_outside_the_database_does_not_come_out(folder: Path) -> None:
    profile = chathpc.load(bombs.source_paths_that_leave_the_database(folder))
    for node in range(len(profile.tree)):
        excerpt = profile.source(node)
        assert excerpt is None, excerpt


def test_yaml_cannot_run_a_command(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    chathpc.load(bombs.yaml_that_asks_for_python(folder))
    assert not (folder / "owned").exists()


def test_a_newer_minor_version_says_the_same(folder: Path) -> None:
    old = chathpc.load(bombs.database(folder / "old").path)
    larger = next(bomb for bomb in BOMBS if bomb.name == "minor_version_9_with_larger_structures")
    new = chathpc.load(larger.make(folder))
    for name in old.metrics:
        assert new.total(name) == old.total(name)
    assert list(new.tree.names) == list(old.tree.names)


def test_without_summary_values_the_total_is_that_of_the_threads(folder: Path) -> None:
    profile = chathpc.load(bombs.no_summary_values(folder))
    assert profile.total(TIME) == 20.875  # 7.875 of thread 0 and 13 of thread 1, see programs.small
