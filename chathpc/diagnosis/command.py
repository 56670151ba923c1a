"""Commands that can be pasted: the program of a profile with its arguments, ranks and threads in the place of `./app`.

Catalogue, rules and readers write their commands for a program `./app` on one rank; `filled` is the one place that knows the real one.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import PurePath

from chathpc.profile.activity import Activity, activity_of_module
from chathpc.profile.launcher import split
from chathpc.profile.profile import COMMAND, RANKS, Profile
from chathpc.profile.run import NO_COUNTERS, processors
from chathpc.profile.source_text import LARGEST_SOURCE, is_of_system, no_source

#: How a command names the program; further places are the folder that hpcrun writes, and a function.
APP = "./app"
_APP = re.compile(r"\./app(?![\w.+/-])")
_PLACE = re.compile(_APP.pattern + r"|\bMEASUREMENTS\b|\bFUNCTION\b")
#: Formats whose title is the program's name.
_NAMED = re.compile(r"HPCToolkit|Nsight Systems|Linux perf|Caliper|Score-P|.*\(callgrind format\)")
#: The kernel keeps so many characters of a program's name.
_COMM = 15
#: Tools that see the processes which their command starts: they stand before the launcher, others between it and the program.
_FOLLOWING = frozenset({"chathpc", "perf", "strace", "nsys", "ncu", "likwid-perfctr", "scalasca", "scan"})
#: Tools that look at the program's file and don't run it.
_STATIC = frozenset({"readelf", "cuobjdump", "gprof"})
#: Assignments at the beginning of a command, and a launcher in it.
_ASSIGNED = re.compile(r"^(?:env +)?((?:\w+=(?:'[^']*'|\S+) +)*)")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
#: A shell that runs one string, and what is more than one simple command in it.
_SHELL, _SYNTAX = re.compile(r"(\S*/)?(ba|da|)sh -c"), re.compile(r"[][;&|<>()$`*?#~{}\\\n]")
_PYTHON = re.compile(r"python[\d.]*")
_THREADS, _VARIED = "OMP_NUM_THREADS", "--vary threads="
#: An option of the program that says how many threads it has, and source that does, both stronger than the environment.
_OPTION = re.compile(r"-[tTj]|--?[\w-]*threads?")
_CHOSEN = re.compile(r"\s*+(?!//|/\*|!(?!\$)).*?(?:\bomp_set_num_threads|\bomp\b.*\bnum_threads)\s*\(", re.IGNORECASE)
#: A program that asks OpenMP for the number, which the environment tells, and hands it on.
_ASKED, _GIVEN = "omp_get_max_threads", re.compile(r"\bnum_threads\s*\(\s*[a-z_]", re.IGNORECASE)
#: How Python counts the calls of a program and times them (cProfile of its standard library), and what that tells.
_COUNTING = ("-m", "cProfile", "-s", "tottime")
_CALLS = (
    "How often each function is called, and what a call takes. Many short calls cost their own overhead: one call for a whole array or a "
    "compiled loop helps. Of few long calls the lines inside matter, which py-spy tells."
)
COUNT_CALLS = f"python {' '.join(_COUNTING)} {APP} ({_CALLS})"
_LINES = (
    f"py-spy record --native -f speedscope -o lines.json -- {APP} (Which lines of the function, and which native functions below it, take the time: "
    "sampled, so calls cost nothing extra.)"
)
#: A command of Python's interpreter with options.
_OPTIONS = re.compile(rf"python (-.+) {re.escape(APP)}")
#: Tools that would count the interpreter's instructions or calls.
_OF_PROCESSOR = ("perf stat -e ", "valgrind --tool=callgrind ", COUNT_CALLS)
#: How HPCToolkit samples the threads' time, for which chathpc takes the best profiler that is installed.
_SAMPLED, _MEASURED = re.compile(r"hpcrun -e REALTIME(@\d+)? -t (?=\S)"), "chathpc measure -- "
#: Commands that need hardware counters, and what is said of them where the machine has none.
_COUNTED = re.compile(
    r"\bperf c2c|\bperf (stat|record) .*-e \S*(cycles|instructions|branches|cache|-loads?\b|-misses)|hpcrun .*-e (cycles|PAPI_)|likwid-(perfctr|mpirun)"
)
_ALL_CORES = "-C 0-7"  #: of likwid, where neither the cores nor the threads are known
#: How likwid measures one process on cores that are told, and the ranks of a program, which it starts and pins itself.
_OF_PROCESS, _OF_RANKS = f"likwid-perfctr {_ALL_CORES}", "likwid-mpirun"
_ELSEWHERE = "Needs a machine with hardware counters, this one has none."
_LAUNCH = re.compile(r"(?<!-)\b(mpirun -np? \d+) ")


@dataclass(frozen=True, slots=True)
class Program:
    """How a program is run, in words for a shell: `environment` are the assignments before it."""

    words: tuple[str, ...]
    launcher: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()
    option: int = -1  #: the word that tells how many threads it has
    chosen: str = ""  #: where its source does

    @property
    def script(self) -> tuple[str, ...]:
        """A program of Python without its interpreter and the options of that: `app.py 3`, `-m package 3`; nothing for other programs."""
        if self.words[0].endswith(".py"):
            return self.words
        if not _PYTHON.fullmatch(PurePath(self.words[0]).name):
            return ()
        at = next(
            (n for n, word in enumerate(self.words[1:], 1) if word == "-m" or word.endswith(".py")), len(self.words)
        )
        return self.words[at:]

    def with_options(self, *options: str) -> str:
        """The command of a program of Python with options of the interpreter."""
        python = "python" if self.script == self.words else self.words[0]
        return replace(self, words=(python, *options, *self.script)).put(APP)

    @property
    def line(self) -> str:
        """The program with its launcher."""
        return _quoted((*self.launcher, *self.words))

    def put(self, command: str, function: str = "") -> str:
        """One command with this program in the place of `./app`, and a function of it in that of FUNCTION."""
        bare, launched = _LAUNCH.subn("", command)
        _, wanted, rest = _ASSIGNED.split(bare, maxsplit=1)
        tool = rest.split(" ", 1)[0]
        names, words = set(re.findall(r"\b(\w+)=", wanted)), list(self.words)
        number = "{threads}" if _VARIED in rest else _value(wanted, _THREADS)
        names |= {_THREADS} if number else set()
        if number and (self.option >= 0 or self.chosen):
            wanted = re.sub(rf"\b{_THREADS}=\S+ +", "", wanted)
        if number and self.option >= 0:
            words[self.option] = re.sub(r"\d+$", number, words[self.option])
        given = [shlex.quote(each) for each in self.environment if each.partition("=")[0] not in names]
        assigned = " ".join(filter(None, (*given, wanted.strip())))
        launcher = _quoted(self.launcher) or (str(_LAUNCH.findall(command)[0]) if launched else "")
        launcher = "" if tool == _OF_RANKS else launcher
        runs = _APP.search(command) is not None and tool not in _STATIC
        app = _quoted(tuple(words) if runs else self.words[:1])
        front = ""
        if runs and tool in _FOLLOWING:
            app, front = f"{launcher} {app}".lstrip(), assigned
        elif runs:
            # Some launchers hand on their own environment and others don't: `env` behind them is the same for all.
            front = " ".join(filter(None, (launcher, "env" if launcher and assigned else "", assigned)))
        folder = f"hpctoolkit-{PurePath(self.words[0]).name}-measurements"
        places = {APP: app, "MEASUREMENTS": shlex.quote(folder), "FUNCTION": shlex.quote(function or "main")}
        # In one pass: what a profile says is never searched itself.
        return f"{front} {_PLACE.sub(lambda found: places[found[0]], rest if runs else command)}".lstrip()


def filled(profile: Profile, text: str, function: str = "") -> str:
    """A command, or several with `; ` between them, behind which a sentence in parentheses may follow, for the program of a profile and
    a function of it.
    """
    program, shown = program_of(profile), function if function.isprintable() else ""
    if text.startswith(_OF_PROCESSOR) and program.script:
        if "calls.count" not in profile.metrics:
            return f"{program.with_options(*_COUNTING)} ({_CALLS})"
        text = _LINES  # the calls are counted already
    commands, gap, words = text.partition(" (")
    if program.script and (options := _OPTIONS.fullmatch(commands)):
        return f"{program.with_options(*options[1].split())}{gap}{words}"
    if not profile.format.startswith("HPCToolkit"):
        commands = _SAMPLED.sub(_MEASURED, commands)  # by whatever profiler there is
    if NO_COUNTERS in profile.run and needs_counters(commands):
        gap, words = " (", f"{words.removesuffix(')')} {_ELSEWHERE})".lstrip()
    if program.chosen and (_VARIED in commands or f"{_THREADS}=" in commands):
        gap, words = (
            " (",
            f"{words.removesuffix(')')} The number of threads is set at {program.chosen}: change it there.)".lstrip(),
        )
    if program.launcher and profile.counts.ranks > 1:
        commands = commands.replace(_OF_PROCESS, f"{_OF_RANKS} -np {profile.counts.ranks}")
    numbered = profile.where.thread.max(initial=-1) >= 0
    if cores := processors(profile) or (profile.counts.threads if numbered else 0):
        commands = commands.replace(_ALL_CORES, f"-C 0-{cores - 1}" if cores > 1 else "-C 0")
    return "; ".join(program.put(each, shown) for each in commands.split("; ")) + gap + named(profile, words)


def needs_counters(command: str) -> bool:
    """Whether a command reads hardware counters."""
    return _COUNTED.search(command) is not None


def named(profile: Profile, text: str) -> str:
    """A sentence with the profile's program in the place of `./app`."""
    line = program_of(profile).line
    return _APP.sub(lambda _: line, text)


@lru_cache(maxsize=4)
def program_of(profile: Profile) -> Program:
    """How the program of a profile is run, as far as it tells; `./app` where it tells nothing."""
    ran = _without_shell(shlex.split(profile.run.get(COMMAND, "")))
    launcher, words = split(ran, lambda word: not re.fullmatch(r"[\d.,:]+", word))
    environment: dict[str, str] = {}
    if words and PurePath(words[0]).name == "env":
        at = next((n for n, word in enumerate(words[1:], 1) if not _ASSIGNMENT.match(word)), len(words))
        environment = {word.partition("=")[0]: word for word in words[1:at]}
        words = words[at:]
    words = words or _by_name(profile)
    counts, option, chosen = profile.counts, -1, ""
    if _is_openmp(profile) and counts.threads > 1:
        option = _option(words, str(counts.threads))
        chosen = _chosen(profile) if option < 0 else ""
        if option < 0 and not chosen:
            environment.setdefault(_THREADS, f"{_THREADS}={counts.threads}")
    if not launcher:
        launcher = _launcher(profile, counts.ranks)
    return Program(words, launcher, tuple(environment.values()), option, chosen)


def _option(words: Sequence[str], threads: str) -> int:
    """The word of a command that gives the program so many threads, else −1."""
    for at, word in enumerate(words):
        name, equals, value = word.partition("=")
        if (equals or re.fullmatch(r"-[a-zA-Z]\d+", word)) and _OPTION.fullmatch(name if equals else word[:2]):
            if (value or word[2:]) == threads:
                return at
        elif at and word == threads and _OPTION.fullmatch(words[at - 1]):
            return at
    return -1


def _chosen(profile: Profile) -> str:
    """Where the source of a program chooses its number of threads: the first place."""
    for file in profile.tree.files if profile.read_source is not no_source else ():
        excerpt = None if is_of_system(file) else profile.read_source(file, 1, LARGEST_SOURCE)
        lines = excerpt.lines if excerpt is not None else ()
        asked = any(_ASKED in line.lower() for line in lines)
        for number, line in enumerate(lines, 1):
            if _CHOSEN.match(line) and not (asked and _GIVEN.search(line)):
                return f"{PurePath(file).name}:{number}"
    return ""


def _value(assignments: str, name: str) -> str:
    """What a variable is set to, nothing where it is not."""
    found = re.search(rf"\b{name}=(\S+)", assignments)
    return "" if found is None else found[1]


def _without_shell(words: list[str]) -> list[str]:
    """The one command that `sh -c '…'` runs, without the shell; other words as they are."""
    *shell, line = words or [""]
    if not _SHELL.fullmatch(" ".join(shell)) or _SYNTAX.search(line):
        return words
    try:
        inner = shlex.split(line)
    except ValueError:
        return words
    return ["env", *inner] if inner and _ASSIGNMENT.match(inner[0]) else inner


def _by_name(profile: Profile) -> tuple[str, ...]:
    """The program by its name, without arguments."""
    name, files = profile.title, {name for source in profile.sources for name in (source.path.name, source.path.stem)}
    python = ("python", "app.py")
    if profile.format.startswith(("PyTorch", "pyinstrument", "cProfile", "py-spy")) or _begins_in_python(profile):
        return python
    files -= {PurePath(path).name for path in profile.tree.modules}
    if not _NAMED.match(profile.format) or name in files or not re.fullmatch(r"[\w.+-]+", name, re.ASCII):
        return (APP,)
    if len(name) == _COMM:
        modules = {module for path in profile.tree.modules if (module := PurePath(path).name).startswith(name)}
        name = modules.pop() if len(modules) == 1 else name
    return python if _PYTHON.fullmatch(name) else (f"./{name}",)


def _begins_in_python(profile: Profile) -> bool:
    """True if the outermost functions are of Python, as in collapsed stacks of its samplers."""
    tree = profile.tree
    files = {tree.files[number] for number in tree.file[tree.roots].tolist() if number >= 0}
    return any(file.endswith(".py") for file in files)


def _launcher(profile: Profile, ranks: int) -> tuple[str, ...]:
    """What starts so many ranks; nothing where no MPI was seen: several processes are not ranks yet."""
    told = profile.told(RANKS)
    ranks = told or ranks
    if ranks < 2:
        return ()
    if profile.format.startswith("PyTorch"):
        return ("torchrun", f"--nproc-per-node={ranks}", "--no-python")
    return ("mpirun", "-n", str(ranks)) if told or _loads(profile, Activity.MPI, r"P?MPI_[A-Z]\w+") else ()


def _is_openmp(profile: Profile) -> bool:
    return _loads(profile, Activity.OMP_WAIT, r"omp_fn|\.omp_outlined|<omp ")


def _loads(profile: Profile, activity: Activity, functions: str) -> bool:
    """True if a library of that kind was loaded, or a function of it called."""
    look = re.compile(functions)
    return any(activity_of_module(path) == activity for path in profile.tree.modules) or any(
        look.match(name) for name in profile.tree.names
    )


def _quoted(words: tuple[str, ...]) -> str:
    return " ".join(map(shlex.quote, words))
