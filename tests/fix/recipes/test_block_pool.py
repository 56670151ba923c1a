"""Blocks of memory from lists of freed ones in programs of several files."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from chathpc.fix.recipes.analysis.edits import applied
from chathpc.fix.recipes.analysis.program import Spot, program
from chathpc.fix.recipes.recipe import Context
from chathpc.fix.recipes.serial.block_pool import pooled
from tests.fix.recipes.applying import changed, project
from tests.fix.recipes.cases import Case
from tests.fix.recipes.pool_programs import MATRICES_C, MATRICES_H, MATRICES_MAIN, POOLED

FILES = {"main.c": MATRICES_MAIN, "matrices.c": MATRICES_C, "matrices.h": MATRICES_H}


def _new(files: dict[str, str], function: str) -> dict[str, str] | None:
    parsed = program(files)
    one = parsed.named(function)[0]
    found = list(pooled(Context(parsed, project()), Spot(one, one.model.first, 1.0, None, "allocation-churn")))
    if not found:
        return None
    texts = dict(files)
    for path, edits in found[0].edits.items():
        text = applied(files[path].encode(), edits)
        assert text is not None
        texts[path] = text.decode()
    return texts


def _printed(files: dict[str, str], folder: Path, *flags: str) -> str:
    folder.mkdir()
    for path, text in files.items():
        (folder / path).write_text(text)
    sources = [path for path in files if path.endswith(".c")]
    command = ["gcc", "-std=c11", "-Wall", "-Wextra", "-pedantic", "-Werror", *flags, "-o", "app", *sources, "-lm"]
    built = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    ran = subprocess.run(["./app"], cwd=folder, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.mark.parametrize("flags", [("-O0",), ("-O2",), ("-O3", "-flto"), ("-O1", "-fsanitize=address,undefined")])
def test_all_files_share_the_lists(flags: tuple[str, ...], tmp_path: Path) -> None:
    new = _new(FILES, "times")
    assert new is not None
    assert "void *pooled_malloc(size_t size);" in new["main.c"]
    assert "static void *pooled_lists" not in new["main.c"]
    assert "static void *pooled_lists" in new["matrices.c"]
    assert new["matrices.h"] == MATRICES_H
    assert _printed(new, tmp_path / "new", *flags) == _printed(FILES, tmp_path / "old", *flags)


def test_a_function_that_only_calls_others_which_allocate_is_a_place_for_it() -> None:
    assert _new(FILES, "main") is not None


def test_headers_that_allocate_are_left_alone() -> None:
    header = MATRICES_H.replace(
        "#endif", "#include <stdlib.h>\nstatic inline void *room(int n) { return malloc(n); }\n#endif"
    )
    assert _new({**FILES, "matrices.h": header}, "times") is None


def test_programs_with_files_in_other_languages_are_left_alone() -> None:
    assert _new({**FILES, "more.cpp": 'extern "C" void *more() { return nullptr; }\n'}, "times") is None


def test_a_second_time_nothing_is_changed() -> None:
    new = _new(FILES, "times")
    assert new is not None
    assert _new(new, "times") is None


@pytest.mark.parametrize("case", POOLED, ids=lambda case: case.name)
def test_no_byte_beside_the_blocks_is_touched(case: Case, tmp_path: Path) -> None:
    new = changed("pool-blocks", case.source, "c")
    assert new is not None
    flags = ("-D_GNU_SOURCE", "-O1", "-fsanitize=address,undefined", "-Wno-alloc-size-larger-than")
    assert _printed({"app.c": new}, tmp_path / "new", *flags)
