"""Source files that no program's author wrote: headers of compilers, packages and template libraries, whose code is compiled into the
program where it is used.
"""

from __future__ import annotations

import re

from chathpc.profile.classification import in_standard_headers
from chathpc.profile.source_text import is_of_system

_HEADER = r"[^/]+\.(?:h|hh|hpp|hxx|cuh|inl|ipp)$"
_LIBRARY = re.compile(
    # packages of Python and Julia, whose own library is recorded by names alone
    r"(?:^|/)(?:site-packages|dist-packages|\.julia/packages)/|^(?:\./)?\w+\.jl$"
    # the toolkits of GPUs
    r"|(?:^|/)(?:targets/[^/]+|(?:cuda|rocm|oneapi)[-/]v?\d[^/]*|(?:usr/local|opt)/(?:cuda|rocm)|hpc_sdk/.+)/include/"
    # libraries of templates, wherever they were put
    rf"|(?:^|/)(?:include|cccl|cub|thrust|libcudacxx)/(?:.+/)?(?:cub|thrust|cuda|cutlass|cute|cooperative_groups|RAJA|camp|rocprim|hipcub)/(?:.+/)?{_HEADER}"
    rf"|(?:^|/)Eigen/src/(?:.+/)?{_HEADER}|(?:^|/)(?:Kokkos_\w+|cooperative_groups)\.(?:h|hpp)$"
)


def is_library_source(path: str) -> bool:
    """True for files of libraries, by the folder that they lie in."""
    path = path.replace("\\", "/")
    return is_of_system(path) or in_standard_headers(path) or _LIBRARY.search(path) is not None
