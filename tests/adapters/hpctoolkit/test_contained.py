"""The harness notices every way in which a reader can go wrong."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.adapters.contained import Outcome, Server


def run(stub: str, path: Path, **limits: float) -> Outcome:
    with Server(f"tests.adapters.hpctoolkit.stubs:{stub}") as server:
        return server.run(path, **limits)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("stub", "kind", "detail"),
    [
        ("reads", "profile", ""),
        ("refuses", "refused", "at byte 7: it is damaged"),
        ("refuses_with_an_escape_sequence", "error", "holds '\\x1b'"),
        ("raises", "error", "KeyError: 'an undocumented exception'"),
        ("exits", "error", "SystemExit"),
        ("recurses", "error", "RecursionError"),
        ("takes_memory", "memory", "MiB, limit 64 MiB"),
        ("takes_all_memory", "error", "MemoryError"),
        ("aborts", "crash", "status"),
        ("ends_the_process", "crash", "status 0"),
    ],
)
def test_an_outcome_is_told_by_its_name(tmp_path: Path, stub: str, kind: str, detail: str) -> None:
    outcome = run(stub, tmp_path)
    assert outcome.kind == kind
    assert detail in outcome.detail


def test_a_reader_that_waits_is_killed(tmp_path: Path) -> None:
    assert run("sleeps", tmp_path, wall=0.5).kind == "hang"


def test_processor_time_beyond_the_limit_is_slow(tmp_path: Path) -> None:
    assert run("spins", tmp_path, cpu=0.2).kind == "slow"


def test_memory_may_grow_with_the_size_of_the_input(tmp_path: Path) -> None:
    (tmp_path / "meta.db").write_bytes(os.urandom(3 << 20))
    assert run("takes_memory", tmp_path).kind == "profile"


def test_a_hole_in_a_file_does_not_count_as_input(tmp_path: Path) -> None:
    with (tmp_path / "meta.db").open("wb") as file:
        file.truncate(1 << 30)
    assert run("takes_memory", tmp_path).kind == "memory"


def test_the_server_goes_on_after_a_bad_case_and_hands_out_caveats(tmp_path: Path) -> None:
    with Server("tests.adapters.hpctoolkit.stubs:sleeps") as server:
        kinds = [server.run(tmp_path, wall=0.2).kind for _ in range(3)]
    assert kinds == ["hang"] * 3
    assert run("reads", tmp_path).caveats == ("nothing in it",)


def test_cases_in_one_child_end_as_they_do_alone(tmp_path: Path) -> None:
    names = [
        "reads",
        "leaks",
        "leaks",
        "leaks",
        "raises",
        "takes_memory",
        "reads",
        "aborts",
        "refuses",
        "sleeps",
        "leaks",
    ]
    kinds = []
    with Server("tests.adapters.hpctoolkit.stubs:as_its_name_says", batch=50) as server:
        for name in names:
            kinds.append(server.run(tmp_path / name, wall=0.5).kind)
    assert kinds == [
        "profile", "profile", "profile", "profile", "error", "memory", "profile", "crash", "refused", "hang", "profile",
    ]  # fmt: skip


def test_one_child_has_so_many_cases(tmp_path: Path) -> None:
    with Server("tests.adapters.hpctoolkit.stubs:leaks", batch=2) as server:
        sizes = [server.run(tmp_path).bytes >> 20 for _ in range(4)]
    assert [size >= 58 for size in sizes] == [False, True, False, True]


def test_an_unprivileged_case_cannot_read_what_is_not_readable(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text("x")
    file.chmod(0)
    with Server("tests.adapters.hpctoolkit.stubs:opens") as server:
        outcome = server.run(file, unprivileged=True)
    assert outcome.kind == "error"
    assert "PermissionError" in outcome.detail
