"""How long one warp takes if it is alone: what NVIDIA's compiler wrote beside every instruction since Volta.

An instruction of 128 bits tells how many cycles its warp waits after it (bits 105 to 108), which of six barriers it sets when its result
is there (110 to 112) or its operands were read (113 to 115; 7 is none), and which barriers it waits for (116 to 121): Jia et al.,
"Dissecting the NVIDIA Volta GPU architecture via microbenchmarking", arXiv 1804.06826, section 2.1.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from chathpc.diagnosis.sass.text import written
from chathpc.profile.machine_code import CodeLine

__all__ = ["NOMINAL", "Chain", "chain"]

#: Cycles until a result is there, by the class of instruction that gives it: middle of what microbenchmarks find from V100 to H100
#: (arXiv 1804.06826, 2208.11174, 2402.13499). They only say which waits overlap; a device's own take their place later.
NOMINAL: Mapping[str, float] = {
    "global": 400.0, "atomic": 400.0, "local": 60.0, "shared": 28.0, "special": 24.0, "fp64": 40.0, "constant": 60.0, "register": 24.0,
    "tensor": 32.0, "barrier": 24.0,
}  # fmt: skip
_CLASSES = {
    "LDG": "global", "LD": "global", "TEX": "global", "TLD": "global", "TLD4": "global", "SULD": "global", "LDGSTS": "global",
    "LDGDEPBAR": "global", "DEPBAR": "global", "ATOMG": "atomic", "ATOM": "atomic", "LDL": "local", "LDS": "shared", "LDSM": "shared",
    "ATOMS": "shared", "SHFL": "shared", "MUFU": "special", "LDC": "constant", "S2R": "register", "S2UR": "register", "R2UR": "register",
    "CS2R": "register", "HMMA": "tensor", "IMMA": "tensor", "DMMA": "tensor", "BAR": "barrier", "VOTE": "special", "MATCH": "special",
}  # fmt: skip
_NONE = 7
#: Cycles until the operands of an instruction that takes long are read.
_OPERANDS = 20.0


@dataclass(frozen=True, slots=True)
class Chain:
    """Sums over all warps. `cycles`: what the compiler makes them wait; `waits`: full latencies that they wait for on top, by class."""

    cycles: float
    waits: Mapping[str, float] = field(default_factory=dict)


@dataclass(slots=True)
class _Begun:
    """What warps have begun and not waited for: `at` is when it is there, `open` how long that still was at the branch behind it."""

    at: float
    kind: str
    warps: float
    open: float = 0.0


def chain(code: Iterable[tuple[CodeLine, float]]) -> Chain | None:
    """The waiting of a launch whose instructions are `code`, each with how many warps issued it; None if the compiler's control bits
    are not known. Walks through the code in the order of its addresses, which is that of execution but for loops: what their end leaves
    open is what waits at their begin have too little of.
    """
    cycles, now = 0.0, 0.0
    waits: defaultdict[str, float] = defaultdict(float)
    ready: dict[int, _Begun] = {}
    left: list[tuple[int, _Begun]] = []
    lacking: defaultdict[int, float] = defaultdict(float)
    for line, warps in code:
        if not warps:
            continue
        if line.control < 0:
            return None
        kind = _class_of(line.text)
        for barrier in range(6):
            if line.control >> 11 >> barrier & 1:
                begun = ready.pop(barrier, None)
                lacking[barrier] += warps
                if begun is not None:
                    first = min(warps, begun.warps)
                    lacking[barrier] -= first
                    waits[begun.kind] += first * max(begun.at - now, 0.0) / NOMINAL[begun.kind]
                    begun.warps -= first
                    left.append((barrier, begun))
                    now = max(now, begun.at)
        stall = max(line.control & 15, 1)
        cycles += warps * stall
        for barrier, latency in (
            (line.control >> 5 & 7, NOMINAL[kind]),
            (line.control >> 8 & 7, min(NOMINAL[kind], _OPERANDS)),
        ):
            if barrier != _NONE and (barrier not in ready or ready[barrier].at <= now + latency):
                ready[barrier] = _Begun(now + latency, kind, warps)
        if kind == "barrier":
            waits[kind] += warps
        now += stall
        if "BRA" in line.text:
            for begun in ready.values():
                begun.open = begun.open or max(begun.at - now, 0.0)
    for barrier, begun in [*left, *ready.items()]:
        again = min(begun.warps, lacking[barrier]) if begun.open else 0.0
        lacking[barrier] -= again
        waits[begun.kind] += again * begun.open / NOMINAL[begun.kind]
    return Chain(cycles, {kind: value for kind, value in waits.items() if value})


def _class_of(text: str) -> str:
    name = written(text).opcode
    if name in _CLASSES:
        return _CLASSES[name]
    if name[:1] == "D" and name[1:] in {"ADD", "MUL", "FMA", "SETP", "MNMX"}:
        return "fp64"
    # Conversions and what else tells its end by a barrier takes about as long as a special function.
    return "special"
