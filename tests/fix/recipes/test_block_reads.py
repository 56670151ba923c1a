"""Blocks of files that are read ahead: what cannot be read ahead is read as before, and programs of several files."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from chathpc.fix.recipes.analysis.program import Spot, program
from chathpc.fix.recipes.recipe import Context
from chathpc.fix.recipes.serial.reads import blockwise
from tests.fix.recipes.applying import changed, project

PIECES = """#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
static long take(int fd, int *to) { return (long)read(fd, to, sizeof *to); }
int main(int argc, char **argv) {
  int fd = open(argv[argc - 1], O_RDONLY), w;
  long n;
  if (fd < 0) return 1;
  while ((n = take(fd, &w)) > 0) { printf("%ld\\n", n); fflush(stdout); }
  close(fd);
  return 0;
}
"""
READER = """#include <unistd.h>
#include "reader.h"
int next_byte(struct reader *r) { unsigned char b; return read(r->fd, &b, 1) == 1 ? b : -1; }
"""
HEADER = "struct reader { int fd; long n; };\nint next_byte(struct reader *r);\n"
MAIN = """#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include "reader.h"
int main(void) {
  struct reader r;
  r.fd = open("x", O_RDONLY);
  r.n = 0;
  while (next_byte(&r) >= 0) r.n++;
  printf("%ld\\n", r.n);
  close(r.fd);
  return 0;
}
"""


def _proposed(files: dict[str, str], function: str) -> list[object]:
    parsed = program(files)
    one = next(each for each in parsed.named(function))
    return list(blockwise(Context(parsed, project()), Spot(one, one.model.first, 1.0, None, "io-small-requests")))


@pytest.mark.parametrize("is_changed", [False, True])
def test_a_pipe_gives_what_it_has_as_before(is_changed: bool, tmp_path: Path) -> None:
    text = changed("read-in-blocks", PIECES, "c") if is_changed else PIECES
    assert text is not None
    (tmp_path / "app.c").write_text(text)
    subprocess.run(["gcc", "-O1", "-o", "app", "app.c"], cwd=tmp_path, check=True)
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen(["./app", "pipe"], cwd=tmp_path, stdout=subprocess.PIPE) as app:
        assert app.stdout is not None
        with (tmp_path / "pipe").open("wb", buffering=0) as pipe:
            for count in (2, 3, 4, 1):
                pipe.write(b"x" * count)
                assert app.stdout.readline() == b"%d\n" % count
        assert app.wait(10) == 0


def test_the_descriptor_of_another_file_is_left_alone() -> None:
    assert _proposed({"main.c": MAIN, "reader.c": READER, "reader.h": HEADER}, "next_byte") == []


def test_what_a_header_does_is_left_alone() -> None:
    inline = READER.split("\n", 2)[2].replace("int next", "static inline int next")
    header = HEADER.split("\n")[0] + "\n" + inline
    assert _proposed({"main.c": MAIN, "reader.h": header}, "next_byte") == []
    assert _proposed({"main.c": MAIN.replace('#include "reader.h"', header)}, "next_byte") != []


def test_a_second_time_nothing_is_changed() -> None:
    once = changed("read-in-blocks", PIECES, "c")
    assert once is not None
    assert changed("read-in-blocks", once, "c") is None


def test_the_deepest_expressions_end() -> None:
    chosen = "argc > 1 ? -1 : " * 3000 + "open(argv[1], O_RDONLY)"
    assert changed("read-in-blocks", PIECES.replace("open(argv[argc - 1], O_RDONLY)", chosen), "c") is None
    given = "".join(f"static long f{k}(int fd, int *to) {{ return f{k + 1}(fd, to); }}\n" for k in range(300))
    deep = PIECES.replace("static long take", given + "static long take").replace("take(fd, &w)", "f0(fd, &w)")
    assert changed("read-in-blocks", deep.replace("f300(", "take("), "c") is None
    back = "".join(f"static int g{k}(const char *p) {{ return g{k + 1}(p); }}\n" for k in range(300))
    last = "static int g300(const char *p) { return open(p, O_RDONLY); }\n"
    chain = PIECES.replace("static long take", last + back + "static long take")
    assert changed("read-in-blocks", chain.replace("open(argv[argc - 1], O_RDONLY)", "g0(argv[1])"), "c") is None


def test_files_of_one_name_in_two_folders_may_be_the_same() -> None:
    two = PIECES.replace("argv[argc - 1], O_RDONLY)", '"in.txt", O_RDONLY)').replace(
        'printf("%ld\\n", n);', 'FILE *out = fopen("./in.txt", "a"); fputc(7, out); fclose(out);'
    )
    assert changed("read-in-blocks", two, "c") is None
    assert changed("read-in-blocks", two.replace("./in.txt", "./out.txt"), "c") is not None


def test_the_functions_stand_in_front_of_comments_and_namespaces() -> None:
    first = "static long take"
    told = PIECES.replace(first, "/* takes */\n// a number\n" + first)
    assert "}\n\n/* takes */\n// a number\n" + first in str(changed("read-in-blocks", told, "c"))
    after = PIECES.replace(first, "namespace in {\nstruct S { int k() { return 3; } };\n}\n" + first)
    assert "}\n\nnamespace in {\n" in str(changed("read-in-blocks", after, "c++"))
    chosen = PIECES.replace(first, "#ifdef X\nint f(void) { return 3; }\n#endif\n" + first)
    assert changed("read-in-blocks", chosen, "c") is None
