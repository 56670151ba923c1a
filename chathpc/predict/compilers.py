"""The compilers that predictions need: where they are, what to install, and what they say where they fail."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from chathpc.errors import ChathpcError

#: What is linked in the place of NVIDIA's runtime.
MACHINE = Path(__file__).parent / "machine"
#: Until a compiler has told something of itself, or make what it would do (seconds).
ASKED = 60.0
#: Of the user's program: no more than this long for one source (seconds); heavy templates take a minute.
LONGEST = 600.0
#: What nvcc's preprocessor and clang say: the file that includes, and the header.
ABSENT_HEADER = re.compile(
    r"^([^\s:]+):\d+:\d+: fatal error: '?([^':\s]+)'?(?:: No such file| file not found)", re.MULTILINE
)
#: Packages of the Python index that bring headers which the compiler alone does not.
_PACKAGES = {
    "nvidia-cublas": "cublas", "nvidia-cufft": "cufft", "nvidia-curand": "curand", "nvidia-cusolver": "cusolver",
    "nvidia-cusparse": "cusparse", "nvidia-nvjitlink": "nvJitLink", "nvidia-nvtx": "nvtx|nvToolsExt",
    "nvidia-cuda-profiler-api": "cuda_?[pP]rofiler", "nvidia-cuda-cccl": "cub/|thrust/|cuda/", "nvidia-nccl-cu13": "nccl",
}  # fmt: skip
#: The last int of cudaDeviceProp that has a name in CUDA 13, and what was there until CUDA 12 (Runtime API, release notes of 13.0).
_LAST_MEMBER = "hostNumaMultinodeIpcSupported"
_LOST_MEMBERS = (
    "clockRate,deviceOverlap,kernelExecTimeoutEnabled,computeMode,maxTexture1DLinear,memoryClockRate"
    ",singleToDoublePrecisionPerfRatio,cooperativeMultiDeviceLaunch"
)
#: The release of clang whose runtime for OpenMP the stand-in for CUDA's driver was tested with.
CLANG_RELEASE = 19
_REMEDY = "pip install 'chathpc[predict]'"
_CLANG_REMEDY = f"apt install clang-{CLANG_RELEASE} libomp-{CLANG_RELEASE}-dev"


class ToolkitMissingError(ChathpcError):
    """NVIDIA's compiler is not there."""


class BuildError(ChathpcError):
    """The program does not compile or link; `log` is what the compiler said."""

    def __init__(self, message: str, log: str, *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.log = log


@dataclass(frozen=True, slots=True)
class Toolkit:
    """Where NVIDIA's compiler lies: the folder that holds bin and include, and its programs."""

    root: Path
    nvcc: Path

    @property
    def include(self) -> Path:
        """Folder of the headers."""
        return self.root / "include"

    @property
    def library(self) -> Path:
        """Folder of libcudadevrt.a, which device code that launches kernels is linked with."""
        found = (self.root / name for name in ("lib", "lib64"))
        return next((path for path in found if (path / "libcudadevrt.a").is_file()), self.root / "lib64")

    @property
    def older(self) -> tuple[str, ...]:
        """The definition that gives cudaDeviceProp the members back that CUDA 13 took from it: programs print and even use them."""
        text = (self.include / "driver_types.h").read_text("utf-8", errors="replace")
        if _LAST_MEMBER not in text or re.search(r"\bint\s+clockRate;", text):
            return ()
        return (f"-D{_LAST_MEMBER}={_LAST_MEMBER},{_LOST_MEMBERS}",)

    def tool(self, name: str) -> Path:
        """The program of that name, such as ptxas, cuobjdump or nvdisasm. Errors: ToolkitMissingError."""
        path = self.root / "bin" / name
        if not path.is_file():
            raise ToolkitMissingError(f"{name} is not beside {self.nvcc}.", hint=_REMEDY)
        return path


def find_toolkit(environ: Mapping[str, str] = os.environ, path: Sequence[str] = ()) -> Toolkit:
    """NVIDIA's compiler: the package of this Python environment, else the one that CUDA_HOME names, else nvcc on the PATH.

    `path` is where Python looks for packages (None given: sys.path). Errors: ToolkitMissingError with what to install.
    """
    folders = [Path(entry) / "nvidia" / "cu13" for entry in path or sys.path]
    folders += [Path(environ[name]) for name in ("CUDA_HOME", "CUDA_PATH") if environ.get(name)]
    for folder in folders:
        if (folder / "bin" / "nvcc").is_file() and (folder / "include" / "cuda_runtime_api.h").is_file():
            return Toolkit(folder.resolve(), folder.resolve() / "bin" / "nvcc")
    named = shutil.which("nvcc", path=environ.get("PATH"))
    if named is not None:
        # The one on the PATH may be a script that starts another; what it would do tells where that lies.
        done = call([named, "-dryrun", "-c", "-x", "cu", "none.cu"], Path("/"), ASKED)
        told = re.search(r"^#\$ TOP=(.+)$", done.stderr, re.MULTILINE)
        root = Path(told[1]) if told else Path(named).resolve().parent.parent
        if (root / "include" / "cuda_runtime_api.h").is_file():
            return Toolkit(root.resolve(), root.resolve() / "bin" / "nvcc")
    raise ToolkitMissingError("NVIDIA's compiler nvcc was not found.", hint=_REMEDY)


class ClangMissingError(ChathpcError):
    """A clang that can do OpenMP offload to NVIDIA's devices is not there."""


@dataclass(frozen=True, slots=True)
class Clang:
    """clang of the release that is needed: its programs' folder and that of its libraries."""

    programs: Path
    library: Path

    def device_runtime(self, architecture: str) -> Path:
        """LLVM's runtime for device code of that architecture. Errors: ClangMissingError."""
        found = self.library / f"libomptarget-nvptx-{architecture}.bc"
        if not found.is_file():
            raise ClangMissingError(f"clang has no OpenMP runtime for {architecture}.", hint=_CLANG_REMEDY)
        return found


def find_clang(environ: Mapping[str, str] = os.environ) -> Clang:
    """The clang on the PATH whose release the stand-in was tested with. Errors: ClangMissingError with what to install."""
    for name in (f"clang-{CLANG_RELEASE}", "clang"):
        found = shutil.which(name, path=environ.get("PATH"))
        if found is None:
            continue
        programs = Path(found).resolve().parent
        said = call([str(programs / "clang"), "-print-resource-dir"], programs, ASKED).stdout.strip()
        resources = Path(said)
        library = resources.parent.parent
        if resources.name.split(".")[0] == str(CLANG_RELEASE) and any(library.glob("libomptarget-nvptx-*.bc")):
            return Clang(programs, library)
    raise ClangMissingError(
        f"clang {CLANG_RELEASE} with its OpenMP runtime for NVIDIA's devices was not found.", hint=_CLANG_REMEDY
    )


def call(command: Sequence[str], folder: Path, seconds: float = ASKED) -> subprocess.CompletedProcess[str]:
    """Run a command in `folder`, in English, without input: status, output and errors as text. Raises FileNotFoundError, TimeoutExpired."""
    return subprocess.run(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=seconds,
        env={**os.environ, "LC_ALL": "C"},
        check=False,
    )


def checked(command: Sequence[str], folder: Path, failure: str) -> None:
    """Run a compiler. Errors: BuildError, which begins with `failure` and names the package of a header that is not there."""
    try:
        done = call(command, folder, LONGEST)
    except FileNotFoundError:
        raise BuildError(f"{failure} There is no {command[0]}.", "", hint="Install a C++ compiler.") from None
    except subprocess.TimeoutExpired:
        raise BuildError(f"{failure} It took longer than {LONGEST:.0f} s.", "") from None
    if done.returncode:
        log = done.stdout + done.stderr
        first = next(
            (line for line in log.splitlines() if re.search(r"\b(error|fatal|undefined reference)\b", line)), ""
        )
        absent = ABSENT_HEADER.search(log)
        package = next((name for name, header in _PACKAGES.items() if absent and re.match(header, absent[2])), "")
        raise BuildError(f"{failure} {first}".strip(), log, hint=f"pip install {package}" if package else "")
