"""A kernel's file through nvcc, to code of the device alone: nothing of its host code is ever run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from chathpc.fix.gates.build import first_error
from chathpc.fix.gpu.signature import Refusal
from chathpc.fix.runner import Case, Runner
from chathpc.profile.kernel_names import base_key, demangled, kernel_key
from chathpc.profile.text import clean

#: Flags of the project that decide what code is made; the rest (libraries, other architectures, -G) is not handed on.
_FLAG = re.compile(
    r"-O[0-3]|-(?:D|U|I|std=|-std=)\S+|-?-use_fast_math|-?-(?:fmad|ftz|prec-div|prec-sqrt)=\w+|-?-maxrregcount[= ]?\d+"
    r"|-?-expt-(?:relaxed-constexpr|extended-lambda)|-?-extended-lambda"
)
#: The section of a kernel's code in a cubin (an ELF file) is called after it.
_SECTION = re.compile(rb"\.text\.([A-Za-z_$][\w$]*)\0")
#: A cubin with more is none of one file (bytes).
_LARGEST = 64 << 20
_RESULT = ".chathpc-kernel.cubin"


@dataclass(frozen=True, slots=True)
class Compiled:
    """A cubin, and the kernel's symbol in it."""

    cubin: bytes
    symbol: str


def command(file: str, arch: str, flags: str = "") -> str:
    """The shell command that compiles a file for one architecture, with line numbers."""
    kept = [one for one in _words(flags) if _FLAG.fullmatch(one)]
    folders = ("-I.", f"-I{PurePosixPath(file).parent}")
    return shlex.join(["nvcc", "-cubin", f"-arch={arch}", "-lineinfo", *kept, *folders, "-o", _RESULT, file])


def _words(flags: str) -> list[str]:
    try:
        return shlex.split(flags)
    except ValueError:
        return flags.split()


def compiled(runner: Runner, files: Mapping[str, str], file: str, kernel: str, arch: str) -> Compiled | Refusal:
    """Compile `file` of the project with `files` over its original, in the sandbox. A Refusal with nvcc's first error where that fails."""
    stage = runner.sources(files)
    flags = runner.project.flags.value if runner.project.flags is not None else ""
    done = runner.shell(command(file, arch, flags), Case(runner.project.run))
    said = (done.stdout + done.stderr).decode("utf-8", "replace")
    if not done.succeeded:
        what = (
            "nvcc is not available"
            if done.code == 127
            else f"{clean(file)} does not compile for {arch}: {first_error(said)}"
        )
        return Refusal(
            what + ".",
            "Put the CUDA toolkit on the PATH." if done.code == 127 else "A harness compiles this file alone.",
        )
    result = stage / _RESULT
    if result.is_symlink() or not result.is_file() or result.stat().st_size > _LARGEST:
        return Refusal(f"nvcc produced no code for {clean(file)}.")
    cubin = result.read_bytes()
    result.unlink()
    symbol = symbol_of(cubin, kernel)
    return symbol if isinstance(symbol, Refusal) else Compiled(cubin, symbol)


def symbol_of(cubin: bytes, kernel: str) -> str | Refusal:
    """The symbol of a kernel in a cubin, which must be the only one of its name."""
    symbols: list[str] = sorted({one.decode("ascii") for one in _SECTION.findall(cubin)})
    wanted = kernel_key(kernel)
    found = [one for one in symbols if kernel_key(one) == wanted] or [
        one for one in symbols if base_key(demangled(one)) == base_key(kernel)
    ]
    if len(found) == 1:
        return found[0]
    if not found:
        return Refusal(f"nvcc produced no code for {clean(kernel)}.", "A template needs an instance in the same file.")
    return Refusal(
        f"nvcc produced {len(found)} kernels called {clean(kernel)}.",
        "Only kernels with a single instance can have a harness.",
    )
