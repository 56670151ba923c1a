"""Programs of the tests, built and run with the interpreter in the place of a device."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chathpc.predict import cubin, lowering
from chathpc.predict.build import build
from chathpc.predict.compilers import Toolkit
from chathpc.predict.recipe import recipe_of_sources


@dataclass(frozen=True, slots=True)
class Interpreted:
    """A built program: its executable, its code as lowered, and the files of its device code."""

    executable: Path
    lowered: lowering.Lowered
    cubins: tuple[Path, ...]

    def run(
        self, settings: str, *words: str, seconds: float = 60
    ) -> tuple[subprocess.CompletedProcess[str], list[Any]]:
        """What it did and printed, and the launches that the interpreter wrote down."""
        folder = self.executable.parent
        (folder / "settings").write_text(settings)
        (folder / "launches").unlink(missing_ok=True)
        environment = {**os.environ, "CHATHPC_MACHINE": str(folder)}
        command = [str(self.executable), *words]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=seconds, check=False)
        lines = (folder / "launches").read_text().splitlines() if (folder / "launches").exists() else []
        return done, [json.loads(line) for line in lines]

    def counts(self, launch: Any, opcode: str) -> list[Sequence[int]]:
        """Warps, threads, sectors, passes and requests of each instruction of a launch with this opcode that ran."""
        texts = [line.text for code in self.lowered.code for line in code.lines]
        return [values for index, *values in launch["counts"] if opcode in texts[index].replace(".", " ").split()]


def interpreted(
    source: Path, work: Path, toolkit: Toolkit, flags: Sequence[str] = (), architecture: str = "sm_86"
) -> Interpreted:
    """Build a program of one source; its folder becomes the interpreter's."""
    recipe = recipe_of_sources([source], ["-std=c++17", *flags])
    built = build(recipe, work=work, toolkit=toolkit, architecture=architecture)
    lowered = lowering.lower(list(_modules(built.cubins, toolkit)))
    (work / "code").write_bytes(lowered.data)
    return Interpreted(built.executable, lowered, built.cubins)


def _modules(cubins: Sequence[Path], toolkit: Toolkit) -> Iterator[tuple[cubin.Cubin, Any]]:
    for path in cubins:
        text = subprocess.run([str(toolkit.tool("nvdisasm")), "-c", str(path)], capture_output=True, check=True).stdout
        disassembly = path.with_suffix(".sass")
        disassembly.write_bytes(text)
        yield cubin.read(path), list(lowering.disassembled(disassembly))
