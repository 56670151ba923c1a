"""What is known of SASS opcodes: which have no result, how wide their operands are, and how their results become known.

Names and forms: NVIDIA, CUDA Binary Utilities, Instruction Set Reference (Turing to Blackwell). How results become known was
read from the scheduling bits of our own kernels compiled for sm_75, sm_80, sm_90 and sm_100 (tests/diagnosis/sass): an
instruction that sets a barrier for its result has a variable latency, all others a fixed one (Jia et al., "Dissecting the
NVIDIA Volta GPU architecture via microbenchmarking", 2018, section 2.1).
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum


class Result(IntEnum):
    """How a warp waits for the result of an instruction, in the words of Nsight Compute's stall reasons."""

    NONE = 0  #: nothing waits for it
    FIXED = 1  #: a fixed number of cycles (wait)
    SHORT = 2  #: shared memory, special functions, conversions, … (short scoreboard)
    LONG = 3  #: global, local, texture and surface memory (long scoreboard)
    MATRIX = 4  #: matrix instructions of a warp group (gmma)


_LONG = frozenset((
    "LD", "LDG", "LDL", "LDGSTS", "LDGDEPBAR", "TEX", "TLD", "TLD4", "TXD", "TXQ", "TMML", "SULD", "SUST", "SUATOM",
    "SURED", "ATOM", "ATOMG", "RED", "REDG", "REDAS", "ST", "STG", "STL", "CCTL", "CCTLL", "UBLKCP", "UTMALDG",
    "UTMASTG", "LDT", "STT", "QSPC",
))  # fmt: skip
_SHORT = frozenset((
    "LDS", "LDSM", "STS", "STSM", "ATOMS", "MUFU", "S2R", "S2UR", "SHFL", "FLO", "UFLO", "MATCH", "REDUX", "CREDUX",
    "FCHK", "F2F", "F2I", "I2F", "FRND", "POPC", "UPOPC", "BREV", "LDC", "LDCU", "ULDC", "MOVM", "R2UR", "SYNCS",
    "VOTEU", "BMOV", "B2R", "CS2UR", "I2I", "FSWZADD",
))  # fmt: skip
#: Double precision: a barrier where the device has few units for it (sm_75, sm_80), fixed on others (sm_90, sm_100).
_DOUBLE = frozenset(("DADD", "DMUL", "DFMA", "DMNMX", "DSETP", "DSET"))
_WARPGROUP = frozenset(("HGMMA", "IGMMA", "QGMMA", "BGMMA"))
#: Instructions without a result in a register.
_NO_RESULT = frozenset((
    "ST", "STG", "STL", "STS", "STSM", "SUST", "SURED", "RED", "REDG", "REDAS", "EXIT", "BRA", "BRX", "BRXU", "JMP",
    "JMX", "JMXU", "RET", "CALL", "BSYNC", "BREAK", "BAR", "MEMBAR", "FENCE", "NOP", "DEPBAR", "LDGDEPBAR",
    "WARPSYNC", "NANOSLEEP", "YIELD", "CCTL", "CCTLL", "CCTLT", "ERRBAR", "CGAERRBAR", "KILL", "BPT", "RTT", "SYNC",
    "BRK", "CONT", "SSY", "PBK", "PCNT", "PRET", "WARPGROUP", "LDGSTS", "UBLKCP", "UTMALDG", "UTMASTG", "UTMAPF",
    "UTMAREDG", "UTMACMDFLUSH", "UTMACCTL", "ARRIVES", "PREEXIT", "ACQBULK", "ENDCOLLECTIVE", "UCGABAR_ARV",
    "UCGABAR_WAIT", "USETMAXREG", "PMTRIG", "SETCTAID", "SETLMEMBASE", "TEXDEPBAR", "STT", "UTCBAR",
))  # fmt: skip
STORES = frozenset(["ST", "STG", "STL", "SUST", "RED", "REDG", "REDAS", "STS", "STSM"])
BARRIERS = frozenset(("BAR", "BARSET", "UCGABAR_WAIT", "UCGABAR_ARV"))
FENCES = frozenset(("MEMBAR", "FENCE", "ERRBAR"))
#: Results in two operands; predicates of a carry after the result.
TWO_RESULTS = frozenset(["TEX", "TLD", "TLD4", "TXD", "TMML"])
CARRY = frozenset(["IADD3", "UIADD3", "IADD", "UIADD", "LEA", "ULEA", "IMAD", "UIMAD", "ISCADD"])
VOTES = frozenset(["VOTE", "VOTEU", "MATCH"])
#: A predicate before a register that is also a result.
LEADING = frozenset({
    "LOP3", "ULOP3", "SHFL", "ATOM", "ATOMG", "ATOMS", "MATCH", "VOTE", "VOTEU", "R2UR", "ELECT", "REDUX", "LDG",
    "LD", "TEX", "TLD", "TLD4", "TXD", "SYNCS",
})  # fmt: skip
#: Instructions that reach memory by a 64-bit address if they have the modifier E.
_EXTENDED = frozenset(["LD", "LDG", "ST", "STG", "ATOM", "ATOMG", "RED", "REDG", "CCTL", "LDGSTS"])
_MEMORY = frozenset((
    "LD", "LDG", "LDL", "LDS", "LDSM", "LDC", "LDCU", "ULDC", "ST", "STG", "STL", "STS", "STSM", "ATOM", "ATOMG",
    "ATOMS", "RED", "REDG", "SULD", "SUST", "LDGSTS", "LDT", "STT",
))  # fmt: skip
_PACKED = frozenset(["FFMA2", "FADD2", "FMUL2"])
#: Registers of the operands of matrix instructions by shape: A, B; accumulators of 32 and of 16 bits (PTX ISA, mma fragments).
_MATRIX = {
    "884": (2, 2, 4, 4), "1684": (2, 1, 4, 2), "1688": (2, 1, 4, 2), "16816": (4, 2, 4, 2), "8816": (1, 1, 2, 2), "8832": (1, 1, 2, 2),
    "16832": (4, 2, 4, 2), "16864": (4, 2, 4, 2), "168128": (2, 1, 4, 4), "168256": (4, 2, 4, 4), "88128": (1, 1, 2, 2),
}  # fmt: skip
#: Rows and depth of the matrix operations of a warp (PTX ISA, mma); all have as many columns.
_SHAPES = {
    "16816": (16, 16), "1688": (16, 8), "1684": (16, 4), "16832": (16, 32), "16864": (16, 64), "168128": (16, 128), "168256": (16, 256),
    "8816": (8, 16), "8832": (8, 32), "88128": (8, 128), "884": (8, 4), "8x8x4": (8, 4), "16x8x4": (16, 4), "16x8x8": (16, 8),
    "16x8x16": (16, 16),
}  # fmt: skip
MATRIX_COLUMNS = 8
#: 256 bits stand in two operands of 128.
_WIDTHS = {"64": 2, "128": 4, "256": 4}


def result_of(opcode: str) -> Result:
    """How the result of `opcode` becomes known; of stores: how it is known that their operands were read."""
    if opcode in _LONG:
        return Result.LONG
    if opcode in _SHORT or opcode in _DOUBLE:
        return Result.SHORT
    if opcode in _WARPGROUP:
        return Result.MATRIX
    return Result.NONE if opcode in _NO_RESULT else Result.FIXED


def has_result(opcode: str) -> bool:
    """True if the first operand of `opcode` is written."""
    return opcode not in _NO_RESULT


def may_be_fixed(opcode: str) -> bool:
    """True if `opcode` has a fixed latency on some architectures and a variable one on others."""
    return opcode in _DOUBLE or opcode in ("ULDC", "POPC", "BREV", "R2UR", "VOTEU")


def data_width(opcode: str, modifiers: tuple[str, ...]) -> int:
    """Registers that a value in memory fills: `LDG.E.128` → 4."""
    if opcode in ("LDSM", "STSM", "MOVM"):
        return int(modifiers[-1]) if modifiers and modifiers[-1] in ("1", "2", "4") else 1
    return next(
        (_WIDTHS[word] for word in modifiers if word in _WIDTHS), 2 if "F64" in modifiers or "U64" in modifiers else 1
    )


def widths(opcode: str, modifiers: tuple[str, ...]) -> tuple[int, int, int, int]:
    """Registers of the result and of the first, second and third source operand of an instruction that reaches no memory."""
    if opcode in _DOUBLE or opcode in _PACKED:
        return 2, 2, 2, 2
    if opcode.endswith("MMA") and modifiers:
        return _matrix(opcode, modifiers)
    if opcode in ("IMAD", "UIMAD") and ("WIDE" in modifiers or "HI" in modifiers):
        return 2 if "WIDE" in modifiers else 1, 1, 1, 2
    if opcode in ("F2F", "F2I", "I2F", "FRND", "I2I"):
        return _conversion(opcode, modifiers)
    if opcode == "CS2R":
        return (1 if "32" in modifiers else 2), 1, 1, 1
    if opcode in TWO_RESULTS:
        return 2, 2, 4, 1
    if "64" in modifiers and opcode != "MUFU":
        return 2, 2, 2, 2
    return 1, 1, 1, 1


def _conversion(opcode: str, modifiers: tuple[str, ...]) -> tuple[int, int, int, int]:
    wide_integer = 2 if "S64" in modifiers or "U64" in modifiers else 1
    wide_float = 2 if "F64" in modifiers else 1
    if opcode == "F2I":
        return wide_integer, wide_float, 1, 1
    if opcode == "I2F":
        return wide_float, wide_integer, 1, 1
    types = [word for word in modifiers if word in ("F64", "F32", "F16", "BF16", "TF32")]
    if len(types) > 1:
        return 1 + (types[0] == "F64"), 1 + (types[1] == "F64"), 1, 1
    return wide_float, wide_float, 1, 1


def _matrix(opcode: str, modifiers: tuple[str, ...]) -> tuple[int, int, int, int]:
    shape = modifiers[0]
    if opcode in _WARPGROUP:  # 64xNxK: 64 × N results are spread over 128 threads
        columns = shape.split("x")[1] if shape.count("x") == 2 else ""
        count = int(columns) // 2 if columns.isascii() and columns.isdigit() and len(columns) < 4 else 1
        results = max(count // 2 if "F16" in modifiers else count, 1)
        return results, 4, results, results
    a, b, wide, narrow = _MATRIX.get(shape, (4, 2, 4, 4))
    if opcode == "DMMA":
        return (4, 2, 2, 4) if shape == "884" else (8, 8, 4, 8)
    if "TF32" in modifiers:
        a, b = (2, 1) if shape == "1684" else (4, 2)
    results = narrow if "F16" in modifiers else wide
    if any(word.startswith("STEP") for word in modifiers):
        results = 2
    return results, a, b, results


def matrix_shape(modifiers: Sequence[str]) -> tuple[int, int] | None:
    """Rows and depth of a matrix operation of a warp; None where its modifiers name no shape that is known."""
    return next((_SHAPES[word] for word in modifiers if word in _SHAPES), None)


def address_width(opcode: str, modifiers: tuple[str, ...]) -> int:
    """Registers of an address in brackets that does not tell its size itself: two for the 64-bit addresses of sm_70 and sm_75."""
    return 2 if opcode in _EXTENDED and "E" in modifiers else 1


def reaches_memory(opcode: str) -> bool:
    """True if the width of the data is written at the opcode (`LDG.E.64`)."""
    return opcode in _MEMORY


_WORDS = (
    ("LDG LD", "the load from global memory"),
    ("LDGSTS LDGDEPBAR UBLKCP UTMALDG", "the asynchronous copy to shared memory"),
    ("LDL", "the load from local memory (spilled registers, arrays of a thread)"),
    ("TEX TLD TLD4 TXD TXQ TMML", "the texture fetch"),
    ("SULD SUST SUATOM SURED", "the surface access"),
    ("ATOM ATOMG RED REDG REDAS", "the atomic operation"),
    ("ST STG STL", "the store"),
    ("LDS LDSM", "the load from shared memory"),
    ("STS STSM", "the store to shared memory"),
    ("ATOMS", "the atomic operation in shared memory"),
    ("MUFU FCHK", "the special function"),
    ("S2R S2UR CS2R B2R", "the read of a special register"),
    ("SHFL MATCH REDUX CREDUX VOTE VOTEU MOVM", "the exchange between threads of a warp"),
    ("LDC LDCU ULDC", "the load of a constant"),
    ("F2F F2I I2F I2I FRND", "the conversion"),
    ("DADD DMUL DFMA DMNMX DSETP DSET", "the double-precision instruction"),
    ("BAR BARSET UCGABAR_WAIT UCGABAR_ARV", "the barrier"),
    ("MEMBAR FENCE ERRBAR", "the memory fence"),
)  # fmt: skip
_WORD = {opcode: words for opcodes, words in _WORDS for opcode in opcodes.split()}


def words_of(opcode: str) -> str:
    """What an instruction does, as it stands in a sentence."""
    return _WORD.get(opcode, "the matrix instruction" if opcode.endswith("MMA") else "the instruction")
