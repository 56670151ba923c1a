"""The machine code of hot functions, as perf annotate writes it."""

from __future__ import annotations

import shutil
import subprocess
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import chathpc
from chathpc.adapters.linux_perf import annotate
from chathpc.adapters.linux_perf.annotate import annotated
from chathpc.diagnosis.assembly.loop import Loop, hottest_loop
from tests.synthetic.perf_script import heat, write

TEXT = """\
 Percent |	Source code & Disassembly of demo for cpu-clock:u (4256 samples, percent: local period)
--------------------------------------------------------------------------------------------------------
         :
         : 3    Disassembly of section .text:
         :
         : 5    0000000000001240 <ns::walk(node*, long)>:
         : 6    ns::walk(node*, long)():
    0.00 :   1250:   add    0x8(%rdi),%rdx
   99.41 :   1254:   mov    (%rdi),%rdi // walk.cpp:12
    0.59 :   125b:   jae    1250 <ns::walk(node*, long)+0x10>
 Percent |	Source code & Disassembly of libx.so for page-faults (68 samples, percent: local period)
         : 5    0000000000001060 <fill>:
  100.00 :   1080:   mov    %rax,(%rdi,%rax,8)
"""


def test_functions_are_read_with_the_samples_at_their_instructions() -> None:
    (event, walk), (other, fill) = annotated(TEXT.splitlines())
    assert (event, other) == ("cpu-clock:u", "page-faults")
    assert (walk.function, walk.module, walk.samples) == ("ns::walk(node*, long)", "demo", 4256)
    assert [line.offset for line in walk.lines] == [0x1250, 0x1254, 0x125B]
    assert walk.lines[1].text == "mov    (%rdi),%rdi // walk.cpp:12"
    assert [(line.file, line.line) for line in walk.lines] == [("", 0), ("walk.cpp", 12), ("", 0)]
    assert walk.parts == pytest.approx((0.0, 0.9941, 0.0059))
    assert (fill.function, fill.module) == ("fill", "libx.so")


def test_older_layouts_and_several_events_side_by_side_are_read() -> None:
    head, name = TEXT.splitlines()[0], "         :      0000000000001240 <walk>:"
    ((_, walk),) = annotated([head, name, "    1.00    7.00 :        1250:       ret"])
    assert (walk.lines[0].offset, walk.lines[0].text, walk.parts) == (0x1250, "ret", (0.01,))


def test_what_is_no_machine_code_is_passed_over() -> None:
    assert annotated(["Error:", "Couldn't annotate schedule:", *TEXT.splitlines()[1:10]]) == ()
    assert annotated(TEXT.splitlines()[:6]) == ()


@given(st.lists(st.sampled_from(TEXT.splitlines()) | st.text(max_size=80), max_size=12), st.integers(0, 90))
def test_damage_is_no_error(lines: list[str], cut: int) -> None:
    for _, code in annotated([*lines, *(line[cut:] for line in lines)]):
        hottest_loop(code)


def test_the_text_of_perf_script_may_hold_it_in_comments(tmp_path: Path) -> None:
    path = tmp_path / "samples.txt"
    comments = "".join(f"{annotate.COMMENT}{line}\n" for line in TEXT.splitlines())
    path.write_text(write(heat()) + comments)
    profile = chathpc.load(path)
    assert [code.function for code in profile.sampled_code] == ["ns::walk(node*, long)"], "of faults there is no time"
    assert not any("not part of a sample" in caveat for caveat in profile.caveats)


CHASE = """
#include <stdio.h>
#include <stdlib.h>
struct node { struct node *next; long value; long more[6]; };
__attribute__((noinline)) long hot(struct node *p, long n) { long t = 0; while (n--) { t += p->value; p = p->next; } return t; }
int main(void) {
    long n = 1 << 20, step = 611953; struct node *a = malloc(n * sizeof *a);
    for (long i = 0; i < n; i++) { a[i * step % n].next = &a[(i + 1) * step % n]; a[i].value = i; }
    printf("%ld\\n", hot(a, 6 * n));
}
"""
TRIAD = """
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) void hot(double *a, const double *b, const double *c, double s, long n) { for (long i = 0; i < n; i++) a[i] = b[i] + s * c[i]; }
int main(void) {
    long n = (256l << 20) / 24; double *a = calloc(n, 8), *b = calloc(n, 8), *c = calloc(n, 8);
    for (int k = 0; k < 30; k++) hot(a, b, c, k * .5, n);
    printf("%g\\n", a[n / 2]);
}
"""
POLYNOMIAL = """
#include <stdio.h>
__attribute__((noinline)) double hot(double x, long n) { double s = 0; for (long i = 0; i < n; i++) s = ((s * x + 1.1) * x + .3) * x + .7; return s; }
int main(void) { printf("%g\\n", hot(.3, 40000000)); }
"""


def _loop(folder: Path, text: str) -> Loop:
    """The hot loop of a program that is built without debug information and recorded."""
    (folder / "app.c").write_text(text)
    run = partial(subprocess.run, cwd=folder, check=True, capture_output=True, timeout=120)
    run(["cc", "-O2", "-fno-tree-vectorize", "-o", "app", "app.c"])
    try:
        run(["perf", "record", "-q", "-N", "-e", "cpu-clock:u", "-F", "997", "-g", "-o", "perf.data", "./app"])
    except subprocess.CalledProcessError:
        pytest.skip("the kernel lets nobody measure")
    (code,) = (each for each in chathpc.load(folder / "perf.data").sampled_code if each.function == "hot")
    found = hottest_loop(code)
    assert found is not None
    assert found.share > 0.9
    return found


@pytest.mark.skipif(
    not all(map(shutil.which, ("perf", "objdump", "cc"))), reason="needs perf, objdump and a C compiler"
)
class TestRecorded:
    def test_a_list_in_large_memory_waits_for_its_chain(self, tmp_path: Path) -> None:
        assert _loop(tmp_path, CHASE).chased > 0.8

    def test_a_triad_streams(self, tmp_path: Path) -> None:
        found = _loop(tmp_path, TRIAD)
        assert (found.streamed, found.operations) == (24, 2)
        assert found.chased == found.gathered == 0

    def test_a_polynomial_in_registers_computes(self, tmp_path: Path) -> None:
        found = _loop(tmp_path, POLYNOMIAL)
        assert (found.chased, found.gathered, found.streamed) == (0, 0, 0)
        assert found.operations >= 6
