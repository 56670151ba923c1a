"""Headers for libraries that are not installed: what a program names of cuBLAS and the like, declared so that it compiles.

Such a library runs on a GPU only, so its work is not done here in any case. What its functions are called with does not matter then, nor
what their types are: each function says at run time that it was called and succeeds, and the program goes on to its own kernels.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

#: Headers of libraries that the host calls, and how their names begin. Not those with device code, such as curand_kernel.h.
_LIBRARIES = {
    r"cublas\w*\.h": "cublas", r"cufft\w*\.h": "cufft", r"curand\.h": "curand", r"cusolver\w*\.h": "cusolver",
    r"cusparse\w*\.h": "cusparse", r"cudnn\w*\.h": "cudnn", r"nccl\.h": "nccl",
}  # fmt: skip
#: Types whose contents the program itself uses.
_KNOWN_TYPES = {
    "cufftReal": "float", "cufftDoubleReal": "double", "cufftComplex": "float2", "cufftDoubleComplex": "double2",
}  # fmt: skip
#: A handle, an enumeration or a status: all convert from and to numbers, and 0 is success in each of the libraries.
_HEAD = """#pragma once
#include <cuda_runtime.h>
extern "C" void machine_missing(const char *name);
#ifndef CHATHPC_IMAGINED
#define CHATHPC_IMAGINED
struct chathpc_imagined {
    long value;
    __host__ __device__ constexpr chathpc_imagined(int number = 0) : value(number) {}
    __host__ __device__ constexpr chathpc_imagined(long number) : value(number) {}
    __host__ __device__ constexpr chathpc_imagined(decltype(nullptr)) : value(0) {}
    __host__ __device__ constexpr operator long() const { return value; }
};
#endif
"""


def library_of(header: str) -> str | None:
    """How the names of the library begin whose header it is; None if it is none that can be done without."""
    return next((prefix for pattern, prefix in _LIBRARIES.items() if re.fullmatch(pattern, header)), None)


def imagined_header(prefix: str, texts: Iterable[str]) -> str:
    """C++ that declares what `texts`, a program's sources, name of the library: types, constants and functions of any arguments."""
    names: dict[str, str] = {}
    for text in texts:
        for found in re.finditer(rf"\b({prefix}[A-Z]|{prefix.upper()}_)\w*(?=(\s*\(|[ \t*&]+[A-Za-z_])?)", text):
            name, then = found[0], (found[2] or "").strip()
            if name.endswith("_t") or name in _KNOWN_TYPES:
                kind = "type"
            elif found[1].isupper() or not then:
                kind = "constant"
            else:
                kind = "function" if then == "(" else "type"
            # A name also stands in comments, and as an argument: what says most about it counts.
            names[name] = max(names.get(name, kind), kind, key=("constant", "type", "function").index)
    guard = f"CHATHPC_IMAGINED_{prefix.upper()}"
    lines = [_HEAD, f"#ifndef {guard}", f"#define {guard}"]  # a library has several headers
    for number, (name, kind) in enumerate(sorted(names.items()), start=1):
        if kind == "type":
            lines.append(f"typedef {_KNOWN_TYPES.get(name, 'chathpc_imagined')} {name};")
        elif kind == "constant":
            lines.append(f"static constexpr int {name} = {0 if name.lower().endswith('success') else number};")
        else:
            lines.append(
                f"template <class... Any> static inline chathpc_imagined {name}(Any &&...)"
                f' {{ machine_missing("{name}"); return 0; }}'
            )
    return "\n".join([*lines, "#endif"]) + "\n"
