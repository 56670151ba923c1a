"""Follows the launches of a table of measured ones, and writes what chathpc counts of them for `chathpc bench predict --counts`.

python -m tests.bench.labelled_kernels --labels roofline.csv.gz --sources SRC --out counts.jsonl
    --programs FILE      only these, one a line
    --commands FILE      compile_commands.json: build as it says (clang), and not by the Makefiles (nvcc)
    --cuda DIR           with --commands: CUDA 12, whose headers clang needs, and whose assembler made the labels
    --llvm DIR           with --commands: the LLVM whose bin/clang and lib/libomptarget-nvptx-*.bc are taken, such as the labels' own release
    --language CUDA|OMP  only these; --part 0/2: every second

A launch that is in the file already is not followed again: the work can be broken off, and shared by several processes that have a file each.
A line tells seconds of building and of running, and `failure` where there are no counts.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from chathpc.bench.predict.labels import Label, read_labels, read_programs
from chathpc.errors import ChathpcError
from chathpc.predict.build import (
    CUDA_MACHINE,
    JOBS,
    Built,
    build_openmp,
    cache_of,
    compiled,
    link_program,
    machine_objects,
)
from chathpc.predict.compilers import Clang, Toolkit, checked, find_clang, find_toolkit
from chathpc.predict.devices import device
from chathpc.predict.program import Asked, Prepared, Program, follow, lowered, prepare
from chathpc.predict.recipe import Recipe, Unit, recipe_of_makefile
from chathpc.predict.warp_chain import chain
from chathpc.sandbox import choose

#: The labels' own architecture, and device.
ARCHITECTURE, DEVICE = "sm_86", "rtx3080"
#: Options of clang in compile_commands.json that are decided here.
_DECIDED = ("--cuda-gpu-arch", "--cuda-path", "-x")


def main() -> None:
    """Follow what the command line asks for."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--labels", "--sources", "--out"):
        words.add_argument(name, type=Path, required=True)
    for name in ("--programs", "--commands", "--cuda", "--llvm"):
        words.add_argument(name, type=Path)
    words.add_argument("--language", choices=("CUDA", "OMP"))
    words.add_argument("--part", default="0/1")
    asked = words.parse_args()
    part, parts = map(int, asked.part.split("/"))
    compilers = Compilers(commands_of(asked.commands) if asked.commands else None, asked.cuda, asked.llvm)
    done = {key_of(row) for row in rows_of(asked.out)}
    labels = read_labels(asked.labels, None if asked.programs is None else read_programs(asked.programs))
    for number, label in enumerate(each for each in labels if asked.language in (None, each.language)):
        if number % parts == part and label.key not in done:
            row = followed(label, asked.sources, compilers)
            with asked.out.open("a") as file:
                file.write(json.dumps(row) + "\n")
            print(number, label.program, label.kernel, row.get("failure", ""), file=sys.stderr, flush=True)


@dataclasses.dataclass(frozen=True, slots=True)
class Compilers:
    """What programs are built by: commands by target (None: their Makefiles), CUDA and LLVM (None: those that predictions find)."""

    commands: Mapping[str, Sequence[str]] | None
    cuda: Path | None
    llvm: Path | None


def rows_of(path: Path) -> Iterator[dict[str, Any]]:
    """The lines that are in a file already."""
    return map(json.loads, path.read_text().splitlines()) if path.is_file() else iter(())


def key_of(row: Mapping[str, str]) -> tuple[str, str, str]:
    """A row's launch, as Label.key tells it."""
    return row["target"], row["kernelName"], row["signature"]


def followed(label: Label, sources: Path, compilers: Compilers) -> dict[str, Any]:
    """What is counted of a launch; with `failure` in the place of counts if there are none."""
    row: dict[str, Any] = {"target": label.program, "kernelName": label.kernel, "signature": label.signature}
    row |= {"language": label.language}
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="labelled-") as name:
        work = Path(name)
        try:
            prepared = built_program(label, sources, compilers, work)
            row["build"] = time.monotonic() - begin
            kernels = kernels_of(label, prepared)
            wanted = Asked(grid=label.grid, block=label.block)
            words = shlex.split(label.arguments)
            found, missing, done = follow(prepared, words, kernels, wanted, device(DEVICE), choose())
        except (ChathpcError, OSError, ValueError, subprocess.SubprocessError) as error:
            return row | {"failure": f"{type(error).__name__}: {error} {getattr(error, 'log', '')[:300]}"}
        row["run"] = time.monotonic() - begin - row["build"]
        if not found:
            return row | {"failure": f"not launched: {done.status} {done.code} {done.stderr[-200:]!r} {missing}"}
        fitting = [
            each for each in found if (each.launch.grid, each.launch.block) == (label.grid, label.block)
        ] or found
        one = fitting[-1]
        warps = [(line, one.warps_by_instruction.get(n, 0.0)) for n, line in prepared.lowered.instructions()]
        waits = chain(warps)
        return row | {
            "shape": one.launch.grid == label.grid and one.launch.block == label.block,
            "launch": dataclasses.asdict(one.launch), "counts": dataclasses.asdict(one.counts), "chain": None if waits is None else dataclasses.asdict(waits),
            "missing": missing,
        }  # fmt: skip


def kernels_of(label: Label, prepared: Prepared) -> tuple[str, ...]:
    """The program's kernels that a label means: by its types where that tells them apart, else by its name; a region by its function and line."""
    names = list(prepared.lowered.kernels)
    if label.line is not None:
        place = re.compile(r"__omp_offloading_[0-9a-f]+_[0-9a-f]+_(.*)")
        region = place.fullmatch(label.kernel)
        return tuple(each for each in names if region and (own := place.fullmatch(each)) and own[1] == region[1])
    said = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True).stdout
    demangled = dict(zip(names, said.splitlines(), strict=True))
    plain = label.kernel.split("::")[-1].split("<")[0]
    found = [each for each in names if _plain(demangled[each]) == plain]
    exact = [each for each in found if _types(demangled[each]) == _types(label.signature)]
    return tuple(exact or found)


def _plain(name: str) -> str:
    bare = re.sub(r"<.*", "", name.replace("(anonymous namespace)", "anonymous").removeprefix("void "))
    return re.sub(r"\(.*", "", bare).split("::")[-1].strip()


def _types(name: str) -> str:
    return re.sub(r"\s|\bvoid\b", "", name)


# -- Building ------------------------------------------------------------------------------------------------------


def built_program(label: Label, sources: Path, compilers: Compilers, work: Path) -> Prepared:
    """A label's program, by its Makefile or as the commands say. Errors: UsageError, BuildError, ToolkitMissingError, ClangMissingError."""
    folder, commands, llvm = sources / label.program, compilers.commands, compilers.llvm
    if commands is None and label.language == "CUDA":
        return prepare(Program((folder,)), work, device(DEVICE))
    newest = find_toolkit()
    toolkit = newest if compilers.cuda is None else Toolkit(compilers.cuda, newest.nvcc)
    clang = find_clang() if llvm is None else Clang(llvm / "bin", llvm / "lib")
    recipe = recipe_of_makefile(folder, openmp=True) if commands is None else recipe_of(label, sources, commands)
    if label.language == "OMP":
        built = build_openmp(recipe, work=work, toolkit=toolkit, clang=clang, architecture=ARCHITECTURE)
    else:
        built = build_with_clang(recipe, work, toolkit, clang)
    return lowered(built, recipe, work, newest, {}, ARCHITECTURE)


def commands_of(path: Path) -> dict[str, list[str]]:
    """The commands of compile_commands.json by target: a pair of command and source for each."""
    found: dict[str, list[str]] = {}
    for entry in json.loads(path.read_text()):
        target = re.search(r"CMakeFiles/([^/]+)\.dir/", entry["command"])
        if target:
            found.setdefault(target[1], []).append(f"{entry['file']} {entry['command']}")
    return found


def recipe_of(label: Label, sources: Path, commands: Mapping[str, Sequence[str]]) -> Recipe:
    """The sources of a target and their options, moved from where they were built to `sources`. Errors: OSError for a source that is not there."""
    units = []
    for each in commands.get(label.program, ()):
        source, compiler, *words = shlex.split(each)
        path, root = _source(Path(source), label.program, sources)
        flags, rest, cuda = [], iter(words), any("--cuda-gpu-arch" in word for word in words)
        for word in rest:
            if word in ("-c", "-o", "-x"):
                next(rest)
            elif not word.startswith(_DECIDED):
                flags.append(word.replace(root, str(sources)))
        folder = sources / label.program
        units.append(
            Unit(
                path,
                (*(("-x", "cuda") if cuda else ()), *flags),
                folder if folder in path.parents else path.parent,
                compiler,
            )
        )
    if not units:
        raise FileNotFoundError("no command compiles it")
    return Recipe(tuple(units))


def _source(built: Path, program: str, sources: Path) -> tuple[Path, str]:
    """Where a source that was built is now, and the folder that `sources` stands for. Errors: FileNotFoundError.

    What a program shares with its variants in other languages was copied into the folder `build` under the program's name.
    """
    if built.parent.name == "build" and built.name.startswith(f"{program}-"):
        name, variants = built.name.removeprefix(f"{program}-"), program.rpartition("-")[0]
        found = [
            path
            for path in sorted(sources.glob(f"{variants}-*/{name}"))
            + sorted(sources.glob(f"{variants}-*/{Path(name).stem}.cu"))
            if "-".join(path.parent.name.split("-")[:-1]) == variants
        ]
        if found:
            return found[0], str(built.parent.with_name("src"))
    root = str(built).partition("/src/")[0] + "/src"
    path = Path(str(built).replace(root, str(sources), 1))
    if not path.is_file():
        raise FileNotFoundError(f"{path.name} is not there")
    return path, root


def build_with_clang(recipe: Recipe, work: Path, toolkit: Toolkit, clang: Clang) -> Built:
    """Compile CUDA with clang, device code by NVIDIA's assembler; `toolkit` has headers of CUDA 12. Errors: BuildError.

    The host's objects register an empty image: the interpreter has the cubins.
    """
    empty = work / "empty.fatbin"
    empty.write_bytes(b"\0" * 64)
    with ThreadPoolExecutor(JOBS) as pool:
        ours = pool.submit(machine_objects, CUDA_MACHINE, toolkit, cache_of(work))
        numbered = list(enumerate(recipe.units))
        made = list(pool.map(lambda one: _compile(one[1], work / str(one[0]), toolkit, clang, empty), numbered))
    link = [*recipe.link, "-ldl", "-lpthread", "-lm"]
    executable, missing = link_program([*(one for one, _ in made), *ours.result()], link, work)
    cubins = tuple(cubin for _, cubin in made if cubin is not None)
    return Built(executable, cubins, recipe.units[0].folder, missing)


def _compile(unit: Unit, made: Path, toolkit: Toolkit, clang: Clang, empty: Path) -> tuple[Path, Path | None]:
    """The object of the host, and the cubin if the source is CUDA. Errors: BuildError."""
    failure = f"{unit.source.name} does not compile with clang."
    target, ptx, cubin = (made.with_suffix(suffix) for suffix in (".o", ".ptx", ".cubin"))
    tail = ["-c", str(unit.source), "-o", str(target)]
    own = [flag for flag in unit.flags if flag not in ("-x", "cuda")]
    if "cuda" not in unit.flags:
        compiler = "clang" if unit.source.suffix == ".c" else "clang++"
        own = [flag for flag in own if unit.source.suffix != ".c" or not flag.startswith("-std=gnu++")]
        checked([str(clang.programs / compiler), "-w", *own, f"-I{toolkit.include}", *tail], unit.folder, failure)
        return target, None
    common = [str(clang.programs / "clang++"), "-w", "-x", "cuda", f"--cuda-path={toolkit.root}"]
    common += [f"--cuda-gpu-arch={ARCHITECTURE}", "-Wno-unknown-cuda-version", *own]
    imagined = made.with_suffix(".imagined")
    compiled([*common, "--cuda-device-only", "-S", str(unit.source), "-o", str(ptx)], unit.folder, failure, imagined)
    assembler = [str(toolkit.tool("ptxas")), "-O3", f"-arch={ARCHITECTURE}", str(ptx), "-o", str(cubin)]
    checked(assembler, unit.folder, failure)
    host = ["--cuda-host-only", "-Xclang", "-fcuda-include-gpubinary", "-Xclang", str(empty)]
    compiled([*common, *host, *tail], unit.folder, failure, imagined)
    return target, cubin


if __name__ == "__main__":
    main()
