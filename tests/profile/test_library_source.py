"""Which source files are a library's, by the folder that they lie in."""

from __future__ import annotations

import pytest

from chathpc.profile.classification import is_library_source


@pytest.mark.parametrize(
    "path",
    [
        "/usr/include/c++/12/bits/stl_algo.h",
        "/usr/include/math.h",
        "/usr/local/cuda/include/thrust/detail/reduce.inl",
        "/usr/local/cuda-13.0/bin/../targets/x86_64-linux/include/sm_30_intrinsics.hpp",
        "/sw/cuda/12.4/include/cuda_fp16.hpp",
        "/opt/nvidia/hpc_sdk/Linux_x86_64/24.3/cuda/include/cooperative_groups.h",
        "/opt/rocm-6.0.2/include/hip/amd_detail/amd_device_functions.h",
        "/data/env/lib/python3.12/site-packages/nvidia/cu13/include/cccl/cub/block/block_reduce.cuh",
        "/data/cccl/cub/cub/block/block_reduce.cuh",
        "/data/cccl/thrust/thrust/system/cuda/detail/for_each.h",
        "/data/cccl/libcudacxx/include/cuda/std/__atomic/order.h",
        "third_party/cutlass/include/cute/arch/copy_sm90.hpp",
        "/data/kokkos/core/src/Cuda/Kokkos_Cuda_Parallel_Range.hpp",
        "/data/RAJA/include/RAJA/policy/cuda/forall.hpp",
        "/usr/include/eigen3/Eigen/src/Core/Product.h",
        "/data/.julia/packages/CUDA/DfvRa/src/device/intrinsics/warp_shuffle.jl",
        "int.jl",
        r"C:\Program Files\NVIDIA GPU Computing Toolkit\CUDA\v12.4\include\cub\warp\warp_reduce.cuh",
    ],
)
def test_headers_of_compilers_packages_and_template_libraries_are(path: str) -> None:
    assert is_library_source(path)


@pytest.mark.parametrize(
    "path",
    [
        "/data/solver/src/kernel.cu",
        "/data/solver/include/solver/kernel.cuh",
        "/data/solver/src/cuda/include/kernels.cuh",
        "/data/rocket/src/thrust/engine.h",
        "/data/cutlass/examples/my_gemm.cu",
        "/data/thrust/thrust/my_test.cu",
        "/data/flash/hopper/epilogue_fwd.hpp",
        "/data/cuda-solver/include/solver.h",
        "/data/IndexSpaces/kernels/bb.jl",
        "",
    ],
)
def test_files_of_a_program_are_none(path: str) -> None:
    assert not is_library_source(path)
