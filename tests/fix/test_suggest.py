"""A first chathpc.yaml: what it says is tried by building with it and running what it names."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from chathpc.errors import UsageError
from chathpc.fix.makefile import makefile
from chathpc.fix.project import Project
from chathpc.fix.project_file import read
from chathpc.fix.suggest import suggest

C_MAIN = '#include <stdio.h>\n#include <math.h>\nint main(int c, char **v) { printf("%f\\n", sqrt(c)); return 0; }\n'
OPENMP = """#include <stdio.h>
int main(void) { int n = 0;
#pragma omp parallel for reduction(+:n)
for (int i = 0; i < 9; i++) n += 1;
printf("%d in %g seconds\\n", n, 0.0); return 0; }
"""


def needs(*programs: str) -> None:
    missing = [name for name in programs if shutil.which(name) is None]
    if missing:
        pytest.skip(f"needs {', '.join(missing)}")


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def suggested(folder: Path) -> tuple[Project, tuple[str, ...]]:
    text, remarks = suggest(folder)
    assert not (folder / "chathpc.yaml").exists() or (folder / "chathpc.yaml").read_text() in text
    (folder / "chathpc.yaml").write_text(text)
    return read(folder), remarks


def built_and_run(project: Project) -> str:
    environment = dict(os.environ)
    if project.flags is not None:
        environment[project.flags.variable] = project.flags.value
    subprocess.run(["sh", "-c", project.build], cwd=project.root, env=environment, check=True, capture_output=True)
    command = f"{project.launcher} {project.run.command}"
    environment |= {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
    }
    return subprocess.run(
        ["sh", "-c", command], cwd=project.root, env=environment, check=True, capture_output=True, text=True
    ).stdout


def flags_reach_the_compiler(project: Project, file: Path) -> bool:
    """Build with another level of optimisation, and look for it in what the compiler writes into the debug information."""
    assert project.flags is not None
    environment = {**os.environ, project.flags.variable: f"{project.flags.value} -g -O1 -fno-omit-frame-pointer"}
    subprocess.run(["sh", "-c", project.build], cwd=project.root, env=environment, check=True, capture_output=True)
    return b"-fno-omit-frame-pointer" in file.read_bytes()


def test_a_single_c_source_is_compiled_with_what_it_includes(tmp_path: Path) -> None:
    needs("gcc")
    project, remarks = suggested(written(tmp_path, {"heat.c": C_MAIN}))
    assert built_and_run(project) == "1.000000\n"
    assert flags_reach_the_compiler(project, tmp_path / "heat")
    assert project.flags is not None
    assert (project.flags.variable, project.edit, project.threads, project.launcher) == ("CFLAGS", ("*.c",), (), "")
    assert any("arguments" in remark for remark in remarks)


def test_openmp_pragmas_bring_the_flag_the_threads_and_times_are_ignored(tmp_path: Path) -> None:
    needs("gcc")
    project, _ = suggested(written(tmp_path, {"sum.c": OPENMP}))
    assert built_and_run(project) == "9 in 0 seconds\n"
    assert project.flags is not None
    assert "-fopenmp" in project.flags.value.split()
    assert project.threads[0] == 1
    assert len(project.threads) == 2
    assert project.check.ignore


def test_several_sources_are_linked_and_other_programs_are_named(tmp_path: Path) -> None:
    needs("g++")
    files = {
        "a.cpp": '#include "part.hpp"\n#include <iostream>\nint main() { std::cout << part(); }\n',
        "part.cpp": '#include "part.hpp"\nint part() { return 42; }\n',
        "part.hpp": "int part();\n",
        "z_other.cpp": "int main() { return 0; }\n",
    }
    project, remarks = suggested(written(tmp_path, files))
    assert built_and_run(project) == "42"
    assert project.edit == ("*.cpp", "*.hpp")
    assert any("z_other.cpp" in remark for remark in remarks)


def test_fortran_modules_are_compiled_before_their_users(tmp_path: Path) -> None:
    needs("gfortran")
    files = {
        "a_main.f90": "program run\n use zz\n use bb\n print '(i0)', third()\nend program run\n",
        "bb.f90": "module bb\n use zz\ncontains\n integer function third()\n third = second() + 1\n end function\nend module bb\n",
        "zz.f90": "module zz\ncontains\n integer function second()\n second = 2\n end function\nend module zz\n",
    }
    project, _ = suggested(written(tmp_path, files))
    assert built_and_run(project) == "3\n"
    assert project.flags is not None
    assert project.flags.variable == "FFLAGS"


def test_mpi_brings_its_compiler_and_a_launcher(tmp_path: Path) -> None:
    needs("mpicc", "mpirun")
    code = "#include <mpi.h>\n#include <stdio.h>\nint main(int c, char **v) { int n; MPI_Init(&c, &v); MPI_Comm_size(MPI_COMM_WORLD, &n);\n"
    code += 'int r; MPI_Comm_rank(MPI_COMM_WORLD, &r); if (!r) printf("%d\\n", n); MPI_Finalize(); return 0; }\n'
    project, _ = suggested(written(tmp_path, {"ring.c": code}))
    assert project.launcher == "mpirun -n 2"
    assert project.build.startswith("mpicc ")
    assert built_and_run(project) == "2\n"


def test_cuda_is_built_by_nvcc_and_needs_a_gpu(tmp_path: Path) -> None:
    project, _ = suggested(
        written(tmp_path, {"k.cu": "__global__ void k() {}\nint main() { k<<<1, 1>>>(); return 0; }\n"})
    )
    assert project.gpu
    assert project.build == "nvcc $NVCCFLAGS -o k k.cu"
    assert project.flags is not None
    assert "-lineinfo" in project.flags.value


def test_a_makefile_tells_flags_program_and_run(tmp_path: Path) -> None:
    needs("gcc", "make")
    make = (
        "CC=gcc\nOPT = -O2 \\\n  -g\nCFLAGS = $(OPT) -Wall\nOBJ = main.o part.o\n.PHONY: all clean\nall: sim docs\n"
        "docs:\n\t@true\nsim: $(OBJ)\n\t$(CC) $(CFLAGS) -o $@ $(OBJ) -lm\n%.o: %.c\n\t$(CC) $(CFLAGS) -c $<\n"
        "run: sim\n\t./sim 1 2 3\nclean:\n\trm -f sim *.o\n"
    )
    files = {
        "Makefile": make,
        "main.c": C_MAIN.replace("sqrt(c)", "sqrt(c) + part()"),
        "part.c": "double part(void) { return 1; }\n",
    }
    files["main.c"] = "double part(void);\n" + files["main.c"]
    project, remarks = suggested(written(tmp_path, files))
    assert any("`run` is what the Makefile runs: ./sim 1 2 3. It should take a few seconds" in each for each in remarks)
    # Suggested as they would be written: the same arguments, smaller.
    assert (
        "inputs: ['./sim 1 1 1', {name: fresh, run: './sim 1 1 1 {seed}'}]" in (tmp_path / "chathpc.yaml").read_text()
    )
    assert project.flags is not None
    assert (project.flags.variable, project.flags.value) == ("CFLAGS", "-O2 -g -Wall")
    assert project.run.command == "./sim 1 2 3"
    assert built_and_run(project) == "3.000000\n"
    assert flags_reach_the_compiler(project, tmp_path / "sim")
    assert "Makefile*" in project.protect


def test_a_makefile_that_runs_with_mpi_gives_the_launcher(tmp_path: Path) -> None:
    make = "app: a.c\n\tmpicc $(CFLAGS) -o app a.c\nrun:\n\tmpirun -n 3 ./app 7\n"
    project, remarks = suggested(written(tmp_path, {"Makefile": make, "a.c": C_MAIN}))
    assert (project.launcher, project.run.command) == ("mpirun -n 3", "./app 7")
    assert project.flags is None
    assert any("`flags` is omitted" in remark for remark in remarks)


def test_make_is_not_run_to_be_understood(tmp_path: Path) -> None:
    make = "X := $(shell touch ran)\nCFLAGS = -O2 $(shell touch ran)\napp: a.c\n\tgcc $(CFLAGS) -o app a.c\n"
    project, _ = suggested(written(tmp_path, {"Makefile": make, "a.c": C_MAIN}))
    assert not (tmp_path / "ran").exists()
    assert project.flags is not None
    assert project.flags.value == "-O2"


def test_cmake_is_configured_apart_with_the_flags_in_charge(tmp_path: Path) -> None:
    needs("cmake", "gcc", "make")
    files = {
        "CMakeLists.txt": "cmake_minimum_required(VERSION 3.10)\nproject(Heat LANGUAGES C)  # one\nadd_subdirectory(src)\n",
        "src/CMakeLists.txt": "add_executable(heat main.c)\ntarget_link_libraries(heat m)\n",
        "src/main.c": C_MAIN,
    }
    project, remarks = suggested(written(tmp_path, files))
    assert project.run.command == "./build-chathpc/src/heat"
    assert built_and_run(project) == "1.000000\n"
    assert flags_reach_the_compiler(project, tmp_path / "build-chathpc/src/heat")
    assert any("CMAKE_BUILD_TYPE" in remark for remark in remarks)


def test_the_build_type_of_an_earlier_build_gives_the_flags(tmp_path: Path) -> None:
    files = {
        "CMakeLists.txt": "project(Heat C)\nadd_executable(heat main.c)\n",
        "build/CMakeCache.txt": "CMAKE_BUILD_TYPE:STRING=RelWithDebInfo\n",
        "main.c": C_MAIN,
    }
    project, _ = suggested(written(tmp_path, files))
    assert project.flags is not None
    assert project.flags.value == "-O2 -g -DNDEBUG"


def test_settings_that_are_there_stay_as_they_are(tmp_path: Path) -> None:
    before = "# mine\nllm: none   # quiet\ndeadline: 5"
    written(tmp_path, {"chathpc.yaml": before, "a.c": C_MAIN})
    text, _ = suggest(tmp_path)
    assert text.startswith(before + "\n\n")
    assert yaml.safe_load(text)["llm"] == "none"
    assert (tmp_path / "chathpc.yaml").read_text() == before


def test_a_project_that_is_described_is_never_replaced(tmp_path: Path) -> None:
    written(tmp_path, {"chathpc.yaml": "project: {}\n", "a.c": C_MAIN})
    with pytest.raises(UsageError, match="already"):
        suggest(tmp_path)


@pytest.mark.parametrize("text", ["{llm: none}\n", "- a\n", "a: 'open\n", "llm: [\n"])
def test_what_cannot_be_added_to_is_left_alone(tmp_path: Path, text: str) -> None:
    written(tmp_path, {"chathpc.yaml": text, "a.c": C_MAIN})
    with pytest.raises(UsageError) as caught:
        suggest(tmp_path)
    assert caught.value.hint
    assert (tmp_path / "chathpc.yaml").read_text() == text


def test_a_makefile_of_many_rules_that_need_each_other_takes_no_exponential_time() -> None:
    names = [f"t{number}" for number in range(200)]
    assert makefile("".join(f"{name}: {' '.join(names)}\n" for name in names)).program() == ("", "")


@pytest.mark.parametrize("files", [{}, {"readme.txt": "x"}, {"part.c": "int part(void) { return 1; }\n"}])
def test_a_folder_without_a_program_is_refused_with_a_hint(tmp_path: Path, files: dict[str, str]) -> None:
    with pytest.raises(UsageError) as caught:
        suggest(written(tmp_path, files))
    assert caught.value.hint


def test_a_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not a folder"):
        suggest(tmp_path / "absent")


def test_odd_names_do_not_become_commands(tmp_path: Path) -> None:
    needs("gcc")
    project, _ = suggested(written(tmp_path, {"a b; touch ran.c": C_MAIN}))
    assert built_and_run(project) == "1.000000\n"
    assert not (tmp_path / "ran").exists()
    assert not (tmp_path / "ran.c").exists()


@pytest.mark.parametrize(
    ("text", "program"),
    [
        ("app: a.c\n\tgcc -o app a.c\n", ("app", "")),
        ("PROG = sim\n$(PROG): a.o\n\tgcc -o $@ $^\n", ("sim", "")),
        ("lib.a: a.o\n\tar r $@ $^\nsim: lib.a\n\tgcc -o sim lib.a\n", ("sim", "sim")),
        ("help:\n\techo x\nall: sim\nsim: a.o\n\tgcc -o sim a.o\n", ("sim", "all")),
        ("all: all\n", ("", "")),
        ("a: b\nb: a\n", ("", "")),
        ("A = $(A)$(A)\nall: $(A)\n\t$(A)\n", ("", "")),
        ("", ("", "")),
    ],
)
def test_the_program_of_a_makefile(text: str, program: tuple[str, str]) -> None:
    assert makefile(text).program() == program


def test_variables_are_added_up_and_conditions_are_noticed() -> None:
    make = makefile("CFLAGS ?= -O1\nCFLAGS += -g \\\n -Wall # note\nifdef X\nCFLAGS += -DX\nendif\n")
    assert make.flags("CFLAGS") == ("CFLAGS", "-O1 -g -Wall -DX")
    assert make.uncertain


def test_languages_are_linked_by_the_compiler_that_knows_them_all(tmp_path: Path) -> None:
    needs("gcc", "g++")
    files = {
        "main.c": '#include <stdio.h>\n#include <pthread.h>\nint part(void);\nint main(void) { printf("%d", part()); return 0; }\n',
        "part.cpp": 'extern "C" int part(void) { return 7; }\n',
    }
    project, _ = suggested(written(tmp_path, files))
    assert project.build.split()[0] == "gcc"
    assert built_and_run(project) == "7"


def test_cmake_of_two_programs_asks_which(tmp_path: Path) -> None:
    text = 'project(Two)\nenable_language(Fortran)\nset(CMAKE_BUILD_TYPE "Debug")\nfind_package(OpenMP)\nfind_package(MPI)\n'
    text += "add_executable(one a.c)\nadd_executable(two b.c)\nadd_subdirectory(../outside)\nadd_subdirectory(absent)\n"
    project, remarks = suggested(written(tmp_path, {"CMakeLists.txt": text, "a.c": C_MAIN}))
    assert "-DCMAKE_Fortran_FLAGS=" in project.build
    assert project.flags is not None
    assert project.flags.value == "-O0 -g"
    assert project.threads
    assert project.launcher
    assert any("2 programs (one, two)" in remark for remark in remarks)


def test_what_a_makefile_leaves_open_is_told(tmp_path: Path) -> None:
    text = "include common.mk\nCFLAGS = -Wall\ndata.txt:\n\tgcc $(CFLAGS) -o data.txt a.c\n"
    project, remarks = suggested(written(tmp_path, {"Makefile": text, "a.c": C_MAIN}))
    assert project.run.command == "./app"
    assert len(remarks) == 4


@pytest.mark.parametrize(
    "text",
    [
        "/*" * 400_000,
        "\n" * 900_000,
        "main(" * 180_000,
        '"' + "time " * 180_000,
        " " * 900_000,
        "'" * 900_000,
        "module " * 120_000,
    ],
    ids=["comments", "lines", "main", "time", "blanks", "quotes", "words"],
)
@pytest.mark.parametrize("name", ["a.c", "a.f90", "Makefile", "CMakeLists.txt"])
def test_hostile_texts_end_in_bounded_time(tmp_path: Path, name: str, text: str) -> None:
    written(tmp_path, {"main.c": C_MAIN, name: text})
    suggest(tmp_path)


@pytest.mark.parametrize(
    "line", ["a" + " " * 3_900 + ":=", "$(A)" * 1_000, "A = $(A)$(A)", "mpirun " * 500, "\t./app " + "x " * 1_900]
)
def test_hostile_makefiles_end_in_bounded_time(line: str) -> None:
    make = makefile("app: a.c\n" + f"{line}\n" * 250)
    make.program()
    make.flags("CFLAGS")
    make.run("app")


def test_a_program_in_python_is_told_how_it_is_described(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        suggest(written(tmp_path, {"app.py": "print(1)\n"}))
    assert "Recipes change no Python" in caught.value.hint


CONDITIONS = """PRECISION = ON
DEBUG =
OPT = -g -O5
CFLAGS = -std=c99
ifeq ($(PRECISION), ON)
CFLAGS += -DDOUBLE
else # single
CFLAGS += -DSINGLE
endif # PRECISION
ifdef DEBUG
OPT = -O0
else ifneq "$(PRECISION)" "OFF"
CFLAGS += -DFAST
else
CFLAGS += -DSLOW
endif
ifeq ($(shell uname),Linux)
CFLAGS += -DLINUX
endif
CFLAGS += $(OPT)
app: main.o
\tcc $(CFLAGS) -o app main.o
%.o: %.c
\tcc $(CFLAGS) -c $<
clean:
\trm -f *.o .depend
.depend: main.c
\tmakedepend -f .depend main.c
-include .depend
"""


def test_conditions_that_compare_variables_are_followed() -> None:
    make = makefile(CONDITIONS)
    assert make.flags("CFLAGS") == ("CFLAGS", "-std=c99 -DDOUBLE -DFAST -DLINUX -g -O5")
    assert make.uncertain  # what the shell says is not known
    assert not makefile("A = 1\nifeq ($(A),1)\nB = 2\nendif\n").uncertain


def test_a_makefile_that_makes_what_it_includes_is_cleaned_instead_of_built_with_always_make(tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text("int main(void) { return 0; }\n")
    (tmp_path / "Makefile").write_text(CONDITIONS)
    text, _ = suggest(tmp_path)
    assert 'make clean && make CFLAGS="$CFLAGS"' in text
    (tmp_path / "Makefile").write_text(CONDITIONS.replace("-include .depend\n", ""))
    assert "make -B" in suggest(tmp_path)[0]


def test_two_kinds_of_brackets_are_no_reference() -> None:
    made = makefile("X = 1\n")
    assert made.expanded("$(X) ${X}") == "1 1"
    assert made.expanded("$(X} ${X)") == ""
