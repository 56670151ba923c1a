"""What the key `project` of a chathpc.yaml may say, as a schema: docs/project-schema.json is made from it.

It says nothing about anything outside its folder: paths and patterns are relative and stay below it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    WithJsonSchema,
    model_validator,
)
from pydantic.dataclasses import dataclass
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, PydanticCustomError

from chathpc.fix import globs

#: Items of a list.
_MOST = 64

_SECONDS = {"": 1.0, "s": 1.0, "sec": 1.0, "second": 1.0, "seconds": 1.0, "ms": 1e-3, "min": 60.0, "minute": 60.0,
            "minutes": 60.0, "h": 3600.0, "hour": 3600.0, "hours": 3600.0}  # fmt: skip
_BYTES = {"": 1.0, "b": 1.0, "byte": 1.0, "bytes": 1.0} | {
    f"{prefix}{unit}": float(base) ** power
    for power, prefix in enumerate("kmgt", 1)
    for base, unit in ((1000, "b"), (1024, "ib"))
}
_QUANTITY = re.compile(r"\s*(?P<number>\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)\s*(?P<unit>[A-Za-z]*)\s*")


def _quantity(value: object, units: Mapping[str, float], example: str) -> object:
    """The number of a text with a unit, in seconds or bytes; what is no text is left to the number's own check."""
    if isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        return value
    found = _QUANTITY.fullmatch(value)
    factor = None if found is None or len(value) > 40 else units.get(found["unit"].lower())
    if found is None or factor is None:
        raise PydanticCustomError("quantity", "expected a number with a unit, such as {example}", {"example": example})
    return float(found["number"]) * factor


def _seconds(value: object) -> object:
    return _quantity(value, _SECONDS, "120 s, 2 min or 1 h")


def _bytes(value: object) -> object:
    number = _quantity(value, _BYTES, "8 GiB, 500 MB or 4096")
    return round(number) if isinstance(number, float) and math.isfinite(number) else number


def _pattern(value: str) -> str:
    if trouble := globs.problem(value):
        raise PydanticCustomError("pattern", "not a valid file pattern: {trouble}", {"trouble": trouble})
    return value


def _below(value: str) -> str:
    """A path of a file below the folder, in its plain form."""
    path = PurePosixPath(value)
    if path.is_absolute() or ".." in path.parts or value.startswith("~") or "\0" in value or not path.parts:
        raise PydanticCustomError("path", "expected a path below the project's folder")
    return path.as_posix()


def _expression(value: str) -> str:
    try:
        re.compile(value)
    except (re.error, OverflowError, RecursionError) as error:
        raise PydanticCustomError("expression", "not a valid regular expression: {why}", {"why": str(error)}) from None
    return value


_QUANTITY_SCHEMA = {"anyOf": [{"type": "number", "exclusiveMinimum": 0}, {"type": "string"}]}
Command = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4096, pattern=r"^[^\x00]*$")]
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}$")]
Pattern = Annotated[str, StringConstraints(min_length=1, max_length=512), AfterValidator(_pattern)]
Below = Annotated[str, StringConstraints(min_length=1, max_length=1024), AfterValidator(_below)]
Expression = Annotated[str, StringConstraints(min_length=1, max_length=512), AfterValidator(_expression)]
Seconds = Annotated[
    float, BeforeValidator(_seconds), Field(gt=0, le=604_800, allow_inf_nan=False), WithJsonSchema(_QUANTITY_SCHEMA)
]
Bytes = Annotated[int, BeforeValidator(_bytes), Field(gt=0, le=1 << 50), WithJsonSchema(_QUANTITY_SCHEMA)]


_STRICT = ConfigDict(extra="forbid")


class _Values(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


@dataclass(frozen=True, slots=True, config=_STRICT)
class Flags:
    """The compiler's flags, and the variable that hands them to `build`."""

    variable: Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,63}$")] = Field(
        description="Environment variable that passes the flags to `build`.", examples=["CFLAGS"]
    )
    value: Annotated[str, StringConstraints(max_length=4096)] = Field(
        description="Your current flags.", examples=["-O2 -g"]
    )


class RunValues(_Values):
    """One way to run the program; a text alone is its command."""

    run: Command = Field(description="Shell command; {seed} becomes a fresh number.", examples=["./app 300 {seed}"])
    name: Name | None = Field(default=None, description="Its name in reports.", examples=["small"])
    stdin: Below | None = Field(default=None, description="File for its standard input.", examples=["inputs/small.txt"])

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: object) -> object:
        return {"run": value} if isinstance(value, str) else value

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: Any) -> dict[str, Any]:
        return {"anyOf": [{"type": "string", "description": "Shell command."}, handler(core)]}


@dataclass(frozen=True, slots=True, config=_STRICT)
class Check:
    """How to check the output."""

    outputs: tuple[Below, ...] = Field(
        default=("stdout",),
        min_length=1,
        max_length=_MOST,
        description="Outputs compared with the original's: stdout, stderr, or files that the program writes.",
        examples=[["stdout", "result.dat"]],
    )
    relative: float = Field(
        default=1e-9,
        ge=0,
        lt=1,
        allow_inf_nan=False,
        description="Relative tolerance of numbers.",
        examples=[1e-9],
    )
    absolute: float = Field(
        default=0.0, ge=0, allow_inf_nan=False, description="Absolute tolerance of numbers.", examples=[1e-12]
    )
    ignore: tuple[Expression, ...] = Field(
        default=(),
        max_length=_MOST,
        description="Lines that match one of these regular expressions are not compared.",
        examples=[["^time"]],
    )
    command: Command | None = Field(
        default=None,
        description="Run after the program, in its folder; a non-zero exit status rejects the output.",
        examples=["./verify result.dat"],
    )


class ProfileValues(_Values):
    """How the program is profiled."""

    tool: Literal["auto", "hpctoolkit", "perf", "py-spy", "nsys", "ncu", "command"] | None = Field(
        default=None, description="Profiler; auto picks the best available.", examples=["perf"]
    )
    command: Command | None = Field(
        default=None, description="Your own command, which leaves a profile at `result`.", examples=["./profile.sh"]
    )
    result: Below | None = Field(
        default=None, description="Profile that `command` leaves.", examples=["profile.speedscope.json"]
    )


class LimitsValues(_Values):
    """Bounds of one command and all that it starts."""

    seconds: Seconds | None = Field(default=None, description="Wall time.", examples=["2 min"])
    memory: Bytes | None = Field(default=None, description="Memory of a process.", examples=["8 GiB"])
    file: Bytes | None = Field(default=None, description="Size of a file that it writes.", examples=["1 GiB"])
    output: Bytes | None = Field(default=None, description="What it prints.", examples=["10 MiB"])
    processes: int | None = Field(
        default=None, ge=1, le=1 << 20, description="Processes and threads at a time.", examples=[256]
    )


Identifier = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,127}$")]
Number = int | float
#: Blocks or threads: up to three, x first (CUDA C++ Programming Guide, "Technical Specifications": x up to 2^31 − 1).
Sizes = Annotated[tuple[Annotated[int, Field(ge=1, le=2**31 - 1, strict=True)], ...], Field(max_length=3)]


@dataclass(frozen=True, slots=True, config=_STRICT)
class KernelArgument:
    """An argument of a kernel: a number, or an array."""

    name: Identifier = Field(description="Its name in the kernel's source.", examples=["n"])
    value: Number | None = Field(default=None, description="Value of a scalar.", examples=[1000000])
    elements: int | None = Field(
        default=None, ge=1, le=1 << 40, description="Elements of an array.", examples=[1000000]
    )
    low: Number | None = Field(default=None, description="Smallest value in an input array.", examples=[0])
    high: Number | None = Field(default=None, description="Largest value in an input array.", examples=[1])
    role: Literal["in", "out", "inout"] | None = Field(
        default=None,
        description="Whether an array is read, written or both; default: taken from the source.",
        examples=["out"],
    )

    @model_validator(mode="after")
    def _one_of_both(self) -> KernelArgument:
        if self.value is not None and (self.elements is not None or self.role is not None):
            raise PydanticCustomError("argument", "expected a value or elements of an array, not both")
        if self.low is not None and self.high is not None and self.low > self.high:
            raise PydanticCustomError("argument", "expected low <= high")
        if not all(math.isfinite(one) for one in (self.value, self.low, self.high) if one is not None):
            raise PydanticCustomError("argument", "expected finite numbers")
        return self


@dataclass(frozen=True, slots=True, config=_STRICT)
class Kernel:
    """A GPU kernel that is judged by itself too, in a harness: docs/fix-gpu.md."""

    name: Identifier = Field(description="Name of the __global__ function.", examples=["scale"])
    file: Below = Field(description="Its source file.", examples=["scale.cu"])
    arguments: tuple[KernelArgument, ...] = Field(
        default=(),
        max_length=_MOST,
        description="Arguments; missing ones are derived from the launch and the source where possible.",
        examples=[[{"name": "n", "value": 1000000}, {"name": "out", "elements": 1000000, "role": "out"}]],
    )
    grid: Sizes = Field(default=(), description="Blocks; default: the profile's.", examples=[[3907]])
    block: Sizes = Field(default=(), description="Threads per block; default: the profile's.", examples=[[256]])
    shared: int = Field(
        default=0, ge=0, le=1 << 20, description="Dynamic shared memory per block in bytes.", examples=[2048]
    )
    relative: float | None = Field(
        default=None,
        ge=0,
        lt=1,
        allow_inf_nan=False,
        description="Tolerance; default: that of `check`.",
        examples=[1e-6],
    )
    absolute: float | None = Field(
        default=None, ge=0, allow_inf_nan=False, description="Tolerance; default: that of `check`.", examples=[1e-12]
    )
    arch: Annotated[str, StringConstraints(pattern=r"^sm_[0-9]{2,3}[af]?$")] | None = Field(
        default=None, description="Architecture to compile for; default: the device's.", examples=["sm_90"]
    )


class ProjectValues(_Values):
    """What the key `project` of a chathpc.yaml may say: how a program is built, run, checked and profiled."""

    build: Command = Field(
        description="Shell command that builds the program in a copy of the folder.", examples=['make CFLAGS="$CFLAGS"']
    )
    run: RunValues = Field(description="The run to time and profile; a few seconds long.", examples=["./app 2000"])
    edit: list[Pattern] = Field(
        min_length=1,
        max_length=_MOST,
        description="Files that a change may touch; as in .gitignore, a pattern without / applies to every folder.",
        examples=[["*.c", "src/**/*.f90"]],
    )
    protect: list[Pattern] | None = Field(
        default=None,
        max_length=_MOST,
        description="Files that are never touched, whatever `edit` says; default: build files, tests, checkers, timers.",
        examples=[["check*", "timer.*"]],
    )
    flags: Flags | None = Field(
        default=None,
        description="The variable with the compiler flags, if there is one.",
        examples=[{"variable": "CFLAGS", "value": "-O2 -g"}],
    )
    inputs: list[RunValues] = Field(
        default=[],
        max_length=_MOST,
        description="Further runs whose answers are checked: smaller, and with a {seed} if the program takes one.",
        examples=[["./app 100", {"name": "fresh", "run": "./app 300 {seed}"}]],
    )
    check: Check = Field(
        default=Check(),
        description="How to check the output.",
        examples=[{"outputs": ["stdout"], "relative": 1e-9}],
    )
    threads: list[Annotated[int, Field(ge=1, le=4096, strict=True)]] = Field(
        default=[], max_length=16, description="Values of OMP_NUM_THREADS to check with.", examples=[[1, 2]]
    )
    launcher: Annotated[str, StringConstraints(strip_whitespace=True, max_length=1024)] = Field(
        default="", description="Prefix of each run's command.", examples=["mpirun -n 2", "srun -n 4"]
    )
    profile: ProfileValues = Field(
        default=ProfileValues(), description="How to profile it.", examples=[{"tool": "perf"}]
    )
    gpu: bool = Field(default=False, description="Whether it needs a GPU.", examples=[True])
    limits: LimitsValues = Field(
        default=LimitsValues(),
        description="Limits of a build or run.",
        examples=[{"seconds": "2 min", "memory": "8 GiB"}],
    )
    allow: list[Literal["durability"]] = Field(
        default=[],
        max_length=1,
        description="What a change may give up: durability, if files need only be durable once the run ends.",
        examples=[["durability"]],
    )
    kernels: list[Kernel] = Field(
        default=[],
        max_length=_MOST,
        description="GPU kernels to also check on their own, on generated arrays.",
        examples=[[{"name": "scale", "file": "scale.cu"}]],
    )


#: What stands in groups below `project`.
GROUPS: Mapping[str, type[Any]] = {
    "flags": Flags,
    "run": RunValues,
    "inputs": RunValues,
    "check": Check,
    "profile": ProfileValues,
    "limits": LimitsValues,
    "kernels": Kernel,
}


def fields_of(model: type[Any]) -> Mapping[str, FieldInfo]:
    """The keys of a group, with what they may say."""
    found: Mapping[str, FieldInfo] = model.model_fields if issubclass(model, BaseModel) else model.__pydantic_fields__
    return found


def model_at(place: tuple[int | str, ...]) -> tuple[type[Any], FieldInfo | None]:
    """The model that has the last key of a place in a ProjectValues, and its field; None for a key that there is not."""
    keys = [part for part in place if isinstance(part, str)]
    model = ProjectValues if len(keys) < 2 else GROUPS.get(keys[0], ProjectValues)
    return model, fields_of(model).get(keys[-1]) if keys else None
