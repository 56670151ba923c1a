"""Disassembled GPU code (SASS) as text: `nvdisasm -c -gi kernel.cubin`, `cuobjdump -sass program`; a companion of a profile.

It holds no measurements. Given beside a profile with samples by instruction or line (`chathpc explain report.ncu-rep
kernel.sass`) it tells what stalled instructions wait for. With `-hex` (cuobjdump always) the text shows the scheduling bits,
which tell it exactly.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from chathpc.adapters.adapter import Adapter
from chathpc.adapters.glance import Glance
from chathpc.adapters.lines import lines
from chathpc.adapters.stacks import Stacks
from chathpc.errors import AdapterError
from chathpc.profile.machine_code import CodeLine, MachineCode, SourceLine
from chathpc.profile.profile import Profile
from chathpc.profile.text import clean

TOOL = "disassembly"
#: More instructions are no kernels' of one program; the largest libraries have some millions.
_MOST = 8_000_000
#: No program has more kernels.
_KERNELS = 50_000
#: Longer lines hold no instruction.
_LINE = 4096
#: No kernel's code is longer.
_LARGEST = 1 << 32
#: Callers of inlined code that are kept; CUTLASS has some tens.
_DEEPEST = 200

_ONE = "Disassemble one kernel: cuobjdump -sass -fun NAME program."

_STARTS = re.compile(
    r'^\s*(?:\.headerflags\s+@"EF_CUDA|\.target\s+sm_\d|code for sm_\d|Fatbin elf code:)', re.MULTILINE
)
_PTX = re.compile(r"^\s*\.version\s+\d", re.MULTILINE)
_ARCHITECTURE = re.compile(r"(?:\.target\s+|code for )(sm_\d{2,3}[a-z]?)|EF_CUDA_SM(\d{2,3})")
_FUNCTION = re.compile(r"^(?:\.text\.(\S+):\s*$|\s*Function : (\S+))")
_LABEL = re.compile(r"^((?:\.L|\$)[\w.$]+):\s*$")
_PLACE = re.compile(r'^\s*//## File "([^"]*)", line (\d{1,9})(?: inlined at "([^"]*)", line (\d{1,9}))?')
_INSTRUCTION = re.compile(r"^\s*/\*([0-9a-fA-F]{4,16})\*/\s+([^\s.].*?)\s*;?\s*(?:/\* 0x([0-9a-fA-F]{16}) \*/\s*)?$")
_ENCODING = re.compile(r"^\s*/\* 0x([0-9a-fA-F]{16}) \*/\s*$")
#: The scheduling bits stand in the upper half of an instruction of 128 bits, above these (Jia et al. 2018, section 2.1).
_BELOW_CONTROL, _CONTROL = 41, (1 << 21) - 1


def recognises(glance: Glance) -> bool:
    """True for text that begins as a disassembly of NVIDIA's tools does; PTX, which is no machine code, is none."""
    return _STARTS.search(glance.text[:4096]) is not None and _PTX.search(glance.text[:4096]) is None


@dataclass(slots=True)
class _Function:
    """A function that is being read."""

    name: str
    architecture: str
    lines: list[CodeLine] = field(default_factory=list)


def read(path: Path) -> Profile:
    """The code of all kernels in the text, in a profile without measurements. AdapterError for text without instructions."""
    found = []
    for function in functions(lines(path), path):
        if function.lines:
            found.append(MachineCode(function.name, tuple(function.lines), architecture=function.architecture))
        if len(found) > _KERNELS:
            raise AdapterError(f"more than {_KERNELS:,} kernels", path=path, hint=_ONE)
    if not found:
        raise AdapterError(
            "no machine instruction in this disassembly",
            path=path,
            hint="Write it again from a cubin or program that holds machine code: nvdisasm -c -gi kernel.cubin, or cuobjdump -sass program.",
        )
    return replace(
        Stacks().profile(path, (), format="Disassembly", tool=TOOL, title=clean(path.stem)),
        insufficient="A disassembly contains no measurements: give it together with the profile whose kernels it shows.",
        code=tuple(found),
    )


def functions(text: Iterable[str], path: Path) -> Iterator[_Function]:
    """The functions of a disassembly with their instructions by ascending offset."""
    current: _Function | None = None
    architecture, count = "", 0
    labels: list[str] = []
    place, fresh = ("", 0), True
    callers: tuple[SourceLine, ...] = ()
    for line in text:
        if len(line) > _LINE:
            continue
        match = _INSTRUCTION.match(line)
        if match is not None:
            fresh = True
            offset = int(match[1], 16)
            if current is None or offset > _LARGEST or (current.lines and offset <= current.lines[-1].offset):
                continue
            count += 1
            if count > _MOST:
                raise AdapterError(f"more than {_MOST:,} instructions", path=path, hint=_ONE)
            current.lines.append(CodeLine(offset, clean(match[2]), *place, labels=tuple(labels), callers=callers))
            labels.clear()
            continue
        match = _ENCODING.match(line)
        if match is not None:
            if (
                current is not None
                and current.lines
                and current.lines[-1].offset % 16 == 0
                and current.lines[-1].control < 0
            ):
                last = current.lines[-1]
                bits = int(match[1], 16) >> _BELOW_CONTROL & _CONTROL
                current.lines[-1] = replace(last, control=bits)
            continue
        match = _PLACE.match(line)
        if match is not None:
            here = clean(match[1]), int(match[2])
            above = ((clean(match[3]), int(match[4])),) if match[3] is not None else ()
            if fresh:
                place, callers, fresh = here, above, False
            elif callers and here == callers[-1] and len(callers) < _DEEPEST:
                callers += above
            continue
        match = _LABEL.match(line)
        if match is not None:
            labels.append(clean(match[1]))
            continue
        match = _FUNCTION.match(line)
        if match is not None:
            if current is not None:
                yield current
            current = _Function(clean(match[1] or match[2]), architecture)
            labels, place, callers, fresh = [], ("", 0), (), True
            continue
        match = _ARCHITECTURE.search(line)
        if match is not None:
            architecture = match[1] or f"sm_{match[2]}"
        elif line.lstrip().startswith(".section") and ".text." not in line and current is not None:
            yield current
            current = None
    if current is not None:
        yield current


ADAPTER = Adapter(
    name="nvdisasm",
    reads="Disassembled GPU code (nvdisasm -c -gi, cuobjdump -sass), read together with the profile of its kernels",
    recognises=recognises,
    read=read,
    order=30,
)
