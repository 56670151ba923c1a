"""What compilers wrote of two small programs, and records with all that the formats have."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

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

RECORDED = Path(__file__).resolve().parents[2] / "data" / "compiler_records"
ITEMS = (
    Loop("src/heat.c", 10, "void heat::step<2>(int)", "control flow in loop.", 12),
    Loop("src/heat.c", 20, "step"),
    Loop("/opt/app/flux 2.cpp", 7, "_ZN4heat4fluxEv", "statement clobbers memory: _5 = exp (_4);", 8),
    Call("src/heat.c", 30, "main", "cell", "function body not available"),
    Call("src/heat.c", 31, "main", "step"),
)
COMMANDS = (
    "make[1]: Entering directory 'build'\n/usr/bin/gcc -g -O0 -c src/heat.c -o heat.o\nmpicxx -O3 -c flux.cpp\n"
    "    <c>   DW_AT_producer    : (indirect string, offset: 0x0): GNU C17 12.2.0 -mtune=generic -g -O2\n"
)  # fmt: skip


def write_samples(folder: Path) -> list[Path]:
    """Records of GCC, remarks of LLVM, output of ptxas, a build's log with everything, and a folder."""
    written = []
    for file in sorted(RECORDED.iterdir()):
        if file.suffix not in (".c", ".cu"):
            shutil.copyfile(file, folder / file.name)
            written.append(folder / file.name)
    kernels = (Kernel("_Z4axpyPfPKffi", 40, 16, 12, 12), Kernel("_Z5blendILi24EEvPdPKdi", shared=1024))
    texts = {
        "records.json": gcc_records(ITEMS),
        "remarks.yaml": llvm_documents(ITEMS).replace("/opt/app/flux 2.cpp", "'/opt/app/it''s flux.cpp'"),
        "build.log": COMMANDS + gcc_text(ITEMS) + llvm_text(ITEMS) + ptxas_text(kernels),
        "commands.log": COMMANDS,
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
        written.append(folder / name)
    several = folder / "several"
    several.mkdir()
    (several / "heat.opt.yaml").write_text(llvm_documents(ITEMS[:2]))
    (several / "flux.cpp.opt-record.json.gz").write_bytes(gzip.compress(gcc_records(ITEMS[2:]).encode(), mtime=0))
    return [*written, several]
