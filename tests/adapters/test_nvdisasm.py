"""Disassemblies of GPU code: what NVIDIA's tools print, and text that only looks so."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.adapters.glance import Glance
from chathpc.adapters.load import load
from chathpc.adapters.nvdisasm import ADAPTER, functions, read, recognises
from chathpc.errors import AdapterError
from chathpc.pipeline import explain
from tests.adapters.opened import opened
from tests.adapters.samples.nvdisasm import CODE

HEAD = "\t.target\tsm_80\n\n.text.f:\n"


def written(folder: Path, text: str) -> Path:
    (folder / "f.sass").write_text(text)
    return folder / "f.sass"


@pytest.mark.parametrize("file", sorted(CODE.glob("*.sass")), ids=lambda file: file.stem)
def test_all_kernels_are_read_whatever_tool_wrote_them(file: Path) -> None:
    profile = opened(ADAPTER, file)
    assert {code.kernel for code in profile.code} == {"gather", "block_sum", "chain", "either"}
    for code in profile.code:
        assert code.architecture == file.stem
        assert [line.offset for line in code.lines] == list(range(0, 16 * len(code.lines), 16))
        texts = [line.text for line in code.lines]
        assert texts.count("EXIT") == 1
        assert not any(";" in text or "/*" in text for text in texts)


def test_source_lines_labels_and_scheduling_are_read() -> None:
    gather = next(code for code in read(CODE / "sm_80.sass").code if code.kernel == "gather")
    load = next(line for line in gather.lines if line.text == "LDG.E R4, [R4.64]")
    # x[j] is line 10 of kernels.cu; 0x…ea2… in the encoding: cycles 1, barrier 2 with the result.
    assert (load.offset, load.file, load.line) == (0xB0, "/src/kernels.cu", 10)
    assert "x[j]" in (CODE / "kernels.cu").read_text().splitlines()[9]
    assert load.control & 0b1111 == 1
    assert load.control >> 5 & 7 == 2
    chain = next(code for code in read(CODE / "sm_75.sass").code if code.kernel == "chain")
    assert {line.labels for line in chain.lines if line.text.startswith("DFMA")} == {(".L_x_3",), ()}
    assert all(line.control == -1 for line in chain.lines)
    plain = next(code for code in read(CODE / "sm_90.sass").code if code.kernel == "chain")
    assert not plain.has_sources
    assert all(line.control >= 0 for line in plain.lines)


def test_of_inlined_code_the_innermost_line_counts(tmp_path: Path) -> None:
    text = (
        HEAD
        + '//## File "/a.cuh", line 3 inlined at "/k.cu", line 9\n//## File "/k.cu", line 9\n/*0000*/ MOV R1, R2 ;\n'
    )
    (code,) = read(written(tmp_path, text)).code
    assert (code.lines[0].file, code.lines[0].line) == ("/a.cuh", 3)
    assert code.lines[0].callers == (("/k.cu", 9),)


def test_callers_are_those_of_one_chain_and_bounded(tmp_path: Path) -> None:
    chain = '//## File "/a.h", line 3 inlined at "/b.h", line 4\n//## File "/b.h", line 4 inlined at "/k.cu", line 9\n//## File "/k.cu", line 9\n'
    other = '//## File "/c.h", line 1 inlined at "/d.cu", line 2\n'
    deep = '//## File "/a.h", line 3 inlined at "/a.h", line 3\n' * 5000
    text = (
        HEAD
        + chain
        + other
        + "/*0000*/ NOP ;\n"
        + deep
        + '/*0010*/ NOP ;\n//## File "/k.cu", line 9\n/*0020*/ EXIT ;\n'
    )
    first, second, last = read(written(tmp_path, text)).code[0].lines
    assert first.callers == (("/b.h", 4), ("/k.cu", 9))
    assert 1 < len(second.callers) <= 200
    assert last.callers == ()


def test_data_sections_and_repeated_offsets_are_no_code(tmp_path: Path) -> None:
    text = (
        HEAD + "/*0000*/ MOV R1, R2 ;\n/*0000*/ MOV R3, R4 ;\n/*0010*/ EXIT ;\n"
        '\t.section\t.nv.info,"",@progbits\n/*0020*/ .byte 0x04, 0x2f\n/*0030*/ MOV R5, R6 ;\n'
    )
    (code,) = read(written(tmp_path, text)).code
    assert [line.text for line in code.lines] == ["MOV R1, R2", "EXIT"]


def test_functions_inside_a_kernel_have_labels(tmp_path: Path) -> None:
    text = (
        HEAD
        + "/*0000*/ CALL.REL.NOINC `($f$__internal_div) ;\n/*0010*/ EXIT ;\n$f$__internal_div:\n/*0020*/ RET.REL.NODEC R20 `(f) ;\n"
    )
    (code,) = read(written(tmp_path, text)).code
    assert [line.labels for line in code.lines] == [(), (), ("$f$__internal_div",)]


def test_compressed_text_is_read(tmp_path: Path) -> None:
    (tmp_path / "k.sass.gz").write_bytes(gzip.compress((CODE / "sm_75.sass").read_bytes()))
    assert len(load(tmp_path / "k.sass.gz").code) == 4


@pytest.mark.parametrize(
    "text", ["\t.version 9.0\n.target sm_80\n.visible .entry f()", "main;solve 12\n", "", "sm_80 .target"]
)
def test_other_text_is_not_recognised(text: str, tmp_path: Path) -> None:
    assert not recognises(Glance(written(tmp_path, text)))


def test_text_without_an_instruction_is_refused_with_a_hint(tmp_path: Path) -> None:
    with pytest.raises(AdapterError, match="no machine instruction") as caught:
        read(written(tmp_path, HEAD))
    assert "nvdisasm -c -gi" in str(caught.value.hint)


def test_too_many_instructions_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chathpc.adapters.nvdisasm._MOST", 3)
    rows = "".join(f"/*{16 * i:04x}*/ NOP ;\n" for i in range(4))
    with pytest.raises(AdapterError, match="more than 3 instructions"):
        read(written(tmp_path, HEAD + rows))


def test_too_many_kernels_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chathpc.adapters.nvdisasm._KERNELS", 2)
    kernels = "".join(f".text.f{i}:\n/*0000*/ EXIT ;\n" for i in range(3))
    with pytest.raises(AdapterError, match="more than 2 kernels"):
        read(written(tmp_path, HEAD + kernels))


def test_alone_it_allows_no_conclusion_and_says_so() -> None:
    report = explain(load(CODE / "sm_80.sass"), llm="none")
    assert report.verdict == "insufficient-data"
    assert report.findings == []
    both = explain(load(CODE / "sm_80.sass", CODE / "sm_90.sass"), llm="none")
    assert both.verdict == "insufficient-data"
    assert {code.architecture for code in load(CODE / "sm_80.sass", CODE / "sm_90.sass").code} == {"sm_80", "sm_90"}


ROWS = st.sampled_from(
    [
        "/*0000*/ MOV R1, R2 ;", "/*0010*/ EXIT ;", "/* 0xffffffffffffffff */", ".text.f:", "Function : g", ".L_x_1:", '//## File "a", line 1',
        "/*ffffffffffffffff*/ NOP ;", "/*0020*/ BRA `(.L_x_1) ; /* 0x0000000000000000 */", ".section .text.x", ".section .nv", ".target sm_80",
        "x" * 5000, "\t.text.\x1b[31m:", "/*0030*/",
    ]
)  # fmt: skip


@given(st.lists(ROWS | st.text(max_size=30), max_size=40))
def test_any_order_of_lines_is_harmless(rows: list[str]) -> None:
    for function in functions(rows, Path("f.sass")):
        offsets = [line.offset for line in function.lines]
        assert offsets == sorted(set(offsets))
        assert all(-1 <= line.control < 1 << 21 for line in function.lines)
        assert function.name.isprintable()
