"""What the check computes or compares by itself: complements, lists, roundings, states, and which fact a number is of."""

from __future__ import annotations

import pytest

from chathpc.grounding import check
from tests.grounding.measure import diagnosis


def status(name: str, sentence: str) -> str:
    (checked,) = check(sentence, diagnosis(name), form="prose").sentences
    return checked.status


@pytest.mark.parametrize(
    ("name", "sentence", "right"),
    [
        # 55.3 % of the time is in eamForce, 22.7 % in interpolate: 29.4 s and 12.1 s.
        ("late-sender", "The remaining 44.7 % of the time is spent outside of eamForce.", True),
        ("late-sender", "The remaining 47.7 % of the time is spent outside of eamForce.", False),
        ("late-sender", "eamForce and interpolate take 29.4 s and 12.1 s, respectively.", True),
        ("late-sender", "eamForce and interpolate take 12.1 s and 29.4 s, respectively.", False),
        ("late-sender", "eamForce and interpolate take 78 % of the time.", True),
        ("late-sender", "eamForce and interpolate take 68 % of the time.", False),
        # Rank 0 has 1.41 times the mean.
        ("mesh-imbalance", "Rank 0 does about 40 % more work than the average rank.", True),
        ("mesh-imbalance", "Rank 0 does about 60 % more work than the average rank.", False),
        # 2.52 GB in 70 copies.
        ("pageable-copies", "On average one copy moves about 36 MB.", True),
        ("pageable-copies", "On average one copy moves about 76 MB.", False),
        # 22.8 s of 22.9 s
        ("tiny-regions", "22.8 of 22.9 seconds are spent waiting.", True),
        ("tiny-regions", "18.8 of 22.9 seconds are spent waiting.", False),
        # 51.3 % and 20.1 %
        ("math-and-allocation", "The two problems together take 71.4 % of the time.", True),
        ("math-and-allocation", "The two problems together take 81.4 % of the time.", False),
    ],
)
def test_numbers_that_follow_from_the_evidence_are_recomputed(name: str, sentence: str, right: bool) -> None:
    assert (status(name, sentence) == "supported") is right


@pytest.mark.parametrize(
    ("name", "sentence", "right"),
    [
        ("uncoalesced", "The accesses of the kernel are coalesced.", False),
        ("uncoalesced", "The accesses of the kernel are not coalesced.", True),
        ("no-overlap", "Copies and kernels overlap completely.", False),
        ("pageable-copies", "Copies and kernels never overlap.", True),
        ("serial", "update_source runs in parallel on both threads.", False),
        ("mesh-imbalance", "The program is balanced well between its ranks.", False),
    ],
)
def test_what_a_finding_excludes_can_only_be_denied(name: str, sentence: str, right: bool) -> None:
    assert (status(name, sentence) == "supported") is right


@pytest.mark.parametrize(
    ("name", "sentence", "right"),
    [
        ("tiny-kernels", "The kernels run longer than the gaps between them.", False),
        ("host-bound", "The device is in read for 1.28 s.", False),
        ("shared-memory-limit", "The occupancy is limited by registers.", False),
        ("late-sender", "MPI_Sendrecv takes 95.6 % of the time.", False),
        ("late-sender", "MPI_Sendrecv takes 95.6 % of the MPI time.", True),
        ("bank-conflicts", "Memory throughput is at 90 % of peak while the multiprocessors are at just 38.3 %.", True),
        ("bank-conflicts", "Memory throughput is at 38.3 % of peak while the multiprocessors are at 90 %.", False),
    ],
)
def test_a_number_is_of_the_fact_that_is_described_best(name: str, sentence: str, right: bool) -> None:
    assert (status(name, sentence) == "supported") is right
