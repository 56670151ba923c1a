"""Hot loops in machine code written by hand: what their loads wait for, and what they move and compute."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.diagnosis.assembly.loop import Loop, hottest_loop, scalar_loops
from chathpc.profile.machine_code import CodeLine, SampledCode


def code(text: str) -> SampledCode:
    """Code of lines `offset: instruction` with the percentage of samples in front, where there is one."""
    lines, parts = [], []
    for row in text.strip().splitlines():
        head, _, rest = row.strip().partition(":")
        *percent, offset = head.split()
        lines.append(CodeLine(int(offset, 16), rest.strip()))
        parts.append(float(percent[0]) / 100 if percent else 0.0)
    return SampledCode("f", "app", tuple(lines), tuple(parts), 1000)


def loop_of(text: str) -> Loop:
    found = hottest_loop(code(text))
    assert found is not None
    return found


CHASE = """
    0: lea    -0x1(%rsi),%rax
    4: xor    %edx,%edx
   10: add    0x8(%rdi),%rdx
98 14: mov    (%rdi),%rdi
    17: sub    $0x1,%rax
 2 1b: jae    10 <f+0x10>
   1d: ret
"""
CHASE_ARM = """
   10: ldr  x3, [x0, #8]
70 14: ldr  x0, [x0]
28 18: add  x2, x2, x3
   1c: subs x1, x1, #0x1
 2 20: b.ne 10 <f+0x10>  // b.any
"""
INDICES = """
   20: movslq %eax,%rdx
96 23: mov    (%rdi,%rdx,4),%eax
 4 26: add    %rax,%r8
   29: cmp    %rcx,%rsi
   2c: jne    20 <f+0x20>
"""
ON_THE_STACK = """
   20: mov    -0x18(%rbp),%rax
   24: mov    (%rax),%rax
97 27: mov    %rax,-0x18(%rbp)
 3 2b: subl   $0x1,-0x8(%rbp)
   2f: jne    20 <f+0x20>
"""
CHANGED_ITEMS = """
   a0: movupd 0x20(%rax),%xmm3
60 a5: mulpd  %xmm7,%xmm3
   a9: movups %xmm3,0x20(%rax)
   ad: mov    (%rax),%rax
40 b0: cmp    %rbx,%rax
   b3: jne    a0 <f+0xa0>
"""


@pytest.mark.parametrize("text", [CHASE, CHASE_ARM, INDICES, ON_THE_STACK, CHANGED_ITEMS])
def test_samples_behind_loads_of_a_chain_wait_for_it(text: str) -> None:
    found = loop_of(text)
    assert found.chased >= 0.95
    assert found.gathered == 0


GATHER = """
   10: movslq (%rsi,%rax,4),%rcx
 3 14: movsd  (%rdx,%rax,8),%xmm0
   19: add    $0x1,%rax
   1d: mulsd  (%rdi,%rcx,8),%xmm0
90 22: addsd  %xmm0,%xmm1
 7 26: cmp    %rax,%r8
   29: jne    10 <f+0x10>
"""
GATHER_ARM = """
   10: ldrsw x5, [x1], #4
   14: ldr   d1, [x0, x5, lsl #3]
   18: ldr   d2, [x2], #8
91 1c: fmadd d0, d1, d2, d0
 9 20: cmp   x1, x3
   24: b.ne  10 <f+0x10>
"""


@pytest.mark.parametrize("text", [GATHER, GATHER_ARM])
def test_a_sparse_row_gathers_beside_streams(text: str) -> None:
    found = loop_of(text)
    assert found.chased == 0
    assert found.gathered >= 0.9
    assert found.beside
    assert found.streamed == 12, "an index of four bytes and a value of eight"


def test_records_behind_an_array_of_pointers_are_gathered_and_nothing_streams_beside() -> None:
    found = loop_of(
        "10: mov (%rdi),%rdx\n5 13: add $0x8,%rdi\n 17: addsd 0x10(%rdx),%xmm0\n95 1c: cmp %rdi,%rax\n 1f: jne 10 <f>"
    )
    assert found.gathered == pytest.approx(0.95)
    assert not found.beside


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("10: movzbl (%rsi,%rax,1),%ecx\n95 14: add $0x1,(%rdi,%rcx,4)\n5 18: inc %rax\n 1b: cmp %rax,%rdx\n 1e: jne 10 <f>", "bytes"),
        ("10: mov (%rsi,%rax,4),%ecx\n13: and $0xff,%ecx\n95 19: add (%rdi,%rcx,8),%rdx\n5 1d: inc %rax\n20: jne 10 <f>", "a mask"),
        ("10: mov (%rsi,%rax,4),%ecx\n95 14: addl $0x1,(%rdi,%rcx,4)\n5 18: inc %rax\n 1b: jne 10 <f>", "changed in place"),
        ("10: cvttsd2si (%rsi,%rax,8),%rcx\n95 14: addsd (%rdi,%rcx,8),%xmm0\n5 18: inc %rax\n 1b: jne 10 <f>", "computed"),
        ("10: mov 0x8(%rbp),%rdi\n13: addsd (%rdi),%xmm0\n95 18: inc %rax\n5 1b: jne 10 <f>", "an address that stays"),
        ("10: mov -0x8(%rbp),%rax\n14: mov 0x10(%rax),%rdx\n95 18: addsd (%rdx),%xmm0\n5 1c: subl $0x1,-0x4(%rbp)\n20: jne 10 <f>", "stays"),
    ],
)  # fmt: skip
def test_small_tables_and_addresses_that_stay_are_no_gather(text: str, why: str) -> None:
    found = loop_of(text)
    assert found.chased == 0, why
    assert found.gathered == 0, why


TRIAD = """
   30: movsd  (%rdx,%rax,8),%xmm1
18 35: mulsd  %xmm0,%xmm1
37 39: addsd  (%rsi,%rax,8),%xmm1
23 3e: movsd  %xmm1,(%rdi,%rax,8)
20 43: add    $0x1,%rax
   47: cmp    %rax,%rcx
 2 4a: jne    30 <triad+0x10>
"""
TRIAD_AVX = """
   30: vmovupd (%rdx,%rax,1),%ymm1
40 35: vfmadd213pd (%rsi,%rax,1),%ymm0,%ymm1
40 3e: vmovupd %ymm1,(%rdi,%rax,1)
20 43: add    $0x20,%rax
   47: cmp    %rax,%rcx
   4a: jne    30 <triad+0x10>
"""
TRIAD_ARM = """
   30: ldr  q1, [x2, x4]
   34: ldr  q2, [x1, x4]
40 38: fmla v1.2d, v2.2d, v0.2d
40 3c: str  q1, [x0, x4]
20 40: add  x4, x4, #0x10
   44: cmp  x4, x5
   48: b.ne 30 <triad+0x10>
"""


@pytest.mark.parametrize(("text", "moved", "operations"), [(TRIAD, 24, 2), (TRIAD_AVX, 96, 8), (TRIAD_ARM, 48, 4)])
def test_a_triad_moves_twelve_bytes_an_operation(text: str, moved: int, operations: int) -> None:
    """STREAM: three arrays of doubles, an addition and a multiplication."""
    found = loop_of(text)
    assert (found.streamed, found.operations) == (moved, operations)
    assert found.chased == found.gathered == 0
    assert not any((found.elsewhere, found.divides, found.calls))


def test_neighbours_of_one_array_are_moved_once() -> None:
    text = "10: movsd -0x8(%rdi,%rax,8),%xmm0\n50 16: addsd 0x8(%rdi,%rax,8),%xmm0\n50 1c: movsd %xmm0,(%rsi,%rax,8)\n21: inc %rax\n24: jne 10 <f>"
    assert loop_of(text).streamed == 16


def test_a_polynomial_only_computes() -> None:
    found = loop_of(
        "a0: mulsd %xmm1,%xmm0\n50 a4: add $0x1,%rax\na8: addsd %xmm5,%xmm0\n50 ac: cmp %rax,%rdi\naf: jne a0 <f>"
    )
    assert (found.chased, found.gathered, found.streamed, found.operations) == (0, 0, 0, 2)


def test_a_step_over_rows_is_no_stream() -> None:
    found = loop_of("10: addsd (%rdi),%xmm0\n95 14: add $0x2000,%rdi\n5 1b: cmp %rdi,%rax\n1e: jne 10 <f>")
    assert found.streamed == 0
    assert found.elsewhere


def test_a_division_bears_the_samples_behind_it() -> None:
    found = loop_of("10: movslq (%rsi,%rax,4),%rcx\n14: divsd (%rdi,%rcx,8),%xmm0\n95 19: inc %rax\n5 1c: jne 10 <f>")
    assert found.divides
    assert found.gathered < 0.1


def test_calls_are_seen() -> None:
    assert loop_of("10: mov %rbx,%rdi\n50 13: call 40 <g>\n50 18: dec %rbp\n1b: jne 10 <f>").calls
    assert loop_of("10: mov x0, x19\n50 14: bl 40 <g>\n50 18: subs x20, x20, #1\n1c: b.ne 10 <f>").calls


def test_of_nested_loops_the_inner_one_with_half_of_the_samples_is_told() -> None:
    text = "0: mov %rbx,%rdi\n4: nop\n40 8: add $0x8,%rdi\n40 c: jne 8 <f+0x8>\n20 10: jne 0 <f>"
    assert (loop_of(text).first, loop_of(text).share) == (8, pytest.approx(0.8))
    flat = "0: mov %rbx,%rdi\n70 4: nop\n10 8: add $0x8,%rdi\n10 c: jne 8 <f+0x8>\n10 10: jne 0 <f>"
    assert loop_of(flat).first == 0


def test_code_without_a_loop_has_none() -> None:
    assert hottest_loop(code("50 0: mov %rdi,%rax\n50 3: ret")) is None
    assert hottest_loop(SampledCode("f", "app", (), (), 0)) is None


_WORDS = st.sampled_from(
    ["mov", "jne", "b.ne", "ldr", "add", "lea", "shl", "imul", "vgatherdpd", "rep", "lock", "%rax", "%xmm31{%k1}{z}", "(", ")", ",", "[x1]",
     "(%rax,%rbx,8)", "-0x8(%rbp)", "[x1, x2, lsl #99]", "#0x7fffffffffffffff", "$0xffffffffffffffff", "<f+0x10>", "{v0.2d}", "10", "!", "#"]
)  # fmt: skip


@given(st.lists(st.tuples(st.lists(_WORDS, max_size=7), st.floats(0, 1)), max_size=20))
def test_nonsense_is_no_error(rows: list[tuple[list[str], float]]) -> None:
    lines = tuple(CodeLine(16 * n, " ".join(words)) for n, (words, _) in enumerate(rows))
    nonsense = SampledCode("f", "app", lines, tuple(part for _, part in rows), 100)
    found = hottest_loop(nonsense)
    assert found is None or (0 <= found.chased <= 1 and 0 <= found.gathered <= 1)
    assert all(0 < each.share <= 1 for each in scalar_loops(nonsense))


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_is_no_error(one: str, other: str) -> None:
    lines = CodeLine(0, one), CodeLine(4, f"mov {other}"), CodeLine(8, f"ldr {other}"), CodeLine(12, "jne 0 <f>")
    text = SampledCode("f", "app", lines, (0.1, 0.2, 0.3, 0.4), 100)
    assert hottest_loop(text) is not None or not scalar_loops(text)


def test_large_and_tangled_code_ends_soon() -> None:
    rows = "\n".join(f"{8 * n:x}: mov (%rax,%rcx,8),%rax\n{8 * n + 4:x}: add %rax,%rcx" for n in range(900))
    large = f"{rows}\n100 9000: jne 0 <f>"
    loop_of(large)
    jumps = "\n".join(f"1 {4 * n:x}: jne 0 <f>" for n in range(5000))
    hottest_loop(code(jumps))
    assert scalar_loops(code(large)) == scalar_loops(code(jumps)) == ()
