"""Names of functions of two builds: what is one function, and what is not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.comparison.function_names import common_keys, function_key, library_key, loose_key
from chathpc.profile.activity import ACTIVITY_WORDS, Activity
from chathpc.profile.kernel_names import demangled


@pytest.mark.parametrize(
    "name",
    [
        "sum",
        "sum.constprop.0",
        "sum.isra.0",
        "sum.part.3",
        "sum.cold",
        "sum.part.0.constprop.1",
        "sum._omp_fn.0",
        "sum._omp_fn.12",
        "sum.omp_outlined",
        "sum [clone .isra.0]",
        "sum@GLIBC_2.2.5",
        "sum@@GLIBC_2.14",
        "sum [libsum.so.1]",
        "sum(double const*, int)",
        "double sum(double const*, int) [clone .constprop.0]",
    ],
)
def test_what_a_build_adds_to_a_name_is_no_part_of_it(name: str) -> None:
    assert function_key(name) == "sum"


def test_template_arguments_and_scopes_tell_functions_apart() -> None:
    assert function_key("void grid<double>::step(int)") == "grid<double>::step"
    assert function_key("grid< double >::step(int)") == "grid<double>::step"
    assert len({function_key(name) for name in ("grid<double>::step(int)", "grid<float>::step(int)", "step")}) == 3


@pytest.mark.parametrize("suffix", ["", ".constprop.0", ".isra.0"])
def test_mangled_names_are_those_of_the_source(suffix: str) -> None:
    if demangled("_Z3sumPKdi") == "_Z3sumPKdi":
        pytest.skip("no C++ runtime library here, which demangles")
    assert function_key(f"_Z3sumPKdi{suffix}") == "sum"


@pytest.mark.parametrize(
    "name", ["main thread", "solve (inner)", "<built-in method time.sleep>", "time step 3", "<omp barrier wait>", ""]
)
def test_names_that_are_not_of_cplusplus_are_left_alone(name: str) -> None:
    assert function_key(name) == name


def test_names_beyond_all_measure_are_not_taken_apart() -> None:
    name = "void f(" + "a b, " * 200_000 + "int)"
    assert function_key(name) == name


@given(st.text(max_size=60))
def test_any_name_has_a_key_and_the_key_is_its_own(name: str) -> None:
    key = function_key(name)
    assert key or not name
    assert loose_key(loose_key(key)) == loose_key(key)


@pytest.mark.parametrize(
    ("key", "loose"),
    [
        ("grid<double>::step", "grid::step"),
        ("map<int,vector<float>>::find", "map::find"),
        ("operator<", "operator<"),
        ("a<b", "a<b"),
        ("daxpy_", "daxpy"),
        ("_", "_"),
        ("<unknown procedure> 0x1f780 [libgomp.so.1.0.0]", "<unknown procedure>  [libgomp.so]"),
    ],
)
def test_builds_of_one_source_differ_in_template_arguments_addresses_and_underscores(key: str, loose: str) -> None:
    assert loose_key(key) == loose


def test_a_name_that_both_sides_have_keeps_its_template_arguments() -> None:
    keys = common_keys(["f<int>", "f<long>", "g<4>"], ["f<int>", "f<long>", "g<8>", "h<2>"])
    assert keys == {"f<int>": "f<int>", "f<long>": "f<long>", "g<4>": "g", "g<8>": "g", "h<2>": "h<2>"}


@pytest.mark.parametrize(
    ("name", "activity", "key"),
    [
        ("__exp_fma [libm.so.6]", Activity.MATH, "exp"),
        ("__ieee754_pow_avx2", Activity.MATH, "pow"),
        ("_ZGVeN8vv_pow_skx", Activity.MATH, "pow"),
        ("_ZGVdN4v_exp [libmvec.so.1]", Activity.MATH, "exp"),
        ("PMPI_Allreduce [libmpi.so.40]", Activity.MPI, "MPI_Allreduce"),
        ("_mid_memalign.constprop.0 [libc.so.6]", Activity.ALLOCATION, "memory allocation"),
        ("__memcpy_avx512_unaligned_erms", Activity.COPY, "copying memory"),
        ("<unknown procedure> 0x1f780 [libgomp.so.1.0.0]", Activity.OMP_WAIT, "waiting in OpenMP"),
        ("<unknown procedure> 0x1f780 [libfoo.so.1.0.0]", Activity.LIBRARY, "<unknown procedure>  [libfoo.so]"),
    ],
)
def test_calls_of_libraries_are_compared_by_what_a_user_knows_them_by(name: str, activity: Activity, key: str) -> None:
    assert library_key(name, activity) == key


def test_every_kind_of_work_has_words() -> None:
    assert set(ACTIVITY_WORDS) == set(Activity)
