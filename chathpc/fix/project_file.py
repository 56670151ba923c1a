"""The key `project` of a folder's chathpc.yaml, read and checked.

Whoever wrote the file says which commands are run, so nothing of it is run here.
"""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from chathpc import validation
from chathpc.errors import ChathpcError, UsageError
from chathpc.fix import globs
from chathpc.fix.project import Profiling, Project, Run
from chathpc.fix.project_schema import GROUPS, ProfileValues, ProjectValues, RunValues, fields_of, model_at
from chathpc.llm.settings import Values, below_project
from chathpc.profile.languages import Language, kind_of
from chathpc.profile.text import clean
from chathpc.sandbox import Limits

if TYPE_CHECKING:
    from collections.abc import Mapping

FILE = "chathpc.yaml"
KEY = "project"
#: What to do for a program that is not compiled.
BY_HAND = (
    "Recipes change no Python. A model (--llm) may: write chathpc.yaml by hand, with build: 'true', run: python app.py, "
    "edit: ['*.py'] (docs/project.md)."
)
#: Never changed, whatever the file says: it is the judge's own, or no source.
ALWAYS_PROTECTED = (FILE, ".git/**", ".chathpc-fix/**")
#: Protected where the file does not say what is: what builds, checks and times a program.
PROTECTED = (
    "Makefile*", "makefile*", "GNUmakefile", "*.mk", "CMakeLists.txt", "*.cmake", "configure*", "meson.build",
    "test*", "tests/**", "test/**", "check*", "verify*", "timer*", "reference*", "expected*",
)  # fmt: skip

#: The file is a few lines; a larger one is a mistake or an attack (bytes). Settings, which share it, have the same bound.
_LARGEST_FILE = 65_536
#: Standard input of a run is held in memory (bytes).
_LARGEST_INPUT = 64 << 20


def read(folder: Path) -> Project:
    """The project that `folder`/chathpc.yaml describes under the key `project`.

    UsageError, which names the file, the key, what was expected and what to write, where the file is missing, is not YAML, says
    nothing of a project, or says something else than ProjectValues takes; also where `edit` is about no file.
    """
    file = folder / FILE
    content = _content(file)
    if not isinstance(content, dict) or content.get(KEY) is None:
        if misplaced := [
            key
            for key in ProjectValues.model_fields
            if isinstance(content, dict) and key in content and key not in Values.model_fields
        ]:
            raise _at_the_top(file, misplaced[0])
        raise UsageError(f"{file}: has no project section.", hint=_first_one(folder))
    try:
        values = ProjectValues.model_validate(content[KEY])
    except ValidationError as error:
        raise _explained(error, file, content) from None
    return _project(folder.resolve(), file, values)


def describes_project(folder: Path) -> bool:
    """Whether `folder`/chathpc.yaml has the key `project`, right or wrong; UsageError where the file cannot be read."""
    if not (folder / FILE).exists():
        return False
    content = _content(folder / FILE)
    return isinstance(content, dict) and KEY in content


def _first_one(folder: Path) -> str:
    """How to come by a first description of the project; --init makes none where nothing is compiled."""
    kinds = {kind.language for each in chain(folder.glob("*"), folder.glob("*/*")) if (kind := kind_of(each.name))}
    return BY_HAND if kinds == {Language.PYTHON} else f"Create a first one with: chathpc fix --init {folder}"


def _content(file: Path) -> object:
    from chathpc.diagnosis.catalogue.fields import check_plain, parse

    try:
        with file.open("rb") as stream:
            data = stream.read(_LARGEST_FILE + 1)
    except NotADirectoryError:
        raise UsageError(
            f"{file.parent} is not a folder.", hint="Name the folder with the program's sources."
        ) from None
    except FileNotFoundError:
        raise UsageError(f"{file}: no such file.", hint=_first_one(file.parent)) from None
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror}.", hint="Check its permissions.") from error
    if len(data) > _LARGEST_FILE:
        raise UsageError(
            f"{file}: larger than {_LARGEST_FILE:,} bytes, too large for a project file.", hint="See docs/project.md."
        )
    try:
        check_plain(data, file)
        return parse(data, file)
    except ChathpcError as error:
        raise UsageError(clean(f"{file.parent / error.message}"), hint="See docs/project.md for an example.") from None


def _project(root: Path, file: Path, values: ProjectValues) -> Project:
    run = _run(root, file, "run", values.run, "run")
    inputs = [_run(root, file, f"inputs[{n}]", one, f"input {n}") for n, one in enumerate(values.inputs, 1)]
    if not any((one.command, one.stdin) == (run.command, run.stdin) for one in inputs):
        inputs.insert(0, run)
    names = [one.name for one in inputs]
    for name in names:
        if names.count(name) > 1:
            raise _wrong(file, "inputs", f"two of them are called '{name}'", "Give each run a unique name.")
    protect = (*ALWAYS_PROTECTED, *(PROTECTED if values.protect is None else values.protect))
    if not globs.chosen(root, values.edit, protect):
        raise _wrong(
            file,
            "edit",
            f"no file below {root} matches {', '.join(values.edit)}, or all that match are protected",
            'Name the sources that may change, for example: edit: ["*.c"]',
        )
    limits = {key: value for key, value in values.limits.model_dump().items() if value is not None}
    return Project(
        root=root,
        build=values.build,
        run=run,
        edit=tuple(values.edit),
        protect=protect,
        flags=values.flags,
        inputs=tuple(inputs),
        check=values.check,
        threads=tuple(dict.fromkeys(values.threads)),
        profile=_profiling(file, values.profile),
        launcher=values.launcher,
        gpu=values.gpu,
        limits=Limits(**limits),
        kernels=tuple(values.kernels),
        allow=tuple(values.allow),
    )


def _run(root: Path, file: Path, key: str, values: RunValues, usual: str) -> Run:
    if values.stdin is not None:
        path = (root / values.stdin).resolve()
        if not path.is_relative_to(root) or not path.is_file() or path.stat().st_size > _LARGEST_INPUT:
            raise _wrong(
                file,
                f"{key}.stdin",
                f"'{values.stdin}' is not a file of at most {_LARGEST_INPUT >> 20} MiB in the project's folder",
                "Put the input there, and name it relative to the folder.",
            )
    return Run(values.name or usual, values.run, values.stdin)


def _profiling(file: Path, values: ProfileValues) -> Profiling:
    if (values.command is None) != (values.result is None):
        missing, given = ("result", "command") if values.result is None else ("command", "result")
        hint = "For example: profile: {command: ./profile.sh, result: profile.json}"
        raise _wrong(file, f"profile.{missing}", f"missing beside `{given}`", hint)
    tool = values.tool or ("auto" if values.command is None else "command")
    if (tool == "command") != (values.command is not None):
        what = "'command' needs one" if values.command is None else f"both a custom command and '{tool}' are given"
        raise _wrong(file, "profile.tool", what, "Remove one of them.")
    return Profiling(tool, values.command, values.result)


def _wrong(file: Path, key: str, what: str, hint: str) -> UsageError:
    return UsageError(clean(f"{file}: '{KEY}.{key}': {what}."), hint=clean(hint))


def _explained(error: ValidationError, file: Path, beside: Mapping[str, object]) -> UsageError:
    """The first problem in our words: key, what was expected, what was found, what to write; `beside` are the keys beside `project`."""
    problem = validation.first_problem(error)
    place = problem["loc"]
    names = "".join(f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in place)
    key = clean(KEY + names)[:120]
    model, field = model_at(place)
    if problem["type"] in validation.UNKNOWN:
        return UsageError(f"{clean(str(file))}: unknown key '{key}'.", hint=_meant(str(place[-1]), place, model))
    if problem["type"] == "missing" and len(place) == 1 and str(place[0]) in beside:
        return _at_the_top(file, str(place[0]))
    hint = "See docs/project.md for an example."
    if field is not None and field.examples:
        key_of_example = next(part for part in reversed(place) if isinstance(part, str))
        hint = f"{field.description} For example: {_example(key_of_example, field.examples[0])}"
    return UsageError(f"{clean(str(file))}: '{key}': {validation.expected(problem)}.", hint=hint)


def _at_the_top(file: Path, key: str) -> UsageError:
    return UsageError(f"{clean(str(file))}: '{key}' is at the top level.", hint=below_project(key))


def _meant(word: str, place: tuple[int | str, ...], model: type[Any]) -> str:
    """The key that was probably meant, or where it belongs: another group of the project, or the top level for a setting."""
    top = len(place) == 1
    groups: dict[str, type[Any]] = {KEY: ProjectValues, **{f"{KEY}.{name}": each for name, each in GROUPS.items()}}
    keys = {name: list(fields_of(each)) for name, each in groups.items()}
    group = next((name for name, each in groups.items() if each is not model and word in keys[name]), None)
    if group is not None and not (top and group == KEY):
        return f"It belongs below '{group}'."
    if word in Values.model_fields:
        return f"It is a setting and belongs at the top level of the file, beside '{KEY}'."
    if near := validation.nearest(word, fields_of(model)):
        return f"Did you mean '{near}'?"
    near = validation.nearest(word, (key for each in keys.values() for key in each))
    group = next((name for name, each in keys.items() if near in each), None)
    return f"Did you mean '{near}', below '{group}'?" if near else f"Known here: {', '.join(fields_of(model))}."


def _example(key: str, value: object) -> str:
    import yaml

    text = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=1000)
    return f"{key}: {text.removesuffix(chr(10)).removesuffix('...').strip()}"
