"""`chathpc predict`: what it prints for a prediction of known numbers, what it refuses, and one program from its source to the answer."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from chathpc.predict.compilers import ToolkitMissingError, find_toolkit
from chathpc.predict.profiled import Profiled
from chathpc.predict.program import Asked
from chathpc.reports import PREDICTION_FORMATS, prediction_renderers
from chathpc.reports.style import Style
from tests.commands.conftest import Result
from tests.predict.predicted import kernel, sample, spread

Run = Callable[..., Result]
PROGRAMS = Path(__file__).parents[1] / "predict" / "programs"
SCHEMA = Path(__file__).parents[2] / "docs" / "prediction-schema.json"

TEXT = """\
gemm.cu · NVIDIA GeForce RTX 3080 · compiled by nvcc 13.5.37 · predicted,
nothing was measured

L1 AND SHARED MEMORY  gemm<float> on NVIDIA GeForce RTX 3080: 12.0 µs (10.0 µs
to 15.0 µs), most of it for L1 and shared memory; compute-bound by the roofline
(FP32 arithmetic, 92 % likely).

   operations    count  intensity  balance   ratio  of-peak
   FP32         4.19 M       64.0     32.0   2.00x   1.25 %
   integer     700,000       10.7     16.5  0.648x  0.400 %

   Launch     grid 8 x 8, block 16 x 16, 40 registers a thread, 2.05 kB of
              shared memory a block
   Memory     131 kB (65.5 kB to 262 kB) to and from device memory (131 kB read,
              0 B written) · distinct: 131 kB read, 65.5 kB written
   Requested  global load 1.05 MB in 8.00 sectors a request (50.0 % used) ·
              global store 65.5 kB in 4.00 sectors a request (100 % used) ·
              shared load 16.8 MB in 1.60 passes a request
   Time       12.0 µs (10.0 µs to 15.0 µs); alone would take: L1 and shared
              memory 8.00 µs · waiting (latency) 4.00 µs
   Occupancy  100 %: 6 blocks (48 warps) on a multiprocessor, limited by warps;
              0.157 waves
   Executed    75.4 % gemm.cu:21  for (int j = 0; j < tile; j++) sum += left[y]…
                6.8 % gemm.cu:18  left[y][x] = a[row * n + k + x];
   Changes    It would take less time with fewer passes, most of which are for
              shared loads: keep values in registers and use each several times.
              It would be bandwidth-bound with 2x fewer single-precision
              operations, or 2x more bytes.
   Assumed    The program's arguments are those of `make run`: 128.
"""


def rendered(form: str, *kernels: dict[str, Any], **style: Any) -> str:
    text = prediction_renderers()[form](sample(*kernels), Style(**style))
    assert isinstance(text, str)
    return text


def test_the_text_of_a_prediction_is_one_screen() -> None:
    assert rendered("text") == TEXT
    assert rendered("text", encoding="ascii").isascii()
    assert all(len(line) <= 60 for line in rendered("text", width=60).splitlines())


def test_several_kernels_stand_in_a_table_and_the_first_in_full() -> None:
    other = kernel(kernel="saxpy", headline="saxpy.")
    assert rendered("text", kernel(), other).startswith("gemm.cu")
    assert (
        "saxpy." in rendered("text", kernel(), other),
        "saxpy." in rendered("text", kernel(), other, verbose=True),
    ) == (False, True)


def test_kernels_of_one_name_are_told_apart_in_the_table() -> None:
    names = [f"sim::force<{real}, 128>" for real in ("float", "double")]
    text = rendered("text", *(kernel(kernel=name) for name in names), width=80)
    assert all(text.count(name) for name in names)
    assert "(…)" not in text


def test_one_block_is_no_blocks() -> None:
    time = kernel()["time"] | {"blocks": 1, "warps": 1}
    still = kernel()["bytes"] | {"memory_written": spread(81.92)}
    assert "1 block (1 warp) on a" in rendered("text", kernel(time=time))
    assert "82.0 B written" in " ".join(rendered("text", kernel(bytes=still)).split())


def test_where_no_bytes_move_there_is_no_intensity() -> None:
    still = kernel()["bytes"] | {"memory_read": spread(0), "memory_written": spread(0)}
    assert "64.0" not in rendered("text", kernel(bytes=still))


def test_markdown_shows_names_as_they_are() -> None:
    text = rendered("markdown", kernel(kernel="f<a|b>"))
    assert "## `f<a|b>`" in text
    assert "| FP32 | 4.19 M | 64.0 | 32.0 | 2.00x | 1.25 % |" in text
    assert "- The program's arguments are those of `make run`: 128." in text


def test_json_holds_the_schema() -> None:
    jsonschema.validate(json.loads(rendered("json")), json.loads(SCHEMA.read_text()))


def test_the_picture_has_a_roof_and_a_point_for_each_class() -> None:
    picture = ElementTree.fromstring(rendered("svg", kernel(kernel="a<b>&c")))
    circles = [each for each in picture.iter() if each.tag.endswith("circle")]
    roofs = [each for each in picture.iter() if each.tag.endswith("path") and each.get("class") == "r"]
    assert (len(circles), len(roofs)) == (2, 2)
    # 64 operations a byte lie right of the balance point of 33, 10.7 left of it.
    ridge = float(str(roofs[0].get("d"))[1:].split()[0])
    assert float(str(circles[0].get("cx"))) > ridge > float(str(circles[1].get("cx")))


def test_no_label_of_the_picture_is_cut_or_hides_another() -> None:
    far = [{**roof, "intensity": 9e3} for roof in kernel()["roofs"]]
    record = sample(kernel(kernel="simulation::force<double, 128>", roofs=far))
    same = record.device.model_copy(update={"peaks": {"fp32": 19.5e12, "integer": 19.5e12}})
    svg = prediction_renderers()["svg"](record.model_copy(update={"device": same}), Style())
    boxes = []
    for each in ElementTree.fromstring(svg).iter():  # type: ignore[arg-type]
        if each.tag.endswith("text") and float(each.get("font-size", 12)) == 12:
            # Letters and digits of 12 pixels are 6.7 wide on average.
            x, y, wide = float(each.attrib["x"]), float(each.attrib["y"]), 6.7 * len(each.text or "")
            x -= {"end": wide, "middle": wide / 2}.get(each.get("text-anchor", ""), 0)
            boxes.append((x, x + wide, y - 10, y))
    assert all(left >= 0 and right <= 760 for left, right, _, _ in boxes)
    for number, (left, right, top, bottom) in enumerate(boxes):
        for other in boxes[:number]:
            assert left >= other[1] or other[0] >= right or top >= other[3] or other[2] >= bottom


def test_the_picture_is_drawn_as_png_as_well() -> None:
    pytest.importorskip("matplotlib")
    picture = prediction_renderers()["png"](sample(kernel(kernel="a$b$")), Style())
    assert isinstance(picture, bytes)
    assert picture.startswith(b"\x89PNG")


def test_the_page_holds_picture_and_text_and_no_script() -> None:
    page = rendered("html", kernel(kernel="<script>alert(1)</script>"))
    assert "<svg" in page
    assert "&lt;script&gt;alert(1)" in page
    assert "<script" not in page


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("none.cu",), 2, "none.cu does not exist."),
        ((".",), 2, "has no Makefile."),
        (("a.txt",), 2, "a.txt is no source file of CUDA, C or C++."),
        (("a.cu", "."), 2, "A folder is given alone."),
        ((".", "-D", "N=1"), 2, "Options of the compiler are for sources."),
        (("a.cu", "--device", "rtx3081"), 2, "rtx3080"),
        (("a.cl", "--grid", "1"), 2, "without a sandbox"),
        (("own.cl", "--grid", "1"), 2, "chathpc predict own.cl --no-sandbox"),
        (("a.cl", "--grid", "1", "--no-sandbox", "--device", "h100"), 2, "not predicted for h100"),
        (("a.cu", "--grid", "0"), 2, "0 is no size"),
        (("a.cu", "--device", "a100", "--device", "h100"), 2, "2 devices are named"),
        ((str(PROGRAMS / "three.cu"), "--kernel", "saxpy", "--param", "n=1000"), 2, "The program has a main"),
        (("a.cu", "--param", "n"), 2, "n is not NAME=VALUE."),
        (("a.cu", "--param", "n=1", "--param", "n=2"), 2, "n is given twice."),
        (("a.cu", "--args", "'"), 2, "--args: No closing quotation."),
        (("a.cu", "-o", "p.xyz"), 2, "unknown extension"),
    ],
)
def test_wrong_usage_ends_with_2_and_says_what_to_do(
    run: Run, tmp_path: Path, words: tuple[str, ...], code: int, said: str
) -> None:
    (tmp_path / "a.txt").write_text("")
    (tmp_path / "a.cu").write_text("")
    if not any(word in ("--grid", "--param", "-o") for word in words):
        _need_toolkit()
    result = run("predict", *words)
    assert (result.code, result.out) == (code, "")
    assert said in result.err


def _need_toolkit() -> None:
    try:
        find_toolkit()
    except ToolkitMissingError:
        pytest.skip("NVIDIA's compiler is not there")


@pytest.mark.proprietary
def test_a_program_is_predicted_from_its_source(run: Run, tmp_path: Path) -> None:
    _need_toolkit()
    words = ("--kernel", "saxpy", "--args", "64 1", "--device", "a100")
    result = run("predict", str(PROGRAMS / "three.cu"), *words, "-o", "p.json")
    assert (result.code, result.out, result.err) == (0, "", "")
    data = json.loads((tmp_path / "p.json").read_text())
    jsonschema.validate(data, json.loads(SCHEMA.read_text()))
    (found,) = data["kernels"]
    assert (found["kernel"], found["bound"], found["operations"]["fp32"]["value"]) == (
        "saxpy",
        "bandwidth",
        2 * 64 * 64,
    )
    assert (data["compiled_for"], data["device"]["architecture"]) == ("sm_80", "sm_80")


@pytest.mark.proprietary
def test_a_launch_without_end_does_at_least_what_was_seen_and_leaves_unfinished_what_is_read_later(
    run: Run, tmp_path: Path
) -> None:
    _need_toolkit()
    source = str(PROGRAMS / "unfinished.cu")
    assert run("predict", source, "--args", "20000000", "--seconds", "0.5", "-o", "p.json").code == 0
    data = json.loads((tmp_path / "p.json").read_text())
    jsonschema.validate(data, json.loads(SCHEMA.read_text()))
    walk, turn = (next(each for each in data["kernels"] if each["kernel"] == name) for name in ("walk", "turn"))
    # Each of 65,536 threads takes 2 * 10^7 steps, less the number of its place, of one addition at least.
    for found, truth in ((walk["operations"]["integer"], 65_536 * 2e7), (walk["time"]["seconds"], 2e7 * 100 / 1.71e9)):
        assert found["high"] is None
        assert 0 < found["low"] < truth
    assert any("at least" in each for each in walk["assumptions"])
    assert any("unfinished" in each for each in turn["assumptions"])
    assert "at least" in walk["headline"]
    assert "at least" in run("predict", source, "--args", "20000000", "--seconds", "0.5", "--kernel", "walk").out


def test_what_a_profile_tells_is_taken_where_nothing_else_is_said() -> None:
    told = Profiled("void gemm<float>(int)", 64, 256, 1e-3)
    asked = told.asked(Asked())
    assert (asked.kernel, asked.alone_grid, asked.alone_block, asked.grid) == (
        "gemm<float>",
        (64, 1, 1),
        (256, 1, 1),
        None,
    )
    assert told.asked(Asked("other")).kernel == "other"


def test_every_format_has_a_renderer() -> None:
    assert set(prediction_renderers()) == set(PREDICTION_FORMATS)
