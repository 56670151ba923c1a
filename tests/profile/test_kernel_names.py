"""One kernel as several tools spell it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.profile import kernel_names
from chathpc.profile.kernel_names import base_key, demangled, kernel_key

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
