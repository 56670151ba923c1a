"""SASS as text becomes the interpreter's records: operands and addresses as they are written, and no text breaks it."""

from __future__ import annotations

import struct
from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.predict import lowering
from chathpc.predict.cubin import Cubin
from chathpc.predict.emulation import _words
from chathpc.predict.lowering import (
    CONSTANT,
    IMMEDIATE,
    PREDICATE,
    REGISTER,
    UNIFORM,
    Lowered,
    Operand,
    address,
    operand,
)
from chathpc.profile.machine_code import CodeLine, MachineCode

NEGATE, ABSOLUTE, INVERT, LOW, HIGH, WIDE = 1, 2, 4, 8, 16, 32
registers = st.one_of(st.integers(0, 254), st.just(None))


def name(letter: str, number: int | None) -> str:
    return f"{letter}{'Z' if number is None else number}"


@given(
    registers, st.sampled_from(["", "-", "~"]), st.booleans(), st.sampled_from(["", ".H0_H0", ".H1_H1"]), st.booleans()
)
def test_a_register_keeps_what_is_done_to_it(
    number: int | None, sign: str, absolute: bool, half: str, reuse: bool
) -> None:
    text = name("R", number) + half + (".reuse" if reuse else "")
    found = operand(f"{sign}|{text}|" if absolute else sign + text)
    modifiers = (
        {"": 0, "-": NEGATE, "~": INVERT}[sign]
        | (ABSOLUTE if absolute else 0)
        | {"": 0, ".H0_H0": LOW, ".H1_H1": HIGH}[half]
    )
    assert found == Operand(REGISTER, modifiers, 255 if number is None else number)


@given(st.integers(0, 5), st.integers(0, 0xFFFF), st.booleans())
def test_a_constant_has_its_bank_and_offset(bank: int, offset: int, negative: bool) -> None:
    assert operand(f"{'-' if negative else ''}c[{bank:#x}][{offset:#x}]") == Operand(
        CONSTANT, int(negative), bank, offset
    )


@given(st.integers(-(2**31), 2**32 - 1))
def test_a_whole_number_is_its_bits(value: int) -> None:
    text = f"-{-value:#x}" if value < 0 else f"{value:#x}"
    assert operand(text) == Operand(IMMEDIATE, 0, 0, value & 0xFFFFFFFF)


@given(st.floats(width=32, allow_nan=False))
def test_a_float_is_its_bits(value: float) -> None:
    text = {float("inf"): "+INF", float("-inf"): "-INF"}.get(value, repr(value))
    assert operand(text, real=True).value == struct.unpack("<I", struct.pack("<f", value))[0]


@given(
    registers,
    st.booleans(),
    st.sampled_from([0, 1, 2, 3, 4]),
    st.integers(0, 62) | st.none(),
    st.integers(-(2**23), 2**23),
)
def test_an_address_is_the_sum_of_its_parts(
    number: int | None, wide: bool, shift: int, uniform: int | None, offset: int
) -> None:
    scale = f".X{1 << shift}" if shift and not wide else ""
    parts = [name("R", number) + (".64" if wide else "") + scale]
    parts += [f"UR{uniform}"] if uniform is not None else []
    parts += [f"-{-offset:#x}" if offset < 0 else f"{offset:#x}"] if offset else []
    base, second, third = address(f"[{'+'.join(parts)}]")
    assert base == Operand(REGISTER, WIDE if wide else 0, 255 if number is None else number, shift if scale else 0)
    assert second.kind == (0 if uniform is None else UNIFORM)
    assert second.index == (uniform or 0)
    assert third.value == offset & 0xFFFFFFFF


@pytest.mark.parametrize(
    ("text", "operation", "kinds"),
    [
        ("@!P3 IADD3 R2, P0, P1, R4, -R5, c[0x0][0x160] ;", "IADD3", (1, 1, 1, 4, 5, 5, 0, 0)),
        ("ISETP.GE.U32.AND.EX P0, PT, R3, RZ, PT, P1 ;", "ISETP", (0, 1, 1, 0, 5, 0, 5, 5)),
        ("LDG.E.64.CONSTANT R2, [R4.64+UR6+0x10] ;", "LOAD", (1, 1, 2, 3, 0, 0, 0, 0)),
        ("LDG.E R2, desc[UR4][R4.64] ;", "LOAD", (1, 1, 0, 3, 0, 0, 0, 0)),
        ('STL [R1+0x4], R0                               (*"SpillRefill"*);', "STORE", (1, 1, 0, 3, 0, 0, 0, 0)),
        ("ATOMG.E.CAS.STRONG.GPU PT, R7, [R2+0x24], R6, R7 ;", "ATOM", (1, 1, 0, 3, 0, 1, 1, 0)),
        ("LOP3.LUT P0, RZ, R2, 0x1, RZ, 0xc0, !PT ;", "LOP3", (1, 1, 3, 1, 5, 0, 5, 0)),
        ("HFMA2.MMA R0, -RZ, RZ, 0, 5.9604644775390625e-08 ;", "HFMA2", (1, 1, 1, 3, 0, 0, 0, 0)),
        ("SHFL.BFLY PT, R3, R3, 0x2, 0x1f ;", "SHFL", (1, 1, 3, 3, 0, 0, 0, 0)),
        ("VIADDMNMX R2, R17, -R2, 0x116, PT ;", "IMNMX", (1, 1, 1, 3, 0, 0, 5, 0)),
        ("FROBNICATE R0, R1 ;", "UNKNOWN", (0,) * 8),
    ],
)  # fmt: skip
def test_an_instruction_has_its_operands_in_their_places(text: str, operation: str, kinds: tuple[int, ...]) -> None:
    record, _ = lowering.record_of(text, 0, "f", {"f": lowering.Place(0, {}, 0)})
    assert record.operation == operation
    assert tuple(each.kind for each in record.operands) + (0,) * (8 - len(record.operands)) == kinds
    assert len(record.pack()) == 80


@pytest.mark.parametrize(("text", "first"), [("P2R.B1 R5, PR, RZ, 0x7f ;", 0), ("UP2UR UR39, UPR, URZ, 0x1 ;", 8)])
def test_predicates_are_packed_from_those_of_their_datapath(text: str, first: int) -> None:
    record, _ = lowering.record_of(text, 0, "f", {"f": lowering.Place(0, {}, 0)})
    assert (record.operation, record.sub2) == ("P2R", first)


def test_a_guard_may_be_a_uniform_predicate() -> None:
    record, _ = lowering.record_of("@!UP2 UIADD3 UR4, UR5, 0x1, URZ ;", 0, "f", {"f": lowering.Place(0, {}, 0)})
    assert (record.guard, record.negated) == (10, True)
    assert record.operands[0] == Operand(UNIFORM, 0, 4)


def test_a_predicate_that_is_not_written_is_none() -> None:
    record, _ = lowering.record_of("FSETP.GT.AND P2, PT, R0, 1.5, !P1 ;", 0, "f", {"f": lowering.Place(0, {}, 0)})
    assert record.operands[4] == Operand(PREDICATE, 0, 2)
    assert record.operands[5] == Operand()
    assert record.operands[2].value == 0x3FC00000


words = st.sampled_from(
    "IADD3 IMAD.WIDE LEA.HI LOP3.LUT PLOP3.LUT SHF.R.U32.HI ISETP.GE.AND MUFU.RCP64H LDG.E ATOMG.E.ADD HFMA2 BRA CALL.REL RET.REL BRX "
    "BSSY BAR.SYNC LDC IDP.4A HMMA.16816.F32 F2F VOTE.ANY R2P P2R R0 R255 RZ UR3 P0 !PT UP1 B2 [R2.64+0x8] [UR4] c[0x0][0x160] "
    "c[0x3][R2] `(.L_x_1) 0x12 -1.5 +QNAN |R2| -c[0x0][0x4] , , , , ; desc[UR2][R4.64] 32@lo((f + .L_x_1@srel)) PR SR_TID.X".split()
)


@pytest.mark.parametrize("text", ["BRA 0x7fd524fb7530", "LEA R0, R1, R2, 0x120"])
def test_a_number_that_no_code_holds_makes_the_instruction_unknown(text: str) -> None:
    code = MachineCode("f", (CodeLine(0, text),), architecture="sm_86")
    assert lowering.lower([(Cubin({}, (), (), {}), [code])]).unknown == {text.split()[0]: 1}


@given(st.lists(words | st.text(max_size=6), max_size=12))
def test_no_text_breaks_it(texts: list[str]) -> None:
    line = CodeLine(0, " ".join(texts).replace(" ,", ","))
    lowered = lowering.lower([(Cubin({}, (), (), {}), [MachineCode("f", (line,), architecture="sm_86")])])
    assert len(lowered.code) == 1


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("@P0 HFMA2.MMA R0, -RZ, RZ, 0, 5.9604644775390625e-08 ;", "other"),  # the integer 1
        ("HFMA2.MMA R0, R4, R5, R6 ;", "fp16"),
        ("HFMA2.BF16_V2 R0, R4, 1, 1, R6 ;", "fp16"),
    ],
)
def test_a_constant_that_is_loaded_on_the_pipe_for_halves_is_no_arithmetic(text: str, kind: str) -> None:
    lowered = SimpleNamespace(code=[SimpleNamespace(lines=[SimpleNamespace(text=text)])])
    (word,) = _words(cast(Lowered, lowered))
    assert (word.kind, word.pipe) == (kind, "fp16")


@pytest.mark.parametrize(
    ("word", "rows", "depth"),
    [("HMMA.16816.F32", 16, 16), ("HMMA.1684.F32.TF32", 16, 4), ("DMMA.8x8x4", 8, 4), ("DMMA.884", 8, 4)],
)
def test_a_matrix_instruction_counts_two_operations_for_each_multiply_and_add(word: str, rows: int, depth: int) -> None:
    lowered = SimpleNamespace(code=[SimpleNamespace(lines=[SimpleNamespace(text=f"{word} R4, R8, R10, R4 ;")])])
    (found,) = _words(cast(Lowered, lowered))
    assert (found.kind, found.operations, found.per_warp) == ("tensor", 2 * rows * 8 * depth, True)
