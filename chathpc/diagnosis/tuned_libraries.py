"""Libraries that are tuned for the machine: time in them is work done as well as their makers know how.

On the host the load module decides, for anybody may call a function dgemm; kernels have no module, so only the forms of names that vendors'
generators give them count.
"""

from __future__ import annotations

import re

from chathpc.profile.tree import BoolArray, CallTree

#: Load modules by the beginning of their file name, before the version.
_MODULE = re.compile(
    r"lib(?:(?:open|f77|flexi|gsl|c|p)?blas|lapacke?|blis(?:-mt)?|armpl\w*|essl\w*|sci_\w+|nvpl_(?:blas|lapack|fft)\w*"
    r"|mkl_(?!intel_thread|gnu_thread|sequential)\w+|fftw3\w*"
    r"|cublas(?:Lt)?|cufft|cudnn\w*|cusolver|cusparse|rocblas|hipblas(?:lt)?|rocfft|MIOpen)[._-]"
)
_KERNEL = re.compile(
    r"(?:void )?(?:(?:volta|turing|ampere|ada|hopper|maxwell|sm\d+)_\w*gemm|(?:cutlass|cublas|cublasLt|cudnn|cusolver|rocblas)(?:::|_|\d)"
    r"|Cijk_|gemv2[TN]_kernel|nvjet_|(?:flash::)?flash_(?:fwd|bwd)|(?:regular|vector|composite)_fft)"
)


def is_tuned_module(path: str) -> bool:
    """True for the load module of such a library, by its file name."""
    return _MODULE.match(path.replace("\\", "/").rsplit("/", 1)[-1]) is not None


def is_tuned_kernel(name: str) -> bool:
    """True for a kernel that such a library brings, by the form of its name."""
    return _KERNEL.match(name) is not None


def in_tuned_libraries(tree: CallTree) -> BoolArray:
    """True for nodes in code of such a library, by the load module."""
    return tree.where_module(is_tuned_module)
