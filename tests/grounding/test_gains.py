"""What could be won, in all wordings, and what a finding knows of itself: each with sentences that look alike and are wrong."""

from __future__ import annotations

import pytest

from chathpc.grounding import check
from tests.grounding.measure import diagnosis

GAINS = [
    ("collective-wait", "Tuning gradient could make the program at most 1.36 times as fast.", False),
    ("comd-lj", "ljForce could become up to 1.3 times as fast.", False),
    ("four-ranks", "Balancing the load could make the run at most 34 % faster.", True),
    ("four-ranks", "Balancing the load could make the run at most 17 % faster.", False),
    ("frame-edges", "Dealing with the page faults could save at most 0.9 s of the 4.6 s.", True),
    ("frame-edges", "Without page faults in edges the program would need about 3.7 s instead of 4.6 s at best.", True),
    ("frame-edges", "At best the run time drops from 4.6 s to about 3.7 s if the page faults go away.", True),
    ("frame-edges", "The page faults are worth at most about 19 % less time.", True),
    ("frame-edges", "Removing the page faults cannot make the program more than about 1.24 times as fast.", True),
    ("frame-edges", "Getting rid of the page faults would gain no more than 24 %.", True),
    ("frame-edges", "Up to about 0.89 s could be saved by avoiding the page faults.", True),
    ("frame-edges", "Avoiding the page faults could cut the run time by up to 19 %.", True),
    ("frame-edges", "The speedup from avoiding page faults will not exceed about 1.24.", True),
    ("frame-edges", "You should not hope for a speed-up beyond 1.24x from the page faults.", True),
    ("frame-edges", "Dealing with the page faults could save at most 2.9 s of the 4.6 s.", False),
    ("frame-edges", "Dealing with the page faults will save 0.9 s of the 4.6 s.", False),
    ("frame-edges", "Dealing with the page faults would save at least 0.9 s of the 4.6 s.", False),
    ("frame-edges", "Without page faults in edges the program would need about 0.9 s instead of 4.6 s at best.", False),
    ("frame-edges", "Without page faults in edges the program would need about 3.7 s instead of 5.6 s at best.", False),
    ("frame-edges", "At best the run time drops from 4.6 s to about 0.9 s if the page faults go away.", False),
    ("frame-edges", "The page faults are worth at most about 24 % less time.", False),
    ("frame-edges", "Getting rid of the page faults would gain no more than 14 %.", False),
    ("frame-edges", "Getting rid of the page faults would gain at least 24 %.", False),
    ("frame-edges", "Getting rid of the page faults gains 24 %.", False),
    ("frame-edges", "Balancing the load could save at most 0.9 s of the 4.6 s.", False),
    ("frame-edges", "A faster disk could save at most 0.9 s of the 4.6 s.", False),
    ("freed-in-loop", "Avoiding the allocation could bring the 4.12 s down to about 1.23 s at best.", True),
    ("freed-in-loop", "Avoiding the allocation could bring the 3.21 s down to about 1.23 s at best.", False),
    ("freed-in-loop", "Avoiding the allocation would take at most 1.23 s instead of 4.12 s.", False),
    ("invariant", "The speed-up is capped at about 3.6.", True),
    ("invariant", "A maximum speedup of about 3.6 is possible in transport.", True),
    ("invariant", "The speed-up is capped at about 5.6.", False),
    ("invariant", "Removing the loop-invariant work could make the program at least 3.6 times as fast.", False),
    ("invariant", "Removing the loop-invariant work makes the program 3.6 times as fast.", False),
    ("invariant", "The program would be limited to 3.6 s.", False),
    ("invariant", "No more than about 3 s of the 4.07 s can be won in transport.", True),
    (
        "invariant",
        "The work in transport is invariant, and hoisting it out could bring the 4.07 s down to 1.12 s in the best case.",
        True,
    ),
    ("invariant", "Even in the best case about 1.1 s of the 4.07 s would be left.", True),
    ("invariant", "You can hope for a program that is at most about 3.6 times as fast.", True),
    ("late-sender", "Fixing the oversubscription could gain at most 10 %.", True),
    ("late-sender", "Fixing the oversubscription could gain at most 17 %.", False),
    ("late-sender", "Fixing the late sender could gain at most 10 %.", False),
    ("many-regions", "Without the parallel regions, the run could be at most 1.79x as fast.", False),
    ("math-and-allocation", "Faster mathematical functions could save at most about 1.1 s of the 3.15 s.", True),
    (
        "math-and-allocation",
        "Without the allocation in deposit, about 2.58 s of the 3.15 s would remain at best.",
        True,
    ),
    ("math-and-allocation", "Faster mathematical functions could save at most about 0.57 s of the 3.15 s.", False),
    (
        "math-and-allocation",
        "Without the allocation in deposit, about 2.02 s of the 3.15 s would remain at best.",
        False,
    ),
    ("math-and-allocation", "Faster mathematical functions could save at most about 1.1 s of the 1.62 s.", False),
    ("math-and-allocation", "Faster mathematical functions could save at most about 0.58 s of the 1.62 s.", False),
    ("shared-memory-limit", "For the occupancy the bound is about 1.9, for the memory latency about 1.5.", True),
    (
        "shared-memory-limit",
        "The possible speedup is bounded by about 1.9 for the occupancy and by about 1.5 for the memory latency.",
        True,
    ),
    (
        "shared-memory-limit",
        "Raising the occupancy of likrotav could make the kernels up to about 1.9 times as fast.",
        True,
    ),
    ("shared-memory-limit", "For the occupancy the bound is about 1.5, for the memory latency about 1.9.", False),
    (
        "shared-memory-limit",
        "The possible speedup is bounded by about 1.5 for the occupancy and by about 1.9 for the memory latency.",
        False,
    ),
    (
        "shared-memory-limit",
        "Raising the occupancy of likrotav could make the kernels up to about 1.5 times as fast.",
        False,
    ),
    ("shared-memory-limit", "Tuning cefiyan::zorglayan<float,256> would gain at most 92 %.", False),
    ("sleeping", "If the threads did not sleep, the program could be faster by a factor of up to 3.3.", True),
    ("uneven-devices", "Balancing the devices could save 43 % of the time at most.", False),
    ("uneven-devices", "Balancing the devices could save 36 % of the time at most.", True),
]

ASSESSMENTS = [
    ("collective-wait", "The headroom of gradient is 0.8.", False),
    ("collective-wait", "There is no headroom in the collective wait.", False),
    ("collective-wait", "The diagnosis promises no speedup from removing the wait in the collective.", False),
    ("collective-wait", "No speedup is promised for gradient.", True),
    ("collective-wait", "The diagnosis sees no headroom in gradient.", True),
    ("comd-lj", "There is no speedup bound for ljForce.", True),
    ("comd-lj", "The diagnosis cannot promise a speedup for ljForce, as its headroom is 0.", True),
    ("comd-lj", "The headroom of ljForce is 0.3.", False),
    ("four-ranks", "Oversubscription costs nothing and has a confidence of 0.98.", False),
    ("four-ranks", "Oversubscription has a confidence of only 0.78, the load imbalance one of 0.98.", True),
    ("four-ranks", "The diagnosis is more certain about the load imbalance than about the oversubscription.", True),
    ("four-ranks", "The diagnosis is less certain about the load imbalance than about the oversubscription.", False),
    ("four-ranks", "The oversubscription promises the larger gain.", False),
    ("four-ranks", "The load imbalance promises the larger gain.", True),
    ("four-ranks", "The highest speedup bound, about 1.34, belongs to the load imbalance.", True),
    ("four-ranks", "The highest speedup bound, about 1.17, belongs to the oversubscription.", False),
    ("four-ranks", "There is no speedup bound for the load imbalance.", False),
    ("four-ranks", "The diagnosis does not promise any gain from better balance.", False),
    ("frame-edges", "The diagnosis is 92 % sure of the page faults.", True),
    ("frame-edges", "The confidence in the page faults is 92 %, with one thing against it.", True),
    ("frame-edges", "The diagnosis is 82 % sure of the page faults.", False),
    ("frame-edges", "The confidence in the page faults is 92 %, with two things against it.", False),
    ("frame-edges", "The confidence in the page faults is 92 %, with nothing against it.", False),
    ("frame-edges", "The page-fault finding has three independent signs.", False),
    ("freed-in-loop", "The headroom of the memory allocation is 0.9.", True),
    ("freed-in-loop", "The finding has a headroom of 90 % and a confidence of 0.95.", True),
    ("freed-in-loop", "The share was measured with 822 samples and has an error of ± 1.4 percentage points.", True),
    ("freed-in-loop", "Two independent signs speak for the allocation churn.", True),
    ("freed-in-loop", "The headroom of the memory allocation is 0.8.", False),
    ("freed-in-loop", "The finding has a headroom of 95 % and a confidence of 0.90.", False),
    ("freed-in-loop", "The share was measured with 522 samples and has an error of ± 1.4 percentage points.", False),
    ("freed-in-loop", "Only one independent sign speaks for the allocation churn.", False),
    ("freed-in-loop", "The times were measured, not sampled, and the confidence is 0.95.", False),
    ("freed-in-loop", "The diagnosis promises no gain.", False),
    ("heat-stencil", "The diagnosis names no speedup bound for diffuse.", True),
    ("invariant", "The diagnosis rests on one independent sign.", False),
    ("invariant", "The headroom of transport is zero.", False),
    ("invariant", "The headroom of transport is 0.9, so up to 90 % of its cost could go.", True),
    ("invariant", "The confidence in the finding is 95 %, from three independent signs.", False),
    ("invariant", "The confidence in the finding is 95 %, from two independent signs.", True),
    ("invariant", "The share of transport is known to within 2.4 percentage points.", False),
    ("invariant", "The share of transport is known to within 1.4 percentage points from 911 samples.", False),
    ("late-sender", "The late sender has a confidence of 0.92, the oversubscription 0.78.", True),
    ("late-sender", "The late sender has a confidence of 0.78, the oversubscription 0.92.", False),
    ("late-sender", "The confidence of eamForce is 0.92.", False),
    ("late-sender", "The late sender is the less certain finding, with a confidence of 0.92.", False),
    ("late-sender", "The oversubscription is more certain than the late sender.", False),
    ("late-sender", "The oversubscription is less certain than the late sender.", True),
    ("late-sender", "The confidence in the oversubscription is lower than that in the late sender.", True),
    ("late-sender", "The oversubscription and the late sender have confidences of 0.92 and 0.78.", False),
    ("math-and-allocation", "Of the two, the larger gain can be expected from the allocation in deposit.", False),
    ("math-and-allocation", "Of the two, the larger gain can be expected from the mathematical functions.", True),
    ("shared-memory-limit", "The low occupancy has a confidence of 0.98, the memory latency one of 0.95.", True),
    (
        "shared-memory-limit",
        "The confidence is 0.98 for the low occupancy and 0.95 for the waits for global memory.",
        True,
    ),
    ("shared-memory-limit", "The low occupancy has a confidence of 0.95, the memory latency one of 0.98.", False),
    (
        "shared-memory-limit",
        "The confidence is 0.95 for the low occupancy and 0.98 for the waits for global memory.",
        False,
    ),
    (
        "shared-memory-limit",
        "The larger potential lies in the memory latency of likrotav, where the speedup is bounded by about 1.5.",
        False,
    ),
    ("strided", "The confidence of 0.83 rests on two independent signs.", False),
    ("strided", "The stride was found with a confidence of 0.83 from times that were measured, not sampled.", False),
    ("xsbench", "Neither of the two findings has any headroom.", True),
]


def status(name: str, sentence: str) -> str:
    (checked,) = check(sentence, diagnosis(name), form="prose").sentences
    return checked.status


@pytest.mark.parametrize(("name", "sentence", "right"), GAINS)
def test_a_gain_is_the_upper_bound_of_the_finding_that_is_meant(name: str, sentence: str, right: bool) -> None:
    assert (status(name, sentence) == "supported") == right


@pytest.mark.parametrize(("name", "sentence", "right"), ASSESSMENTS)
def test_confidence_headroom_and_signs_are_those_of_the_finding_that_is_meant(
    name: str, sentence: str, right: bool
) -> None:
    assert (status(name, sentence) == "supported") == right
