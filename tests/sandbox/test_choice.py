"""Which sandbox is taken, and what the user hears where there is none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from chathpc.errors import ChathpcError, UsageError
from chathpc.sandbox import Completed, Request, choose, gaps, states
from chathpc.sandbox.bubblewrap import Bubblewrap
from chathpc.sandbox.landlock import Landlock
from chathpc.sandbox.supervised import Plain


class Broken(Landlock):
    name = "broken"
    tries = 0

    def run(self, request: Request) -> Completed:
        Broken.tries += 1
        raise ChathpcError("It is broken.")


class Leaky(Plain):
    """Runs, but keeps nothing from the command."""

    name = "leaky"


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Iterator[object]:
    import importlib

    found = importlib.import_module("chathpc.sandbox.choice")
    found._tried.cache_clear()
    yield found
    found._tried.cache_clear()


def _offer(module: object, monkeypatch: pytest.MonkeyPatch, *makers: object) -> None:
    monkeypatch.setattr(module, "_STRONGEST_FIRST", makers)


def test_the_first_that_really_works_is_taken_and_each_is_tried_once(
    module: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    Broken.tries = 0
    _offer(module, monkeypatch, Broken, Leaky, Landlock)
    for _ in range(3):
        assert choose().name == "landlock"
    assert Broken.tries == 1
    assert states() == (("broken", "It is broken."), ("leaky", "its own test failed"), ("landlock", ""))


def test_without_one_the_user_hears_what_to_do(module: object, monkeypatch: pytest.MonkeyPatch) -> None:
    _offer(module, monkeypatch, Broken, Leaky)
    with pytest.raises(UsageError, match=r"broken: It is broken\.; leaky: its own test failed") as caught:
        choose()
    assert "bubblewrap" in caught.value.hint
    assert "--no-sandbox" in caught.value.hint
    assert choose(allow_none=True).name == "none"


def test_bubblewrap_comes_first_here() -> None:
    if dict(states())["bubblewrap"]:
        pytest.skip("bubblewrap does not work here")
    assert choose().name == "bubblewrap"


def test_a_bwrap_that_is_none_is_told(tmp_path: Path, folder: Path) -> None:
    fake = tmp_path / "bwrap"
    for text, said in (
        ("#!/bin/sh\necho no user namespaces >&2; exit 1\n", "no user namespaces"),
        ("", "cannot be started"),
    ):
        fake.write_text(text)
        fake.chmod(0o755 if text else 0o600)
        with pytest.raises(ChathpcError, match=said):
            Bubblewrap(str(fake)).run(Request(("true",), folder))


def test_landlock_that_is_not_there_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chathpc.sandbox.landlock.abi", lambda: 0)
    with pytest.raises(ChathpcError, match="no Landlock"):
        Landlock().run(Request(("true",), folder))


@pytest.mark.parametrize("version", [1, 2, 3, 4, 5, 6])
def test_older_versions_of_landlock_do_too_and_their_gaps_are_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch, version: int
) -> None:
    if dict(states())["landlock"]:
        pytest.skip("Landlock does not work here")
    for where in ("landlock", "choice"):
        monkeypatch.setattr(f"chathpc.sandbox.{where}.abi", lambda: version)
    assert Landlock().run(Request(("/bin/sh", "-c", "echo a > b && cat b"), folder)).stdout == b"a\n"
    assert Landlock().run(Request(("cat", "/etc/shadow"), folder)).code == 1
    names = {gap.name for gap in gaps("landlock")}
    assert ("truncate" in names) == (version < 3)
    assert ("signals" in names) == (version < 6)


def test_without_a_filter_more_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chathpc.sandbox.choice.filter_program", lambda: b"")
    assert {"kernel-keys", "set-user-id", "hypervisor"} == {gap.name for gap in gaps("bubblewrap")}
    assert "sockets" in {gap.name for gap in gaps("landlock")}
    assert {gap.name for gap in gaps(Plain())} == {"everything"}
