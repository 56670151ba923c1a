"""The table of reasons for which warps do not issue."""

from __future__ import annotations

from chathpc.profile.stalls import STALLS, WAITING, names_in_samples, samples_of


def test_each_reason_has_samples_of_its_own() -> None:
    assert len({stall.key for stall in STALLS.values()}) == len(STALLS)
    names = [name for reason in STALLS for name in names_in_samples(reason)]
    assert len(set(names)) == len(names)


def test_a_reason_is_evidence_of_one_kind_of_waiting() -> None:
    reasons = [reason for kind in WAITING.values() for reason in kind]
    assert len(set(reasons)) == len(reasons)
    assert set(reasons) <= set(STALLS)
    assert "gpu.stall.drain" in samples_of("memory")
