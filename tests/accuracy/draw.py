"""Random parameters and names of generated cases: the same seed gives the same case, whatever else is generated."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

_FIRST = (
    "ba",
    "ce",
    "dro",
    "fi",
    "gla",
    "hu",
    "je",
    "kro",
    "li",
    "mo",
    "nel",
    "pra",
    "que",
    "ri",
    "sta",
    "tu",
    "vo",
    "wen",
    "xi",
    "zor",
)
_LAST = ("bar", "dim", "fol", "gen", "kit", "lan", "mep", "nor", "pax", "run", "sil", "tav", "vek", "wod", "yan", "zu")


@dataclass(slots=True)
class Names:
    """Words that mean nothing, none twice."""

    random: random.Random
    used: set[str] = field(default_factory=set)

    def word(self) -> str:
        """A new word of three syllables."""
        while True:
            made = self.random.choice(_FIRST) + self.random.choice(_FIRST) + self.random.choice(_LAST)
            if made not in self.used:
                self.used.add(made)
                return made

    def function(self) -> str:
        """A function of the program."""
        return f"{self.word()}_{self.word()}"

    def kernel(self) -> str:
        """A kernel with its parameters."""
        return (
            f"void {self.word()}::{self.word()}<float, {self.random.choice((64, 128, 256))}>(float*, float const*, int)"
        )

    def file(self, suffix: str = ".c") -> str:
        """A source file."""
        return f"{self.word()}{suffix}"


@dataclass(slots=True)
class Draw:
    """What a recipe draws from. `names` has a generator of its own, and so has the noise of single threads or steps, so that other
    names, more steps and more threads change nothing else; `repeat` multiplies the numbers of iterations, `wider` those of
    threads or ranks.
    """

    random: random.Random
    names: Names
    noise: random.Random
    repeat: int = 1
    wider: int = 1

    @classmethod
    def of(cls, seed: str, *, names: str = "", repeat: int = 1, wider: int = 1) -> Draw:
        """The draw of a case; `names` is another seed for them."""
        own = [random.Random(f"{seed}{part}") for part in ("", f"/names/{names}", "/noise")]
        return cls(own[0], Names(own[1]), own[2], repeat, wider)

    def real(self, low: float, high: float) -> float:
        """A number between."""
        return self.random.uniform(low, high)

    def whole(self, low: int, high: int) -> int:
        """A whole number, both ends included."""
        return self.random.randint(low, high)

    def steps(self, low: int, high: int) -> int:
        """How often something is repeated."""
        return self.random.randint(low, high) * self.repeat

    def width(self, *choices: int) -> int:
        """How many threads or ranks."""
        return self.random.choice(choices) * self.wider

    def near(self, value: float, part: float = 0.05) -> float:
        """The value, give or take a part of it."""
        return value * self.noise.uniform(1 - part, 1 + part)

    def choice(self, *given: str) -> str:
        """One of them."""
        return self.random.choice(given)

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return self.random.random() < probability

    def sometimes(self, probability: float) -> bool:
        """True with this probability, in single steps."""
        return self.noise.random() < probability
