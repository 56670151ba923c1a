"""Who calls a library's kernel is advised about the call; who wrote it, about the kernel."""

from __future__ import annotations

import pytest

from chathpc.diagnosis.tuned_libraries import for_callers
from tests.diagnosis.parts import diagnosed, finding
from tests.diagnosis.timelines import kernel, recorded


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("enable_if<!T7, void>::type kernel<int, cublasGemvParamsEx<int, float>>(T13)", "small products in one call"),
        ("void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16>(Params)", "small products in one call"),
        ("void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>>(int)", "larger batch"),
        ("void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>>(int)", "(torch.compile)"),
        ("void rocprim::detail::reduce_kernel<float>(int*)", "(transform iterators)"),
        (
            "void rocprim::detail::trampoline_kernel<float, rocprim::detail::scan_impl(int)::{lambda(auto:1)#1}>(int*)",
            "larger batch",
        ),
        ("void thrust::detail::_kernel_agent<thrust::for_each_f<MyFunctor>>(int)", ""),
        ("void mine<cutlass::half_t>(int)", ""),
        ("my_gemm(float*)", ""),
    ],
)
def test_whose_kernel_it_is_follows_from_its_name(name: str, word: str) -> None:
    advice = for_callers(name)
    assert any(word in each for each in advice) if word else advice == ()


def test_callers_of_a_kernel_are_not_told_to_launch_it_otherwise() -> None:
    for name, told in (("void at::native::reduce_kernel<512, 1>(int)", "larger batch"), ("mine(int)", "blockIdx.y")):
        found = finding(diagnosed(recorded(kernel(name, (0, 1000), blocks=2))), "gpu-small-grid")
        assert told in found.advice[0]
        assert any("blockIdx.y" in each for each in found.advice) is ("at::" not in name)
