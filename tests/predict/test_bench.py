"""`chathpc bench predict`: scores agree with the paper's table, questions hold no label, recordings hold no source, answers are checked."""

from __future__ import annotations

import csv
import gzip
import json
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.bench.predict import flops
from chathpc.bench.predict.counted import count_lines, read_counts
from chathpc.bench.predict.labels import Label, balanced, read_labels
from chathpc.bench.predict.questions import (
    ABOVE,
    BANDWIDTHS,
    BELOW,
    PEAKS,
    Judged,
    class_question,
    generated_question,
    read_source,
    read_word,
    trials,
)
from chathpc.bench.predict.result import PUBLISHED, Confusion, confusion, count_figures, time_figures, timed
from chathpc.bench.predict.run import Keeping, examples_for, programs_of
from chathpc.commands.main import main
from chathpc.errors import UsageError
from chathpc.llm.backend import Completion, Form, OnToken, Request
from chathpc.llm.recorded import Recording, ReplayBackend
from chathpc.predict.alone import evaluate
from chathpc.predict.counts import Counts
from chathpc.predict.devices import device
from chathpc.predict.roofline import LABELLED, classify
from tests.predict import relayed

RTX3080 = device("rtx3080")
SAXPY = """\
__global__ void saxpy(int n, float a, const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
int main(int argc, char **argv) { int n = 1 << atoi(argv[1]); saxpy<<<n / 256, 256>>>(n, 2.0f, x, y); }
"""
REGION = "__omp_offloading_10309_2f0446a__Z6squarePfi_l3"
SQUARE = "void square(float *x, int n) {\n  // all of it\n  #pragma omp target teams distribute parallel for\n  for (int i = 0; i < n; i++) x[i] *= x[i];\n}\n"
COLUMNS = (
    "targetName", "kernelName", "Kernel Name", "language", "exeArgs", "Grid Size", "Block Size", "device",
    "traffic", "spPerf", "dpPerf", "intops", "xtime", "class",
)  # fmt: skip
#: 2 flop and 5 integer instructions for each of 2^20 elements, 12 bytes each, in 20 us.
ROW = dict(
    zip(
        COLUMNS,
        ("saxpy-cuda", "saxpy", "saxpy(int, float, const float *, float *)", "CUDA", "20", "(4096, 1, 1)", "(256, 1, 1)", "GPU",
         str(12 * 2**20 / 20e-6), str(2 * 2**20 / 20e-6), "0.0", str(5 * 2**20), "20000.0", "Bandwidth-Bound"),
        strict=True,
    )
)  # fmt: skip


def table(path: Path, *rows: dict[str, str]) -> Path:
    """A CSV file of labels."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.fixture
def label(tmp_path: Path) -> Label:
    return read_labels(table(tmp_path / "one.csv", ROW))[0]


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    for name, file, text in (("saxpy-cuda", "main.cu", SAXPY), ("square-omp", "square.cpp", SQUARE)):
        (tmp_path / "src" / name).mkdir(parents=True)
        (tmp_path / "src" / name / file).write_text(text)
    return tmp_path / "src"


class Fixed:
    """A back end that gives prepared answers in turn."""

    name = label = "fixed"
    form: Form = "structured"

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)

    def complete(self, request: Request, *, on_token: OnToken | None = None) -> Completion:
        return Completion(self.answers.pop(0), "fixed", 10, 2, "stop", 0.0)


# -- scores -------------------------------------------------------------------------------------------------


def test_the_papers_matrix_has_the_papers_scores() -> None:
    paper = PUBLISHED["source"]
    assert paper.matrix is not None
    assert paper.matrix.accuracy == pytest.approx(0.6412, abs=5e-5)
    assert paper.matrix.macro_f1 == pytest.approx(0.62, abs=5e-3)
    assert paper.matrix.correlation == pytest.approx(0.314, abs=5e-4)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2, max_size=60))
def test_matthews_correlation_is_pearsons_of_the_two_series(pairs: list[tuple[bool, bool]]) -> None:
    found = confusion([Judged(*pair) for pair in pairs])
    truth, said = np.array(pairs, dtype=float).T
    if truth.std() and said.std():
        assert found.correlation == pytest.approx(np.corrcoef(truth, said)[0, 1])
    else:
        assert found.correlation == 0.0
    assert found.accuracy == pytest.approx((truth == said).mean())


def test_an_answer_of_neither_word_is_the_wrong_one() -> None:
    assert confusion([Judged(True, None), Judged(False, None)]) == Confusion(0, 1, 1, 0)


@pytest.mark.parametrize(
    ("answer", "compute"),
    [
        ("Compute", True),
        ("**Bandwidth**", False),
        ("It loads much, so bandwidth could matter.\nBut it hashes.\nAnswer: Compute", True),
        ("Compute or Bandwidth", None),
        ("I cannot say.", None),
        ("", None),
    ],
)
def test_the_last_line_with_a_word_counts(answer: str, compute: bool | None) -> None:
    assert read_word(answer) is compute


# -- rooflines ----------------------------------------------------------------------------------------------


def test_balance_points_are_those_of_the_labels() -> None:
    assert [round(RTX3080.balance(kind), 3) for kind in ("fp32", "fp64", "integer")] == [32.971, 0.515, 16.485]


def test_drawn_rooflines_are_as_in_the_paper() -> None:
    found = trials()
    assert len(found) == 40 * 2 * 3
    assert Counter((len(each.examples), each.asked.compute_bound) for each in found) == dict.fromkeys(
        ((count, bound) for count in (2, 4, 8) for bound in (False, True)), 40
    )
    for point in [point for each in found for point in (each.asked, *each.examples)]:
        assert BANDWIDTHS[0] <= point.bandwidth <= BANDWIDTHS[1]
        assert PEAKS[0] <= point.peak <= PEAKS[1]
        assert point.reached <= min(point.peak, (point.intensity + 0.005) * point.bandwidth)
        share = point.intensity / point.balance
        rounding = 0.005 / point.balance
        assert share <= BELOW + rounding or ABOVE[0] - rounding <= share <= ABOVE[1] + rounding
    assert found == trials()
    assert found != trials(seed=1)


def test_a_recorded_large_model_decides_drawn_rooflines() -> None:
    recording = Recording(Path(__file__).parents[1] / "recordings/predict/classes.jsonl")
    answers = [recording.find(generated_question(trial).request) for trial in trials()]
    found = [None if answer is None else read_word(answer.text) for answer in answers]
    assert found == [trial.asked.compute_bound for trial in trials()]


def test_examples_stand_with_their_answers_and_the_last_is_open() -> None:
    user = generated_question(trials()[-1]).request.user
    assert user.count("Answer: Compute") == user.count("Answer: Bandwidth") == 4
    assert user.count("A GPU has") == 9


# -- labels, sources, counts --------------------------------------------------------------------------------


def test_labels_become_totals_of_a_launch(label: Label) -> None:
    assert (label.fp32, label.integer, label.bytes) == pytest.approx((2 * 2**20, 5 * 2**20, 12 * 2**20))
    assert (label.grid, label.block, label.function, label.line) == ((4096, 1, 1), (256, 1, 1), "saxpy", None)
    assert not label.compute_bound
    assert label.fp32 < RTX3080.balance("fp32") * label.bytes
    assert label.integer < RTX3080.balance("integer") * label.bytes


def test_compressed_labels_and_target_regions(tmp_path: Path) -> None:
    row = ROW | {"targetName": "square-omp", "kernelName": REGION, "language": "OMP", "class": "Compute-Bound"}
    packed = tmp_path / "labels.csv.gz"
    packed.write_bytes(gzip.compress(table(tmp_path / "labels.csv", row, ROW).read_bytes()))
    region, _ = read_labels(packed)
    assert (region.function, region.line, region.compute_bound) == ("square", 3, True)
    assert read_labels(packed, {"saxpy-cuda"})[0].program == "saxpy-cuda"


@pytest.mark.parametrize("change", [{"class": "Neither"}, {"Grid Size": "4096"}, {"xtime": "soon"}])
def test_other_tables_are_rejected(tmp_path: Path, change: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="no table of measured launches"):
        read_labels(table(tmp_path / "bad.csv", ROW | change))
    with pytest.raises(UsageError, match="no table of measured launches"):
        read_labels(Path(__file__).with_name("test_bench.py"))


def test_a_sample_is_balanced_and_repeatable(label: Label) -> None:
    labels = [
        replace(label, program=f"p{number}", language=language, compute_bound=bound)
        for number in range(9)
        for language in ("CUDA", "OMP")
        for bound in (False, True)
    ]
    found = balanced(labels, 12, seed=3)
    assert set(Counter((each.language, each.compute_bound) for each in found).values()) == {3}
    assert found == balanced(list(reversed(labels)), 12, seed=3)
    assert found != balanced(labels, 12, seed=4)


def test_the_file_of_the_kernel_comes_first_and_long_programs_are_cut(tmp_path: Path) -> None:
    (tmp_path / "a.h").write_text("// helpers\n" * 50)
    (tmp_path / "main.cpp").write_text("int main() { launch(); }\n")
    (tmp_path / "z.cu").write_text("__global__ void work() {}\n")
    (tmp_path / "outside.h").symlink_to(__file__)
    found = read_source(tmp_path, "work", most=200)
    assert [each.name for each in found] == ["z.cu", "main.cpp", "a.h"]
    assert sum(len(each.text) for each in found) <= 200
    assert found[-1].cut + len(found[-1].text.splitlines()) == 50
    with pytest.raises(UsageError, match="no C, C"):
        read_source(tmp_path / "none", "work")


def test_a_missing_header_comes_from_the_cuda_twin(tmp_path: Path) -> None:
    for name, text in (("a-omp/main.cpp", '#include "work.h"\n#include "main.h"\nint main() {}\n'), ("a-omp/main.h", ""),
                       ("a-cuda/work.h", "int w;\n"), ("a-cuda/main.h", "int m;\n"), ("a-cuda/main.cu", "")):  # fmt: skip
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert [each.name for each in read_source(tmp_path / "a-omp", "main")] == ["main.cpp", "main.h", "../a-cuda/work.h"]


def compute_bound(counts: Counts) -> bool:
    return classify(counts, RTX3080, LABELLED).bound == "compute"


def test_counts_are_read_in_their_forms_and_judged_by_three_rooflines(tmp_path: Path, label: Label) -> None:
    line = {
        "target": label.program,
        "kernelName": label.kernel,
        "operations": {"fp32": 2 * 2**20, "integer": [5 * 2**20, 4 * 2**20, 6 * 2**20]},
        "dram_read": {"value": 8 * 2**20, "low": 8 * 2**20, "high": 8 * 2**20},
        "dram_written": 4 * 2**20,
        "assumptions": ["one branch on data is taken half of the time"],
    }
    file = tmp_path / "counts.jsonl"
    file.write_text(json.dumps(line) + "\n")
    found = read_counts(file).get(label)
    assert found is not None
    assert (found.launch, found.chain) == (None, None)
    counts = found.counts
    assert compute_bound(counts) is False
    assert compute_bound(replace(counts, operations={"fp64": counts.operations["integer"]})) is False
    more = {"fp64": replace(counts.operations["fp32"], value=7 * 2**20)}  # 7/12 a byte is beyond 0.515
    assert compute_bound(replace(counts, operations=more)) is True
    lines = count_lines(counts, RTX3080)
    assert "integer instructions: 5.2e+06 (between 4.2e+06 and 6.3e+06)" in lines
    assert "integer instructions a byte: 0.42; balance point 16" in lines
    assert lines[-1] == "not known: one branch on data is taken half of the time"
    file.write_text(json.dumps(line | {"dram_read": -1}))
    with pytest.raises(UsageError, match="line 1"):
        read_counts(file)


def followed(program: str, seconds: float, bytes_moved: float, **changes: object) -> dict[str, object]:
    """What labelled_kernels.py writes of a launch that copies."""
    shape = {
        "kernel": "copy",
        "grid": [4096, 1, 1],
        "block": [256, 1, 1],
        "shared": 0,
        "registers": 16,
        "local": 0,
        "occurrence": 0,
    }
    counts = {
        "operations": {"integer": 1e6},
        "issued": {"integer": 1e5},
        "dram_read": bytes_moved,
        "dram_written": 0.0,
        "warps": 32768,
    }
    return {
        "target": program,
        "kernelName": "copy",
        "signature": "copy()",
        "launch": shape,
        "counts": counts,
        "failure": "",
    } | changes


def test_times_and_counts_are_compared_with_what_was_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Four launches whose bytes are 0.9, 1, 1.9 and 2.1 times those measured, whose times are ordered as measured but for one pair."""
    rows, lines = [], []
    for number, (measured, factor) in enumerate([(1e9, 0.9), (2e9, 1.0), (4e9, 1.9), (7e9, 2.1)]):
        seconds = measured / 760.3e9
        row = ROW | {"targetName": f"copy{number}-cuda", "kernelName": "copy", "Kernel Name": "copy()", "spPerf": "0"}
        row |= {"traffic": str(measured / seconds), "intops": "1050000", "xtime": str(seconds * 1e9)}
        rows.append(row)
        lines.append(json.dumps(followed(row["targetName"], seconds, measured * factor)))
    lines.append(
        json.dumps({"target": "none-cuda", "kernelName": "x", "signature": "x()", "failure": "does not compile"})
    )
    counts = tmp_path / "counts.jsonl"
    counts.write_text("\n".join(lines))
    labels = read_labels(table(tmp_path / "labels.csv", *rows))
    read = read_counts(counts)
    assert len(read) == 4
    found = count_figures(labels, read)
    assert [(each.key, each.value) for each in found.figures] == [
        ("flops-tenth", 1.0), ("integer-tenth", 1.0), ("bytes-twofold", 0.75),
    ]  # fmt: skip
    times = timed(labels, read, device("rtx3080"))
    errors = [each.predicted.value / each.seconds - 1 for each in times]
    assert (errors[3] + 1) / (errors[1] + 1) == pytest.approx(2.1, rel=0.01)  # as the bytes
    figures = time_figures(times)
    get = {each.key: each for each in figures.figures}
    assert get["mape"].value == pytest.approx(sum(map(abs, errors)) / 4)
    assert get["median"].value == pytest.approx(sum(sorted(map(abs, errors))[1:3]) / 2)
    assert get["spearman"].value == pytest.approx(1.0)
    swapped = [replace(times[1], predicted=times[2].predicted), replace(times[2], predicted=times[1].predicted)]
    # 1 - 6 sum(d^2) / (n (n^2 - 1)) with two places changed
    assert time_figures([times[0], *swapped, times[3]]).figures[3].value == pytest.approx(1 - 6 * 2 / (4 * 15))
    command = [
        "bench",
        "predict",
        "--task",
        "time",
        "--labels",
        str(tmp_path / "labels.csv"),
        "--counts",
        str(counts),
        "-q",
    ]
    assert main([*command, "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert {each["key"] for each in data["measured"]} == {"mape", "median", "twofold", "spearman", "held"}
    assert main([*command, "--require", "spearman=0.9", "--require", "mape=1"]) == 1
    assert "was required" in capsys.readouterr().err
    lines[0] = json.dumps(
        followed("copy0-cuda", 1.0, 1e9) | {"launch": {"kernel": "copy", "grid": [1, 1, 1], "block": [256, 1, 1]}}
    )
    counts.write_text(lines[0])
    assert main(command) == 2
    assert "in its shape" in capsys.readouterr().err


# -- questions ----------------------------------------------------------------------------------------------


def test_no_question_depends_on_what_was_measured(label: Label, sources: Path, tmp_path: Path) -> None:
    other = replace(
        label, fp32=7.0, fp64=9e9, integer=1.0, bytes=3.0, seconds=1.0, compute_bound=not label.compute_bound
    )
    first, second = (programs_of([each], sources)[0] for each in (label, other))
    assert class_question("source", first).request == class_question("source", second).request
    asked: list[Request] = []
    for program in (first, second):
        assert flops.chain(program, lambda kind, request, problem: asked.append(request)) is None
    assert asked[0] == asked[1]
    assert class_question("source", first).truth is not class_question("source", second).truth
    user = class_question("source", first).request.user
    assert "y[i] = a * x[i] + y[i];" in user
    assert "blocks of the grid: 4096 x 1 x 1; threads of a block: 256 x 1 x 1" in user


def test_examples_are_of_other_programs_in_the_same_language(label: Label, sources: Path) -> None:
    (program,) = programs_of([label], sources)
    twin = replace(program, label=replace(label, program="saxpy-omp"))
    other = replace(program, label=replace(label, program="axpy-cuda"))
    hot = replace(other, label=replace(other.label, compute_bound=True, kernel="hot"))
    assert examples_for(program, [twin, other]) == ()
    assert examples_for(program, [twin, other, hot]) == (other, hot)
    user = class_question("examples", program, examples=(other, hot)).request.user
    assert user.index("Answer: Bandwidth") < user.index("Answer: Compute") < user.index("<<machine")


# -- operations by decomposition ----------------------------------------------------------------------------

STATEMENTS = json.dumps(
    {"statements": [{"file": "main.cu", "line": 3, "precision": "fp32", "adds": 1, "multiplies": 1, "divisions": 0, "roots": 0,
                     "exponentials": 0, "logarithms": 0, "other": 0, "note": ""}]}
)  # fmt: skip
VALUES = json.dumps({"values": [{"name": "n", "value": 1048576, "low": 1048576, "high": 1048576, "note": "1 << 20"}]})
TIMES = json.dumps(
    {"times": [{"statement": "S1", "executions": "min(n, ceil(n / 256) * 256)", "share": 1, "note": ""}]}
)


def test_operations_are_added_up_from_three_answers(label: Label, sources: Path) -> None:
    (program,) = programs_of([label], sources)
    answers = {"flops statements": STATEMENTS, "flops values": VALUES, "flops times": TIMES}
    asked: dict[str, Request] = {}

    def ask(kind: str, request: Request, problem: Callable[[str], str]) -> str:
        assert problem(answers[kind]) == ""
        assert problem("no JSON") != ""
        asked[kind] = request
        return answers[kind]

    found = flops.chain(program, ask)
    assert found == 2 * 2**20 == pytest.approx(label.flops)
    assert "3:   if (i < n) y[i]" in asked["flops statements"].user
    assert "S1: main.cu:3 (fp32)" in asked["flops times"].user
    assert "n = 1048576" in asked["flops times"].user
    answers["flops values"] = "{}"
    assert flops.chain(program, lambda kind, request, problem: answers[kind]) is None
    assert flops.chain(program, lambda kind, request, problem: None) is None


@pytest.mark.parametrize(
    ("formula", "value"),
    [("n * (m - 1)", 30.0), ("2 ** 3 // 3 + 7 % 4", 5.0), ("max(n, m) / 4", 2.5), ("floor(log2(n)) - -1", 4.0)],
)
def test_formulas_are_arithmetic(formula: str, value: float) -> None:
    assert evaluate(formula, {"n": 10.0, "m": 4.0}, powers=True) == value


@pytest.mark.parametrize(
    "formula",
    [
        "__import__('os')",
        "n.real",
        "k",
        "min(n)",
        "1 / 0",
        "(n",
        "n if n else 1",
        "9 ** 9 ** 9",
        "True",
        "+" * 400,
        "[n]",
    ],
)
def test_nothing_else_is(formula: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        evaluate(formula, {"n": 10.0}, powers=True)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"line": 99}, "no line"),
        ({"file": "/etc/passwd"}, "no line"),
        ({"precision": "fp8"}, "fp32 or fp64"),
        ({"adds": -1}, "whole numbers"),
        ({"adds": 1.5}, "whole numbers"),
        ({"adds": 10**9}, "too much"),
    ],
)
def test_statements_that_cannot_be_are_rejected(change: dict[str, object], reason: str) -> None:
    data = json.loads(STATEMENTS)
    data["statements"][0] |= change
    with pytest.raises(ValueError, match=reason):
        flops.read_statements(json.dumps(data), {"main.cu": 5})


def test_values_and_times_that_cannot_be_are_rejected() -> None:
    statements, values = flops.read_statements(STATEMENTS, {"main.cu": 5}), flops.read_values(VALUES)
    for old, new in (('"n"', '"n; m"'), ('"low": 1048576', '"low": 1048577'), ("1048576", "NaN"), ("1048576", "true")):
        with pytest.raises(ValueError, match=r"."):
            flops.read_values(VALUES.replace(old, new))
    for old, new in (("S1", "S2"), ('"share": 1', '"share": 2'), ("min(n,", "min(-n,"), ("min(n, ", "max(n ** 9, ")):
        with pytest.raises(ValueError, match=r"."):
            flops.read_times(TIMES.replace(old, new), statements, values)
    with pytest.raises(ValueError, match="S1 is missing"):
        flops.read_times('{"times": []}', statements, values)


# -- recordings and the command -----------------------------------------------------------------------------


def test_a_recording_has_the_answer_and_no_source(label: Label, sources: Path, tmp_path: Path) -> None:
    question = class_question("source", programs_of([label], sources)[0])
    file = tmp_path / "answers.jsonl"
    keeping = Keeping(Fixed("Bandwidth"), file)
    keeping.about = ("source", label.program, label.kernel)
    assert keeping.complete(question.request).text == "Bandwidth"
    assert Keeping(Fixed(), file).complete(question.request).text == "Bandwidth"  # not asked again
    entry = json.loads(file.read_text())
    assert not {"user", "text"} & set(entry)
    assert "saxpy-cuda" in entry.values()
    assert "x[i]" not in file.read_text()
    assert ReplayBackend(Recording(file)).complete(question.request).text == "Bandwidth"


def test_the_command_scores_a_recording_and_chathpcs_counts(
    label: Label, sources: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    region = ROW | {"targetName": "square-omp", "kernelName": REGION, "Kernel Name": REGION, "language": "OMP"}
    labels = table(tmp_path / "labels.csv", ROW, region, ROW | {"targetName": "elsewhere-cuda"})
    counts = tmp_path / "counts.jsonl"
    line = {
        "target": label.program,
        "kernelName": label.kernel,
        "operations": {"integer": 5e6},
        "dram_read": 1.2e7,
        "dram_written": 0,
    }
    counts.write_text(json.dumps(line))
    both = [programs_of([each], sources)[0] for each in read_labels(labels)[:2]]
    file = tmp_path / "answers.jsonl"
    for program, said in zip(both, ("Bandwidth", "Compute"), strict=True):
        Keeping(Fixed(said), file).complete(class_question("source", program).request)
    own = read_counts(counts).get(label)
    assert own is not None
    Keeping(Fixed("Bandwidth"), file).complete(class_question("counts", both[0], counts=own.counts).request)
    command = [
        "bench",
        "predict",
        "--task",
        "roofline",
        "--labels",
        str(labels),
        "--sources",
        str(sources),
        "--counts",
        str(counts),
    ]
    command += ["--replay", str(file), "-q"]
    assert main([*command, "--format", "json", "--ask", "source", "--ask", "counts"]) == 0
    data = json.loads(capsys.readouterr().out)
    found = {row["questions"]: row["confusion"] for row in data["rows"]}
    assert found["source"] == {
        "compute_compute": 0,
        "compute_bandwidth": 0,
        "bandwidth_compute": 1,
        "bandwidth_bandwidth": 1,
    }
    assert found["counts"]["bandwidth_bandwidth"] == found["chathpc"]["bandwidth_bandwidth"] == 1
    assert data["left_out"] == ["1 of 2 launches have no counts."]
    for form in ("text", "markdown"):
        assert main([*command, "--format", form, "--ask", "source", "--ask", "generated"]) == 0
        shown = capsys.readouterr().out
        assert "0.314" in shown
        assert "240 questions have no recorded answer" in shown.replace("\n", " ")
    assert main([*command, "--ask", "source", "--require", "source:accuracy=60"]) == 1
    assert "at least 60 was required, measured: 50" in capsys.readouterr().err


def test_the_command_counts_operations_by_answers(
    label: Label, sources: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chathpc.bench.predict.flops.TABLE", {("saxpy-cuda", "saxpy"): 2 * 2**20})
    monkeypatch.setattr("chathpc.bench.predict.run.TABLE", {("saxpy-cuda", "saxpy"): 2 * 2**20})
    file = tmp_path / "answers.jsonl"
    keeping = Keeping(Fixed(STATEMENTS, VALUES, TIMES), file)
    flops.chain(programs_of([label], sources)[0], lambda kind, request, problem: keeping.complete(request).text)
    command = [
        "bench",
        "predict",
        "--task",
        "flops",
        "--labels",
        str(tmp_path / "one.csv"),
        "--sources",
        str(sources),
        "--replay",
    ]
    assert main([*command, str(file), "-q", "--require", "model-exact=100"]) == 0
    assert "2,097,152" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--task", "flops"], "none of the five"),
        (["--task", "roofline"], "nothing to compare"),
        (["--task", "roofline", "--ask", "source"], "--labels and --sources"),
        (["--task", "roofline", "--record", "a", "--replay", "b"], "exclude each other"),
    ],
)
def test_what_is_missing_is_named(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "predict", *words]) == 2
    assert message in capsys.readouterr().err


def test_questions_are_written_answered_and_recorded(
    label: Label, sources: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "answers.jsonl"
    words = ["relayed", str(tmp_path), str(file), "--labels", str(tmp_path / "one.csv"), "--sources", str(sources)]
    monkeypatch.setattr("sys.argv", words)
    relayed.main()
    assert "1 questions have no answer yet: 001-alone" in capsys.readouterr().out
    question = (tmp_path / "questions" / "001-alone.txt").read_text()
    assert "y[i] = a * x[i] + y[i];" in question
    assert "Bandwidth-Bound" not in question
    (tmp_path / "answers" / "001-alone.txt").write_text("Bandwidth\n")
    relayed.main()
    relayed.main()
    assert [json.loads(line)["answer"] for line in file.read_text().splitlines()] == ["Bandwidth"]
    (sources / "saxpy-cuda" / "main.cu").write_text(SAXPY + "// changed\n")
    relayed.main()
    assert "1 questions" in capsys.readouterr().out
    assert (tmp_path / "answers" / "001-alone.stale").exists()


def test_the_costs_of_functions_are_whole_operations() -> None:
    assert {tuple(costs) for costs in flops.COSTS.values()} == {tuple(flops.COSTS["fp32"])}
    assert math.isclose(sum(flops.TABLE.values()), 16_779_307 + 1_050_389 + 54_419_825 + 6_006 + 3_080_240)
