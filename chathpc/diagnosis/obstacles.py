"""Why compilers leave loops and calls as they are, in words that a person acts on."""

from __future__ import annotations

from dataclasses import dataclass

from chathpc.profile.compiler import Obstacle


@dataclass(frozen=True, slots=True)
class Words:
    """`why` completes "…: "; `effort` names the threshold of the catalogue that says how much of the gain is within reach (`unlikely`: too
    little for a finding);
    `advice` is a word by which the catalogue's advice for this obstacle is known, to be told first.
    """

    why: str
    effort: str
    advice: str


LOOPS: dict[Obstacle, Words] = {
    Obstacle.ALIASING: Words("it cannot rule out that the arrays overlap", "within_reach", "restrict"),
    Obstacle.REDUCTION_ORDER: Words(
        "vectorising would reorder floating-point additions, which it must not do", "last_digits", "reduction("
    ),
    Obstacle.COST: Words("its cost model predicts too little gain from vector instructions", "with_changes", "-O3"),
    Obstacle.LEVEL: Words(
        "at this optimisation level it skips loops that need a run-time check or a remainder loop", "within_reach", "-O3"
    ),
    Obstacle.MATH_CALL: Words("the loop calls a mathematical function whose vector version it may not use", "last_digits", "-ffast-math"),
    Obstacle.CALL: Words("the loop calls a function that it cannot analyse", "with_changes", "declare simd"),
    Obstacle.TRIP_COUNT: Words("the number of iterations is not known before the loop begins", "with_changes", "break"),
    Obstacle.CONTROL_FLOW: Words("the loop has branches or exits that cannot become masked instructions", "with_changes", "branch"),
    Obstacle.ACCESS: Words("the loop does not access memory contiguously", "with_changes", "structure of arrays"),
    Obstacle.DEPENDENCE: Words("an iteration may depend on an earlier one", "unlikely", "iterations"),
    Obstacle.UNSTATED: Words(
        "it does not say why (GCC at -O2 skips loops that need a run-time check or a remainder loop; at -O3 it does not)", "unlikely", "-O3"
    ),
}  # fmt: skip

CALLS: dict[Obstacle, Words] = {
    Obstacle.BODY_ELSEWHERE: Words("the function's body is in another file", "within_reach", "-flto"),
    Obstacle.TOO_LARGE: Words("the code would grow more than its limit", "with_changes", "always_inline"),
    Obstacle.FORBIDDEN: Words("an attribute or an option forbids it", "within_reach", "noinline"),
    Obstacle.UNSTATED: Words("it does not say why", "with_changes", "-flto"),
}
