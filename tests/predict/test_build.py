"""What a Makefile says is understood, and programs are built and run with a stand-in for the interpreter."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from chathpc.predict.build import Built, build, imagined_header, library_of
from chathpc.predict.compilers import MACHINE, BuildError, Toolkit, ToolkitMissingError, find_toolkit
from chathpc.predict.program import run, stage
from chathpc.predict.recipe import Recipe, arguments_of_makefile, recipe_of_makefile, recipe_of_sources
from chathpc.sandbox.supervised import Plain

MACHINE_SOURCES = (MACHINE / "cuda_runtime.c", Path(__file__).parent / "logging_machine.c")
make = pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")


@pytest.fixture(scope="module")
def toolkit() -> Toolkit:
    try:
        return find_toolkit()
    except ToolkitMissingError:
        pytest.skip("there is no nvcc")


def makefile(tmp_path: Path, text: str, *names: str) -> Recipe:
    (tmp_path / "Makefile").write_text(text)
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    return recipe_of_makefile(tmp_path)


@make
def test_flags_of_a_makefile_are_kept_but_for_what_is_decided_here(tmp_path: Path) -> None:
    recipe = makefile(
        tmp_path,
        "main: main.o\n\tnvcc -arch=sm_60 main.o -o main -lcublas -lcudart -lrt -Xcompiler -fopenmp -Lsome\n"
        "%.o: %.cu\n\tnvcc -std=c++14 -DN=4 -D M -I../include -I sub --expt-relaxed-constexpr -Xcompiler -Wall,-fopenmp -arch sm_60 \\\n"
        "\t  -gencode arch=compute_70,code=sm_70 --use_fast_math -O3 -G -lineinfo -Xptxas -v -c $< -o $@\n",
        "main.cu",
    )
    (unit,) = recipe.units
    assert unit.source == tmp_path / "main.cu"
    assert unit.folder == tmp_path
    assert unit.flags == (
        *("-std=c++14", "-DN=4", "-D", "M", "-I../include", "-I", "sub", "--expt-relaxed-constexpr"),
        *("-Xcompiler", "-Wall,-fopenmp", "--use_fast_math", "-O3", "-G", "-Xptxas", "-v"),
    )
    assert set(recipe.link) == {"-lrt", "-fopenmp", "-Lsome"}
    assert not unit.relocatable


@make
def test_each_source_has_its_own_flags_compiler_and_folder(tmp_path: Path) -> None:
    recipe = makefile(
        tmp_path,
        "all:\n\t@echo building && cd sub && nvcc -dc -DA part.cu -o part.o\n\tg++ -O2 -DB host.cpp -c; nvcc -x cu other.cpp -c > log\n"
        "\tnvcc *.o -o program\n",
        "sub/part.cu",
        "host.cpp",
        "other.cpp",
    )
    part, host, other = recipe.units
    assert (part.folder, part.flags, part.relocatable, part.host) == (tmp_path / "sub", ("-rdc=true", "-DA"), True, "")
    assert (host.flags, host.host) == (("-O2", "-DB"), "g++")
    assert (other.flags, other.host) == (("-x", "cu"), "")


@make
def test_makefiles_below_are_followed(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "Makefile").write_text("part.o: part.cu\n\tnvcc -DC part.cu -c -o part.o\n")
    recipe = makefile(tmp_path, "all:\n\t$(MAKE) -C sub\n\tnvcc main.cu sub/part.o -o main\n", "sub/part.cu", "main.cu")
    assert [(unit.source, unit.folder) for unit in recipe.units] == [
        (tmp_path / "sub" / "part.cu", tmp_path / "sub"),
        (tmp_path / "main.cu", tmp_path),
    ]


@make
def test_the_dry_run_runs_nothing(tmp_path: Path) -> None:
    makefile(tmp_path, "main: main.cu\n\ttouch made\n\tnvcc main.cu -o main\n", "main.cu")
    assert not (tmp_path / "made").exists()


@make
def test_arguments_are_those_of_make_run(tmp_path: Path) -> None:
    makefile(
        tmp_path,
        "P = main\nmain: main.cu\n\tnvcc main.cu -o main\nrun: main\n\t./$(P) 4 'a b'\n\tmpirun -n 1 ./$(P) ../data/x\n",
        "main.cu",
    )
    assert arguments_of_makefile(tmp_path) == (("4", "a b"), ("../data/x",))


@make
def test_a_makefile_without_compilers_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="names no compiler's command"):
        makefile(tmp_path, "all:\n\techo nothing\n")
    with pytest.raises(BuildError, match="make fails"):
        makefile(tmp_path, "all: absent\n")
    assert arguments_of_makefile(tmp_path) == ()


def test_sources_are_optimised_unless_the_flags_say_otherwise(tmp_path: Path) -> None:
    assert recipe_of_sources([tmp_path / "a.cu"], ["-DN=1"]).units[0].flags == ("-O3", "-DN=1")
    assert recipe_of_sources([tmp_path / "a.cu"], ["-O0", "-lrt"]) == Recipe(
        recipe_of_sources([tmp_path / "a.cu"], ["-O0"]).units, ("-lrt",)
    )


def test_what_to_install_is_said_where_there_is_no_compiler(tmp_path: Path) -> None:
    with pytest.raises(ToolkitMissingError, match="pip install"):
        find_toolkit({"PATH": str(tmp_path)}, [str(tmp_path)])


def test_the_package_of_python_comes_before_cuda_home(tmp_path: Path) -> None:
    for folder in (tmp_path / "site" / "nvidia" / "cu13", tmp_path / "home"):
        for name in ("bin/nvcc", "include/cuda_runtime_api.h", "lib64/libcudadevrt.a"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).touch()
    home = {"CUDA_HOME": str(tmp_path / "home"), "PATH": ""}
    assert find_toolkit(home, [str(tmp_path / "site")]).root == tmp_path / "site" / "nvidia" / "cu13"
    found = find_toolkit(home, [str(tmp_path)])
    assert (found.root, found.library) == (tmp_path / "home", tmp_path / "home" / "lib64")
    with pytest.raises(ToolkitMissingError, match="nvdisasm is not beside"):
        found.tool("nvdisasm")


def test_a_program_sees_its_folder_and_what_is_named_beside_it_but_writes_elsewhere(tmp_path: Path) -> None:
    for name in ("top/data/in", "top/secret", "top/program/main.cu", "top/program/sub/more"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    own = stage(tmp_path / "top" / "program", tmp_path / "stage", ("../data/in", "../absent"))
    assert (own / "sub" / "more").read_text() == "top/program/sub/more"
    assert (own / ".." / "data" / "in").read_text() == "top/data/in"
    assert not (own / ".." / "secret").exists()
    (own / "sub" / "made").touch()
    assert not (tmp_path / "top" / "program" / "sub" / "made").exists()


# -- nvcc itself ---------------------------------------------------------------------------------------------

PROGRAM = """
#include <cstdio>
#include <fstream>
#include "part.h"
__constant__ int a_variable[4];
__managed__ int managed_variable;
template <class T> __global__ void two(T n, double x) { n += a_variable[0]; if (n < 0) managed_variable = part(n); }
int main(int argc, char **argv) {
    int n = atoi(argv[1]);
    cudaMemcpyToSymbol(a_variable, &n, sizeof n);
    managed_variable = 3;
    cudaDeviceProp properties; cudaGetDeviceProperties(&properties, 0);
    printf("%d %d %d\\n", properties.clockRate, properties.multiProcessorCount, managed_variable);
    two<<<dim3(n, 2), 64, 8>>>(n, 0.5);
    int *memory; cudaMallocManaged(&memory, 100); cudaMemPrefetchAsync(memory, 100, 0); cudaMemset(memory, 0, 100);
    void *unknown; cudaExternalMemory_t none = 0; cudaExternalMemoryBufferDesc wanted = {};
    printf("%d\\n", cudaExternalMemoryGetMappedBuffer(&unknown, none, &wanted));
    int word = 0; std::ifstream("../data/in") >> word; std::ofstream("out") << word; printf("%d\\n", word);
}
"""


def built(tmp_path: Path, toolkit: Toolkit, flags: tuple[str, ...], part: str, **more: str) -> Built:
    folder = tmp_path / "program"
    folder.mkdir()
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "in").write_text("42")
    for name, text in {"main.cu": PROGRAM, "part.h": part, **more}.items():
        (folder / name).write_text(text)
    recipe = recipe_of_sources(sorted(folder.glob("*.cu")), flags)
    return build(recipe, work=tmp_path / "work", toolkit=toolkit, machine=MACHINE_SOURCES, cache=tmp_path / "cache")


def lines(tmp_path: Path, made: Built) -> list[str]:
    main = made.folder / "main.cu"
    done = run(made, ["3"], work=tmp_path / "work", sandbox=Plain(), environment={}, seconds=60, sources=[main])
    assert done.succeeded, done
    return done.stdout.decode().splitlines()


EXPECTED = [
    *("1710000 68 3", "launch _Z3twoIiEvT_d 3,2,1 64,1,1 8 (3, 0.5)", "allocated 100 2"),
    *("missing cudaExternalMemoryGetMappedBuffer", "801", "42"),
]


@pytest.mark.proprietary
def test_a_program_is_built_and_its_launches_arrive(tmp_path: Path, toolkit: Toolkit) -> None:
    made = built(
        tmp_path, toolkit, ("--default-stream", "per-thread"), "__device__ inline int part(int n) { return n + 1; }\n"
    )
    assert made.missing == ("cudaExternalMemoryGetMappedBuffer",)
    assert [path.read_bytes()[:4] for path in made.cubins] == [b"\x7fELF"]
    assert lines(tmp_path, made) == EXPECTED
    assert not (made.folder / "out").exists()


@pytest.mark.proprietary
def test_relocatable_device_code_is_linked(tmp_path: Path, toolkit: Toolkit) -> None:
    part = "extern __device__ int part(int n);\n"
    made = built(
        tmp_path, toolkit, ("-rdc=true",), part, **{"part.cu": "__device__ int part(int n) { return 2 * n; }\n"}
    )
    assert len(made.cubins) == 1
    assert lines(tmp_path, made) == EXPECTED


@pytest.mark.proprietary
def test_the_compilers_first_error_and_a_package_that_is_missing_are_told(tmp_path: Path, toolkit: Toolkit) -> None:
    source = tmp_path / "a.cu"
    for text, told in (
        ("int main() { return x; }\n", 'identifier "x" is undefined'),
        ("#include <curand_kernel.h>\n", "pip install nvidia-curand"),
        ("void absent(); int main() { absent(); }\n", "The program does not link"),
    ):
        source.write_text(text)
        with pytest.raises(BuildError, match=told):
            build(
                recipe_of_sources([source]),
                work=tmp_path / "work",
                toolkit=toolkit,
                machine=MACHINE_SOURCES,
                cache=tmp_path / "cache",
            )


LIBRARY = """
#include <cstdio>
#include <cublas_v2.h>
#include <cublasLt.h>
#define CHECK(call) if ((call) != CUBLAS_STATUS_SUCCESS) exit(1)
cublasHandle_t handle = nullptr; // cublasCreate
int main() {
    float one = 1, *a = 0;
    cublasOperation_t way = one > 0 ? CUBLAS_OP_N : CUBLAS_OP_T;
    CHECK(cublasCreate(&handle));
    cublasStatus_t status = cublasSgemm(handle, way, CUBLAS_OP_T, 4, 4, 4, &one, a, 4, a, 4, &one, a, 4);
    switch (status) { case CUBLAS_STATUS_SUCCESS: puts("went on"); break; case CUBLAS_STATUS_ALLOC_FAILED: break; }
    cublasLtHandle_t other = 0;
    return cublasLtCreate(&other);
}
"""


@pytest.mark.proprietary
def test_a_library_that_is_not_there_is_imagined_and_says_so(tmp_path: Path, toolkit: Toolkit) -> None:
    if (toolkit.include / "cublas_v2.h").exists():
        pytest.skip("the library is there")
    source = tmp_path / "program" / "main.cu"
    source.parent.mkdir()
    source.write_text(LIBRARY)
    recipe = recipe_of_sources([source])
    for _ in range(2):  # the second time in a folder where headers lie already
        made = build(recipe, work=tmp_path / "work", toolkit=toolkit, machine=MACHINE_SOURCES, cache=tmp_path / "cache")
    done = run(made, [], work=tmp_path / "work", sandbox=Plain(), environment={}, seconds=60)
    assert done.stdout.decode().splitlines() == [
        *("missing cublasCreate", "missing cublasSgemm", "went on", "missing cublasLtCreate")
    ]


def test_names_of_a_library_are_types_constants_or_functions_as_they_are_used() -> None:
    text = "cufftHandle plan; cufftComplex *to; cufftResult r = cufftPlan1d(&plan, N, CUFFT_C2C, 1); if (r != CUFFT_SUCCESS) f(cufftName);"
    lines = imagined_header("cufft", [text, "ncclFloat cublasCreate()"]).splitlines()
    assert [line for line in lines if "cufft" in line.lower() and "IMAGINED" not in line] == [
        "static constexpr int CUFFT_C2C = 1;",
        "static constexpr int CUFFT_SUCCESS = 0;",
        "typedef float2 cufftComplex;",
        "typedef chathpc_imagined cufftHandle;",
        "static constexpr int cufftName = 5;",
        'template <class... Any> static inline chathpc_imagined cufftPlan1d(Any &&...) { machine_missing("cufftPlan1d"); return 0; }',
        "typedef chathpc_imagined cufftResult;",
    ]
    assert [library_of(name) for name in ("cublas_v2.h", "curand.h", "curand_kernel.h", "main.h")] == [
        *("cublas", "curand", None, None)
    ]
