"""Names of GPU kernels brought to one spelling: each tool demangles, shortens and decorates in its own way."""

from __future__ import annotations

import ctypes
import ctypes.util
import re
from dataclasses import dataclass
from functools import lru_cache

from chathpc.profile.names import scopes_of, shorten
from chathpc.profile.text import clean

#: Longer names are not demangled: real ones are shorter, and the demangler recurses.
LONGEST = 1000
#: Longer names are not taken apart, which takes long: those of template libraries have some thousand characters.
_LONGEST_TAKEN_APART = 20_000

_ANONYMOUS = re.compile(
    r"\(anonymous namespace\)|<unnamed>|\(unnamed namespace\)|\{anonymous\}|_GLOBAL__N__\w+|_INTERNAL_[0-9a-f]{8}_\w+?_cu_[0-9a-f]{8}(?:_\d+)?"
)
_CAST = re.compile(r"\((?:unsigned |signed )?(?:int|long|short|char|bool|size_t|long long)\)(?=[-\d])")
_LITERAL = re.compile(r"(?<![\w.])(-?\d+)(?:[uUlL]{1,3})\b")
_DECORATION = re.compile(
    r"\s*(?:\[clone [^\]]*\]|\.(?:kd|llvm\.\d+|constprop\.\d+|isra\.\d+))|(?<=\S) \[(?!lambda)[^\[\]]+\]$"
)
_SPACE = re.compile(r"\s*([<>,*&()\[\]:])\s*")
#: What stands before and inside names of lambdas and of SYCL's kernels: `typeinfo name for f()::{lambda(auto:1)#1}`.
_PREFIX, _IN_CALL = re.compile(r"^typeinfo (?:name )?for "), re.compile(r"(?<=\boperator) (?=\(\))|(?<=\)) const(?=::)")

#: How a kernel without a name is called: by its launch.
LAUNCHED_FROM = "kernel launched from "
#: Characters of a name in a sentence; those of templates fill a page.
LONGEST_NAME = 60
#: Libraries whose kernels run what the program gives them, and kernels of theirs whose own name tells nothing.
_LIBRARIES = frozenset(
    [
        "Kokkos",
        "RAJA",
        "camp",
        "thrust",
        "cub",
        "cutlass",
        "cute",
        "rocprim",
        "hipcub",
        "std",
        "cuda",
        "sycl",
        "oneapi",
        "nvstd",
    ]
)
_NAMELESS = re.compile(
    r"[Kk]ernel|Kernel2|device_kernel|_?kernel_agent|trampoline_kernel|\w*parallel_launch\w*|static_kernel|forallp?_\w+_kernel"
)
_LAMBDA = re.compile(r"[\[{(']+lambda\b.*?(?:instance |#)(\d+)|[\[{(']+lambda\b|\$_(\d+)")
#: How nvcc names lambdas that host and device share: by the function that they stand in, and their number there.
_WRAPPED = re.compile(r"__nv_\w+tag<.*?&\(?([\w:~]+).*?,(\d+)u?>")
_NO_WORK = re.compile(
    r"\w*(?:iterator|pointer|_ptr|allocator|[Pp]olicy|[Tt]ag|[Rr]ange|[Ii]ndex\w*)|(?:unsigned|signed|long|short|int|char|float|double|bool|half|void|u?int|__half|__nv_)\w*|[\d.-].*|"
)


@lru_cache(maxsize=1)
def _demangler() -> ctypes.CDLL | None:
    """The C++ runtime library, which demangles; None where there is none."""
    path = ctypes.util.find_library("stdc++")
    try:
        library = ctypes.CDLL(path or "libstdc++.so.6")
        library.__cxa_demangle.restype = ctypes.c_void_p
        library.__cxa_demangle.argtypes = [
            ctypes.c_char_p,
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.POINTER(ctypes.c_int),
        ]
    except (OSError, AttributeError):
        return None
    return library


def demangled(name: str) -> str:
    """`name` as C++ source if it is a mangled (Itanium) name that can be demangled here; else unchanged."""
    if not name.startswith("_Z") or len(name) > LONGEST or not name.isascii() or "\0" in name:
        return name
    library = _demangler()
    if library is None:
        return name
    status = ctypes.c_int()
    text = library.__cxa_demangle(name.encode(), None, None, ctypes.byref(status))
    if not text:
        return name
    try:
        return ctypes.string_at(text).decode("utf-8", "replace")
    finally:
        ctypes.CDLL(None).free(ctypes.c_void_p(text))


def kernel_key(name: str) -> str:
    """The name of a kernel in one spelling: demangled, with normalised template arguments, without return type and parameters.

    `void axpy<(int)4, float>(float *, int)` and `axpy<4, float>(float*, int)` and the mangled name give `axpy<4,float>`.
    """
    name = _IN_CALL.sub("", _PREFIX.sub("", _DECORATION.sub("", demangled(name.strip()))))
    name = _ANONYMOUS.sub("(anonymous)", name)
    name = _CAST.sub("", name)
    name = re.sub(r"\(bool\)1|\btrue\b", "1", name)
    name = re.sub(r"\(bool\)0|\bfalse\b", "0", name)
    name = _LITERAL.sub(r"\1", name)
    scopes = scopes_of(_last_word(without_parameters(name)))
    return _SPACE.sub(r"\1", "::".join(scope for scope in scopes if scope)).strip()


def base_key(name: str) -> str:
    """The kernel's own name only: without scopes and template arguments."""
    scopes = scopes_of(kernel_key(name))
    return scopes[-1].partition("<")[0] if not scopes[-1].startswith("operator") else scopes[-1]


@dataclass(frozen=True, slots=True)
class Filter:
    """How a profiler is told to look at one kernel: by `word`, a part of its name. `exact` says that this is the kernel's own name
    without scopes and arguments; else `pattern` is a regular expression for the whole name. No word where none is safe in a command.
    """

    word: str = ""
    exact: bool = False
    pattern: str = ""


def filter_of(name: str) -> Filter:
    """What chooses a kernel and no other: the functor's name where a library launches it, else its own."""
    own, work = base_key(name), _work(name)
    if work is None:
        known = re.fullmatch(r"\w+", own, re.ASCII) and not name.startswith(LAUNCHED_FROM)
        return Filter(own, exact=True) if known else Filter()
    found = re.search(r"\w+", work.name.rpartition("::")[2], re.ASCII)
    if found is None:
        return Filter()
    return Filter(found[0], pattern=rf"\b{found[0]}\b" + (rf".*instance {work.number}\b" if work.instance else ""))


def is_launcher(name: str) -> bool:
    """True for a kernel whose own name tells nothing, where it is known what it runs."""
    return len(name) <= _LONGEST_TAKEN_APART and _tells_nothing(base_key(name)) and _work(name) is not None


def lambda_title(name: str, width: int = LONGEST_NAME) -> str:
    """What a kernel runs that was given a lambda, by the function around that: `PdV_kernel::lambda#2`; empty for all others."""
    work = _work(name) if len(name) <= _LONGEST_TAKEN_APART else None
    return clean(shorten(work.label, width)) if work is not None and work.is_lambda else ""


def _tells_nothing(own: str) -> bool:
    """True for the own name of a library's kernel, and of a lambda or functor without one."""
    return _NAMELESS.fullmatch(own) is not None or own.startswith(("operator", "{", "["))


def kernel_title(name: str, width: int = LONGEST_NAME) -> str:
    """The name of a kernel in a sentence: what a launcher runs, the functor, instead of the launcher."""
    own, work = base_key(name), _work(name)
    if work is None:
        return clean(shorten(name if name.startswith(LAUNCHED_FROM) else kernel_key(name) or name, width))
    if _tells_nothing(own):
        return clean(shorten(work.label, width))
    short = f"{own}<{'::'.join(work.label.split('::')[-2:])}>"
    return clean(short if len(short) <= width else shorten(kernel_key(name), width))


@dataclass(frozen=True, slots=True)
class _Work:
    """What a kernel of a launcher runs: a type, or a lambda in a function with its number there, in nvcc's spelling or another."""

    name: str
    is_lambda: bool = False
    number: str = ""
    instance: bool = False

    @property
    def label(self) -> str:
        """`PdV_kernel::lambda#2`, `Functor`."""
        return f"{self.name}::lambda{f'#{self.number}' if self.number else ''}" if self.is_lambda else self.name


@lru_cache(maxsize=1024)
def _work(name: str) -> _Work | None:
    """What runs in a kernel that is a lambda, has one among its arguments, or is a library's; None for all others."""
    key = kernel_key(name)
    scopes = scopes_of(key)
    own = _lambda(scopes)
    if own is not None:
        return own
    library = scopes[0].partition("<")[0] in _LIBRARIES
    nameless = _NAMELESS.fullmatch(scopes[-1].partition("<")[0]) is not None
    arguments = _arguments(scopes[-1])
    found = [work for argument in arguments if (work := _written(argument, deep=library or nameless)) is not None]
    chosen = next((work for work in found if work.is_lambda), None)
    if chosen is not None or not (library or nameless):
        return chosen
    if not found and nameless and arguments and not _NO_WORK.fullmatch(base_key(arguments[0])):
        return _Work(base_key(arguments[0]))
    return found[0] if found else None


def _written(argument: str, *, deep: bool) -> _Work | None:
    """What the program wrote in a template argument: a lambda, or (`deep`) a type that is no library's, however it is wrapped."""
    wrapped = _WRAPPED.search(argument)
    if wrapped is not None:
        return _Work(wrapped[1], is_lambda=True, number=wrapped[2])
    scopes = scopes_of(_last_word(argument))
    found = _lambda(scopes)
    if found is not None or not deep:
        return found
    base = scopes[-1].partition("<")[0].partition("(")[0].rstrip("*& ")
    if scopes[0].partition("<")[0] not in _LIBRARIES:
        return None if _NO_WORK.fullmatch(base) else _Work(base)
    if _NO_WORK.fullmatch(base):
        return None
    return next((work for each in _arguments(scopes[-1]) if (work := _written(each, deep=True)) is not None), None)


def _lambda(scopes: list[str]) -> _Work | None:
    """The lambda that a name ends in, by the function around it."""
    at = next((at for at, scope in enumerate(scopes) if at and _LAMBDA.match(scope)), 0)
    last = next((scope for scope in reversed(scopes) if _LAMBDA.match(scope)), "")
    match = _LAMBDA.match(last)
    if not at or match is None:
        return None
    around = [re.split(r"[<(]", _last_word(scope), maxsplit=1)[0] for scope in scopes[:at]]
    return _Work("::".join(filter(None, around)), True, match[1] or match[2] or "", "instance" in last)


def _arguments(scope: str) -> list[str]:
    """The template arguments of `name<…>`."""
    parts, depth = [""], 0
    for before, character in zip(f" {scope}", scope, strict=False):
        if character in ">)]}" and before != "-":
            depth -= 1
        if character == "," and depth == 1:
            parts.append("")
        elif depth > 0:
            parts[-1] += character
        if character in "<([{":
            depth += 1
    return [part.strip() for part in parts if part.strip()] if "<" in scope else []


#: What a function is qualified by, behind its parameters.
_QUALIFIED = re.compile(r"(?<=\)) ?(const)? ?&{0,2}$")


def without_parameters(name: str) -> str:
    """`name` up to the bracket that opens its last list of parameters; unchanged without one."""
    name = _QUALIFIED.sub("", name)
    if not name.endswith(")") or name.endswith("operator()"):
        return name
    depth = 0
    for at in range(len(name) - 1, -1, -1):
        depth += (name[at] == ")") - (name[at] == "(")
        if depth == 0:
            return name[:at] or name
    return name


def _last_word(name: str) -> str:
    """`name` without the return type before it: what follows the last space outside of brackets."""
    depth = 0
    start = 0
    for at, character in enumerate(name):
        if character in "<([{":
            depth += 1
        elif character in ">)]}":
            depth -= 1
        elif character == " " and depth == 0 and name[at + 1 :].strip() and not name[:at].endswith("operator"):
            start = at + 1
    return name[start:].strip()
