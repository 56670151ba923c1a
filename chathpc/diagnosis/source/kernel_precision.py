"""Double precision in GPU kernels whose data are single: by literals without `f`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from chathpc.diagnosis.source.kernel_flow import ARITHMETIC
from chathpc.diagnosis.source.kernel_memory import extent, level
from chathpc.diagnosis.source.lanes import Lanes
from chathpc.diagnosis.source.model import Expr, Kind, Statement
from chathpc.diagnosis.source.sign import Sign

#: Operations on double precision that are no slip of a single line.
_SOME_DOUBLES = 2
_FLOATS = re.compile(r"(?:const )?(?:float[234]?|half2?|__half2?)\Z")
_DOUBLES = re.compile(r"(?:const )?double[234]?\Z")
_LITERAL = re.compile(r"(?:\d+\.\d*|\.\d+)(?:[eE][-+]?\d+)?\Z|\d+[eE][-+]?\d+\Z")


def double_precision(several: Sequence[Lanes]) -> Sign | None:
    """Literals without `f` in a kernel whose data are all float: they make the arithmetic double precision."""
    kernel = several[0]
    types = [each.type for one in several for each in (*one.function.parameters, *one.function.declarations)]
    if not any(_FLOATS.match(each) for each in types) or any(_DOUBLES.match(each) for each in types):
        return None
    if any(
        each.type not in kernel.unit.records and each.type in ("T", "real", "Real", "scalar_t")
        for each in kernel.function.parameters
    ):
        return None
    for one in several:
        found: list[tuple[Statement, Expr]] = []
        for statement in one.function.statements:
            for each in statement.expr.walk() if statement.expr is not None else ():
                if each.kind == Kind.BINARY and each.text in ARITHMETIC and _mixes(each):
                    found.append((statement, each))
        deepest = max((level(one.function, one.unit, each.loop) for each, _ in found), default=0)
        inner = [pair for pair in found if level(one.function, one.unit, pair[0].loop) == deepest]
        # `x * 0.5` alone is narrowed by compilers; 0.1 has no exact float, and two operations in a row are not.
        if not inner or (len(inner) < _SOME_DOUBLES and not any(_is_inexact(each) for _, each in inner)):
            continue
        statement, shown = inner[0]
        literal = next(each.text for each in shown.walk() if each.kind == Kind.NUMBER and _LITERAL.match(each.text))
        first, last = extent(one, statement.loop)
        return Sign(
            "gpu-fp64-bound", statement.line, first, last,
            f"computes {one.function.show(shown)} in double precision, because {literal} is a double ({literal}f would be a float), though all "
            "variables are float",
            f"computes in double precision because of literals like {literal}",
            ("Devices for science compute in double precision at half the rate of single; others at 1/32 or 1/64.",),
        )  # fmt: skip
    return None


def _mixes(expr: Expr) -> bool:
    """True for arithmetic of a double literal with something that is none."""
    literal = [part.kind == Kind.NUMBER and _LITERAL.match(part.text) is not None for part in expr.parts]
    return any(literal) and not all(part.kind == Kind.NUMBER for part in expr.parts)


def _is_inexact(expr: Expr) -> bool:
    for part in expr.parts:
        if part.kind == Kind.NUMBER and _LITERAL.match(part.text):
            number = float(part.text)
            mantissa = number.hex().partition("p")[0].partition(".")[2].rstrip("0")
            if len(mantissa) > 6:  # 24 bits: the leading one, and 23 behind the point
                return True
    return False
