"""One kernel as several tools spell it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.profile import kernel_names
from chathpc.profile.kernel_names import Filter, base_key, demangled, filter_of, kernel_key, kernel_title

SAME = [
    ("void axpy<(int)4, float>(float *, int)", "axpy<4, float>(float*, int)", "axpy<4,float>", "_Z4axpyILi4EfEvPT0_i"),
    ("void (anonymous namespace)::f<true, (bool)0, 3u>(int const*)", "<unnamed>::f<1, 0, 3>(const int *)"),
    ("saxpy(int, float, float*, float*)", "saxpy", "saxpy.kd", "saxpy [clone .kd]", "_Z5saxpyifPfS_"),
    ("a::b<c<1>, d>::run(x<int>) const", "void a::b<c<1>, d>::run(x<int>)"),
    ("void f<void (*)(int)>(int)", "f<void (*)(int)>"),
    ("std::enable_if<a::b, int>::type k<float>(int)", "k<float>(int)", "k<float>"),
    ("unsigned long count(int*)", "count"),
]


@pytest.mark.parametrize("spellings", SAME, ids=lambda names: names[1])
def test_spellings_of_one_kernel_have_one_key(spellings):
    assert {kernel_key(name) for name in spellings} == {kernel_key(spellings[0])}


def test_instances_of_a_template_have_keys_of_their_own_and_one_base():
    one, other = "void axpy<4, float>(float*)", "void axpy<4, double>(double*)"
    assert kernel_key(one) != kernel_key(other)
    assert base_key(one) == base_key(other) == "axpy"


def test_operators_keep_their_names():
    assert kernel_key("fill::operator()(int) const") == "fill::operator()"
    assert base_key("fill::operator()(int) const") == "operator()"


def test_what_is_no_mangled_name_stays(monkeypatch):
    assert demangled("saxpy") == "saxpy"
    assert demangled("_Zjunk") == "_Zjunk"
    assert demangled("_Z" + "N" * 5000) == "_Z" + "N" * 5000
    monkeypatch.setattr(kernel_names, "_demangler", lambda: None)
    assert demangled("_Z5saxpyifPfS_") == "_Z5saxpyifPfS_"


@given(st.text(alphabet="abZ_<>():,* &0123456789[]", max_size=40))
def test_a_key_is_stable(name):
    assert kernel_key(kernel_key(name)) == kernel_key(kernel_key(kernel_key(name)))
    base_key(name)


#: A kernel as its profiler spells it, its name in a sentence, and the word by which it is chosen: what a launcher runs, not the launcher.
TITLES = [
    (
        "void Kokkos::Impl::cuda_parallel_launch_local_memory<Kokkos::Impl::ParallelFor<md::PairCut<Kokkos::Cuda>, "
        "Kokkos::RangePolicy<Kokkos::Cuda, md::TagPair>, Kokkos::Cuda>>(T1)",
        "PairCut", "PairCut",
    ),
    (
        "void Kokkos::Impl::cuda_parallel_launch_constant_memory<Kokkos::Impl::ParallelFor<assemble(Config)::[lambda(const "
        "Kokkos::Impl::CudaTeamMember &) (instance 5)], Kokkos::TeamPolicy<Kokkos::Cuda>, Kokkos::Cuda>>()",
        "assemble::lambda#5", "assemble",
    ),
    (
        "void RAJA::policy::cuda::impl::forall_cuda_kernel<RAJA::policy::cuda::exec<256>, RAJA::Iterators::numeric_iterator<long, long, "
        "long*>, suite::Triad::run(int)::{lambda(long)#1}, long, 256ul>(int)",
        "suite::Triad::run::lambda#1", "run",
    ),
    (
        "void thrust::cuda_cub::core::_kernel_agent<thrust::cuda_cub::__parallel_for::ParallelForAgent<thrust::cuda_cub::__transform::"
        "unary_transform_f<thrust::device_ptr<Body>, thrust::device_ptr<float>, saxpy_functor>, long>, long>(T2, T3)",
        "saxpy_functor", "saxpy_functor",
    ),
    ("enable_if<!T7, void>::type kernel<__nv_bfloat16, 0, cublasGemvParamsEx<int, float>>(T13)", "cublasGemvParamsEx", "cublasGemvParamsEx"),
    ("void cutlass::Kernel<cutlass::gemm::kernel::GemmUniversal<cutlass::gemm::GemmShape<32, 64, 8>, int>>(T1::Params)", "GemmUniversal", "GemmUniversal"),
    ("void cub::DeviceReduceKernel<cub::Policy<float, int, Largest>::Policy600, float*, int, Largest>(float*)", "DeviceReduceKernel<Largest>", "Largest"),
    ("void mine::ranged<advect(bool, Buffer<double> &)::[lambda(int, int) (instance 2)]>(Range, T1)", "ranged<advect::lambda#2>", "advect"),
    ("void run<__nv_dl_wrapper_t<__nv_dl_tag<void (*)(double*, int), &(daxpy(double*, int)), 1u>, double*> >(int)", "run<daxpy::lambda#1>", "daxpy"),
    ("typeinfo name for work(int)::{lambda(sycl::_V1::handler&)#1}::operator()(sycl::_V1::handler&) const::{lambda(auto:1)#2}", "work::lambda#2", "work"),
    ("fill(at::Tensor &)::[lambda() (instance 1)]::operator ()() const::[lambda(long) (instance 3)]", "fill::lambda#3", "fill"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "title", "word"), TITLES, ids=[title for _, title, _ in TITLES])
def test_a_kernel_is_called_by_what_a_launcher_runs(name, title, word):
    assert kernel_title(name) == title
    chosen = filter_of(name)
    assert chosen.word == word
    assert not chosen.exact
    assert re.search(chosen.pattern, name)


def test_the_instance_of_a_lambda_chooses_between_those_of_one_function():
    names = [f"void ranged<step(int)::[lambda(int) (instance {number})]>(T1)" for number in (1, 2, 12)]
    assert [re.search(filter_of(names[0]).pattern, name) is not None for name in names] == [True, False, False]


@pytest.mark.parametrize(
    ("name", "title", "chosen"),
    [
        ("_Z5saxpyifPfS_", "saxpy", Filter("saxpy", exact=True)),
        ("void a::k<float>(float*) [9f7f9be6.gpubin]", "a::k<float>", Filter("k", exact=True)),
        ("kernel launched from main", "kernel launched from main", Filter()),
        ("fill::operator()(int) const", "fill::operator()", Filter()),
    ],
)
def test_other_kernels_keep_their_names_and_are_chosen_exactly(name, title, chosen):
    assert (kernel_title(name), filter_of(name)) == (title, chosen)
