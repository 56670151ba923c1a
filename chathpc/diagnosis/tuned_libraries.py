"""Libraries that are tuned for the machine: time in them is work done as well as their makers know how.

On the host the load module decides, for anybody may call a function dgemm; kernels have no module, so only the forms of names that vendors'
generators give them count.
"""

from __future__ import annotations

import re

from chathpc.profile.kernel_names import is_launcher, kernel_title
from chathpc.profile.tree import BoolArray, CallTree

#: Load modules by the beginning of their file name, before the version.
_MODULE = re.compile(
    r"lib(?:(?:open|f77|flexi|gsl|c|p)?blas|lapacke?|blis(?:-mt)?|armpl\w*|essl\w*|sci_\w+|nvpl_(?:blas|lapack|fft)\w*"
    r"|mkl_(?!intel_thread|gnu_thread|sequential)\w+|fftw3\w*"
    r"|cublas(?:Lt)?|cufft|cudnn\w*|cusolver|cusparse|rocblas|hipblas(?:lt)?|rocfft|MIOpen)[._-]"
)
_KERNEL = re.compile(
    r"(?:void )?(?:(?:volta|turing|ampere|ada|hopper|maxwell|sm\d+)_\w*gemm|(?:cutlass|cublas|cublasLt|cudnn|cusolver|rocblas)(?:::|_|\d)"
    r"|Cijk_|gemv2[TN]_kernel|nvjet_|(?:flash::)?flash_(?:fwd|bwd)|(?:regular|vector|composite)_fft|[^(]*\bcublas\w+Params)"
)
#: Kernels of these do what their own names say; the program chooses sizes and types, and when they are called.
_ROUTINE = re.compile(r"(?:void )?(?:at|c10|cub|hipcub|thrust|rocprim|rocblas|cudnn|cutlass)::")
_PRODUCT = re.compile(r"(?i)gem[mv]|cutlass|Cijk|nvjet|cublas")
_SPLIT = "Where the result is small and the sums are long, let the library split them (split-K or stream-K: cublasLt's heuristics, CUTLASS's tile schedulers)."
_BATCH = "Do several small products in one call (strided batched GEMM, torch.bmm), with sizes that are multiples of 8 elements."
_MORE = "Give each call more work: a larger batch, or several small inputs in one call."
_FUSE = "Make fewer calls: fuse what is computed element by element with what comes before and after it ({})."
_PYTORCH = re.compile(r"(?:void )?(?:at|c10)::")


def is_tuned_module(path: str) -> bool:
    """True for the load module of such a library, by its file name."""
    return _MODULE.match(path.replace("\\", "/").rsplit("/", 1)[-1]) is not None


def is_tuned_kernel(name: str) -> bool:
    """True for a kernel that such a library brings, by the form of its name."""
    return _KERNEL.match(name) is not None


def for_callers(name: str) -> tuple[str, ...]:
    """What those can do who call a kernel that they did not write; nothing for the program's own, also if a library launches it."""
    routine = _ROUTINE.match(name) and (not is_launcher(name) or _ROUTINE.match(kernel_title(name)))
    if not (routine or is_tuned_kernel(name)):
        return ()
    fused = _FUSE.format("torch.compile" if _PYTORCH.match(name) else "transform iterators")
    return (_BATCH, _SPLIT) if _PRODUCT.search(name) else (_MORE, fused)


def in_tuned_libraries(tree: CallTree) -> BoolArray:
    """True for nodes in code of such a library, by the load module."""
    return tree.where_module(is_tuned_module)
