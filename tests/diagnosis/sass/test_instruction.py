"""Registers that SASS instructions read and write, against the instruction set as NVIDIA documents it and as ptxas writes it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.diagnosis.sass.instruction import LONGEST, Control, control_of, parse, register
from chathpc.diagnosis.sass.opcodes import Result
from chathpc.profile.machine_code import CodeLine


def numbers(names: str) -> set[int]:
    """`R2 R8-R11 P0` → their numbers."""
    found = set()
    for name in names.split():
        first, _, last = name.partition("-")
        low = register(first)
        assert low >= 0
        found |= set(range(low, (register(last) if last else low) + 1))
    return found


@pytest.mark.parametrize(
    ("text", "writes", "reads"),
    [
        ("MOV R1, c[0x0][0x28] ;", "R1", ""),
        ("IADD3 R6, -R0, c[0x0][0x168], RZ", "R6", "R0"),
        ("IADD3 R8, P0, R10, c[0x0][0x170], RZ", "R8 P0", "R10"),
        ("IADD3.X R9, R5, c[0x0][0x174], RZ, P0, !PT", "R9", "R5 P0"),
        ("IADD3.X R4, PT, PT, R3, UR5, RZ, P0, !PT ;", "R4", "R3 UR5 P0"),
        ("UIADD3 UR5, UPT, UPT, UR5, 0x4, URZ", "UR5", "UR5"),
        ("IMAD R15, R15, c[0x0][0x0], R0.reuse", "R15", "R15 R0"),
        # C and D of a wide multiplication are pairs, A and B are not.
        ("IMAD.WIDE R26, R27, R0.reuse, R4", "R26-R27", "R27 R0 R4-R5"),
        ("IMAD.WIDE.U32 R18, P1, R40, R16, R22", "R18-R19 P1", "R40 R16 R22-R23"),
        ("IMAD.HI.U32 R2, R5, R11, R4", "R2", "R5 R11 R4-R5"),
        ("LEA R14, P0, R15, c[0x0][0x168], 0x2", "R14 P0", "R15"),
        ("LOP3.LUT P0, RZ, R0, c[0x0][0x178], RZ, 0xc0, !PT", "P0", "R0"),
        ("LOP3.LUT R5, R0, 0x1f, RZ, 0xc0, !PT", "R5", "R0"),
        ("ISETP.GT.U32.AND.EX P0, PT, R3, RZ, PT, P1", "P0", "R3 P1"),
        ("FSETP.GEU.AND P0, P2, |R8|, 1.175494350822287508e-38, !P3", "P0 P2", "R8 P3"),
        ("PLOP3.LUT P0, PT, P1, P2, PT, 0x80, 0x0", "P0", "P1 P2"),
        ("SEL R13, R6, RZ, P2", "R13", "R6 P2"),
        ("@!P0 FADD R2, R2, R9", "R2", "R2 R9 P0"),
        ("@UP1 UMOV UR4, UR6", "UR4", "UR6 UP1"),
        ("DFMA R4, R4, R6, -R8", "R4-R5", "R4-R5 R6-R7 R8-R9"),
        ("DSETP.GT.AND P0, PT, R10, R12, PT", "P0", "R10-R13"),
        ("MUFU.RCP64H R5, R7", "R5", "R7"),
        ("F2F.F32.F64 R4, R6", "R4", "R6-R7"),
        ("FRND.F64.TRUNC R4, R6", "R4-R5", "R6-R7"),
        ("IADD.64 R4, R6, R8", "R4-R5", "R6-R9"),
        ("F2F.F64.F32 R4, R6", "R4-R5", "R6"),
        ("F2I.S64.F64 R4, R6", "R4-R5", "R6-R7"),
        ("I2F.F64.S64 R6, R10", "R6-R7", "R10-R11"),
        ("F2I.FTZ.U32.TRUNC.NTZ R5, R4", "R5", "R4"),
        ("CS2R R10, SRZ", "R10-R11", ""),
        ("CS2R.32 R10, SR_CLOCKLO", "R10", ""),
        ("S2UR UR4, SR_CTAID.X", "UR4", ""),
        ("R2P PR, R3, 0x7f", "P0-P6", "R3"),
        ("P2R R3, PR, RZ, 0x7f", "R3", "P0-P6"),
        ("VOTE.ANY R5, PT, P0", "R5", "P0"),
        ("VOTE.ALL P1, P0", "P1", "P0"),
        ("SHFL.BFLY PT, R12, R3, 0x3, 0x1f", "R12", "R3"),
        ("SHFL.UP P1, R12, R3, R4, R5", "R12 P1", "R3 R4 R5"),
        ("FFMA2 R4, R6.F32x2.HI_LO, R8.F32x2.HI_LO, R10", "R4-R5", "R6-R11"),
        # Memory: the width of data stands at the opcode, that of the address at the register or (before sm_80) in .E.
        ("LDG.E.SYS R2, [R6]", "R2", "R6-R7"),
        ("LDG.E.128.SYS R8, [R2]", "R8-R11", "R2-R3"),
        ("LDG.E.64 R4, [R2.64]", "R4-R5", "R2-R3"),
        ("@!P0 LDG.E.64 R4, desc[UR4][R6.64+0x10]", "R4-R5", "UR4-UR5 R6-R7 P0"),
        ("LDG.E R4, [R2.U32+UR6]", "R4", "R2 UR6"),
        ("LDG.E.ENL2.256 R8, R12, desc[UR4][R2.64]", "R8-R15", "UR4-UR5 R2-R3"),
        ("STG.E.64 desc[UR6][R2.64], R4", "", "UR6-UR7 R2-R5"),
        ("STG.E.SYS [R6], R9", "", "R6-R7 R9"),
        ("STS.128 [R7.X4+0x10], R12", "", "R7 R12-R15"),
        ("LDS R5, [UR4]", "R5", "UR4"),
        ("LDSM.16.M88.4 R12, [R0+UR4]", "R12-R15", "R0 UR4"),
        ("LDL.64 R2, [R1+0x18]", "R2-R3", "R1"),
        ("LDC.64 R2, c[0x0][R4]", "R2-R3", "R4"),
        ("ULDC.64 UR4, c[0x0][0x118]", "UR4-UR5", ""),
        ("ATOMG.E.ADD.STRONG.GPU PT, R6, [R2.64], R9", "R6", "R2-R3 R9"),
        ("ATOMG.E.CAS.64.STRONG.GPU PT, R6, [R2], R8, R10", "R6-R7", "R2-R3 R8-R11"),
        ("RED.E.ADD.F32.FTZ.RN.STRONG.GPU [R2.64], R5", "", "R2-R3 R5"),
        ("LDGSTS.E.BYPASS.128 [R5], [R2.64], P0", "", "R5 R2-R3 P0"),
        ("TEX.LL RZ, R10, R18, R10, UR4, 2D, 0x1", "R10-R11", "R18-R19 R10-R13 UR4"),
        # Fragments of a warp: 16 × 16 halves are 4 registers of 32 threads, 16 × 8 floats 4, 8 × 16 halves 2.
        ("HMMA.16816.F32 R12, R8.reuse, R20, R16", "R12-R15", "R8-R11 R20-R21 R16-R19"),
        ("HMMA.16816.F16 R12, R8, R20, R16", "R12-R13", "R8-R11 R20-R21 R16-R17"),
        ("HMMA.1688.F32 R16, R12, R45, R20", "R16-R19", "R12-R13 R45 R20-R23"),
        ("HMMA.1688.F32.TF32 R4, R8, R12, R16", "R4-R7", "R8-R13 R16-R19"),
        ("HMMA.884.F32.F32.STEP1 R8, R4.T, R2.T, R8", "R8-R9", "R4-R5 R2-R3 R8-R9"),
        ("DMMA.884 R0, R8, R10, R0", "R0-R3", "R8-R11 R0-R3"),
        ("HGMMA.64x64x16.F32 R24, gdesc[UR8], R24", "R24-R55", "R24-R55 UR8-UR9"),
        ("BRA.U UP1, `(.L_x_3)", "", "UP1"),
        ("BSSY B0, 0x4f0", "B0", ""),
        ("BSYNC B0", "", "B0"),
        ("DEPBAR.LE SB0, 0x1", "", "SB0"),
        ("EXIT", "", ""),
    ],
)  # fmt: skip
def test_registers_of_an_instruction(text: str, writes: str, reads: str) -> None:
    found = parse(CodeLine(0, text))
    assert set(found.writes) == numbers(writes)
    assert set(found.reads) == numbers(reads)


@given(st.integers(0, 253))
def test_a_pair_covers_two_registers_and_a_quad_four(first: int) -> None:
    pair = parse(CodeLine(0, f"LDG.E.64 R{first}, [R4.64]"))
    assert set(pair.writes) == {first, first + 1}
    quad = parse(CodeLine(0, f"STS.128 [R4], R{first}"))
    assert set(quad.reads) == {4} | {number for number in range(first, first + 4) if number < 255}


def test_registers_that_hold_nothing_are_none() -> None:
    assert [register(name) for name in ("RZ", "URZ", "PT", "UPT", "R255", "P7", "R", "X4", "")] == [-1] * 9
    assert len({register(name) for name in ("R0", "UR0", "P0", "UP0", "B0", "SB0")}) == 6


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("LDG.E R2, [R2.64]", Result.LONG), ("STG.E [R2.64], R0", Result.LONG), ("LDS R2, [R4]", Result.SHORT), ("MUFU.EX2 R2, R2", Result.SHORT),
        ("FADD R2, R2, R3", Result.FIXED), ("HMMA.16816.F32 R12, R8, R20, R12", Result.FIXED), ("BAR.SYNC 0x0", Result.NONE),
        ("HGMMA.64x64x16.F32 R24, gdesc[UR8], R24", Result.MATRIX), ("NOP", Result.NONE),
    ],
)  # fmt: skip
def test_how_warps_wait_for_a_result(text: str, result: Result) -> None:
    assert parse(CodeLine(0, text)).result == result


def test_double_precision_waits_for_a_barrier_only_where_the_compiler_set_one() -> None:
    text = "DFMA R4, R4, R4, 0.5"
    assert parse(CodeLine(0, text)).result == Result.SHORT
    # sm_80: barrier 0 is set with the result; sm_90: none, 8 cycles.
    assert parse(CodeLine(0, text, control=0x000E0A0000000004 >> 41)).result == Result.SHORT
    assert parse(CodeLine(0, text, control=0x000FD00000000004 >> 41)).result == Result.FIXED


def test_scheduling_bits_are_read_as_published() -> None:
    # STS after LDG in block_sum for sm_80: waits for barrier 2, sets none, 4 cycles.
    assert control_of(0x004FE80000004800 >> 41) == Control(cycles=4, written=-1, read=-1, waits=0b000100)
    # LDG: sets barrier 2 with its result, 1 cycle.
    assert control_of(0x000EA2000C1E1900 >> 41 & 0x1FFFFF) == Control(cycles=1, written=2, read=-1, waits=0)
    assert control_of(-1) is None
    assert control_of(1 << 21) is None


@pytest.mark.parametrize(
    ("text", "base", "targets", "named"),
    [
        ("@P1 BRA 0x7f5e16fb29f0", 0x7F5E16FB2900, (0xF0,), ()),
        ("BRA 0x1b0;", 0, (0x1B0,), ()),
        ("BRA `(.L_x_0)", 0, (), (".L_x_0",)),
        ("BRA `(.L_x_0) 0x7fd524fb8a10", 0x7FD524FB8900, (0x110,), (".L_x_0",)),
        ("BSSY B1, 0x150", 0x100, (0x50,), ()),
        ("CALL.REL.NOINC 0x19e0", 0, (0x19E0,), ()),
        ("CALL.REL.NOINC `($mix$__internal_div)", 0, (), ("$mix$__internal_div",)),
        ('BRX R2 -0x450 (*"BRANCH_TARGETS .L_x_1,.L_x_2"*)', 0, (), (".L_x_1", ".L_x_2")),
        ("MOV R12, 0x860", 0, (), ()),
    ],
)
def test_targets_of_branches(text: str, base: int, targets: tuple[int, ...], named: tuple[str, ...]) -> None:
    found = parse(CodeLine(0, text), base)
    assert (found.targets, found.named) == (targets, named)


@pytest.mark.parametrize(
    "text",
    ["", ";", "@P0", "@!P0 ", "...", "123 R1", "lower R1", "R" * (LONGEST + 1), "\x1b[31m", "MOV" + " R1," * 500],
)
def test_text_that_is_no_instruction_reads_and_writes_nothing(text: str) -> None:
    found = parse(CodeLine(0, text))
    assert (found.opcode, found.reads, found.writes) == ("", (), ())


_TEXTS = """
LDG.E.64 STG HMMA.16816 HGMMA.64x9999x16 IMAD.WIDE @P0 @!UP3 R1 R254 R999 RZ [R2.64+UR4] desc[ [ ] , ; | - ~ .reuse c[0x0][R3]
`(.L_x_0) 0xffffffffffffffffff SB7 BRA
"""
WORDS = st.sampled_from(_TEXTS.split())


@given(st.lists(WORDS | st.text(max_size=8), max_size=30).map(" ".join), st.integers(-5, 1 << 64))
def test_no_text_makes_parsing_fail(text: str, control: int) -> None:
    found = parse(CodeLine(0, text, control=control), base=7)
    assert all(0 <= number < 566 for number in (*found.reads, *found.writes))
