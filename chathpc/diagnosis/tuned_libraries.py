"""Libraries that are tuned for the machine: time in them is work done as well as their makers know how."""

from __future__ import annotations

import re

import numpy as np

from chathpc.profile.tree import BoolArray, CallTree

#: What is tuned → names of its load modules, functions and kernels.
TUNED = {
    "BLAS and LAPACK": (
        r"lib(open|f77|flexi)?blas|liblapack|libblis|libarmpl|libsci_|libessl|libnvpl_(blas|lapack)|cblas_[sdcz]"
        r"|[sdcz](gemm|syrk|trsm|getrf|potrf)(_|$|kernel|64)"
    ),
    "Intel MKL": r"libmkl_|mkl_(blas|lapack|dft|sparse)_",
    "FFTs": r"libfftw3|fftwf?_execute|cufft|rocfft|vkfft",
    "BLAS on devices": r"libcublas|cublas|rocblas|hipblas|cutlass|tensile|Cijk_|\w*[sdhczi]gemm_\w|gemv2[TN]_kernel",
    "networks on devices": r"libcudnn|cudnn|miopen|flash_fwd|flash_bwd",
}
_NAME = re.compile("|".join(f"(?:{pattern})" for pattern in TUNED.values()))


def is_tuned(name: str) -> bool:
    """True for the name of a function, kernel or load module of such a library."""
    return _NAME.search(name.rsplit("/", 1)[-1]) is not None


def in_tuned_libraries(tree: CallTree) -> BoolArray:
    """True for nodes in code of such a library, by the load module or by the name of the function around them."""
    by_name = np.array([is_tuned(name) for name in tree.names] + [False])
    by_module = np.array([is_tuned(name) for name in tree.modules] + [False])
    function = tree.function
    of_function = np.where(function >= 0, tree.name[np.maximum(function, 0)], -1)
    return np.asarray(by_module[tree.module] | by_name[tree.name] | by_name[of_function])
