"""Compilers' messages in the words of the catalogue: which obstacle a text of GCC or LLVM is about."""

from __future__ import annotations

import re

from chathpc.profile.compiler import Obstacle

_FUNCTION = (
    r"(?:__builtin_)?_{0,2}(?:sin|cos|tan|asin|acos|atan|atan2|sinh|cosh|tanh|exp|exp2|expm1|log|log2|log10|log1p|pow|cbrt|hypot"
    r"|fmod|sqrt|erf|erfc|lgamma|tgamma|round|floor|ceil|rint|nearbyint|sincos|cexpi)[fl]?(?:_finite)?"
)
#: Calls of the mathematical library that stand in a message of GCC: `= exp (_76)`.
_MATH = re.compile(rf"= {_FUNCTION} \(")
_MATH_NAME = re.compile(_FUNCTION)
#: Text of a message about a loop (lower case) → obstacle; the first that matches. GCC 9 to 15, LLVM 11 to 20.
_LOOP = tuple(
    (re.compile(pattern), obstacle)
    for pattern, obstacle in (
        (r"library call cannot be vectorized", Obstacle.MATH_CALL),
        (r"reorder (?:floating-point|memory) operations|unsafe fp math|strict fp|in-order fp reduction|reduction: not commutative"
         r"|changes? (?:the )?order of (?:summation|operations)", Obstacle.REDUCTION_ORDER),
        (r"cannot identify array bounds|cannot check memory dependencies at runtime|too many memory checks|memory checks needed"
         r"|can't determine dependence|versioning for alias (?:will not|not|failed)|no alias checks|alias (?:run-?time )?tests"
         r"|cannot prove (?:that )?(?:the )?pointers", Obstacle.ALIASING),
        (r"unsafe dependent memory|loop carried (?:data )?dependence|possible dependence|bad data dependence|dependence distance"
         r"|not identified as reduction|could not be identified as reduction|unsupported use in stmt|value used outside loop"
         r"|unsupported phi|data dependencies exist|found an unidentified phi", Obstacle.DEPENDENCE),
        (r"number of (?:loop )?iterations", Obstacle.TRIP_COUNT),
        (r"statement clobbers memory|function calls? or data references|call instruction cannot be vectorized|contains (?:a )?function call"
         r"|not inlined function call|function call in loop|call cannot be vectorized", Obstacle.CALL),
        (r"control flow|loop contains a switch|substituted for a select|multiple exits|early exit|more than one exit|latch block"
         r"|not ending with a branch|abnormal edge|goto", Obstacle.CONTROL_FLOW),
        (r"evolution of (?:base|offset) is not affine|complicated access pattern|not consecutive access|gather|scatter|non-consecutive"
         r"|not suitable for (?:gather|scatter)|unsupported (?:data-ref|access)|non-unit stride|strided (?:load|store)|indirect access"
         r"|cannot analyze data ref", Obstacle.ACCESS),
        (r"iterations would need to be peeled", Obstacle.LEVEL),
        (r"not (?:be )?(?:profitable|beneficial)|vectorization is not|cost[- ]model"
         r"|iteration count too small|trip count too small|not vectorized: vectorization is disabled|low-trip", Obstacle.COST),
    )
)  # fmt: skip
#: Messages that say of an outer loop only that it has others inside.
_OUTER = re.compile(r"two or more consecutive inner loops|multiple nested loops|not the innermost loop|inner[- ]loop count not invariant"
                    r"|loop nest containing")  # fmt: skip
#: Why a call was not inlined (lower case) → obstacle.
_CALL = tuple(
    (re.compile(pattern), obstacle)
    for pattern, obstacle in (
        (r"recursi", Obstacle.RECURSIVE),
        (r"body not available|definition is unavailable|unavailable definition|cross-module|could not be resolved|overwrit|interpos",
         Obstacle.BODY_ELSEWHERE),
        (r"noinline|never be inlined|not inlinable|not inline candidate|mismatch|target specific|attribute|setjmp|varargs|alloca|eh "
         r"|optimization level|disabled|fixed params", Obstacle.FORBIDDEN),
        (r"cold|unlikely|seldom|called once", Obstacle.SELDOM),
        (r"too costly|growth|grow|limit|too large|max-inline|size|cost=|insns", Obstacle.TOO_LARGE),
    )
)  # fmt: skip


def loop_obstacle(text: str) -> Obstacle | None:
    """The obstacle that a message about a loop names; None if it names none."""
    lower = text.lower()
    if "interleaving is not beneficial" in lower:
        return None  # said of loops that are vectorised
    found = next((obstacle for pattern, obstacle in _LOOP if pattern.search(lower)), None)
    return Obstacle.MATH_CALL if found == Obstacle.CALL and _MATH.search(text) else found


def is_math(function: str) -> bool:
    """True for a function of the mathematical library."""
    return _MATH_NAME.fullmatch(function) is not None


def is_math_call(text: str) -> bool:
    """True for GCC's message about a call of the mathematical library."""
    return "clobbers memory" in text and _MATH.search(text) is not None


def is_outer(text: str) -> bool:
    """True for a message that says no more than that a loop has other loops inside."""
    return _OUTER.search(text.lower()) is not None


def call_obstacle(text: str) -> Obstacle:
    """Why a call was not inlined."""
    lower = text.lower()
    return next((obstacle for pattern, obstacle in _CALL if pattern.search(lower)), Obstacle.UNSTATED)
