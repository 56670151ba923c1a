"""What a Makefile says: the flags, the program that it builds, how it is run. Its text is read; make is never started.

Enough of make's language for the Makefiles of small programs: variables, rules, recipes, conditions that compare variables. What includes,
other conditions and functions do is not known, and `uncertain` says that there are some.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

NAMES = ("GNUmakefile", "makefile", "Makefile")
#: Lines that are read, and the longest value (characters): an expansion could double at each step.
_MOST_LINES, _LONGEST, _DEEPEST = 5_000, 4_000, 8
_ASSIGNED = re.compile(r"(?:export\s+|override\s+)?(?P<name>[A-Za-z_][\w.-]*)\s*(?P<how>::?:?|\?|\+)?=\s*(?P<value>.*)")
_RULE = re.compile(r"(?P<targets>[^\s:=#][^:=#]*?)\s*::?(?!=)(?P<needs>[^;#]*)(?:;(?P<recipe>.*))?")
_REFERENCE = re.compile(r"\$(?=\([\w.-]+\)|\{[\w.-]+\}).(\w[\w.-]*).")
_UNSURE = re.compile(r"(?:[-s]?include\b(?P<files>.*)|define\b)")
_COMMENT = re.compile(r"(?<!\\)#.*")
_CONDITION = re.compile(
    r"(?P<end>endif)|(?P<otherwise>else\b\s*)?"
    r"(?:if(?P<no>n?)(?:def\s+(?P<name>\S+)|eq\s*[('\"](?P<one>.*?)(?:,|['\"]\s*['\"])(?P<other>.*)[)'\"]))?"
)
#: Variables that hold compilers' flags, in the order in which they are preferred.
_FLAGS = re.compile(
    r"(?:C|CXX|CPP|F|FC|F90|F77|NVCC|CU|CUDA|MPI)?_?FLAGS|OPT(?:IM|FLAGS|IMI[SZ]E|IMI[SZ]ATION)?|[CF]?OPT|OFLAGS"
)
_NO_PROGRAM = re.compile(r".*\.(?:o|a|so|mod|d|txt|dat|out|log|png|pdf)|\..*|.*%.*")
_PHONY = frozenset(
    {"all", "clean", "distclean", "install", "test", "check", "run", "bench", "default", "help", "depend", "veryclean"}
)
_RUNS = re.compile(r"[@-]*\s*(?P<run>(?:[A-Z_]+=\S+\s+)*(?:(?:mpirun|mpiexec|srun)\s[^;|&<>]*?)?\./[\w.-]+[^;|&<>]*)")


@dataclass(frozen=True, slots=True)
class Rule:
    """Targets, what they need, and the lines that make them, as they are written."""

    targets: tuple[str, ...]
    needs: tuple[str, ...]
    recipe: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Makefile:
    """Variables as they are written (with += added up) and rules in their order."""

    variables: Mapping[str, str]
    rules: tuple[Rule, ...]
    uncertain: bool
    included: tuple[str, ...] = ()

    @property
    def remakes_itself(self) -> bool:
        """True if a rule makes what is included: with -B make would make that, and begin anew, for ever."""
        made = {self.expanded(target) for rule in self.rules for target in rule.targets}
        return any(self.expanded(name) in made for name in self.included)

    @property
    def cleans(self) -> bool:
        """True if there is a rule `clean`."""
        return any("clean" in rule.targets for rule in self.rules)

    def expanded(self, text: str, target: str = "") -> str:
        """The text with its variables' values; automatic ones only $@, functions and what is not set become nothing."""
        text = text.replace("$@", target)
        for _ in range(_DEEPEST):
            after = _REFERENCE.sub(lambda found: self.variables.get(found[1], ""), text)
            if after == text or len(after) > _LONGEST:
                break
            text = after
        return " ".join(re.sub(r"\$\([^()]*\)|\$\{[^{}]*\}|\$.", " ", text).split())[:_LONGEST]

    def program(self) -> tuple[str, str]:
        """(the program that is built, the target to ask make for or "" if it is the first one); ("", "") if none is seen."""
        wanted = self._first_target()
        for target in (wanted, "all"):
            program = self._program_of(target)
            if program:
                return program, "" if target == wanted else target
        for rule in self.rules:
            for target in rule.targets:
                name = self.expanded(target)
                if self._is_program(name, rule):
                    return name, name
        return "", ""

    def flags(self, language_variable: str) -> tuple[str, str] | None:
        """(variable, its value) of the compiler's flags: one that the recipes use and that has options of optimisation, else
        `language_variable` where make's own rules are used or it is set here; None if nothing fits.
        """
        direct = {name for rule in self.rules for line in rule.recipe for name in _REFERENCE.findall(line)}
        used = direct.union(*(_REFERENCE.findall(self.variables.get(name, "")) for name in direct))
        if not used:
            used = set(self.variables)  # make's own rules use them all
        fitting = [name for name in self.variables if name in used and _FLAGS.fullmatch(name)]
        fitting.sort(
            key=lambda name: (
                not re.search(r"(?<!\S)-(?:O|g)", self.expanded(self.variables[name])),
                name not in direct,
                name != language_variable,
            )
        )
        if fitting:
            return fitting[0], self.expanded(self.variables[fitting[0]])
        implicit = any(not rule.recipe and rule.needs for rule in self.rules)
        return (language_variable, "") if implicit else None

    def run(self, program: str) -> str:
        """How a recipe runs the program; "" if none does."""
        for rule in self.rules:
            for line in rule.recipe:
                text = self.expanded(line, self.expanded(rule.targets[0]))
                found = _RUNS.match(text)
                if found and program and re.search(rf"(?:^|\s)\./{re.escape(program)}(?:\s|$)", found["run"]):
                    return found["run"].strip()
        return ""

    def compilers(self) -> str:
        """All recipes, expanded: what compilers and options occur in them."""
        return " ".join(self.expanded(line) for rule in self.rules for line in rule.recipe)[: 1 << 20]

    def _first_target(self) -> str:
        names = (self.expanded(target) for rule in self.rules for target in rule.targets)
        return next((name for name in names if not name.startswith(".")), "")

    def _program_of(self, target: str) -> str:
        """The first program among a target and what it needs, in make's order; each target is looked at once."""
        waiting, seen = [target], set[str]()
        while waiting:
            name = waiting.pop(0)
            if not name or name in seen:
                continue
            seen.add(name)
            ours = [rule for rule in self.rules if name in (self.expanded(one) for one in rule.targets)]
            if any(self._is_program(name, rule) for rule in ours):
                return name
            waiting[:0] = [need for rule in ours for need in self.expanded(" ".join(rule.needs)).split()]
        return ""

    def _is_program(self, name: str, rule: Rule) -> bool:
        """A target that is a file and no intermediate one, with a recipe that names it, or none at all and objects to link."""
        if not name or name in _PHONY or _NO_PROGRAM.fullmatch(name) or name.startswith("-") or " " in name:
            return False
        lines = [self.expanded(line, name) for line in rule.recipe]
        linked = any(re.search(r"(?<!\S)-o\s*" + re.escape(name) + r"(?!\S)", line) for line in lines)
        return linked or (not rule.recipe and any(need.endswith((".o", ".c", ".cpp", ".f90")) for need in rule.needs))


def makefile(text: str) -> Makefile:
    """The Makefile of that text. Raises nothing: what is not understood is passed over."""
    variables: dict[str, str] = {}
    rules: list[Rule] = []
    included: list[str] = []
    uncertain = False
    #: Of each condition around the line: whether a branch was taken already, and whether this one is.
    around: list[tuple[bool, bool]] = []
    for line in text.replace("\\\r\n", " ").replace("\\\n", " ").splitlines()[:_MOST_LINES]:
        told = " ".join(_COMMENT.sub("", line[:_LONGEST]).split())
        if told and (condition := _CONDITION.fullmatch(told)):
            begins = not (condition["end"] or condition["otherwise"])
            taken = not begins and bool(around) and around.pop()[0]
            if not condition["end"]:
                holds = _holds(condition, variables)
                uncertain |= holds is None
                around.append((taken or holds is True, not taken and holds is not False))
            continue
        if not all(active for _, active in around):
            continue
        if line.startswith("\t"):
            if rules and line.strip():
                last = rules[-1]
                rules[-1] = Rule(last.targets, last.needs, (*last.recipe, line.strip()[:_LONGEST]))
            continue
        if assigned := _ASSIGNED.fullmatch(told):
            name, how, value = assigned["name"], assigned["how"], assigned["value"].strip()
            if how == "+":
                variables[name] = f"{variables.get(name, '')} {value}".strip()[:_LONGEST]
            elif how != "?" or name not in variables:
                variables[name] = value
        elif unsure := _UNSURE.match(told):
            uncertain = True
            included += (unsure["files"] or "").split()
        elif found := _RULE.fullmatch(told):
            recipe = (found["recipe"].strip(),) if found["recipe"] and found["recipe"].strip() else ()
            rules.append(Rule(tuple(found["targets"].split()), tuple(found["needs"].split()), recipe))
    return Makefile(variables, tuple(rules), uncertain, tuple(included))


def _holds(condition: re.Match[str], variables: Mapping[str, str]) -> bool | None:
    """Whether a condition holds with the variables that are set so far; None where functions decide it, or the environment may."""
    name = condition["name"]
    if name is None and condition["one"] is None:
        return True  # else
    one, other = (condition["one"], condition["other"]) if name is None else (f"$({name})", "")
    named = set(_REFERENCE.findall(one + other))
    if "$" in _REFERENCE.sub("", one + other) or not named <= variables.keys():
        return None
    make = Makefile(variables, (), False)
    same = make.expanded(one) == make.expanded(other)
    return same == ((name is None) == (condition["no"] == ""))  # `ifdef X` is `ifneq ($(X),)`
