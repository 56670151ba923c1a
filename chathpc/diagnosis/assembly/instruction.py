"""Instructions of x86-64 (AT&T syntax) and AArch64 as objdump writes them: what they read and write, load, store and compute.

Registers have one name however wide they are read: `eax` and `al` are `rax`, `xmm1` and `ymm1` are `v1`, `w3` is `x3`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from chathpc.profile.machine_code import CodeLine

_COMMENT = re.compile(r"\s*(?:#\s|//|;\s|<).*")
_PREFIX = re.compile(r"(?:(?:lock|bnd|notrack|data16|cs|ds|rex\S*)\s+)+")
_OPERANDS = re.compile(r",\s*(?![^()\[\]{}]*[)\]}])")
_AT_T = re.compile(r"\*?(?:%[c-gs]s:)?(?P<offset>-?(?:0x)?[0-9a-f]+)?\((?P<inside>[^()]*)\)")
_ARM = re.compile(r"\[(?P<inside>[^\[\]]*)\](?P<before>!)?")
_BYTE = re.compile(r"mov[sz]b|v?pinsrb|ldr?s?b|ldurs?b")
_FLOATING = re.compile(
    r"v?(?:(?P<what>fn?m(?:add|sub|la|ls)|add|sub|mul|div|sqrt|max|min|hadd|dp)\w*)(?P<type>[ps][sd])$"
)
_DIVIDES = re.compile(r"v?(?:div|sqrt|rsqrt|rcp)[ps][sd]|i?div[bwlq]?|f(?:i?divr?p?[sl]?|sqrt)|[su]div")
_MOVES = re.compile(
    r"v?mov\w*|ldr\w*|ldu?r\w*|ld[p1-4]\w*|str\w*|stu?r\w*|st[p1-4]\w*|f?mov\w*|lea\w?|cltq|cwtl|cltd|cqto|[su]xt\w|v?p?broadcast\w*|dup"
)
#: Conversions and divisions make an index out of a value: it is the program's own, and mostly of a table.
_MAKES = re.compile(r"v?cvt\w*|fcvt\w*|[su]cvtf|i?div\w?|[su]div")
_READS_ONLY = re.compile(
    r"cmp[bwlq]?|test\w?|v?u?comis[sd]|bt\w?|v?ptest|prefetch\w*|prfm|cmn|tst|fcmpe?|push\w?|nop\w?"
)
_BRANCH = re.compile(r"j\w+|loop\w*|b(?:\.\w+|\w\w)?|cbn?z|tbn?z")
_CALL = re.compile(r"call\w?|blr?|rep\w*\s.*")
_WIDTH = {"x": 16, "y": 32, "z": 64, "q": 16, "d": 8, "s": 4}
_SUFFIX = {"b": 1, "w": 2, "l": 4, "q": 8}


@dataclass(frozen=True, slots=True)
class Address:
    """An operand in memory: base + index × scale + offset; `text` without the registers' widths."""

    base: str
    index: str
    scale: int
    offset: int
    text: str

    @property
    def registers(self) -> frozenset[str]:
        """The registers that it is computed from."""
        return frozenset({self.base, self.index} - {""})


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction. `reads` and `result` are the registers whose values it uses and that it writes, those of addresses apart.

    `width` is the bytes of an access. `adds` are constants that are added to a register in place, `scales` is what a value is multiplied
    by. A branch may go to the offset `target`. `operations` counts what it computes, in vectors for each element; `packed` is True for
    vectors of several elements.
    """

    name: str
    reads: frozenset[str] = frozenset()
    result: frozenset[str] = frozenset()
    load: Address | None = None
    store: Address | None = None
    width: int = 8
    adds: dict[str, int] = field(default_factory=dict)
    scales: int | None = None
    lea: Address | None = None
    target: int | None = None
    operations: int = 0
    packed: bool = False
    divides: bool = False
    calls: bool = False
    clears: bool = False  #: the result is a constant
    makes: bool = False  #: the result is no address that was read, nor a large table's index
    moves: bool = False  #: the result is what was read


def instruction(line: CodeLine, *, arm: bool) -> Instruction:
    """The parsed instruction; one of a name alone where its text says nothing."""
    text = _PREFIX.sub("", line.text.strip(), count=1)
    comment = re.search(r"#\s*([0-9a-f]{1,16})\b", text)
    symbol = text.find("<")
    target = re.search(r"\b([0-9a-f]{1,16})$", text[:symbol].rstrip()) if symbol > 0 else None
    text = _COMMENT.sub("", text)
    name, _, rest = text.partition(" ")
    if _CALL.fullmatch(text if name.startswith("rep") else name):
        return Instruction(name, result=frozenset({"x0" if arm else "rax"}), calls=True)
    if _BRANCH.fullmatch(name):
        last = target or re.search(r"(?:^|[\s,])([0-9a-f]{1,16})$", text)
        return Instruction(name, target=int(last[1], 16) if last and not rest.strip().startswith("*") else None)
    operands = [each.strip() for each in _OPERANDS.split(rest.strip()) if each.strip()]
    return (_of_arm if arm else _of_x86)(name, operands, comment[1] if comment else "")


def _of_x86(name: str, operands: list[str], where: str) -> Instruction:
    if not operands:
        sides = {"cltq": ("rax", "rax"), "cwtl": ("rax", "rax"), "cqto": ("rax", "rdx"), "cltd": ("rax", "rdx")}.get(
            name
        )
        return (
            Instruction(name, frozenset({sides[0]}), frozenset({sides[1]}), moves=True) if sides else Instruction(name)
        )
    parsed = [_x86_address(each, where) for each in operands]
    registers = [_x86_register(each) for each in operands]
    memory = next((each for each in parsed if each is not None), None)
    numbers = [int(each[1:], 0) for each in operands if re.fullmatch(r"\$-?0x[0-9a-f]{1,16}|\$-?\d{1,20}", each)]
    if name.startswith("lea") and memory is not None:
        own = registers[-1] in memory.registers and len(memory.registers) == 1 and memory.scale == 1
        adds = {registers[-1]: memory.offset} if own and memory.base else {}
        return Instruction(name, memory.registers, frozenset({registers[-1]}), lea=memory, adds=adds, moves=True)
    only_reads = _READS_ONLY.fullmatch(name) is not None
    last_in_memory = parsed[-1] is not None
    moves = _MOVES.fullmatch(name) is not None
    into = registers[-1] if not only_reads else ""
    # The last operand is the result; it is read as well, but by moves, conversions and three operands of vectors.
    fresh = (
        moves or name.startswith(("v", "cvt", "set", "sqrt", "pop")) or (name.startswith("imul") and len(operands) == 3)
    )
    sources = registers[:-1] if into and fresh and "fm" not in name else registers
    reads, result = frozenset(sources) - {""}, frozenset({into} - {""})
    if len(operands) == 1 and name.startswith(("div", "idiv", "mul", "imul")):
        reads, result = reads | {"rax", "rdx"}, frozenset({"rax", "rdx"})
    clears = (
        len(set(registers)) == 1
        and len(registers) > 1
        and re.fullmatch(r"v?p?(xor|sub)[lqdbw]?(p[sd])?", name) is not None
    )
    adds, scales = {}, None
    if into and len(operands) < 3 and (step := re.fullmatch(r"(add|sub|inc|dec)[bwlq]?", name)):
        amount = numbers[0] if numbers else 1 if step[1] in ("inc", "dec") else None
        if amount is not None and not (step[1] in ("add", "sub") and not numbers):
            adds = {into: -amount if step[1] in ("sub", "dec") else amount}
    if re.fullmatch(r"s[ah]l\w?", name):
        scales = 1 << min(numbers[0] if numbers else 1, 63) if len(operands) < 2 or numbers else None
    elif name.startswith("imul") and numbers:
        scales = numbers[0]
    narrow = _BYTE.match(name) is not None or (name.startswith("and") and bool(numbers) and 0 < numbers[0] < 1 << 12)
    wide = max((_WIDTH[each[1]] for each in operands if re.match(r"%[xyz]mm", each)), default=0)
    kind = _FLOATING.fullmatch(name)
    element = 8 if kind and kind["type"].endswith("d") else 4
    vector = re.fullmatch(r"v?p(?:add|sub|mul|madd|max|min|and|or|xor|s[lr]\w|cmp)\w*", name) is not None
    lanes = (
        1
        if kind and kind["type"].startswith("s")
        else max(wide // (element if kind else 8), 1)
        if kind or vector
        else 1
    )
    return Instruction(
        name, reads, result,
        load=memory if memory is not None and not (last_in_memory and (moves or name.startswith(("set", "push", "nop", "prefetch")))) else None,
        store=parsed[-1] if last_in_memory and not only_reads else None,
        width=_x86_width(name, operands, wide), adds=adds, scales=scales,
        operations=0 if moves else lanes * (2 if kind and kind["what"].startswith("f") else 1),
        packed=wide > 16 or (vector and wide > 0 and not clears) or (kind is not None and kind["type"].startswith("p")),
        divides=_DIVIDES.match(name) is not None, clears=clears, makes=narrow or _MAKES.fullmatch(name) is not None, moves=moves,
    )  # fmt: skip


def _x86_width(name: str, operands: list[str], wide: int) -> int:
    if re.search(r"(?<!p)s[sd]$", name) and wide:
        return 8 if name.endswith("d") else 4
    if re.fullmatch(r"v?mov[qd]", name) and wide:
        return 8 if name.endswith("q") else 4
    if wide:
        return wide
    if re.match(r"mov[sz][bw]", name):
        return _SUFFIX[name[4]]
    named = next((each for each in operands if _x86_register(each)), "")
    if re.fullmatch(r"%r\w+d|%e\w\w", named):
        return 4
    if re.fullmatch(r"%r\w+b|%\w[lh]|%[sd]il|%[sb]pl", named):
        return 1
    if re.fullmatch(r"%r\w+w|%\w\w", named):
        return 2
    return _SUFFIX.get(name[-1], 8) if not named else 8


def _x86_register(text: str) -> str:
    """The whole register's name; empty for what is none."""
    match = re.fullmatch(r"%(?:[xyz]mm(\d{1,2})|(r\d{1,2})[dwb]?|[re]?(\w\w)|([sd]i|[sb]p)l)(?:\{.*\})?", text)
    if match is None:
        return ""
    vector, numbered, short, byte = match.groups()
    if short and re.fullmatch(r"[abcd][lh]", short):
        short = f"{short[0]}x"
    return f"v{vector}" if vector else numbered or f"r{short or byte}"


def _x86_address(text: str, where: str) -> Address | None:
    match = _AT_T.fullmatch(text)
    if match is None:
        return Address("", "", 1, 0, text) if re.fullmatch(r"(?:%[c-gs]s:)?(?:0x)?[0-9a-f]{1,16}", text) else None
    base, index, scale = (*(each.strip() for each in match["inside"].split(",")), "", "", "")[:3]
    base, index = _x86_register(base), _x86_register(index)
    offset = int(match["offset"] or "0", 0) if re.fullmatch(r"-?(0x[0-9a-f]+|\d+)?", match["offset"] or "") else 0
    name = f"{where}(rip)" if base == "rip" and where else f"{offset:x}({base},{index})"
    return Address(base, index, int(scale) if scale.isdecimal() else 1, offset, name)


def _of_arm(name: str, operands: list[str], where: str) -> Instruction:
    del where
    memory = next((_ARM.fullmatch(each) for each in operands if each.startswith("[")), None)
    stores = name.startswith("st") or name.startswith("cas")
    named = [register for each in operands if not each.startswith("[") for register in _arm_registers(each)]
    numbers = [int(each[1:], 0) for each in operands if re.fullmatch(r"#-?(0x[0-9a-f]{1,16}|\d{1,20})", each)]
    moves = _MOVES.fullmatch(name) is not None or name.startswith("adrp")
    wide = max(
        (_WIDTH.get(each.lstrip("{ ")[:1], 8) for each in operands if re.match(r"\{?\s*[qvds]\d", each)), default=0
    )
    typed = re.search(r"\.(\d{1,2})([bhsd])", operands[0]) if operands else None
    width = 1 if re.match(r"(ld|st)u?r?s?b", name) else wide or (4 if operands and operands[0].startswith("w") else 8)
    adds: dict[str, int] = {}
    if memory is not None:
        first, *others = (each.strip() for each in memory["inside"].split(","))
        base = (_arm_registers(first) or [""])[0]
        index = (_arm_registers(others[0]) or [""])[0] if others else ""
        shift = re.search(r"#(\d{1,2})$", others[1]) if len(others) > 1 else None
        offset = int(others[0][1:], 0) if others and re.fullmatch(r"#-?(0x[0-9a-f]+|\d+)", others[0]) else 0
        address = Address(
            base, index, 1 << min(int(shift[1]), 6) if shift else 1, offset, f"{offset:x}({base},{index})"
        )
        if memory["before"]:
            adds = {base: offset}
        elif numbers and operands[-1].startswith("#"):
            adds = {base: numbers[-1]}
        pair = width * (2 if name.startswith(("ldp", "stp", "ldnp", "stnp")) else 1)
        prefetch = name.startswith("prf")
        return Instruction(
            name, frozenset(named) if stores else frozenset(), frozenset() if stores or prefetch else frozenset(named),
            load=None if stores or prefetch else address, store=address if stores else None, width=pair, adds=adds,
            makes=_BYTE.match(name) is not None, moves=True,
        )  # fmt: skip
    only_reads = _READS_ONLY.fullmatch(name) is not None
    into = named[:1] if not only_reads else []
    again = into if re.match(r"fml[as]|ml[as]|bfi|movk|ins", name) else []
    if name in ("add", "sub") and len(named) == 2 and named[0] == named[1] and numbers:
        adds = {named[0]: numbers[0] if name == "add" else -numbers[0]}
    computes = re.match(r"fn?m(add|sub)|fml[as]|ml[as]", name) is not None
    return Instruction(
        name, frozenset([*(named[1:] if into else named), *again]), frozenset(into), width=width, adds=adds,
        scales=1 << min(numbers[0], 63) if name == "lsl" and numbers and numbers[0] >= 0 else None,
        operations=0 if moves else (int(typed[1]) if typed else 1) * (2 if computes else 1),
        packed=typed is not None and int(typed[1]) > 1,
        divides=re.fullmatch(r"[fsu]div|fsqrt|frsqrt\w", name) is not None,
        clears=name == "movi", makes=_MAKES.fullmatch(name) is not None, moves=moves,
    )  # fmt: skip


def _arm_registers(text: str) -> list[str]:
    found = []
    for kind, number in re.findall(r"\b(?:([xwvqdsbh])(\d{1,2})|sp)\b", text):
        found.append("sp" if not kind else f"x{number}" if kind in "xw" else f"v{number}")
    return found
