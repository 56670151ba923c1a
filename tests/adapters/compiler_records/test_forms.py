"""All forms of the records say the same of the same loops and calls; command lines and producers; what is damaged or hostile."""

from __future__ import annotations

import gzip
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chathpc
from chathpc.adapters.compiler_records import DEEPEST, recognises, record_files
from chathpc.adapters.compiler_records.collect import Collection, call_obstacle, is_outer, loop_obstacle
from chathpc.adapters.compiler_records.commands import unit_of
from chathpc.adapters.glance import Glance
from chathpc.errors import AdapterError
from chathpc.profile.compiler import Build, Obstacle, Outcome
from tests.synthetic.compiler_records import (
    Call,
    Kernel,
    Loop,
    gcc_records,
    gcc_text,
    llvm_documents,
    llvm_text,
    ptxas_text,
)

#: Words of GCC and of LLVM for one obstacle.
WORDS = {
    Obstacle.TRIP_COUNT: ("not vectorized: number of iterations cannot be computed.", "could not determine number of loop iterations"),
    Obstacle.CALL: ("statement clobbers memory: _5 = external (_4);", "call instruction cannot be vectorized"),
    Obstacle.MATH_CALL: ("statement clobbers memory: _77 = exp (_76);", "library call cannot be vectorized. Try compiling with -fno-math-errno"),
    Obstacle.CONTROL_FLOW: ("not vectorized: control flow in loop.", "control flow cannot be substituted for a select"),
    Obstacle.REDUCTION_ORDER: ("reduction: unsafe fp math optimization: s_2 = s_1 + _4", "cannot prove it is safe to reorder floating-point operations"),
    Obstacle.DEPENDENCE: ("bad data dependence.", "unsafe dependent memory operations in loop."),
    Obstacle.COST: ("not vectorized: vectorization not profitable.", "the cost-model indicates that vectorization is not beneficial"),
    Obstacle.ALIASING: ("versioning for alias required: can't determine dependence between *_3 and *_5", "cannot identify array bounds"),
}  # fmt: skip


def load(tmp_path: Path, text: str | bytes, name: str = "x") -> Build:
    (tmp_path / name).write_bytes(text.encode() if isinstance(text, str) else text)
    found = chathpc.load(tmp_path / name).build
    assert found is not None
    return found


places = st.builds(
    lambda file, line, at, obstacle: (file, line, line + at, obstacle),
    st.sampled_from(["a.c", "src/b.f90", "/opt/app/c.cpp"]),
    st.integers(1, 5000),
    st.integers(0, 20),
    st.one_of(st.none(), st.sampled_from(list(WORDS))),
)


@given(st.lists(places, min_size=1, max_size=12, unique_by=lambda place: place[:2]))
@settings(max_examples=60, deadline=None)
def test_the_four_forms_say_the_same(found: list[tuple[str, int, int, Obstacle | None]]) -> None:
    import tempfile

    expected = {(file, line): obstacle for file, line, _, obstacle in found}
    calls = [Call("a.c", 9000, "main", "cell", "function body not available")]
    gcc = [Loop(file, line, "f", obstacle and WORDS[obstacle][0], at) for file, line, at, obstacle in found]
    llvm = [Loop(file, line, "f", obstacle and WORDS[obstacle][1], at) for file, line, at, obstacle in found]
    with tempfile.TemporaryDirectory() as folder:
        forms = (
            gcc_text([*gcc, *calls]),
            gcc_records([*gcc, *calls]),
            llvm_documents([*llvm, *calls]),
            llvm_text([*llvm, *calls]),
        )
        for form in forms:
            build = load(Path(folder), form)
            loops = {(item.file, item.line): item for item in build.records if item.outcome != Outcome.NOT_INLINED}
            said = {place: item.obstacle for place, item in loops.items()}
            # Where a mathematical function stands in the loop, GCC's "control flow" is taken for its check of the argument.
            assert {place: _known(obstacle, expected[place]) for place, obstacle in said.items()} == expected
            (call,) = (item for item in build.records if item.outcome == Outcome.NOT_INLINED)
            assert (call.line, call.callee, call.obstacle) == (9000, "cell", Obstacle.BODY_ELSEWHERE)


def _known(said: Obstacle | None, expected: Obstacle | None) -> Obstacle | None:
    return expected if said == Obstacle.MATH_CALL and expected in (Obstacle.CONTROL_FLOW, Obstacle.CALL) else said


@pytest.mark.parametrize(("obstacle", "words"), WORDS.items())
def test_words_of_both_compilers_for_one_obstacle(obstacle: Obstacle, words: tuple[str, str]) -> None:
    assert [loop_obstacle(text) for text in words] == [obstacle, obstacle]


@pytest.mark.parametrize(
    ("text", "obstacle"),
    [
        ("function body not available", Obstacle.BODY_ELSEWHERE),
        ("its definition is unavailable", Obstacle.BODY_ELSEWHERE),
        ("too costly to inline (cost=350, threshold=225)", Obstacle.TOO_LARGE),
        ("--param max-inline-insns-auto limit reached", Obstacle.TOO_LARGE),
        ("it should never be inlined (cost=never): noinline function attribute", Obstacle.FORBIDDEN),
        ("recursive call", Obstacle.RECURSIVE),
        ("call is cold and code would grow at least by 27", Obstacle.SELDOM),
        ("the moon is full", Obstacle.UNSTATED),
    ],
)
def test_why_a_call_was_not_inlined(text: str, obstacle: Obstacle) -> None:
    assert call_obstacle(text) == obstacle


def test_a_loop_around_others_says_nothing_of_its_own(tmp_path: Path) -> None:
    outer = "not vectorized: loop nest containing two or more consecutive inner loops cannot be vectorized"
    assert is_outer(outer)
    loops = [Loop("a.c", 1, reason=outer), Loop("a.c", 2, reason=WORDS[Obstacle.CALL][0])]
    for text in (gcc_text(loops), gcc_records(loops)):
        assert [record.line for record in load(tmp_path, text).records] == [2]


def test_a_call_that_a_later_pass_inlined_is_inlined(tmp_path: Path) -> None:
    calls = [
        Call("a.c", 5, "main", "cell", "growth 11 exceeds --param early-inlining-insns"),
        Call("a.c", 5, "main", "cell"),
    ]
    assert load(tmp_path, gcc_text(calls)).records == ()
    assert len(load(tmp_path, gcc_text(calls[:1])).records) == 1


def test_control_flow_that_the_check_of_a_square_root_makes(tmp_path: Path) -> None:
    text = gcc_text([Loop("a.c", 10, reason=WORDS[Obstacle.CONTROL_FLOW][0])])
    sqrt = "a.c:15:24: missed: statement clobbers memory: _96 = sqrt (r2_66);\n"
    (record,) = load(tmp_path, text + sqrt).records
    assert (record.obstacle, record.at) == (Obstacle.MATH_CALL, 15)
    other = gcc_text([Loop("a.c", 13, reason=WORDS[Obstacle.TRIP_COUNT][0])])
    assert load(tmp_path, text + other + sqrt).records[0].obstacle == Obstacle.CONTROL_FLOW, (
        "the root is in the other loop"
    )


def test_a_log_may_hold_everything(tmp_path: Path) -> None:
    text = (
        "make all\n/usr/bin/gcc-12 -O0 -c a.c -o a.o\n"
        + gcc_text([Loop("b.c", 3)])
        + "warning: nothing\n"
        + ptxas_text([Kernel("k")])
    )
    build = load(tmp_path, text)
    assert [(unit.file, unit.optimised) for unit in build.units] == [("a.c", False), ("b.c", True)]
    assert len(build.records) == len(build.kernels) == 1
    assert load(tmp_path, gzip.compress(text.encode())) == build
    assert load(tmp_path, b"\xff\xfe" + text.encode("utf-16-le")) == build


def test_functions_that_a_kernel_calls_do_not_change_its_numbers(tmp_path: Path) -> None:
    text = ptxas_text([Kernel("k", 40, 16, 12, 8)]).replace(
        "ptxas info    : Used",
        "ptxas info    : Function properties for helper\n    99 bytes stack frame, 98 bytes spill stores, 97 bytes spill loads\n"
        "ptxas info    : Used",
    )  # fmt: skip
    (kernel,) = load(tmp_path, text).kernels
    assert (kernel.registers, kernel.stack, kernel.spill_stores, kernel.spill_loads) == (40, 16, 12, 8)


# -- command lines -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "file", "optimised"),
    [
        ("gcc -c heat.c", "heat.c", False),
        ("/usr/bin/x86_64-linux-gnu-g++-12 -DX=1 -O0 -g -o heat.o -c ../src/heat.cpp", "../src/heat.cpp", False),
        ("clang -O1 -O2 -c heat.c -o heat.o", "heat.c", True),
        ("cc1: gfortran -g -Og -c flux.f90", "flux.f90", False),
        ("mpicc -c heat.c", "heat.c", False),  # as GCC or Clang, which it is nearly everywhere
        ("mpicxx.mpich -c heat.cpp", "heat.cpp", False),
        ("mpif90 -fopenmp -c flux.f90", "flux.f90", False),
        ("mpif90 -qopenmp -c flux.f90", "flux.f90", None),  # an option of Intel's
        ("mpicc -Minfo=all -c heat.c", "heat.c", None),  # and of NVIDIA's
        ("mpiifort -c flux.f90", "flux.f90", True),
        ("ifx -c flux.f90", "flux.f90", True),
        ("icx -g -c heat.c", "heat.c", False),
        ("icx -gdwarf-4 -c heat.c", "heat.c", False),
        ("icpx -g -O1 -c heat.cpp", "heat.cpp", True),
        ("mpicc -std=c99 -g -O5 -c heat.c", "heat.c", True),  # levels above 3 are 3 to GCC
        ("nvc -O4 -c heat.c", "heat.c", True),
        ("nvfortran -fast -c flux.f90", "flux.f90", True),
        ("gcc -O4 -O0 -c heat.c", "heat.c", False),
        ("hipcc -c axpy.hip", "axpy.hip", True),
        ("hipcc -O0 -c axpy.hip", "axpy.hip", False),
        ("ccache gcc -c heat.c", "heat.c", False),
        ("/usr/bin/ccache /usr/bin/c++ -c heat.cpp", "heat.cpp", False),
        ("/usr/bin/cc -O2 -c heat.c", "heat.c", True),
        ("cc -c heat.c", "heat.c", None),  # on a Cray any compiler
        ("CC -c heat.cpp", "heat.cpp", None),
        ("crayftn -c flux.f90", "flux.f90", None),
        ("nvfortran -c flux.f90", "flux.f90", None),
        ("gfortran -c FLUX.F", "FLUX.F", False),
        ("nvcc -O3 -c axpy.cu", "axpy.cu", True),
        ("nvcc -Xcompiler -fopenmp -c axpy.cu", "axpy.cu", None),
        ("mpicc -O3 -c heat.c", "heat.c", True),
        ("ftn -c flux.f90", "flux.f90", None),
        ("nvcc -G -c axpy.cu", "axpy.cu", False),
        ("nvcc -c axpy.cu", "axpy.cu", False),  # its host code
        ("cd build && icx -Ofast -c heat.c", "heat.c", True),
        (
            "    <c>   DW_AT_producer    : (indirect string, offset: 0x1f): GNU C17 12.2.0 -mtune=generic -g -O2",
            "",
            True,
        ),
        (
            "    <c>   DW_AT_producer    : (indirect string, offset: 0x1f): GNU C++17 12.2.0 -mtune=generic -g",
            "",
            False,
        ),
        (
            "    <c>   DW_AT_producer    : (indirect string, offset: 0x1f): GNU C99 12.2.0 -mtune=generic -g -O4 -std=c99",
            "",
            True,
        ),
        ('  DW_AT_producer\t("Debian clang version 14.0.6 -O0 -g")', "", False),
    ],
)
def test_how_a_file_was_compiled(line: str, file: str, optimised: bool | None) -> None:
    unit = unit_of(line)
    assert unit is not None
    assert (unit.file, unit.optimised) == (file, optimised)


@pytest.mark.parametrize(
    "line",
    ["", "gcc", "gcc -O2 a.o b.o -o app", "echo compiling heat.c", "# gcc -c heat.c", "the gcc manual -c is heat.c-like", "gcc --version",
     '  DW_AT_producer\t("Debian clang version 14.0.6")'],
)  # fmt: skip
def test_lines_that_compile_nothing(line: str) -> None:
    assert unit_of(line) is None


@pytest.mark.parametrize(
    ("options", "flags"),
    [
        ("-march=rocketlake -mmmx -mtune=rocketlake -g -O3 -ffast-math", "-march=rocketlake -ffast-math"),
        ("-mtune=generic -march=x86-64 -g -O2", ""),
        ("-march=x86-64-v3 -O2", "-march=x86-64-v3"),
    ],
)
def test_the_processor_and_the_order_of_sums_are_read_from_the_options(options: str, flags: str) -> None:
    unit = unit_of(f"    <c>   DW_AT_producer    : (indirect string, offset: 0x1f): GNU C17 12.2.0 {options}")
    assert unit is not None
    assert unit.flags == flags


DEBUG = """    <c>   DW_AT_producer    : (indirect string, offset: 0x1f): GNU C17 12.2.0 -mtune=generic -g
    <10>   DW_AT_language    : 29\t(C11)
    <11>   DW_AT_name        : (indirect line string, offset: 0x0): src/acc.c
--
    <c>   DW_AT_producer    : (indirect string, offset: 0x9): GNU C17 12.2.0 -g -O2
    <11>   DW_AT_name        : heat.c
--
0x0000000b: DW_TAG_compile_unit
              DW_AT_producer\t("Debian clang version 14.0.6 -g -O3")
              DW_AT_name\t("flux.c")
    <c>   DW_AT_producer    : GNU Fortran2008 12.2.0 -g
"""


def test_debug_information_names_the_files(tmp_path: Path) -> None:
    found = [(unit.file, unit.optimised) for unit in load(tmp_path, DEBUG).units]
    assert found == [("src/acc.c", False), ("heat.c", True), ("flux.c", True), ("", False)]


def test_a_header_is_not_the_file_that_was_compiled(tmp_path: Path) -> None:
    loops = [Loop("/usr/include/c++/12/cmath", 3), Loop("grid.hpp", 3), Loop("src/heat.cpp", 9)]
    for text in (llvm_documents(loops), gcc_records(loops)):
        assert load(tmp_path, text).units[0].file == "src/heat.cpp"


# -- what is and is not recognised -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "known"),
    [
        (b"--- !Missed\nPass:            gvn\nName:            X\n...\n", True),
        (b'[{"format": "1", "generator": {"version": "12"}}, [], []]', True),
        (b"a.c:1:2: missed: couldn't vectorize loop\n", True),
        (b"a.c:1:2: error: expected ';'\n", False),
        (b"a.c:1:2: note: in expansion of macro\n", False),
        (b"#!/bin/bash\n#SBATCH -N 1\ngcc -O2 -c a.c\n", False),
        (b"--- \na: 1\n...\n", False),
        (b"\0\0a.c:1:2: missed: x\n", False),
        (b"", False),
    ],
)
def test_what_is_recognised(content: bytes, known: bool, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(content)
    assert recognises(Glance(tmp_path / "x")) is known


def test_a_folder_of_records_is_read_as_one(tmp_path: Path) -> None:
    (tmp_path / "a.opt.yaml").write_text(llvm_documents([Loop("a.c", 1)]))
    (tmp_path / "b.c.opt-record.json.gz").write_bytes(gzip.compress(gcc_records([Loop("b.c", 2)]).encode()))
    (tmp_path / "a.o").write_bytes(b"\x7fELF")
    build = chathpc.load(tmp_path).build
    assert build is not None
    assert [(record.file, record.line) for record in build.records] == [("a.c", 1), ("b.c", 2)]


def test_records_in_the_tree_of_a_build_are_found(tmp_path: Path) -> None:
    objects = tmp_path / "src" / "CMakeFiles" / "app.dir" / "solver" / "detail"
    objects.mkdir(parents=True)
    (objects / "a.cpp.opt.yaml").write_text(llvm_documents([Loop("a.cpp", 1)]))
    (tmp_path / "top.opt.yaml").write_text(llvm_documents([Loop("top.c", 2)]))
    (objects / "loop").symlink_to(tmp_path)  # is not followed
    (tmp_path / "elsewhere").symlink_to(objects)
    assert recognises(Glance(tmp_path))
    assert recognises(Glance(tmp_path / "src"))
    build = chathpc.load(tmp_path).build
    assert build is not None
    assert [(record.file, record.line) for record in build.records] == [("top.c", 2), ("a.cpp", 1)]


def test_a_search_for_records_ends(tmp_path: Path) -> None:
    deep = tmp_path
    for _ in range(DEEPEST + 1):
        deep = deep / "d"
    deep.mkdir(parents=True)
    (deep / "a.opt.yaml").write_text(llvm_documents([Loop("a.c", 1)]))
    assert record_files(tmp_path) == []  # too deep
    assert record_files(tmp_path / "d") == [deep / "a.opt.yaml"]
    for number in range(30):
        (tmp_path / f"{number:02}.opt.yaml").write_text("--- !Missed\n")
    assert [path.name for path in record_files(tmp_path, most=3)] == ["00.opt.yaml", "01.opt.yaml", "02.opt.yaml"]
    assert len(record_files(tmp_path, entries=10)) <= 10
    assert record_files(tmp_path / "absent") == []


# -- damage and bombs --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (llvm_documents([Loop("a.c", 1)])[:-20], "ends within a document"),
        (llvm_documents([Loop("a.c", 1)]) + "hello\n...\n", "is not an optimisation remark document"),
        ("--- !Missed\nPass:            gvn\n" + "x" * (2 << 20), "more than 1,048,576 characters"),
        (gcc_records([Loop("a.c", 1)])[:-20], "damaged JSON"),
        ('[{"format": "1", "generator": {}}]', "three members"),
        ('[{"format": "1", "generator": {}}, {}, []]', "an array of passes"),
        ('[{"generator": 1, "x": {"generator": 1}}, [], []]', "does not name the generator"),
        ('[{"format": "1", "generator": {}}, [], [' + "[" * 200_000, "nested too deeply"),
        ("Unit growth for small function inlining: 1->2\n", "contains no known compiler message"),
    ],
)  # fmt: skip
def test_damage_is_told(content: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(AdapterError) as caught:
        load(tmp_path, content)
    assert words in str(caught.value)
    assert caught.value.hint


@pytest.mark.parametrize(
    "line",
    ["a" * 1_000_000, "gcc " * 250_000, "a.c:1:2: missed:   not inlinable: " + "a -> " * 100_000, "a.c:1:2: remark: '" + "x " * 300_000,
     "gcc -c " + "a.c " * 200_000, "ptxas info    : Used 1 registers, " + "1 bytes smem " * 50_000, "DW_AT_producer : " + "(indirect " * 90_000,
     "a.c:1:2: remark: " + "'a' not inlined into 'b' because " * 20_000 + "[-Rpass-missed=inline]", "a:" * 400_000, "-O" * 400_000],
)  # fmt: skip
def test_no_line_takes_long(line: str, tmp_path: Path) -> None:
    (tmp_path / "x").write_text(gcc_text([Loop("a.c", 1)]) + line + "\n")
    began = time.process_time()
    recognises(Glance(tmp_path / "x"))
    chathpc.load(tmp_path / "x")
    assert time.process_time() - began < 2


def test_records_without_end_are_counted_and_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chathpc.adapters.compiler_records.collect.MOST", 10)
    collection = Collection()
    for line in range(1, 31):
        collection.record(Outcome.VECTORISED, "GCC", "a.c", line)
        collection.record(Outcome.VECTORISED, "GCC", "a.c", line)
    build = collection.build()
    assert (len(build.records), build.left_out, build.counts) == (10, 40, {"loops vectorised": 60})


def test_places_that_cannot_be_are_counted_only() -> None:
    collection = Collection()
    for file, line in (("", 3), ("a.c", 0), ("a.c", 2**31), ("<built-in>", 4)):
        collection.record(Outcome.VECTORISED, "GCC", file, line)
    assert collection.build().records == ()
    assert collection.build().counts == {"loops vectorised": 4}


def test_interleaving_is_not_vectorising(tmp_path: Path) -> None:
    remark = "a.c:8:5: remark: the cost-model indicates that interleaving is not beneficial [-Rpass-analysis=loop-vectorize]\n"
    (record,) = load(tmp_path, remark + llvm_text([Loop("a.c", 8)])).records
    assert record.outcome == Outcome.VECTORISED


UNUSUAL = """--- !AnalysisFPCommute
Pass:            loop-vectorize
Name:            CantReorderFPOps
DebugLoc:        { File: '/opt/it''s a very long path/that LLVM breaks the line behind/heat.cpp',
                   Line: 20, Column: 9 }
Function:        "f\\"g"
Args:
  - String:          "loop not vectorized: \\ncannot prove it is safe to reorder floating-point operations"
...
--- !Missed
Pass:            inline
Name:            NeverInline
Function:        nowhere
...
--- !Passed
Pass:            loop-vectorize
Name:            Vectorized
DebugLoc:        { File: "b.cpp", Line: 7, Column: 9 }
Function:        h
...
"""


def test_quotes_broken_lines_and_documents_without_place_or_arguments(tmp_path: Path) -> None:
    build = load(tmp_path, UNUSUAL)
    (first,) = build.records
    assert (first.file, first.line, first.function, first.obstacle) == (
        "/opt/it's a very long path/that LLVM breaks the line behind/heat.cpp", 20, 'f"g', Obstacle.REDUCTION_ORDER,
    )  # fmt: skip
    assert load(tmp_path, UNUSUAL.replace("\n", "\r\n")) == build


def test_a_reason_without_its_loop_is_a_record_at_its_own_line(tmp_path: Path) -> None:
    """clang -Rpass-analysis without -Rpass-missed."""
    lines = [
        line
        for line in llvm_text([Loop("a.c", 3, "f", WORDS[Obstacle.CALL][1], 5)]).splitlines()
        if "missed" not in line
    ]
    (record,) = load(tmp_path, "\n".join(lines) + "\n").records
    assert (record.line, record.at, record.obstacle) == (5, 0, Obstacle.CALL)


def test_a_folder_without_records_is_none(tmp_path: Path) -> None:
    (tmp_path / "a.opt.yaml").write_text("hello: world\n")
    assert not recognises(Glance(tmp_path))
    with pytest.raises(AdapterError):
        chathpc.load(tmp_path, format="compiler-records")


def test_a_loop_at_the_end_of_a_log_has_no_reason(tmp_path: Path) -> None:
    text = "a.c:3:7: missed: couldn't vectorize loop\n"
    (record,) = load(tmp_path, text).records
    assert record.obstacle == Obstacle.UNSTATED
    first, second = load(
        tmp_path,
        text + "b.c:4:7: missed: couldn't vectorize loop\nb.c:4:7: missed: not vectorized: control flow in loop.\n",
    ).records
    assert (first.obstacle, second.obstacle) == (Obstacle.UNSTATED, Obstacle.CONTROL_FLOW)
