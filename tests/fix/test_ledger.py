"""The ledger only grows, tells when it was touched, and survives being cut off anywhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chathpc.errors import ChathpcError
from chathpc.fix.ledger import Ledger, read


def written(path: Path, count: int = 5) -> bytes:
    ledger = Ledger(path, clock=lambda: 1.5)
    for number in range(count):
        ledger.append("event", {"number": number, "text": "zeile\n→", "nan": float("nan")})
    ledger.close()
    return path.read_bytes()


def test_events_come_back_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    written(path, 3)
    again = Ledger(path)
    assert [event.data["number"] for event in again.of("event")] == [0, 1, 2]
    assert again.events[0].data == {"number": 0, "text": "zeile\n→", "nan": None}
    assert again.events[1].previous == again.events[0].hash
    again.append("more", {})
    again.close()
    assert [event.event for event in read(path)[0]] == ["event"] * 3 + ["more"]


@settings(deadline=None)
@given(cut=st.integers(min_value=0, max_value=2000))
def test_a_ledger_that_was_cut_off_anywhere_is_read_up_to_its_last_whole_line(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    path = tmp_path_factory.mktemp("ledger") / "ledger.jsonl"
    whole = written(path)
    cut = min(cut, len(whole))
    path.write_bytes(whole[:cut])
    ledger = Ledger(path, clock=lambda: 2.5)
    lines = whole[:cut].count(b"\n")
    torn = cut - (whole[:cut].rfind(b"\n") + 1)
    assert ledger.dropped == torn
    assert len(list(ledger.of("event"))) == lines
    assert [event.data for event in ledger.of("recovered")] == ([{"dropped_bytes": torn}] if torn else [])
    ledger.append("after", {})
    ledger.close()
    assert read(path)[0][-1].event == "after"
    assert path.read_bytes().startswith(whole[: cut - torn])


def test_a_changed_a_lost_and_a_strange_line_are_found(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    lines = written(path).splitlines(keepends=True)
    changed = json.loads(lines[1])
    changed["data"]["number"] = 7
    for content in (
        [lines[0], (json.dumps(changed) + "\n").encode(), *lines[2:]],
        [lines[0], *lines[2:]],
        [lines[0], b"no json\n", *lines[1:]],
        [lines[0], b"[]\n", *lines[1:]],
    ):
        path.write_bytes(b"".join(content))
        with pytest.raises(ChathpcError, match="line 2 is not as it was written"):
            read(path)


def test_a_ledger_that_cannot_be_read_or_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(ChathpcError, match="Cannot read"):
        read(tmp_path)
    assert read(tmp_path / "none") == ([], 0, 0)
    ledger = Ledger(tmp_path / "ledger.jsonl")
    ledger.close()
    with pytest.raises(ChathpcError, match="Cannot write"):
        ledger.append("event", {})
