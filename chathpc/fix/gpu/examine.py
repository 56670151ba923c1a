"""The original kernel against the changed one on the device: answers first, then time."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from chathpc.fix.gpu.arrays import POISONS, Arrays, Result, Values, depends_on_poison, disagreement, drawn
from chathpc.fix.gpu.device import Device
from chathpc.fix.gpu.plan import Plan
from chathpc.fix.speed import Timing, judge, measure_pairs
from chathpc.fix.thresholds import threshold

Status = Literal["same", "wrong", "refused"]
#: Draws of the inputs, and runs of the changed kernel on each: races do not show every time.
DRAWS, REPEATS = 3, 3
#: Launches before any is timed: clocks rise, and code is loaded.
WARM_UP = 10
#: Launches of one side in a pair at most.
MOST_LAUNCHES = 4000


@dataclass(frozen=True, slots=True)
class Code:
    """A compiled kernel: the cubin, its symbol in it, and how it is launched."""

    cubin: bytes
    symbol: str
    plan: Plan


@dataclass(frozen=True, slots=True)
class Examined:
    """same, wrong (what the changed kernel does, after its name), or refused (why nothing can be told)."""

    status: Status
    statement: str
    runs: int = 0
    timing: Timing | None = None


class _Failed(Exception):
    """A launch ended in an error of the driver; nothing more can be done in its context."""


class Bench:
    """Both kernels with their memory."""

    def __init__(self, device: Device, original: Code, changed: Code, random: np.random.Generator) -> None:
        self.device = device
        self.random = random
        self.code = {"original": original, "changed": changed}
        self.runs = 0
        self._arrays = {side: Arrays(device, code.plan, random) for side, code in self.code.items()}

    def run(self, side: str, contents: Mapping[str, Values], poison: int) -> Result:
        """One launch of a module loaded anew."""
        code, arrays = self.code[side], self._arrays[side]
        self.runs += 1
        try:
            loaded = self.device.load(code.cubin, code.symbol)
            arrays.fill(contents, poison)
            self.device.launch(loaded, code.plan, arrays.arguments())
            return arrays.result()
        except self.device.api.Error as error:
            raise _Failed(f"{side}: {error}") from error

    def answers(self, draws: int = DRAWS, repeats: int = REPEATS) -> Examined:
        """Whether the changed kernel writes what the original writes, and nothing else, on random inputs."""
        for draw in range(draws):
            contents = drawn(self.code["original"].plan, self.random)
            try:
                expected = [self.run("original", contents, poison) for poison in POISONS]
                said = self._original(expected, contents if draw == 0 else None)
            except _Failed as error:
                return self._told("refused", f"the original fails: {str(error).partition(': ')[2]}")
            if said:
                return self._told("refused", said)
            for repeat in range(repeats):
                for poison, wanted in zip(POISONS, expected, strict=True):
                    try:
                        found = self.run("changed", contents, poison)
                    except _Failed as error:
                        return self._told("wrong", f"fails: {str(error).partition(': ')[2]}")
                    said = (
                        found.faults[0]
                        if found.faults
                        else disagreement(self.code["original"].plan, wanted.arrays, found.arrays, poison)
                    )
                    if said:
                        return self._told(
                            "wrong", said + (f" (in run {repeat + 1} on the same input)" if repeat else "")
                        )
        return self._told(
            "same", f"agrees on {draws} random inputs, each with {len(POISONS)} fillings and {repeats} times"
        )

    def _original(self, results: list[Result], again: Mapping[str, Values] | None) -> str:
        """Why nothing can be compared with the original; empty if all is well."""
        plan = self.code["original"].plan
        if results[0].faults:
            return f"the original itself {results[0].faults[0]}"
        name = depends_on_poison(plan, [one.arrays for one in results])
        if name:
            return f"what the original writes to {name} depends on its previous contents: declare role: inout for it"
        if again is not None:
            said = disagreement(plan, results[0].arrays, self.run("original", again, POISONS[0]).arrays, POISONS[0])
            if said:
                return f"two runs of the original disagree: the second {said}"
        return ""

    def _told(self, status: Status, statement: str) -> Examined:
        return Examined(status, statement, self.runs)

    def timed(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> Examined:
        """Time both in pairs by CUDA events, with fresh inputs and checked answers in each pair."""
        problem: list[str] = []
        state: dict[str, Any] = {}
        try:
            loaded = {side: self.device.load(code.cubin, code.symbol) for side, code in self.code.items()}
            counts = self._launches(loaded)
        except self.device.api.Error as error:
            return self._told("wrong", f"fails while it is timed: {error}")

        def run(side: str) -> float | None:
            if not state:
                state["contents"] = drawn(self.code["original"].plan, self.random)
            arrays, plan = self._arrays[side], self.code[side].plan
            try:
                arrays.fill(state["contents"], POISONS[0])
                taken = self.device.times(
                    loaded[side], plan, arrays.arguments(), arrays.restores(), arrays.poisons(POISONS[0]), counts
                )
                result = arrays.result()
            except self.device.api.Error as error:
                problem.append(f"fails while it is timed: {error}")
                return None
            self.runs += counts
            problem.extend([*result.faults, *arrays.pristine_faults()])
            state[side] = result
            if "original" in state and "changed" in state:
                said = disagreement(plan, state["original"].arrays, state["changed"].arrays, POISONS[0])
                problem.extend([f"{said}, while it is timed"] if said else [])
                state.clear()
            return None if problem else float(np.sum(taken))

        mine, theirs = measure_pairs(run, seconds=seconds, random=self.random, clock=clock)
        if problem:
            return self._told("wrong", problem[0])
        return Examined("same", "timed", self.runs, judge(mine, theirs))

    def _launches(self, loaded: Mapping[str, Any]) -> int:
        """Launches in one timing, so that all of them take longer than the shortest time that is judged; warms the device up.

        A device that was idle runs its first launches at a fraction of its clock (an H100 took five times as long), so that as many as are
        wanted are tried until their time is enough.
        """
        contents = drawn(self.code["original"].plan, self.random)
        wanted = WARM_UP
        for side in ("changed", "original"):
            arrays = self._arrays[side]
            arrays.fill(contents, POISONS[0])
            while True:
                taken = self.device.times(
                    loaded[side],
                    self.code[side].plan,
                    arrays.arguments(),
                    arrays.restores(),
                    arrays.poisons(POISONS[0]),
                    wanted,
                )
                each, least = float(np.median(taken)), 1.25 * threshold("min_seconds")
                enough = int(min(max(1, np.ceil(least / each)), MOST_LAUNCHES)) if each > 0 else MOST_LAUNCHES
                if side == "changed" or enough <= wanted:
                    break
                wanted = enough
        return enough
