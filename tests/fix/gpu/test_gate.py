"""Kernels through nvcc and the gate of declared kernels, with a device of numpy behind the sandbox."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chathpc.errors import UsageError
from chathpc.fix.gpu import gate, outside
from chathpc.fix.gpu.child import work
from chathpc.fix.gpu.compile import Compiled, command, compiled, symbol_of
from chathpc.fix.gpu.device import Device
from chathpc.fix.gpu.signature import Refusal
from chathpc.fix.project import Flags, Kernel, KernelArgument, Project, Run
from chathpc.fix.project_file import read
from chathpc.fix.records import GateResult, Verdict
from chathpc.fix.runner import Runner
from chathpc.fix.workspace import Workspace
from chathpc.sandbox import Completed, Request, choose
from tests.fix.gpu.stand_in import Api, Launch
from tests.fix.parts import Unguarded

nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed")
SCALE = """#include <cuda_runtime.h>
#define BLOCK 256
__global__ void scale(const double *a, double *out, double f, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = f * a[i];
}
int main() { scale<<<(1000 + BLOCK - 1) / BLOCK, BLOCK>>>(0, 0, 2.0, 1000); }
"""
DECLARED = Kernel(
    "scale", "scale.cu", (KernelArgument("f", 2.0), KernelArgument("n", 1000)), (4,), (256,), arch="sm_90"
)


def honest(launch: Launch, a: Any, out: Any, f: Any, n: Any) -> None:
    count = min(int(n), launch.threads)
    launch.at(out, "float64", 0, count)[:] = launch.at(a, "float64", 0, count) * f


def half(launch: Launch, a: Any, out: Any, f: Any, n: Any) -> None:
    launch.at(out, "float64", 0, int(n) // 2)[:] = launch.at(a, "float64", 0, int(n) // 2) * f


@dataclass
class WithDevice(Unguarded):
    """Runs commands as they are; the harness itself runs here, on numpy. nvcc is a script that copies the source where it is not there.

    What a kernel does is chosen by a word in its source. `findings` are what compute-sanitizer finds in a changed kernel, by tool.
    """

    kernels: Mapping[str, Callable[..., None]] = field(default_factory=lambda: {"": honest})
    sanitizer: bool = False
    findings: Mapping[str, str] = field(default_factory=dict)
    asked: list[dict[str, Any]] = field(default_factory=list)

    def run(self, request: Request) -> Completed:
        if "compute-sanitizer" in " ".join(request.command[:3]) and request.command[0] == "/bin/sh":
            return Completed("exited", 0 if self.sanitizer else 1, b"", b"", 0.1, 0.1)
        if "chathpc.fix.gpu.child" not in request.command:
            return super().run(request)
        asked = json.loads(request.stdin)
        self.asked.append(asked)
        if asked.get("ask") == "arch":
            return Completed("exited", 0, b'{"arch": "sm_90"}', b"", 0.1, 0.1)
        if request.command[0] == "compute-sanitizer":
            assert request.command[1:5:2] == ("--tool", "--error-exitcode")
            said = self.findings.get(request.command[2], "")
            if said and asked["original"] != asked["changed"]:
                return Completed("exited", outside.FOUND, f"========= {said}\n".encode(), b"", 0.1, 0.1)
        api = Api({side: self._kernel(asked[side]["cubin"]) for side in ("original", "changed")}, lambda symbol: 100.0)
        for side in ("original", "changed"):
            asked[side]["symbol"] = side
        return Completed("exited", 0, json.dumps(work(asked, Device(api))).encode(), b"", 0.1, 0.1)

    def _kernel(self, cubin: str) -> Callable[..., None]:
        import base64

        text = base64.b64decode(cubin)
        return next(kernel for word, kernel in reversed(list(self.kernels.items())) if word.encode() in text)


def runner(
    tmp_path: Path,
    sandbox: Any,
    *,
    text: str = SCALE,
    kernels: tuple[Kernel, ...] = (DECLARED,),
    path: str | None = None,
) -> Runner:
    root = tmp_path / "project"
    root.mkdir()
    (root / "scale.cu").write_text(text)
    project = Project(
        root, "true", Run("run", "true"), ("*.cu",), flags=Flags("NVCCFLAGS", "-O2 -lcudart -DN=4"), kernels=kernels
    )
    space = Workspace(tmp_path / "work")
    space.prepare(root)
    return Runner(project, sandbox, space, {"PATH": path or os.environ["PATH"]})


@pytest.fixture
def scripted_nvcc(tmp_path: Path) -> str:
    """A PATH with an nvcc that makes of a source what the tests need: the name of its kernel's section, and the source itself."""
    folder = tmp_path / "bin"
    folder.mkdir()
    script = folder / "nvcc"
    script.write_text(
        f"""#!{sys.executable}
import sys
words = sys.argv[1:]
target, source = words[words.index("-o") + 1], words[-1]
text = open(source).read()
if "#error" in text:
    sys.exit(f"{{source}}(2): error: #error directive")
open(target, "wb").write(b"\\x7fELF\\0.text._Z5scalePKdPddi\\0" + text.encode())
"""
    )
    script.chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


def judged(made: Runner, text: str, **more: Any) -> gate.Judged:
    (found,) = gate.judge(made, None, {"scale.cu": SCALE}, {"scale.cu": text}, np.random.default_rng(4), **more)
    return found


CHANGED = SCALE.replace("f * a[i]", "a[i] * f")


def test_an_honest_change_passes_with_its_figures(tmp_path: Path, scripted_nvcc: str) -> None:
    sandbox = WithDevice()
    found = judged(runner(tmp_path, sandbox, path=scripted_nvcc), CHANGED, seconds=5.0)
    assert found.verdict is None
    assert not found.refused
    assert "By itself, the kernel scale agrees on 3 random inputs" in found.statement
    assert "timed alone: not faster beyond noise" in found.statement
    assert "not checked with racecheck: compute-sanitizer is not available" in found.statement
    assert found.timing is not None
    assert all(request.gpu for request in sandbox.requests if "child" in str(request.command))


def test_a_wrong_change_is_a_wrong_answer(tmp_path: Path, scripted_nvcc: str) -> None:
    made = runner(tmp_path, WithDevice(kernels={"": honest, "n / 2": half}), path=scripted_nvcc)
    found = judged(made, SCALE.replace("i >= n", "i >= n / 2"))
    assert found.verdict == Verdict.WRONG_ANSWER
    assert "By itself, the kernel scale leaves 500 of 1,000 elements of out unwritten" in found.statement


def test_seeds_differ_from_change_to_change(tmp_path: Path, scripted_nvcc: str) -> None:
    sandbox = WithDevice()
    made = runner(tmp_path, sandbox, path=scripted_nvcc)
    random = np.random.default_rng(4)
    for text in (CHANGED, CHANGED + "\n"):
        gate.judge(made, None, {"scale.cu": SCALE}, {"scale.cu": text}, random)
    assert len({one["seed"] for one in sandbox.asked}) == 2


@pytest.mark.parametrize("tool", outside.TOOLS)
def test_what_compute_sanitizer_finds_is_a_wrong_answer(tmp_path: Path, scripted_nvcc: str, tool: str) -> None:
    said = "Error: Race reported between Write access at scale+0x90 and Read access at scale+0xc0"
    sandbox = WithDevice(sanitizer=True, findings={tool: said})
    found = judged(runner(tmp_path, sandbox, path=scripted_nvcc), CHANGED)
    assert found.verdict == Verdict.WRONG_ANSWER
    assert f"compute-sanitizer's {tool} finds: Race reported between" in found.statement


def test_what_compute_sanitizer_does_not_find_is_told(tmp_path: Path, scripted_nvcc: str) -> None:
    found = judged(runner(tmp_path, WithDevice(sanitizer=True), path=scripted_nvcc), CHANGED)
    assert found.verdict is None
    assert "racecheck finds nothing; memcheck finds nothing" in found.statement


@pytest.mark.parametrize(
    "more",
    ["__device__ double cache[1000];\n", "__managed__ int done;\n"],
)
def test_variables_that_outlive_a_launch_are_cheating(tmp_path: Path, scripted_nvcc: str, more: str) -> None:
    found = judged(runner(tmp_path, WithDevice(), path=scripted_nvcc), more + SCALE)
    assert found.verdict == Verdict.CHEATED
    assert "keeps values on the device between launches" in found.statement


def test_another_block_size_is_launched_so(tmp_path: Path, scripted_nvcc: str) -> None:
    sandbox = WithDevice()
    found = judged(runner(tmp_path, sandbox, path=scripted_nvcc), SCALE.replace("BLOCK 256", "BLOCK 64"))
    assert found.verdict is None
    (asked,) = [one for one in sandbox.asked if "original" in one]
    assert (asked["original"]["plan"]["grid"], asked["original"]["plan"]["block"]) == ([4, 1, 1], [256, 1, 1])
    assert (asked["changed"]["plan"]["grid"], asked["changed"]["plan"]["block"]) == ([16, 1, 1], [64, 1, 1])


@pytest.mark.parametrize(
    ("kernel", "text", "said"),
    [
        (replace(DECLARED, name="other"), CHANGED, "There is no kernel other in scale.cu."),
        (replace(DECLARED, file="other.cu"), CHANGED, None),
        (replace(DECLARED, grid=(), block=()), CHANGED, "No profile has the launch configuration."),
        (replace(DECLARED, arguments=()), CHANGED, "Unknown value of f of scale."),
        (DECLARED, SCALE.replace("double f, int n", "float f, int n"), "The change alters the arguments of scale."),
        (DECLARED, CHANGED + "\n#error no\n", "the change: scale.cu does not compile for sm_90"),
    ],
)  # fmt: skip
def test_what_cannot_be_tried_is_told_and_stops_nothing(
    tmp_path: Path, scripted_nvcc: str, kernel: Kernel, text: str, said: str | None
) -> None:
    made = runner(tmp_path, WithDevice(), kernels=(kernel,), path=scripted_nvcc)
    found = gate.judge(made, None, {"scale.cu": SCALE}, {"scale.cu": text}, np.random.default_rng(4))
    if said is None:
        assert found == []  # its file is not changed
        return
    assert [one.verdict for one in found] == [None]
    assert found[0].refused
    assert said in found[0].statement
    before = GateResult("correctness", True, "All agree.")
    assert gate.gate(found, before).passed
    assert gate.gate(found, before).figures["kernels"] == [found[0].statement]


def test_the_gate_says_no_if_a_kernel_does() -> None:
    before = GateResult("correctness", True, "All agree.")
    assert gate.gate([], before) is before
    found = gate.gate([gate.Judged("k", Verdict.WRONG_ANSWER, "Wrong.")], before)
    assert (found.passed, found.verdict, found.statement) == (False, Verdict.WRONG_ANSWER, "Wrong.")


def test_without_a_device_the_architecture_is_not_known(tmp_path: Path) -> None:
    made = runner(tmp_path, Unguarded(), kernels=(replace(DECLARED, arch=None),))
    if not isinstance(outside.arch(made), Refusal):
        pytest.skip("there is a device") if "CHATHPC_REQUIRE_ALL" not in os.environ else None
        return
    found = judged(made, CHANGED)
    assert found.refused
    assert "Kernels cannot be run here" in found.statement


def test_a_harness_that_dies_is_a_refusal(tmp_path: Path) -> None:
    class Dies(Unguarded):
        def run(self, request: Request) -> Completed:
            return Completed("killed", -11, b"", b"Segmentation fault", 0.1, 0.1)

    found, completed = outside.ask(runner(tmp_path, Dies()), {"ask": "arch"})
    assert found["status"] == "refused"
    assert "killed, status -11" in str(found["statement"])
    assert not completed.succeeded


# -- nvcc itself ---------------------------------------------------------------------------------------------


@nvcc
@pytest.mark.proprietary
@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90", "sm_100"])
def test_nvcc_makes_code_with_the_kernels_symbol(tmp_path: Path, arch: str) -> None:
    found = compiled(runner(tmp_path, Unguarded()), {}, "scale.cu", "scale", arch)
    assert isinstance(found, Compiled), found
    assert found.symbol == "_Z5scalePKdPddi"
    assert found.cubin.startswith(b"\x7fELF")


@nvcc
@pytest.mark.proprietary
def test_nvcc_takes_what_the_recipes_write(tmp_path: Path) -> None:
    text = SCALE.replace("BLOCK 256", "BLOCK 64").replace("void scale", "void __launch_bounds__(64) scale")
    found = compiled(runner(tmp_path, Unguarded()), {"scale.cu": text}, "scale.cu", "scale", "sm_90")
    assert isinstance(found, Compiled), found


@nvcc
@pytest.mark.proprietary
def test_nvccs_first_error_is_told(tmp_path: Path) -> None:
    found = compiled(
        runner(tmp_path, Unguarded()), {"scale.cu": SCALE.replace("f *", "g *")}, "scale.cu", "scale", "sm_90"
    )
    assert isinstance(found, Refusal)
    assert '"g" is undefined' in found.statement


@nvcc
@pytest.mark.proprietary
def test_kernels_of_one_name_are_not_taken_for_each_other(tmp_path: Path) -> None:
    text = "namespace a { __global__ void scale(int *p) { *p = 1; } } namespace b { __global__ void scale(int *p) { *p = 2; } }\n"
    found = compiled(runner(tmp_path, Unguarded(), text=text), {}, "scale.cu", "scale", "sm_90")
    assert found == Refusal(
        "nvcc produced 2 kernels called scale.", "Only kernels with a single instance can have a harness."
    )


def test_without_nvcc_it_is_said(tmp_path: Path) -> None:
    found = compiled(runner(tmp_path, Unguarded(), path="/usr/bin:/bin"), {}, "scale.cu", "scale", "sm_90")
    if shutil.which("nvcc", path="/usr/bin:/bin") is None:
        assert isinstance(found, Refusal)
        assert found.statement == "nvcc is not available."


def test_of_the_projects_flags_those_are_kept_that_decide_the_code() -> None:
    words = command(
        "src/a b.cu",
        "sm_90",
        "-O2 -g -G -lcudart -DN=4 -arch=sm_50 -std=c++17 --use_fast_math -Xcompiler -fopenmp; rm -rf",
    ).split()
    assert words[:4] == ["nvcc", "-cubin", "-arch=sm_90", "-lineinfo"]
    assert {"-O2", "-DN=4", "-std=c++17", "--use_fast_math"} <= set(words)
    assert not {"-g", "-G", "-lcudart", "-arch=sm_50", "rm", "-fopenmp;", "-Xcompiler"} & set(words)
    assert command("src/a b.cu", "sm_90").endswith("-I. -Isrc -o .chathpc-kernel.cubin 'src/a b.cu'")


@pytest.mark.parametrize(
    ("sections", "name", "found"),
    [
        (["_Z5scalePd"], "scale", "_Z5scalePd"),
        (["_Z5scalePd", "_Z6scale2Pd"], "scale", "_Z5scalePd"),
        (["scale"], "scale", "scale"),
        (["_ZN1a5scaleEPd"], "scale", "_ZN1a5scaleEPd"),
        ([], "scale", None),
        (["_Z6scale2Pd"], "scale", None),
    ],
)
def test_the_symbol_is_found_by_the_kernels_name(sections: list[str], name: str, found: str | None) -> None:
    cubin = b"\x7fELF\0" + b"".join(f".text.{one}\0".encode() for one in sections)
    assert (symbol_of(cubin, name) == found) if found else isinstance(symbol_of(cubin, name), Refusal)


# -- chathpc.yaml --------------------------------------------------------------------------------------------


def described(tmp_path: Path, kernels: str) -> Project:
    (tmp_path / "scale.cu").write_text(SCALE)
    (tmp_path / "chathpc.yaml").write_text(
        f"project: {{build: make, run: ./app, edit: ['*.cu'], kernels: {kernels}}}\n"
    )
    return read(tmp_path)


def test_kernels_are_declared_in_chathpc_yaml(tmp_path: Path) -> None:
    text = (
        "[{name: scale, file: scale.cu, grid: [4], block: [256], arch: sm_90, relative: 1e-6, shared: 64, "
        "arguments: [{name: n, value: 1000}, {name: f, value: 2.5}, {name: out, elements: 1000, role: out}]}]"
    )
    (found,) = described(tmp_path, text).kernels
    assert found == Kernel(
        "scale", "scale.cu", (KernelArgument("n", 1000), KernelArgument("f", 2.5), KernelArgument("out", elements=1000, role="out")),
        (4,), (256,), 64, 1e-6, None, "sm_90",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[{name: scale}]", "project.kernels[1].file"),
        ("[{name: 'a b', file: a.cu}]", "project.kernels[1].name"),
        ("[{name: a, file: ../a.cu}]", "path below the project's folder"),
        ("[{name: a, file: a.cu, block: [0]}]", "block"),
        ("[{name: a, file: a.cu, block: [1, 1, 1, 1]}]", "block"),
        ("[{name: a, file: a.cu, arch: native}]", "arch"),
        ("[{name: a, file: a.cu, arguments: [{name: n, value: 1, elements: 2}]}]", "a value or elements of an array"),
        ("[{name: a, file: a.cu, arguments: [{name: n, elements: 2, low: 3, high: 2}]}]", "low <= high"),
        ("[{name: a, file: a.cu, arguments: [{name: n, value: .inf}]}]", "finite"),
        ("[{name: a, file: a.cu, arguments: [{name: n, size: 2}]}]", "size"),
    ],
)
def test_wrong_declarations_are_explained(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        described(tmp_path, text)
    assert said in str(caught.value)


@nvcc
@pytest.mark.proprietary
def test_every_change_of_the_checks_on_a_device_compiles(tmp_path: Path) -> None:
    from tests.fix.gpu.device_checks import CHANGES, ORIGINAL

    made = runner(tmp_path, Unguarded())
    whole = "#define BLOCK 256\n"
    for number, (_, _, old, new, _, _) in enumerate(CHANGES):
        assert ORIGINAL.count(old) == 1
        whole += (
            f"namespace change{number} {{\n"
            + ORIGINAL[ORIGINAL.index("// Strided") : ORIGINAL.index("int main")].replace(old, new)
            + "}\n"
        )
    found = compiled(made, {"scale.cu": whole}, "scale.cu", "smooth", "sm_90")
    # One of each namespace: nvcc took them all, and so many are no one kernel.
    assert found == Refusal(
        f"nvcc produced {len(CHANGES)} kernels called smooth.",
        "Only kernels with a single instance can have a harness.",
    )


@pytest.mark.parametrize("index", range(16))
def test_every_kernel_of_the_checks_on_a_device_has_a_plan(tmp_path: Path, index: int) -> None:
    from tests.fix.gpu.device_checks import CHANGES, ORIGINAL

    _, kernel, old, new, _, _ = CHANGES[index]
    made = runner(tmp_path, Unguarded())
    found = gate.plans_of(kernel, None, {"app.cu": ORIGINAL}, {"app.cu": ORIGINAL.replace(old, new)}, made)
    assert not isinstance(found, gate.Judged), found
    assert found[0].grid[0] * 256 == 1 << 22
    assert {one.name: one.role for one in found[0].arguments if one.is_array} == {"a": "in", "out": "out"}


def test_the_child_finds_packages_where_this_process_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As modules of a cluster name them; what the project's own environment says is not asked."""
    (tmp_path / "site").mkdir()
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path / 'site'}:relative:{tmp_path / 'absent'}")
    made = outside.request(runner(tmp_path, choose()), {"ask": "arch"})
    assert made.environment["PYTHONPATH"].split(":")[1:] == [str(tmp_path / "site"), str(tmp_path / "absent")]
    assert tmp_path / "site" in made.readable
    assert tmp_path / "absent" not in made.readable
