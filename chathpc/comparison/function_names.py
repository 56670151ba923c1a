"""Functions of two builds brought to common names: compilers clone, outline, number and decorate each in their own way."""

from __future__ import annotations

import re
from collections.abc import Iterable

from chathpc.diagnosis.facts import readable_function, without_clones
from chathpc.profile.activity import ACTIVITY_WORDS, OPENMP, VECTOR_ABI, Activity, base_name
from chathpc.profile.kernel_names import kernel_key
from chathpc.profile.names import in_words

#: Names that are the same in any spelling.
_PLAIN = re.compile(r"(?!_Z|__)\w+")
#: What stands behind the name of a library's function: ` [libc.so.6]`; and behind that of a versioned symbol: `@@GLIBC_2.14`.
_LIBRARY = re.compile(r" \[[^\[\]]*\]$")
_VERSION = re.compile(r"(?<=\w)@{1,2}[A-Za-z][\w.]*$")
_ADDRESS = re.compile(r"\b0x[0-9a-f]+\b")
_NUMBERS = re.compile(r"(?<=\.so)(\.\d+)+")
_INSTRUCTION_SET = re.compile(r"(_(fma4?|sse\d+|avx\w*|evex\w*|erms|unaligned|skx|knl|finite|ifunc|chk))+$")
_WRAPPING = re.compile(r"^(ieee754_|w_|libc_|P(?=MPI_))")
#: Longer names are not taken apart, which takes time that grows with the square of their length.
_LONGEST = 5_000
#: What only names of C++ have: scopes, template arguments, parameters right behind a name, mangling.
_CPLUSPLUS = re.compile(r"::|^[^\s<]+(\s[^\s<]+)*<[^<]|\w\(|^_Z")

#: Runtimes whose inner names say nothing to a user and change with the version: there the activity is the name.
_BY_ACTIVITY = (
    Activity.ALLOCATION,
    Activity.COPY,
    *OPENMP,
    Activity.MPI_SETUP,
    Activity.HELPER,
    Activity.PROFILER,
)


def plain_key(name: str) -> str:
    """The name of a function without the suffixes of clones and of outlined OpenMP regions, symbol version and library.

    `sum.constprop.0`, `sum._omp_fn.2` and `sum@@V2 [libsum.so]` give `sum`; cheap, and enough for two builds by one compiler.
    """
    if name.startswith("<"):  # a placeholder or a procedure without a name
        return name
    return without_clones(_VERSION.sub("", _LIBRARY.sub("", name))) or name


def function_key(name: str) -> str:
    """The name of a function in one spelling: as `plain_key`, and without mangling, return type and parameters.

    `_Z3sumPKdi`, `double sum(double const*, int)` and `sum.constprop.0` all give `sum`; template arguments stay.
    """
    bare = plain_key(name)
    if _PLAIN.fullmatch(bare) or bare.startswith("<") or len(bare) > _LONGEST:
        return bare
    if _CPLUSPLUS.search(bare):
        return readable_function(kernel_key(bare)) or name
    return name if " (" in bare else readable_function(bare) or name


def template_key(name: str) -> str:
    """What a function of the C++ standard library is compared by: scopes and name, `std::vector::resize`."""
    return function_key(_without_template_arguments(name))


def loose_key(key: str) -> str:
    """`key` without what may differ between builds of one source: template arguments, addresses, numbers of library
    versions, the underscores that Fortran compilers append.
    """
    if key.startswith("<"):
        return _NUMBERS.sub("", _ADDRESS.sub("", key))
    return (_without_template_arguments(key) or key).rstrip("_") or key


def common_key(name: str) -> str:
    """What a function is compared by where nothing but its name is known: as `function_key`, then `loose_key`."""
    return loose_key(function_key(name))


def library_key(name: str, activity: Activity) -> str:
    """What a call into a library is compared by: the activity for runtimes whose inner names tell nothing, else the
    function without aliases and variants for instruction sets (`__exp_fma` → `exp`); of a device the kernel or copy.
    """
    if activity in _BY_ACTIVITY:
        return ACTIVITY_WORDS[activity]
    if activity == Activity.GPU:
        return in_words(function_key(name))
    if name.startswith("<"):
        return loose_key(name)
    stem = VECTOR_ABI.sub("", base_name(name), count=1) if activity == Activity.MATH else base_name(name)
    return _WRAPPING.sub("", _INSTRUCTION_SET.sub("", stem)) or stem


def common_keys(before: Iterable[str], after: Iterable[str]) -> dict[str, str]:
    """For each name of either side the key that it is compared by.

    Names are the same if `plain_key` is; of those that have no partner so, if `function_key` is; of the rest, if `loose_key` is.
    """
    keys = {name: plain_key(name) for name in {*before, *after}}
    for spelling in (function_key, loose_key):
        first, second = {keys[name] for name in before}, {keys[name] for name in after}
        mine, theirs = first - second, second - first
        if not mine or not theirs:
            break
        spelled = {key: spelling(key) for key in mine | theirs}
        shared = {spelled[key] for key in mine} & {spelled[key] for key in theirs}
        keys = {name: spelled[key] if spelled.get(key) in shared else key for name, key in keys.items()}
    return keys


def _without_template_arguments(key: str) -> str:
    """`key` without what stands in angle brackets; names of operators keep theirs."""
    if "<" not in key or "operator" in key:
        return key
    kept, depth = [], 0
    for character in key:
        if character == "<":
            depth += 1
        elif character == ">" and depth:
            depth -= 1
        elif not depth:
            kept.append(character)
    return key if depth else "".join(kept)
