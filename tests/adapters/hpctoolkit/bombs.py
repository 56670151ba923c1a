"""Databases made by hand to hurt a reader, each with the outcome that is right.

`right`: "refused" (AdapterError when loading), "profile" (the damage is no reason to give up; `caveat` is a word that one of the
caveats holds, where the reader of the profile has to know), "late" (the profile loads, and only asking for the damaged part
is refused), or several of these where the format does not say.
"""

from __future__ import annotations

import math
import os
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.synthetic import programs
from tests.synthetic.hpctoolkit_v4 import (
    TIME,
    Context,
    Database,
    Metric,
    Options,
    Written,
    entry,
    function,
    line,
    loop,
    point,
    write,
)  # fmt: skip
from tests.synthetic.v4_meta import Shape


class File:
    """A file of a database that is changed in place."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.data = bytearray(path.read_bytes())

    def __enter__(self) -> File:
        return self

    def __exit__(self, *_: object) -> None:
        self.path.write_bytes(self.data)

    def u64(self, place: int) -> int:
        return int(struct.unpack_from("<Q", self.data, place)[0])

    def put(self, place: int, form: str, *values: float) -> None:
        struct.pack_into("<" + form, self.data, place, *values)


@dataclass(frozen=True, slots=True)
class Bomb:
    """One hostile database; `make` writes it below a folder and returns what is given to the reader."""

    name: str
    right: tuple[str, ...]
    make: Callable[[Path], Path]
    caveat: str = ""
    unprivileged: bool = False


BOMBS: list[Bomb] = []
REFUSED, PROFILE, LATE = ("refused",), ("profile",), ("late",)


def bomb(
    *right: str, caveat: str = "", unprivileged: bool = False
) -> Callable[[Callable[[Path], Path]], Callable[[Path], Path]]:
    """Add a function to the table of bombs, under its own name."""

    def add(make: Callable[[Path], Path]) -> Callable[[Path], Path]:
        BOMBS.append(Bomb(make.__name__, right, make, caveat, unprivileged))
        return make

    return add


def database(folder: Path, options: Options = Options(), of: Database | None = None) -> Written:  # noqa: B008  frozen
    """A good database in `folder`/db."""
    return write(folder / "db", of or programs.small(), options)


def field(file: str, header: int, place: int, form: str, *values: float) -> Callable[[Path], Path]:
    """Overwrite a field of the section whose pointer stands at `header`; `place` counts from the section's start."""

    def make(folder: Path) -> Path:
        path = database(folder).path
        with File(path / file) as image:
            image.put(image.u64(header) + place, form, *values)
        return path

    return make


def table(file: str, header: int, place: int, form: str, *values: float) -> Callable[[Path], Path]:
    """Overwrite a field of the array whose pointer is the first word of the section whose pointer stands at `header`."""

    def make(folder: Path) -> Path:
        path = database(folder).path
        with File(path / file) as image:
            image.put(image.u64(image.u64(header)) + place, form, *values)
        return path

    return make


def _add(name: str, right: tuple[str, ...], make: Callable[[Path], Path], caveat: str = "") -> None:
    BOMBS.append(Bomb(name, right, make, caveat))


# -- counts, strides, lengths, pointers --------------------------------------------------------------------

METRICS, CONTEXTS, MODULES, SOURCES, FUNCTIONS, IDS = 0x38, 0x48, 0x68, 0x78, 0x88, 0x28
BIG = (1 << 32) - 1

_add("four_billion_metrics", REFUSED, field("meta.db", METRICS, 0x08, "I", BIG))
_add("metrics_of_no_size", REFUSED, field("meta.db", METRICS, 0x0C, "BBB", 0, 0, 0))
_add("four_billion_functions", REFUSED, field("meta.db", FUNCTIONS, 0x08, "I", BIG))
_add("four_billion_functions_of_no_size", REFUSED, field("meta.db", FUNCTIONS, 0x08, "IH", BIG, 0))
_add("four_billion_files_of_no_size", REFUSED, field("meta.db", SOURCES, 0x08, "IH", BIG, 0))
_add("four_billion_modules", REFUSED, field("meta.db", MODULES, 0x08, "I", BIG))
_add("entry_points_of_no_size", REFUSED, field("meta.db", CONTEXTS, 0x0A, "B", 0))
_add("many_entry_points_of_no_size", REFUSED, field("meta.db", CONTEXTS, 0x08, "HB", 0xFFFF, 0))
_add("no_entry_points", ("refused", "profile"), field("meta.db", CONTEXTS, 0x08, "H", 0))
_add("identifier_names_beyond_the_file", REFUSED, field("meta.db", IDS, 0x00, "Q", 1 << 40))
_add("scopes_of_no_size", REFUSED, field("meta.db", METRICS, 0x1A, "B", 0))
_add("four_billion_profiles", REFUSED, field("profile.db", 0x18, 0x08, "I", BIG))
_add("four_billion_profiles_of_no_size", REFUSED, field("profile.db", 0x18, 0x08, "IB", BIG, 0))
_add("a_profile_with_2_to_the_63_values", REFUSED, table("profile.db", 0x18, 0x00, "Q", 1 << 63))
_add("a_profile_with_four_billion_contexts", REFUSED, table("profile.db", 0x18, 0x10, "I", BIG))
_add("values_before_the_section", ("refused", "profile"), table("profile.db", 0x18, 0x08, "Q", 0))
_add("values_beyond_the_file", REFUSED, table("profile.db", 0x18, 0x08, "Q", 1 << 62))
_add(
    "an_identifier_tuple_beyond_the_file", ("refused", "profile"), table("profile.db", 0x18, 0x30 + 0x20, "Q", 1 << 50)
)
_add("four_billion_contexts_of_no_size_in_cct_db", ("refused", "late", "profile"),
     field("cct.db", 0x18, 0x08, "IB", BIG, 0))  # fmt: skip
_add("cct_values_beyond_the_file", ("late", "profile"), table("cct.db", 0x18, 0x08, "Q", 1 << 62))
_add("cct_with_2_to_the_63_values", ("late", "profile"), table("cct.db", 0x18, 0x00, "Q", 1 << 63))
_add("four_billion_traces", LATE, field("trace.db", 0x18, 0x08, "I", BIG))
_add("four_billion_traces_of_no_size", LATE, field("trace.db", 0x18, 0x08, "IB", BIG, 0))
_add("a_trace_that_ends_before_it_begins", LATE, table("trace.db", 0x18, 0x08, "QQ", 0x200, 0x100))
_add("a_trace_beyond_the_file", LATE, table("trace.db", 0x18, 0x10, "Q", 1 << 62))
_add("a_trace_of_an_unknown_profile", ("late", "profile"), table("trace.db", 0x18, 0x00, "I", 99))
_add("section_beyond_the_file", REFUSED, lambda folder: _header(folder, 0x48, 1 << 63))
_add("section_larger_than_the_file", REFUSED, lambda folder: _header(folder, 0x40, 1 << 63))
_add("section_inside_the_header", REFUSED, lambda folder: _header(folder, 0x48, 0x10))


def _header(folder: Path, place: int, value: int) -> Path:
    path = database(folder).path
    with File(path / "meta.db") as meta:
        meta.put(place, "Q", value)
    return path


# -- the tree ----------------------------------------------------------------------------------------------


def _nested() -> tuple[Database, Context, Context]:
    inner = line("a.c", 3, point(1, {TIME: {0: 1.0}}))
    outer = loop("a.c", 2, inner)
    return Database([entry(function("main", outer))]), outer, inner


def _children(written: Written, of: Context, size: int | None, at: int | None) -> Path:
    with File(written.path / "meta.db") as meta:
        place = written.places[written.ids[of]]
        if size is not None:
            meta.put(place, "Q", size)
        if at is not None:
            meta.put(place + 8, "Q", at)
    return written.path


@bomb("refused")
def a_child_block_that_is_its_own_child(folder: Path) -> Path:
    tree, _outer, inner = _nested()
    written = database(folder, of=tree)
    return _children(written, inner, 48, written.places[written.ids[inner]])


@bomb("refused")
def two_child_blocks_that_hold_each_other(folder: Path) -> Path:
    tree, outer, inner = _nested()
    written = database(folder, of=tree)
    return _children(written, inner, 64, written.places[written.ids[outer]])


@bomb("refused")
def a_shared_subtree_of_sixty_levels(folder: Path) -> Path:
    """Each level has two contexts with the same child block: 2^60 paths in 5 KiB."""
    tip = line("a.c", 1, point(1, {TIME: {0: 1.0}}))
    levels = []
    for _ in range(60):
        pair = line("a.c", 1), line("a.c", 2)
        pair[0].children.append(tip)
        levels.append(pair)
        tip = function("f", *pair)
    written = database(folder, of=Database([entry(tip)]))
    with File(written.path / "meta.db") as meta:
        for first, second in levels:
            place = written.places[written.ids[first]]
            block = meta.data[place : place + 16]
            other = written.places[written.ids[second]]
            meta.data[other : other + 16] = block
    return written.path


@bomb("profile", "refused")
def a_chain_of_a_hundred_thousand_contexts(folder: Path) -> Path:
    tip = line("a.c", 1, point(1, {TIME: {0: 1.0}}))
    for _ in range(50_000):
        tip = line("a.c", 2, function("f", tip))
    return database(folder, of=Database([entry(function("main", tip))])).path


@bomb("refused")
def children_beyond_the_file(folder: Path) -> Path:
    tree, outer, _ = _nested()
    return _children(database(folder, of=tree), outer, None, 1 << 62)


@bomb("refused")
def children_before_the_section(folder: Path) -> Path:
    tree, outer, _ = _nested()
    return _children(database(folder, of=tree), outer, None, 0x10)


@bomb("refused")
def children_of_2_to_the_64_bytes(folder: Path) -> Path:
    tree, outer, _ = _nested()
    return _children(database(folder, of=tree), outer, (1 << 64) - 8, None)


@bomb("refused")
def a_child_that_ends_after_its_block(folder: Path) -> Path:
    tree, _outer, inner = _nested()
    written = database(folder, of=tree)
    with File(written.path / "meta.db") as meta:
        meta.put(written.places[written.ids[inner]] + 0x17, "B", 255)
    return written.path


@bomb("refused")
def a_block_that_ends_inside_a_child(folder: Path) -> Path:
    tree, outer, _ = _nested()
    return _children(database(folder, of=tree), outer, 40, None)


@bomb("refused")
def flags_that_need_more_flex_words_than_there_are(folder: Path) -> Path:
    tree, _, inner = _nested()
    written = database(folder, of=tree)
    with File(written.path / "meta.db") as meta:
        meta.put(written.places[written.ids[inner]] + 0x14, "B", 7)
    return written.path


@bomb("refused", "profile")
def a_function_pointer_beyond_the_file(folder: Path) -> Path:
    database_ = programs.small()
    written = database(folder, of=database_)
    with File(written.path / "meta.db") as meta:
        main = database_.roots[0].children[0]
        meta.put(written.places[written.ids[main]] + 0x20, "Q", (1 << 63) - 8)
    return written.path


@bomb("refused", "profile")
def two_contexts_of_one_identifier(folder: Path) -> Path:
    tree, outer, inner = _nested()
    written = database(folder, of=tree)
    with File(written.path / "meta.db") as meta:
        meta.put(written.places[written.ids[inner]] + 0x10, "I", written.ids[outer])
    return written.path


@bomb("refused", "profile")
def a_context_with_the_largest_identifier(folder: Path) -> Path:
    """A dense array over identifiers would take 32 GiB."""
    tree, _, inner = _nested()
    written = database(folder, of=tree)
    with File(written.path / "meta.db") as meta:
        meta.put(written.places[written.ids[inner]] + 0x10, "I", BIG)
    return written.path


@bomb("refused", "profile")
def an_unknown_relation_and_lexical_type(folder: Path) -> Path:
    """Unknown enumeration values are to be ignored or refused."""
    tree, _, inner = _nested()
    written = database(folder, of=tree)
    with File(written.path / "meta.db") as meta:
        meta.put(written.places[written.ids[inner]] + 0x15, "BB", 200, 201)
    return written.path


# -- values ------------------------------------------------------------------------------------------------


def _strange_values(folder: Path, profile: int, *values: float) -> Path:
    """Put `values` in place of the first ones of a profile."""
    path = database(folder).path
    with File(path / "profile.db") as profiles:
        info = profiles.u64(profiles.u64(0x18)) + 0x30 * profile
        place = profiles.u64(info + 8)
        for number, value in enumerate(values):
            profiles.put(place + 10 * number + 2, "d", value)
    return path


@bomb("profile", "refused", caveat="finite")
def nan_in_the_summary(folder: Path) -> Path:
    return _strange_values(folder, 0, math.nan, math.nan, math.nan)


@bomb("profile", "refused", caveat="finite")
def infinities_in_the_summary(folder: Path) -> Path:
    return _strange_values(folder, 0, math.inf, -math.inf, math.inf)


@bomb("profile", "refused")
def minus_zero_and_huge_values_in_the_summary(folder: Path) -> Path:
    return _strange_values(folder, 0, -0.0, 1e308, 1e308, 1e308, -1e308, 5e-324)


@bomb("profile", "late", "refused")
def nan_and_infinities_of_a_thread(folder: Path) -> Path:
    return _strange_values(folder, 1, math.nan, math.inf, -math.inf, 1e308)


@bomb("profile", "refused")
def one_context_twice_in_the_index(folder: Path) -> Path:
    path = database(folder).path
    with File(path / "profile.db") as profiles:
        index = profiles.u64(profiles.u64(profiles.u64(0x18)) + 0x18)
        profiles.put(index + 12 * 2, "I", struct.unpack_from("<I", profiles.data, index + 12)[0])
    return path


@bomb("profile", "refused")
def start_indices_that_go_back(folder: Path) -> Path:
    path = database(folder).path
    with File(path / "profile.db") as profiles:
        index = profiles.u64(profiles.u64(profiles.u64(0x18)) + 0x18)
        profiles.put(index + 12 * 2 + 4, "Q", 1 << 60)
    return path


@bomb("profile", "refused")
def unknown_metric_identifiers(folder: Path) -> Path:
    path = database(folder).path
    with File(path / "profile.db") as profiles:
        values = profiles.u64(profiles.u64(profiles.u64(0x18)) + 0x08)
        for number in range(5):
            profiles.put(values + 10 * number, "H", 0xFFF0 + number)
    return path


@bomb("profile")
def no_summary_values(folder: Path) -> Path:
    return database(folder, Options(summary=False)).path


# -- names -------------------------------------------------------------------------------------------------

HOSTILE_NAMES = (
    "\x1b[2J\x1b]0;owned\x07", "two\nlines\r\n", "\u202egnp.exe\u202c", "\udcff\udcfe not UTF-8", "a\u200bb\U000e0041",
    "<script>alert(1)</script>", "[bold red]markup[/]", "<|im_start|>system", "%s%n{0.__class__}", "../../../etc/passwd",
)  # fmt: skip


@bomb("profile")
def hostile_names(folder: Path) -> Path:
    calls = [
        line(f"{name}.c", 1 + k, function(name, line(name, 2, point(1, {TIME: {0: 1.0}}))))
        for k, name in enumerate(HOSTILE_NAMES)
    ]
    return database(folder, of=Database([entry(function("main", *calls))], title="\x1b[31mtitle\x1b[0m\nmore")).path


@bomb("profile")
def hostile_metric_names(folder: Path) -> Path:
    metrics = [Metric(TIME), *(Metric(name, description=name) for name in HOSTILE_NAMES if "\udcff" not in name)]
    samples = {metric.name: {0: 1.0} for metric in metrics}
    return database(folder, of=Database([entry(function("main", samples=samples))], metrics=metrics)).path


@bomb("profile", "refused")
def two_metrics_of_one_name(folder: Path) -> Path:
    metrics = [Metric(TIME), Metric("other")]
    path = database(
        folder, of=Database([entry(function("main", samples={TIME: {0: 1.0}, "other": {0: 5.0}}))], metrics=metrics)
    ).path
    with File(path / "meta.db") as meta:
        rows = meta.u64(meta.u64(METRICS))
        meta.put(rows + 32, "Q", meta.u64(rows))
    return path


@bomb("profile", "refused")
def two_metrics_of_one_identifier(folder: Path) -> Path:
    metrics = [Metric(TIME), Metric("other")]
    path = database(
        folder, of=Database([entry(function("main", samples={TIME: {0: 1.0}, "other": {0: 5.0}}))], metrics=metrics)
    ).path
    with File(path / "meta.db") as meta:
        rows = meta.u64(meta.u64(METRICS))
        meta.put(rows + 32 + 8, "QQ", meta.u64(rows + 8), meta.u64(rows + 16))
    return path


@bomb("profile", "refused")
def a_function_name_of_eight_mebibytes(folder: Path) -> Path:
    return database(folder, of=Database([entry(function("f" * (8 << 20), samples={TIME: {0: 1.0}}))])).path


@bomb("refused", "profile")
def a_string_without_end(folder: Path) -> Path:
    """Every NUL behind the last string is gone, up to the end of the file."""
    path = database(folder).path
    with File(path / "meta.db") as meta:
        first = meta.u64(meta.u64(FUNCTIONS))
        meta.put(first, "Q", len(meta.data) - 8)
    return path


# -- metrics/default.yaml ----------------------------------------------------------------------------------


def _yaml(folder: Path, text: str | bytes) -> Path:
    """A database with `text` as default.yaml; it is only parsed if it may hold a formula, so a comment with a brace may help."""
    path = database(folder).path
    (path / "metrics" / "default.yaml").write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@bomb("profile", caveat="default.yaml")
def a_yaml_bomb_of_aliases(folder: Path) -> Path:
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 10)}]" for k in range(1, 30)]
    return _yaml(folder, "\n".join(["# {", *rows, "roots: *a29", "inputs: *a29"]))


@bomb("profile")
def a_yaml_bomb_inside_a_formula(folder: Path) -> Path:
    path = database(folder).path
    good = (path / "metrics" / "default.yaml").read_text()
    rows = ["bomb:", "  - &b0 {+: [1, 1]}", *(f"  - &b{k} {{+: [*b{k - 1}, *b{k - 1}]}}" for k in range(1, 80))]
    root = '\n  - name: bomb\n    variants:\n      "":\n        formula: {inclusive: {standard: *b79}, exclusive: {standard: *b79}}\n'
    return _yaml(folder, good.replace("version: 0", "version: 0\n" + "\n".join(rows)) + root)


@bomb("profile", caveat="default.yaml")
def yaml_nested_a_hundred_thousand_deep(folder: Path) -> Path:
    return _yaml(folder, "# {\nroots: " + "[" * 100_000 + "]" * 100_000)


@bomb("profile")
def a_yaml_formula_nested_ten_thousand_deep(folder: Path) -> Path:
    path = database(folder).path
    good = (path / "metrics" / "default.yaml").read_text()
    deep = "{+: [1, " * 10_000 + "1" + "]}" * 10_000
    return _yaml(
        folder,
        good + f'\n  - name: deep\n    variants:\n      "":\n        formula: {{inclusive: {{standard: {deep}}}}}\n',
    )


@bomb("profile", caveat="default.yaml")
def yaml_that_asks_for_python(folder: Path) -> Path:
    return _yaml(folder, "# {\nroots: !!python/object/apply:os.system ['touch owned']")


@bomb("profile", caveat="default.yaml")
def yaml_that_is_not_text(folder: Path) -> Path:
    return _yaml(folder, bytes(range(256)) * 16)


@bomb("profile")
def a_recursive_yaml(folder: Path) -> Path:
    path = database(folder).path
    good = (path / "metrics" / "default.yaml").read_text()
    return _yaml(
        folder,
        good
        + '\n  - &r\n    name: itself\n    children: [*r]\n    variants: {"": {formula: &f {inclusive: {standard: {+: [*f, *f]}}}}}\n',
    )


@bomb("profile")
def yaml_with_formulas_that_overflow(folder: Path) -> Path:
    path = database(folder).path
    good = (path / "metrics" / "default.yaml").read_text()
    parts = (
        "{/: [1, 0]}",
        "{sqrt: [-1]}",
        "{^: [9e300, 9e300]}",
        "{ln: [0]}",
        "{^: [-8, 0.5]}",
        "{'%': [1]}",
        "{min: []}",
        "[[]]",
    )
    rows = "".join(
        f'\n  - name: f{k}\n    variants: {{"": {{formula: {{inclusive: {{standard: {part}}}}}}}}}'
        for k, part in enumerate(parts)
    )
    return _yaml(folder, good + rows + "\n")


@bomb("profile")
def no_taxonomy_at_all(folder: Path) -> Path:
    return database(folder, Options(omit=frozenset({"metrics/default.yaml"}))).path


# -- files and versions ------------------------------------------------------------------------------------


def _bytes(file: str, data: bytes) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        path = database(folder).path
        (path / file).write_bytes(data)
        return path

    return make


_add("meta_db_of_no_bytes", REFUSED, _bytes("meta.db", b""))
_add("meta_db_of_nine_bytes", REFUSED, _bytes("meta.db", b"HPCTOOLKI"))
_add("meta_db_of_only_a_header", REFUSED, _bytes("meta.db", b"HPCTOOLKITmeta\x04\x00"))
_add("profile_db_of_no_bytes", REFUSED, _bytes("profile.db", b""))
_add("cct_db_of_no_bytes", ("profile", "late"), _bytes("cct.db", b""))
_add("trace_db_of_no_bytes", ("profile", "late"), _bytes("trace.db", b""))
_add("yaml_of_no_bytes", PROFILE, _bytes("metrics/default.yaml", b""))
_add("no_profile_db", REFUSED, lambda folder: database(folder, Options(omit=frozenset({"profile.db"}))).path)
_add("no_meta_db", REFUSED, lambda folder: database(folder, Options(omit=frozenset({"meta.db"}))).path)
_add("no_cct_db", ("profile", "late"), lambda folder: database(folder, Options(omit=frozenset({"cct.db"}))).path)
_add("no_trace_db", PROFILE, lambda folder: database(folder, Options(omit=frozenset({"trace.db"}))).path)
_add("major_version_3", REFUSED, lambda folder: database(folder, Options(shape=Shape(major=3))).path)
_add("major_version_5", REFUSED, lambda folder: database(folder, Options(shape=Shape(major=5))).path)
_add("minor_version_9", PROFILE, lambda folder: database(folder, Options(shape=Shape(minor=9))).path, "newer")
_add("minor_version_9_with_larger_structures", PROFILE,
     lambda folder: database(folder, Options(shape=Shape(minor=9, grow=24))).path, "newer")  # fmt: skip
_add("prerelease_layout", REFUSED, lambda folder: database(folder, Options(shape=Shape(prerelease=True))).path)


@bomb("refused")
def a_file_of_another_kind(folder: Path) -> Path:
    path = database(folder).path
    (path / "meta.db").write_bytes((path / "profile.db").read_bytes())
    return path


@bomb("refused")
def an_older_hybrid_without_meta_db(folder: Path) -> Path:
    path = database(folder, Options(omit=frozenset({"meta.db"}))).path
    (path / "profile.db").write_bytes(b"HPCPROF-profdb__" + bytes(4096))
    return path


@bomb("refused")
def a_meta_db_of_a_tebibyte_of_holes(folder: Path) -> Path:
    path = database(folder).path
    with (path / "meta.db").open("r+b") as file:
        file.truncate(1 << 40)
    return path


@bomb("profile", "late")
def a_trace_db_of_a_tebibyte_of_holes(folder: Path) -> Path:
    path = database(folder).path
    with (path / "trace.db").open("r+b") as file:
        file.truncate(1 << 40)
    return path


@bomb("profile", "late")
def a_trace_of_unknown_contexts(folder: Path) -> Path:
    path = database(folder).path
    with File(path / "trace.db") as traces:
        first = traces.u64(traces.u64(traces.u64(0x18)) + 8)
        traces.put(first + 8, "I", BIG)
        traces.put(first + 12 + 8, "I", 10_000)
    return path


@bomb("profile", "late")
def a_trace_that_goes_back_in_time(folder: Path) -> Path:
    path = database(folder).path
    with File(path / "trace.db") as traces:
        first = traces.u64(traces.u64(traces.u64(0x18)) + 8)
        traces.put(first, "Q", (1 << 64) - 1)
    return path


@bomb("refused")
def billion_laughs_in_experiment_xml(folder: Path) -> Path:
    path = folder / "db"
    path.mkdir()
    entities = "".join(f'<!ENTITY l{k} "{f"&l{k - 1};" * 10}">' for k in range(1, 12))
    text = f'<?xml version="1.0"?><!DOCTYPE d [<!ENTITY l0 "laugh">{entities}]>'
    (path / "experiment.xml").write_text(
        f'{text}<HPCToolkitExperiment version="2.2"><Header n="&l11;"/></HPCToolkitExperiment>'
    )
    return path


@bomb("profile")
def symbolic_links_that_go_in_circles(folder: Path) -> Path:
    path = database(folder).path
    (path / "src" / "round").symlink_to(path, target_is_directory=True)
    (path / "round.db").symlink_to("round.db")
    return path


@bomb("refused")
def a_meta_db_that_links_to_itself(folder: Path) -> Path:
    path = database(folder, Options(omit=frozenset({"meta.db"}))).path
    (path / "meta.db").symlink_to("meta.db")
    return path


@bomb("refused")
def a_meta_db_that_is_a_pipe(folder: Path) -> Path:
    path = database(folder, Options(omit=frozenset({"meta.db"}))).path
    os.mkfifo(path / "meta.db")
    return path


@bomb("refused")
def a_profile_db_that_is_a_folder(folder: Path) -> Path:
    path = database(folder, Options(omit=frozenset({"profile.db"}))).path
    (path / "profile.db").mkdir()
    return path


@bomb("refused")
def a_pipe_in_place_of_the_database(folder: Path) -> Path:
    os.mkfifo(folder / "db")
    return folder / "db"


@bomb("profile", "late")
def optional_files_that_are_pipes(folder: Path) -> Path:
    path = database(folder).path
    for name in ("cct.db", "trace.db", "metrics/default.yaml", "src/main.c"):
        (path / name).unlink()
        os.mkfifo(path / name)
    return path


@bomb("refused", unprivileged=True)
def a_meta_db_that_may_not_be_read(folder: Path) -> Path:
    path = database(folder).path
    (path / "meta.db").chmod(0)
    return path


@bomb("refused", unprivileged=True)
def a_folder_that_may_not_be_read(folder: Path) -> Path:
    path = database(folder).path
    path.chmod(0)
    return path


@bomb("profile", "late", unprivileged=True)
def optional_files_that_may_not_be_read(folder: Path) -> Path:
    path = database(folder).path
    for name in ("cct.db", "trace.db", "metrics/default.yaml", "src/main.c"):
        (path / name).chmod(0)
    return path


SECRET = "the key is 0451"


@bomb("profile")
def source_paths_that_leave_the_database(folder: Path) -> Path:
    """Relative paths upwards, and a link inside src/ to a file outside; neither text may come out."""
    (folder / "secret.c").write_text(f"{SECRET}\n" * 9)
    (folder / "db" / "src").mkdir(parents=True)
    (folder / "db" / "src" / "link.c").symlink_to(folder / "secret.c")
    places = ("src/../../secret.c", "src/link.c", "src/../../../../../../../../etc/passwd", "../secret.c")
    lines = [line(place, 2, point(1, {TIME: {0: 1.0}})) for place in places]
    return database(folder, of=Database([entry(function("main", *lines))])).path


@bomb("profile")
def a_copied_source_of_a_tebibyte_of_holes(folder: Path) -> Path:
    path = database(folder).path
    with (path / "src" / "main.c").open("wb") as file:
        file.truncate(1 << 40)
    return path
