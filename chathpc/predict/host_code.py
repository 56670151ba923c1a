"""Follow machine code of the host: how often each basic block runs, what it touches, and how many cycles the core needs for it.

The compiler's assembly is told to note each block and each address (machine/host_trace.c), then runs for real. Cycles of a core are those of
llvm-mca, LLVM's model of out-of-order processors, for windows of the instructions in the order in which they ran.
"""

from __future__ import annotations

import ctypes
import functools
import json
import multiprocessing
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from chathpc.errors import ChathpcError

MACHINE = Path(__file__).parent / "machine"
LEVELS, WINDOWS, WINDOW, BUFFERS = 3, 48, 256, 64  # as in host_trace.c
FED, LONGEST = 14, 1000  # windows for llvm-mca, and instructions of each: it takes a second for 30,000
MEMORY = re.compile(r"(%[fg]s:)?([\w.$@+*-]*)\(([^()]*)\)(?:\{1to\d+\})?")
MASK = re.compile(r"\s*\{(?:%k\d|z)\}")  # of AVX-512: lanes that are switched off count too
PIECE = re.compile(r",\s*(?![^()]*\))")
BRANCH = re.compile(r"^(j[a-z]+|retq?|ud2)\b")
# Instructions whose last operand is not written.
COMPARES = re.compile(
    r"^(cmp[bwlq]?|test[bwlq]?|bt[wlq]?|v?u?comis[sd]|vptest|vtestp[sd]|push[wlq]?|mul[bwlq]|i?div[bwlq]|imul[bwlq])$"
)
LANES = {"xmm": 16, "ymm": 32, "zmm": 64}
T = TypeVar("T")
LLVM = ("15", "16", "17", "18", "19", "20")  # versions of the tools, that of Debian's pocl first
DIVISION = re.compile(r"i?div([lq])\s+(.*)")
CHAIN = r"imul\1 \2\nimulq %rax, %rdx\nimulq %rdx, %rax\nmovq %rax, %rdx"
LOAD = 4.0
# Cycles of instructions that take more than one, as they begin (Zen 3, after Fog's instruction tables).
TAKES = (
    (r"i?div", 10.0), (r"vdiv|vsqrt", 13.0), (r"imul|mul", 3.0), (r"vfn?m", 4.0), (r"v(add|sub|max|min)[ps][sd]", 3.0), (r"vmul[ps][sd]", 3.0),
    (r"vcvt", 3.0), (r"vround", 3.0), (r"vpmul", 3.0), (r"vmov[aud]|mov|vmovdq", 0.0),
)  # fmt: skip
SUFFIX = {"b": 1, "w": 2, "d": 4, "l": 4, "s": 4, "q": 8}  # bytes by the last letter of an operation


@dataclass(frozen=True, slots=True)
class Block:
    """A basic block: its function and its instructions."""

    function: str
    instructions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Site:
    """An instruction that touches memory: its block and place there, bytes of one access, whether it reads and writes."""

    block: int
    place: int
    bytes: int
    load: bool
    store: bool
    atomic: bool = False


@dataclass(frozen=True, slots=True)
class Traced:
    """Assembly that tells what it does."""

    assembly: str
    blocks: tuple[Block, ...]
    sites: tuple[Site, ...]


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen of a run: how often each block ran and its branch was mispredicted, mispredicted branches, lines by the level that
    had them (after no order, a stride, a neighbour), lines of each buffer (touched, written), windows of blocks in the order in which they ran, and for each
    instruction that touches memory its lines by the level that had them, translations by the second table, and walks.
    """

    counts: tuple[int, ...]
    missed: tuple[int, ...]
    mispredicted: int
    accesses: int
    shared_atomics: int
    lines: tuple[tuple[int, int, int], ...]
    conflicts: int
    written_back: int
    pages: tuple[int, int]
    footprint: tuple[tuple[int, int], ...]
    windows: tuple[tuple[int, ...], ...]
    sites: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Work:
    """What a run or a launch does: instructions of the machine, cycles of a core for them (branches foreseen), mispredicted branches, cycles that
    these wait for loads, atomic operations, calls that were not followed, lines by the level that had them (first cache, second, third, memory; each after no
    order, a stride, a neighbour), lines that were not in the first cache because others of their set had just come, lines written back
    to memory, accesses whose page needed the second table of translations and a walk, distinct lines (touched, written), the share that
    was followed, whether threads change the same lines by atomic operations, and operations by class (a fused multiply-add is two, a vector
    as many as it has lanes).
    """

    instructions: float
    cycles: float
    mispredicted: float
    missed_waits: float
    atomics: float
    calls: float
    lines: tuple[tuple[float, ...], ...]
    conflicts: float
    written_back: float
    pages: tuple[float, float]
    footprint: tuple[float, float]
    followed: float
    contended: bool = False
    operations: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Core:
    """A core: LLVM's name of it, cycles of a division of 32 bits, and cycles that a load waits longer if the second cache, the third, or
    memory has its line, if the second table has its page's translation, and for a walk.
    """

    cpu: str
    divide: float
    waits: tuple[float, float, float, float, float]


class Told(ctypes.Structure):
    """`struct told` of host_trace.c."""

    _fields_ = (
        *((name, ctypes.c_uint64) for name in ("mispredicted", "accesses", "shared_atomics")),
        ("lines", ctypes.c_uint64 * 3 * (LEVELS + 1)),
        *((name, ctypes.c_uint64) for name in ("conflicts", "written_back")),
        ("pages", ctypes.c_uint64 * 2),
        ("window_count", ctypes.c_uint64),
        ("windows", ctypes.c_uint32 * WINDOW * WINDOWS),
        ("window_size", ctypes.c_uint32 * WINDOWS),
        ("footprint", ctypes.c_uint64 * 2 * BUFFERS),
    )

    def plain(self, name: str) -> Any:
        """A field as numbers, and tuples of them."""
        return _plain(getattr(self, name))


def _plain(value: Any) -> Any:
    return tuple(map(_plain, value)) if isinstance(value, ctypes.Array) else value


def operands(instruction: str) -> tuple[str, list[str]]:
    """The operation, without prefixes, and its operands."""
    text = re.sub(r"^(lock|rep[a-z]*)[;\s]+", "", instruction)
    name, _, rest = text.partition("\t")
    return name.strip(), [MASK.sub("", piece).strip() for piece in PIECE.split(rest)] if rest.strip() else []


def _access(name: str, pieces: list[str], at: int, block: tuple[int, int], atomic: bool) -> Site:
    """What an instruction does with its operand `at` in memory."""
    vectors = [m for piece in pieces for m in re.findall(r"%([xyz]mm)\d+", piece)]
    if one := re.search(r"\{1to(\d+)\}", pieces[at]):  # an element for all lanes
        size = LANES[vectors[-1]] // int(one[1])
    elif "broadcast" in name or re.match(r"v?(pextr|pinsr|extractps|insertps)", name):
        size = SUFFIX.get(name[-1], 4)
    elif re.fullmatch(r"v.*s[sd]", name):
        size = 4 if name.endswith("s") else 8
    elif vectors and re.fullmatch(r"v?mov(l?[hl]p[sd]|[dq])", name):
        size = 4 if name.endswith("movd") else 8
    elif vectors and re.match(r"v?pmov[sz]x", name):
        size = LANES[vectors[-1]] * SUFFIX[name[-2]] // SUFFIX[name[-1]]
    elif re.search(r"(extract|insert)[fi]128", name):
        size = 16
    elif vectors:
        size = LANES[vectors[-1]]
    else:
        extended = re.match(r"mov[sz]([bwl])[wlq]$", name)
        size = SUFFIX.get(extended[1] if extended else name[-1], 8)
    store = at == len(pieces) - 1 and not COMPARES.match(name)
    load = not store or not re.match(r"(v?mov|v?pextr|v?extract|set|vcvtps2ph|vmaskmov|vpmaskmov)", name)
    return Site(*block, size, load, store, atomic)


def _noted(site: int, *address: str) -> list[str]:
    """Code that notes an access, whose address these instructions put into %rax by way of %rcx; no flag and no register changes."""
    return [
        "movq %rax, trace_rax(%rip)", "movq %rcx, trace_rcx(%rip)", *address, "movq trace_next(%rip), %rcx", "movq %rax, (%rcx)",
        f"movw ${site}, 6(%rcx)", "leaq 8(%rcx), %rcx", "movq %rcx, trace_next(%rip)", "movq trace_rcx(%rip), %rcx",
        "movq trace_rax(%rip), %rax",
    ]  # fmt: skip


def _noted_gather(memory: re.Match[str], name: str, site: int) -> list[str]:
    """Code that notes the addresses of a gather; lanes that are switched off count too."""
    base, index, *scale = [piece.strip() for piece in memory.group(3).split(",")]
    step, move = (8, "movq") if re.search("gatherq", name) else (4, "movslq")
    free = "rcx" if base != "%rcx" else "rax"
    code = [f"{'vmovdqu64' if index[1:4] == 'zmm' else 'vmovdqu'} {index}, trace_lanes(%rip)"]
    for at in range(0, LANES[index[1:4]], step):
        place = f"{memory.group(2)}({base},%{free},{scale[0] if scale else 1})"
        code += _noted(site, f"{move} trace_lanes+{at}(%rip), %{free}", f"leaq {place}, %rax")
    return code


def _noted_block(block: int) -> list[str]:
    return [
        "movq %rcx, trace_rcx(%rip)", "movq trace_next(%rip), %rcx", f"movq $-{block + 1}, (%rcx)", "leaq 8(%rcx), %rcx",
        "movq %rcx, trace_next(%rip)", "movq trace_rcx(%rip), %rcx",
    ]  # fmt: skip


def traced(assembly: str) -> Traced:
    """Let assembly of a compiler (AT&T syntax, x86-64) note its blocks and accesses. Spills and constants are not noted: they stay in
    the first cache.
    """
    out: list[str] = []
    blocks: list[tuple[str, list[str]]] = []
    sites: list[Site] = []
    function, begin, code = "", True, False
    lines = iter(assembly.splitlines())
    for line in lines:
        text = line.split("#", 1)[0].rstrip()
        stripped = text.strip()
        if not stripped:
            out.append(line)
            continue
        if stripped.endswith(":"):
            if not stripped.startswith(".L"):
                function = stripped[:-1]
            begin = True
            out.append(text)
            continue
        if stripped.startswith("."):
            if stripped.startswith((".text", ".section", ".data", ".bss")):
                code = stripped.startswith((".text", ".section\t.text"))
            out.append(text)
            continue
        if not code:
            out.append(text)
            continue
        while re.fullmatch(r"lock|rep[a-z]*", stripped):
            stripped += "\t" + next(lines).split("#", 1)[0].strip()
        if begin:
            blocks.append((function, []))
            out += _noted_block(len(blocks) - 1)
            begin = False
        name, pieces = operands(stripped)
        blocks[-1][1].append(stripped)
        for at, piece in enumerate(pieces):
            found = MEMORY.fullmatch(piece)
            if not found or name.startswith(("lea", "nop", "prefetch", "j", "call")):
                continue
            inside = found.group(3)
            if found.group(1) or inside == "%rsp" or (inside == "%rip" and found.group(2).startswith(".L")):
                continue
            if len(sites) >= 0xFFFE:
                raise ChathpcError("The code has too many accesses to memory to be followed.")
            atomic = stripped.startswith("lock") or name.startswith("xchg")
            sites.append(_access(name, pieces, at, (len(blocks) - 1, len(blocks[-1][1]) - 1), atomic))
            number, place = len(sites) - 1, f"{found.group(2)}({inside})"
            gather = re.search(r",%[xyz]mm", inside.replace(" ", ""))
            out += _noted_gather(found, name, number) if gather else _noted(number, f"leaq {place}, %rax")
        out.append("\t" + stripped.replace("\t", " ", 1) if "\t" not in text else "\t" + stripped)
        if BRANCH.match(name):
            begin = True
    return Traced("\n".join(out) + "\n", tuple(Block(f, tuple(i)) for f, i in blocks), tuple(sites))


def build(code: Traced, folder: Path, compiler: str) -> Path:
    """Assemble traced code with the trace's own part into a shared library in `folder`."""
    source, library = folder / "traced.s", folder / "traced.so"
    source.write_text(code.assembly)
    trace = compiled("host_trace.c", compiler, "-O2", "-fPIC", "-c")
    run([compiler, "-shared", "-o", str(library), str(source), trace, "-lm"])
    return library


@functools.cache
def compiled(source: str, compiler: str, *options: str) -> str:
    """Path of what the compiler makes of a C source of ours, once; it goes when this process ends."""
    folder = tempfile.TemporaryDirectory(prefix="chathpc-")
    _FOLDERS.append(folder)
    made = f"{folder.name}/{Path(source).stem}"
    run([compiler, str(MACHINE / source), *options, "-o", made])
    return made


_FOLDERS: list[tempfile.TemporaryDirectory[str]] = []


def run(
    command: Sequence[str], environment: Mapping[str, str] | None = None, seconds: float = 120, text: str = ""
) -> str:
    """Standard output of a tool for an input. ChathpcError: it is not there, or failed."""
    env = dict(environment) if environment else None
    try:
        done = subprocess.run(
            command, input=text, capture_output=True, text=True, timeout=seconds, env=env, check=False
        )
    except subprocess.TimeoutExpired as error:
        hint = "Is the machine busy with other work? Run it again when it is not."
        raise ChathpcError(f"{Path(command[0]).name} took more than {seconds:.0f} s.", hint=hint) from error
    except OSError as error:
        raise ChathpcError(f"{Path(command[0]).name} could not be run: {error}") from error
    if done.returncode:
        raise ChathpcError(f"{Path(command[0]).name} failed: {done.stderr.strip()[-500:]}")
    return done.stdout


class Follower:
    """A library of traced code, loaded."""

    def __init__(self, library: Path, code: Traced, caches: Sequence[tuple[int, int]]) -> None:
        self.library = ctypes.CDLL(str(library))
        self.blocks, self.sites = len(code.blocks), len(code.sites)
        stores = bytes(site.store | 2 * site.atomic for site in code.sites) or b"\0"
        sizes = (ctypes.c_uint64 * LEVELS)(*(size for size, _ in caches))
        ways = (ctypes.c_uint32 * LEVELS)(*(way for _, way in caches))
        self.library.trace_told.restype = ctypes.POINTER(Told)
        if self.library.trace_begin(self.blocks, len(code.sites), stores, sizes, ways):
            raise ChathpcError("There is no memory to follow the code.")
        self.buffers = 0

    def buffer(self, address: int, size: int) -> None:
        """Watch memory as one buffer."""
        self.library.trace_buffer(ctypes.c_void_p(address), ctypes.c_uint64(size))
        self.buffers += 1

    def seen(self) -> Seen:
        """All since the beginning."""
        counts = (ctypes.c_uint64 * self.blocks)()
        missed = (ctypes.c_uint64 * self.blocks)()
        sites = (ctypes.c_uint64 * (LEVELS + 3) * (self.sites + 1))()
        told = self.library.trace_told(counts, missed, sites).contents
        windows = tuple(tuple(told.windows[k][: told.window_size[k]]) for k in range(max(1, told.window_count)))
        names = ("mispredicted", "accesses", "shared_atomics", "lines", "conflicts", "written_back", "pages")
        return Seen(
            tuple(counts), tuple(missed), footprint=told.plain("footprint")[: self.buffers], windows=windows,
            sites=tuple(map(_plain, sites[: self.sites])), **{name: told.plain(name) for name in names},
        )  # fmt: skip


def apart(work: Callable[[], T], seconds: float) -> T:
    """The result of `work` in a process of its own: code that faults ends that one only."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)

    def child() -> None:
        there.send(work())

    process = context.Process(target=child)
    process.start()
    there.close()
    try:
        if not here.poll(seconds):
            raise ChathpcError(f"The code ran for more than {seconds:.0f} s while it was followed.")
        result: T = here.recv()
    except EOFError:
        process.join()
        raise ChathpcError(f"The code failed while it was followed (exit {process.exitcode}).") from None
    finally:
        process.kill()
        process.join()
    return result


def count(code: Traced, seen: Seen, start: str | tuple[str, ...]) -> float:
    """How many instructions that begin so were run."""
    return float(
        sum(n * sum(i.startswith(start) for i in b.instructions) for n, b in zip(seen.counts, code.blocks, strict=True))
    )


def operations(code: Traced, seen: Seen) -> dict[str, float]:
    """Operations by class (fp32, fp64, integer) of all instructions that were seen; those on whole registers of bits are left out."""
    total: dict[str, float] = {}
    for times, block in zip(seen.counts, code.blocks, strict=True):
        for instruction in block.instructions if times else ():
            name, pieces = operands(instruction)
            register = re.search(r"%([xyz]mm)\d", pieces[-1]) if pieces else None
            width = LANES[register.group(1)] if register else 16
            if found := re.fullmatch(r"v?(?:add|sub|mul|div|sqrt|min|max|(fn?m[as][du]?[dbu]*\d+))([ps])([sd])", name):
                size = 4 if found.group(3) == "s" else 8
                kind, lanes = f"fp{8 * size}", 1 if found.group(2) == "s" else width // size
                lanes *= 2 if found.group(1) else 1
            elif found := re.fullmatch(
                r"v?p(?:add|sub|mull?|min[su]|max[su]|abs|madd|cmp(?:eq|gt)|s[lr][la]v?)u?([bwdq])\w*", name
            ):
                kind, lanes = "integer", width // {"b": 1, "w": 2, "d": 4, "q": 8}[found.group(1)]
            elif re.fullmatch(
                r"(add|sub|imul|mul|i?div|and|or|xor|not|neg|inc|dec|s[ah][lr]|ro[lr]|cmp|test|lea)[bwlq]", name
            ):
                kind, lanes = "integer", 1
            else:
                continue
            total[kind] = total.get(kind, 0.0) + float(times) * lanes
    return total


def core_cycles(code: Traced, seen: Seen, core: Core) -> float:
    """Cycles of a core for all instructions that were seen, branches foreseen: instructions times the cycles per instruction of the windows,
    each the longest of llvm-mca's, of its divisions, and of the longest chain in which each instruction waits for the one before.

    LLVM's models give a division twice the cycles that are measured; llvm-mca gets a chain of multiplications instead, as long as a short
    division. It knows no caches either: the chain does.
    """
    waits = {
        (s.block, s.place): _mean_wait(lines, core) for s, lines in zip(code.sites, seen.sites, strict=True) if s.load
    }
    windows, text = [], []
    for k, window in enumerate(seen.windows[:: -(-len(seen.windows) // FED)]):
        body = [(i, waits.get((b, place), 0.0)) for b in window for place, i in enumerate(code.blocks[b].instructions)]
        body = [(i, wait) for i, wait in body if not i.startswith(("rep", "call"))][:LONGEST]
        divisions = [m for i, _ in body if (m := DIVISION.match(i))]
        least = sum(core.divide * (1.5 if m.group(1) == "q" else 1.0) for m in divisions)
        windows.append((len(body), max(least, longest_chain(body))))
        text += [f"# LLVM-MCA-BEGIN w{k}", *(DIVISION.sub(CHAIN, i) for i, _ in body), "# LLVM-MCA-END"]
    command = [tool("llvm-mca", LLVM[::-1]), f"-mcpu={core.cpu}", "-iterations=1", "-json"]
    regions = json.loads(run(command, seconds=300, text="\n".join(text) + "\n"))["CodeRegions"]
    cycles: float = sum(
        max(r["SummaryView"]["TotalCycles"], least) for r, (_, least) in zip(regions, windows, strict=True)
    )
    return count(code, seen, "") * cycles / max(1, sum(n for n, _ in windows))


def missed_waits(code: Traced, seen: Seen, core: Core) -> float:
    """Cycles that mispredicted branches wait for the slowest load of their block before they are found out."""
    slowest = [0.0] * len(code.blocks)
    for site, lines in zip(code.sites, seen.sites, strict=True):
        if site.load:
            slowest[site.block] = max(slowest[site.block], _mean_wait(lines, core))
    return sum(n * wait for n, wait in zip(seen.missed, slowest, strict=True))


def _mean_wait(lines: Sequence[int], core: Core) -> float:
    """Cycles that a load waits longer than for the first cache, on average."""
    return sum(n * wait for n, wait in zip(lines[1:], core.waits, strict=True)) / max(1, sum(lines[: LEVELS + 1]))


def longest_chain(body: Sequence[tuple[str, float]]) -> float:
    """Cycles of the longest chain of instructions, in which each needs a register, flag or slot of the stack from the one before;
    with each instruction what its load waits beyond the first cache.
    """
    ready: dict[str, float] = {}
    longest = 0.0
    for instruction, wait in body:
        name, pieces = operands(instruction)
        if BRANCH.match(name) or not pieces or name.startswith(("nop", "prefetch", "vzero")):
            continue
        target = pieces[-1]
        compares = bool(COMPARES.match(name)) and len(pieces) > 1
        moves = re.match(r"v?mov|lea|set|v?broadcast|vp?broadcast|v?cvt", name) and not re.match(
            r"v?mov[hl]p[sd]", name
        )
        three = name.startswith("v") and "fm" not in name and "fnm" not in name
        sources = (
            set(pieces[:-1])
            if (moves or three or (len(pieces) > 2 and name.startswith("imul"))) and not compares
            else set(pieces)
        )
        zeroes = re.match(r"v?p?xor", name) and len(set(pieces)) == 1 + (len(pieces) == 1)
        needs = {r for piece in (*sources, *(p for p in pieces if "(" in p)) for r in names(piece)}
        if name.startswith(("cmov", "set", "adc", "sbb")):
            needs.add("flags")
        if DIVISION.match(instruction) or (name.startswith(("mul", "imul")) and len(pieces) == 1):
            needs |= {"ax", "dx"}
        loads = any("(" in piece for piece in sources) and not name.startswith("lea")
        begin = 0.0 if zeroes else max((ready.get(r, 0.0) for r in needs), default=0.0)
        if loads:
            # The address alone is needed to begin a load, and the other operands with what it brings.
            address = {r for piece in pieces if "(" in piece for r in names(piece)}
            begin = max(begin, max((ready.get(r, 0.0) for r in address), default=0.0) + LOAD + wait)
        end = begin + next((cycles for start, cycles in TAKES if re.match(start, name)), 1.0)
        longest = max(longest, end)
        if not re.match(r"v|lea|mov|cmov|set|not", name):
            ready["flags"] = end
        if compares:
            continue
        for register in (
            {"ax", "dx"}
            if len(pieces) == 1 and re.match(r"i?(mul|div)", name)
            else {target}
            if "(" in target
            else names(target)
        ):
            ready[register] = end
    return longest


def names(operand: str) -> set[str]:
    """Registers of an operand by one name each (ax for %rax, %eax, %al; 3 for %ymm3 and %xmm3), and the operand itself where it is a
    slot of the stack.
    """
    found = set()
    for register in re.findall(r"%(\w+)", operand):
        if numbered := re.fullmatch(r"[xyz]mm(\d+)|(r\d+)[bwd]?", register):
            found.add(numbered[1] or numbered[2])
        else:
            found.add(re.sub(r"^([abcd])[lh]$", r"\1x", re.sub(r"^[er](?=..$)", "", register)).removesuffix("l"))
    return found | ({operand} if re.fullmatch(r"-?\d*\(%rsp\)", operand) else set())


def tool(name: str, versions: Sequence[str]) -> str:
    """Path of a tool of LLVM by its versions, the first that is there. ChathpcError: none is."""
    for version in versions:
        for found in (shutil.which(f"{name}-{version}"), shutil.which(f"/usr/lib/llvm-{version}/bin/{name}")):
            if found:
                return found
    if found := shutil.which(name):
        return found
    raise ChathpcError(f"{name} is not installed.", hint="Install LLVM's tools.")
