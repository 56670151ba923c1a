"""Names go out as placeholders and come back: everything of the user, and nothing else of the answer."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.privacy.placeholders import KINDS, Kind, Mode, Placeholders, Restorer
from chathpc.privacy.words import GROUP, is_library, is_neutral, own_words

MANGLED = "_ZN7quokka10diffuseQ_kEPKdPdi"
NAMES: dict[str, Kind] = {
    "diffuseq_k": "fn",
    "quokka": "fn",
    "heat": "file",
    "numbat.f90": "file",
    "numbat": "file",
    "wombatfs": "dir",
    "login-7.bilby.example": "host",
    "bilby": "host",
    "mdinh": "user",
    "4711234": "job",
    "mpi_wait": "fn",
}
letters = st.text(
    alphabet="abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789$äß函", min_size=2, max_size=12
)
pieces = st.one_of(
    letters,
    st.sampled_from(
        [*NAMES, *(f"{kind}_{n}" for kind in KINDS for n in (0, 1, 2, 12)), "E1", "3.17", "waits", "s", "heat.c"]
    ),
    st.sampled_from(list(" \n\t.,:;-+/()<>[]{}@#%…'\"\\|=*&!?~^`")),
    st.text(max_size=3),
)
texts = st.lists(pieces, max_size=30).map("".join)


def made(mode: Mode = "default") -> Placeholders:
    return Placeholders(mode, NAMES)


@given(texts, st.sampled_from(["default", "all", "none"]))
def test_what_goes_out_comes_back_letter_by_letter(text: str, mode: Mode) -> None:
    placeholders = made(mode)
    assert placeholders.restore(placeholders.conceal(text)) == text


@given(st.lists(texts, max_size=4))
def test_several_texts_share_one_mapping(parts: list[str]) -> None:
    placeholders = made()
    concealed = [placeholders.conceal(part) for part in parts]
    assert [placeholders.restore(part) for part in concealed] == parts


@given(texts, st.data())
def test_an_answer_in_pieces_is_restored_as_the_whole(text: str, data: st.DataObject) -> None:
    placeholders = made()
    concealed = placeholders.conceal(text)
    told: list[str] = []
    restorer = Restorer(placeholders, told.append)
    at = 0
    while at < len(concealed):
        step = data.draw(st.integers(1, 7))
        restorer(concealed[at : at + step])
        at += step
    restorer.finish()
    assert "".join(told) == text


def derived(name: str) -> list[str]:
    """The forms in which a name gets into a text: paths, stems, arguments, mangled, inflected and in other cases."""
    return [
        name, name.upper(), name.capitalize(), f"{name}s", f"{name}'s", f"{name}ing", f"{name}er", f"/home/user/{name}/src/{name}.cpp:12", f"{name}.c",
        f"{name}._omp_fn.0", f"{name}.isra.0.cold", f"std::vector<{name}<int> >", f"void ns::{name}<3>::run(double const*)", f"_ZN{len(name)}{name}3runEv",
        f"{name}_kernel", f"my{name.capitalize()}", f"lib{name}.so.1.0.0+0x1f", f"…{name}", f"{name}…", f"/{name}", f"{name}/",
        f"a-{name}", f"{name}-3", f"{name}@host",
        f"https://{name}.org/?q={name}", f"[{name}]", f"loop at {name}.f90:7", f'"{name}"', f"#{name}", f"${name}", f"{name}[clone .{name}]", f"{name}%{name}",
    ]  # fmt: skip


@given(st.from_regex(r"[a-z]{2,5}(_[a-z]{1,4})?[0-9]{0,2}", fullmatch=True), st.sampled_from(["default", "all"]))
def test_no_form_of_a_name_of_the_profile_is_left_in_what_goes_out(name: str, mode: Mode) -> None:
    if is_neutral(name) or is_library(name) or re.fullmatch(rf"({'|'.join(KINDS)}).*", name):
        return
    placeholders = Placeholders(mode, {name: "fn"})
    for text in derived(name):
        concealed = placeholders.conceal(text)
        words = {word for group in GROUP.findall(concealed.lower()) for word in re.split(r"[.\-@]", group)}
        ours = {word for word in words if re.fullmatch(rf"({'|'.join(KINDS)})_\d+", word)}
        left = {word for word in words - ours if name in word and word not in own_words() and not is_library(word)}
        assert name not in words, (text, concealed)
        assert not left, (text, concealed)
        assert placeholders.restore(concealed) == text


@pytest.mark.parametrize(
    "text",
    [
        MANGLED, "/wombatfs/mdinh/numbat.f90", "DIFFUSEQ_K", "quokka::diffuseQ_k<Wallaby, 3>(Wallaby const&)", "numbats", "Quokka's",
        "login-7.bilby.example", "LOGIN-7", "mdinh@bilby.example", "ssh://mdinh@login-7.bilby.example:22", "10.11.12.13", "fe80::1ff:fe23:4567:890a",
        "job 4711234", "x86-quokka", "4711234.bilby", "Wallaby", "函数", "heat", "/heat/", "heat.c", "quok…", "libquokka.so", "QuokkaSolver",
        "slurm-4711234.out",
        "123e4567-e89b-12d3-a456-426614174000",
    ],
)  # fmt: skip
@pytest.mark.parametrize("mode", ["default", "all"])
def test_everything_of_the_user_is_replaced(text: str, mode: Mode) -> None:
    concealed = made(mode).conceal(text)
    for residue in (
        "quok",
        "diffuse",
        "wallaby",
        "numbat",
        "wombat",
        "mdinh",
        "bilby",
        "login-7",
        "4711234",
        "heat",
        "函",
        "11.12",
        "fe23",
        "e89b",
    ):
        assert residue not in concealed.lower(), concealed


@pytest.mark.parametrize(
    "text",
    [
        "MPI_Wait", "cudaMemcpyAsync", "memcpy", "libgomp.so.1.0.0", "__kmpc_barrier", "omp_get_thread_num", "std::vector<double>", "__GI___poll",
        "GOMP_parallel", "cuMemcpyHtoDAsync_v2", "libm.so.6", "ncclAllReduce", "np.linalg.solve(a, b)", "COMM_WORLD.Sendrecv()", "multiprocessing.Pool(2)",
    ],
)  # fmt: skip
def test_names_of_libraries_stay_unless_all_is_asked_for(text: str) -> None:
    names: dict[str, Kind] = {word.lower(): "fn" for word in re.findall(r"\w+", text) if not is_neutral(word)}
    assert Placeholders("default", names).conceal(text) == text
    assert Placeholders("all", names).conceal(text) != text


def test_of_a_call_of_a_member_only_the_object_is_replaced_where_the_member_is_a_librarys() -> None:
    placeholders = Placeholders("default", {"quokkas": "name"})
    concealed = placeholders.conceal("quokkas.push_back(quokkas.hop(x)); quokkas.list.size()")
    assert concealed == "name_1.push_back(name_2(x)); name_1.list.size()"
    assert placeholders.restore(concealed) == "quokkas.push_back(quokkas.hop(x)); quokkas.list.size()"


@pytest.mark.parametrize(
    "name", ["cudaSecretSolver", "MPI_Quokka", "omp_wombat", "memcpy_quokka", "libquokka.so", "stdquokka", "cuQuokka"]
)
def test_a_prefix_alone_makes_no_library(name: str) -> None:
    assert name not in Placeholders("default").conceal(name)


def test_our_own_sentences_stay_readable() -> None:
    text = "Threads wait 4.36 s of 9.01 s (48.4 %) in the OpenMP runtime. {E1} stands for 4.36 s. Write schedule(dynamic, 16)."
    assert made().conceal(text) == text


def test_the_same_name_has_the_same_placeholder_in_every_text_and_session() -> None:
    first, second = made(), made()
    forward = [first.conceal(name) for name in NAMES]
    backward = [second.conceal(name) for name in reversed(NAMES)]
    assert forward == backward[::-1]
    assert first.conceal("in diffuseq_k") == f"in {forward[0]}"
    assert len(set(forward)) == len(NAMES)
    assert first.conceal("numbat.f90") == first.conceal("numbat") + ".f90"


def test_placeholders_of_the_profiles_own_are_not_mistaken() -> None:
    placeholders = Placeholders("default", {"fn_1": "fn", "quokka": "fn", "fn_2": "fn"})
    concealed = placeholders.conceal("fn_1 calls quokka, FN_1 and fn_2")
    assert "fn_1" not in concealed
    assert "fn_2" not in concealed
    assert placeholders.restore(concealed) == "fn_1 calls quokka, FN_1 and fn_2"


def test_a_model_may_bend_a_placeholder() -> None:
    placeholders = Placeholders("default", {"quokka": "fn"})
    assert placeholders.conceal("quokka") == "fn_1"
    assert (
        placeholders.restore("Fn_1 and fn_1's FN_1, fn_10, fn_1s, afn_1.")
        == "quokka and quokka's quokka, fn_10, quokkas, afn_1."
    )
    assert placeholders.restore(r'{"text": "\nfn_1 waits"}') == r'{"text": "\nquokka waits"}'


def test_nothing_is_replaced_where_nothing_is_to_be() -> None:
    placeholders = Placeholders("none")
    assert placeholders.conceal("quokka fn_1") == "quokka fn_1"
    assert placeholders.restore("fn_1") == "fn_1"


def test_words_of_the_hardware_stay_by_default_only() -> None:
    free = frozenset({"h200"})
    assert Placeholders("default", {}, free).conceal("H200") == "H200"
    assert Placeholders("all", {}, free).conceal("H200") != "H200"


def test_a_folder_that_is_a_common_word_is_a_name_in_a_path_only() -> None:
    placeholders = Placeholders("default", {"work": "dir"})
    assert placeholders.conceal("threads work") == "threads work"
    assert "work" not in placeholders.conceal("a/work/x")
