"""Loops without vector instructions: functions that a compiler builds with and without them, and code written by hand."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from chathpc.diagnosis.assembly.loop import ScalarLoop, scalar_loops
from chathpc.profile.machine_code import CodeLine, SampledCode
from tests.diagnosis.assembly.test_loop import CHASE, CHASE_ARM, GATHER, INDICES, code

HEAD = "#include <stddef.h>\n#include <stdint.h>\n#include <math.h>\n"
#: Each iteration stands by itself: a compiler that may, uses vectors.
INDEPENDENT = {
    "scale and add": "void f(float *restrict a, const float *restrict b, int n) { for (int i = 0; i < n; i++) a[i] = 2 * b[i] + 1; }",
    "divide": "void f(double *restrict a, const double *restrict b, int n) { for (int i = 0; i < n; i++) a[i] = (a[i] + 1) / b[i]; }",
    "bytes": "void f(uint8_t *restrict a, const uint16_t *restrict b, int n, int k) { for (int i = 0; i < n; i++) { int v = (b[i] * k + 3) >> 4; "
    "a[i] = v > 255 ? 255 : v; } }",
    "sum of whole numbers": "int f(const int *a, const int *b, int n) { int s = 0; for (int i = 0; i < n; i++) s += a[i] * b[i]; return s; }",
    "three neighbours": "void f(double *restrict a, const double *restrict b, int n) { for (int i = 1; i < n; i++) "
    "a[i] = 0.5 * b[i] + 0.25 * (b[i - 1] + b[i + 1]); }",
}
#: An iteration needs what another has computed, other code, or memory here and there.
DEPENDENT = {
    "a recurrence": "void f(double *a, int n) { for (int i = 1; i < n; i++) a[i] = a[i] + 0.5 * a[i - 1]; }",
    "a filter": "double f(const double *a, int n) { double s = 0; for (int i = 0; i < n; i++) s = 0.9 * s + 0.1 * a[i]; return s; }",
    "a sum in order": "double f(const double *a, const double *b, int n) { double s = 0; for (int i = 0; i < n; i++) s += a[i] * b[i]; return s; }",
    "a hash": "uint32_t f(const uint8_t *a, int n) { uint32_t h = 17; for (int i = 0; i < n; i++) h = h * 31 + a[i]; return h; }",
    "random numbers": "void f(uint32_t *a, int n, uint32_t x) { for (int i = 0; i < n; i++) { x ^= x << 13; x ^= x >> 17; x ^= x << 5; a[i] = x & 255; } }",
    "a histogram": "void f(int *restrict h, const uint8_t *restrict a, int n) { for (int i = 0; i < n; i++) h[a[i]] += 2; }",
    "a gather": "void f(double *restrict a, const double *restrict b, const int *restrict at, int n) { for (int i = 0; i < n; i++) a[i] = 2 * b[at[i]] + 1; }",
    "a column": "void f(double *a, int n) { for (int i = 0; i < n; i++) a[(size_t)i * 512] = 0.5 * a[(size_t)i * 512] + 1; }",
    "calls": "double g(double); void f(double *a, int n) { for (int i = 0; i < n; i++) a[i] = 2 * g(a[i]) + 1; }",
    "a copy": "void f(int *restrict a, const int *restrict b, int n) { for (int i = 0; i < n; i++) a[i] = b[i]; }",
    "whole divisions": "void f(int *restrict a, const int *restrict b, int n) { for (int i = 0; i < n; i++) a[i] = (a[i] + 3) / b[i]; }",
}
SCALAR, VECTORS = ("-O2", "-fno-tree-vectorize"), ("-O3", "-march=x86-64-v3")
_ROW = re.compile(r"\s*([0-9a-f]+):\s+(\S.*)")


def loops_of(folder: Path, text: str, *options: str) -> tuple[ScalarLoop, ...]:
    """What is told of the function f as a compiler makes it, each instruction with as many samples."""
    (folder / "f.c").write_text(HEAD + text)
    subprocess.run(["cc", *options, "-c", "f.c"], cwd=folder, check=True, timeout=60)
    dump = ["objdump", "-d", "--no-show-raw-insn", "f.o"]
    rows = subprocess.run(dump, cwd=folder, check=True, timeout=60, capture_output=True, text=True).stdout.splitlines()
    lines = tuple(CodeLine(int(row[1], 16), row[2]) for row in map(_ROW.fullmatch, rows) if row is not None)
    return scalar_loops(SampledCode("f", "app", lines, (1 / len(lines),) * len(lines), 1000), 2)


@pytest.mark.skipif(not all(map(shutil.which, ("cc", "objdump"))), reason="needs objdump and a C compiler")
class TestCompiled:
    @pytest.mark.parametrize("name", INDEPENDENT)
    def test_iterations_that_stand_by_themselves_are_told_where_no_vector_is_used(
        self, name: str, tmp_path: Path
    ) -> None:
        (told,) = loops_of(tmp_path, INDEPENDENT[name], *SCALAR)
        assert told.share > 0.2
        assert told.operations >= 2
        assert not told.leaves
        assert told.writes == (name != "sum of whole numbers")

    @pytest.mark.parametrize("name", INDEPENDENT)
    def test_vectors_are_seen(self, name: str, tmp_path: Path) -> None:
        wide = re.compile(r"%[xyz]mm")
        found = loops_of(tmp_path, INDEPENDENT[name], *VECTORS)
        text = subprocess.run(["objdump", "-d", "f.o"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
        assert wide.search(text), "the compiler uses vectors"
        # What is left for the last elements is no loop, or one in which hardly any time is.
        assert all(each.share < 0.5 for each in found)

    @pytest.mark.parametrize("options", [SCALAR, VECTORS])
    @pytest.mark.parametrize("name", DEPENDENT)
    def test_what_cannot_have_vectors_is_not_told(self, name: str, options: tuple[str, ...], tmp_path: Path) -> None:
        assert loops_of(tmp_path, DEPENDENT[name], *options) == ()

    def test_a_loop_that_may_end_in_its_middle_is_told_as_such(self, tmp_path: Path) -> None:
        text = (
            "int f(float *restrict a, const float *restrict b, int n) { for (int i = 0; i < n; i++) { float x = b[i] * 3; "
            "if (x > 9) return i; a[i] = x * x + 1; } return -1; }"
        )
        (told,) = loops_of(tmp_path, text, *VECTORS)
        assert told.leaves


ROTATED = """
    0: mov    $0x0,%edx
    4: jmp    20 <f+0x20>
   10: vmulss %xmm2,%xmm2,%xmm0
   14: vaddss %xmm1,%xmm0,%xmm0
   18: vmovss %xmm0,(%rsi,%rdx,4)
   1c: add    $0x1,%rdx
90 20: vmovss (%rdi,%rdx,4),%xmm2
   24: cmp    %rcx,%rdx
10 28: jb     10 <f+0x10>
   2c: ret
"""


def test_a_loop_is_entered_where_its_condition_stands() -> None:
    (told,) = scalar_loops(code(ROTATED))
    assert (told.share, told.operations, told.leaves, told.lines) == (1.0, 2, False, ())


def test_lines_are_those_of_its_instructions_the_most_sampled_first() -> None:
    bare = code(ROTATED)
    rows = {0x10: 7, 0x18: 8, 0x20: 6}
    lines = tuple(replace(each, file="a.c", line=rows.get(each.offset, 0)) for each in bare.lines)
    parts = tuple({0x10: 0.2, 0x18: 0.5, 0x20: 0.3}.get(each.offset, 0.0) for each in bare.lines)
    (told,) = scalar_loops(replace(bare, lines=lines, parts=parts))
    assert told.lines == (("a.c", 8), ("a.c", 6), ("a.c", 7))


@pytest.mark.parametrize("text", [CHASE, CHASE_ARM, INDICES, GATHER])
def test_what_waits_for_addresses_is_not_told(text: str) -> None:
    assert scalar_loops(code(text)) == ()
