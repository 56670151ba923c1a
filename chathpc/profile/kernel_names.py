"""Names of GPU kernels brought to one spelling: each tool demangles, shortens and decorates in its own way."""

from __future__ import annotations

import ctypes
import ctypes.util
import re
from functools import lru_cache

from chathpc.profile.names import scopes_of

#: Longer names are not demangled: real ones are shorter, and the demangler recurses.
LONGEST = 1000

_ANONYMOUS = re.compile(
    r"\(anonymous namespace\)|<unnamed>|\(unnamed namespace\)|\{anonymous\}|_GLOBAL__N__\w+|_INTERNAL_[0-9a-f]{8}_\w+?_cu_[0-9a-f]{8}(?:_\d+)?"
)
_CAST = re.compile(r"\((?:unsigned |signed )?(?:int|long|short|char|bool|size_t|long long)\)(?=[-\d])")
_LITERAL = re.compile(r"(?<![\w.])(-?\d+)(?:[uUlL]{1,3})\b")
_DECORATION = re.compile(r"\s*(?:\[clone [^\]]*\]|\.(?:kd|llvm\.\d+|constprop\.\d+|isra\.\d+))")
_SPACE = re.compile(r"\s*([<>,*&()\[\]:])\s*")


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
    name = _DECORATION.sub("", demangled(name.strip()))
    name = _ANONYMOUS.sub("(anonymous)", name)
    name = _CAST.sub("", name)
    name = re.sub(r"\(bool\)1|\btrue\b", "1", name)
    name = re.sub(r"\(bool\)0|\bfalse\b", "0", name)
    name = _LITERAL.sub(r"\1", name)
    scopes = scopes_of(_last_word(_without_parameters(name)))
    return _SPACE.sub(r"\1", "::".join(scope for scope in scopes if scope)).strip()


def base_key(name: str) -> str:
    """The kernel's own name only: without scopes and template arguments."""
    scopes = scopes_of(kernel_key(name))
    return scopes[-1].partition("<")[0] if not scopes[-1].startswith("operator") else scopes[-1]


def _without_parameters(name: str) -> str:
    """`name` up to the bracket that opens its last list of parameters; unchanged without one."""
    name = name.removesuffix(" const")
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
