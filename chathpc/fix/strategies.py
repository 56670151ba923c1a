"""The strategies that `--strategy` chooses from: name → where its proposer is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from chathpc.errors import UsageError
from chathpc.fix.records import Proposer

if TYPE_CHECKING:
    from chathpc.fix.agent import Manner
    from chathpc.fix.models.asker import Asker

#: `module:object` without arguments; imported when it is asked for.
STRATEGIES = {"recipes": "chathpc.fix.recipes.proposer:Recipes"}
#: The same of those that ask a model; the object is given the way to it.
MODEL_STRATEGIES = {
    "agent": "chathpc.fix.agent:Agent",
    "advice": "chathpc.fix.models:Advice",
}
AGENT = "agent"
#: What is said where somebody wants no model.
NO_MODEL = "No model was used: the changes come from recipes or from the given report."
NAMES = (*STRATEGIES, *MODEL_STRATEGIES)


def proposers(
    names: Sequence[str],
    llm: str | None = None,
    notice: Callable[[str], None] | None = None,
    manner: Manner | None = None,
    options: Mapping[str, object] | None = None,
) -> tuple[Proposer, ...]:
    """The proposers of these strategies, in this order; `llm` names the model of those that ask one, `notice` is told what that needs,
    `manner` is how an agent works, `options` are settings of the command line (`base_url`).

    They share the way to the model: it is loaded once.

    UsageError for a name that there is not, and for a strategy that lacks its model.
    """
    found: list[Proposer] = []
    asker: Asker | None = None
    for name in names:
        if name in STRATEGIES:
            found.append(_made(STRATEGIES[name])())
        elif name not in MODEL_STRATEGIES:
            raise UsageError(f"There is no strategy '{name}'.", hint=f"Strategies are {', '.join(NAMES)}.")
        elif without_model(llm) or llm is None:
            raise UsageError(
                f"The strategy {name} needs a model, but none is named.",
                hint="Name one (--llm SPEC), or use --strategy recipes, which needs none.",
            )
        else:
            asker = asker or _asker(llm, notice, options)
            made = _made(MODEL_STRATEGIES[name])
            critic = _asker(manner.critic, notice, options) if manner is not None and manner.critic else None
            found.append(made(asker, manner, critic) if name == AGENT else made(asker))
    return tuple(found)


def usual(llm: str | None) -> tuple[str, ...]:
    """The strategies where none is named: recipes, and with a model the one in which it does best. Models that run here call no tools and
    carry out a suggestion better than they find one (measured, docs/fix-accuracy.md). Of several models the first one counts.

    UsageError if `llm` names no model.
    """
    if without_model(llm):
        return ("recipes",)
    from chathpc.llm.settings import load_settings
    from chathpc.llm.spec import alternatives, wanted_spec

    kind = alternatives(wanted_spec(llm, load_settings()))[0].kind
    return ("recipes",) if kind == "none" else ("recipes", "advice" if kind in ("local", "auto") else AGENT)


def without_model(llm: str | None) -> bool:
    """Whether it was said, or left at, that no model is asked."""
    return llm is None or llm.strip() == "none"


def notes_of(proposers: Sequence[Proposer]) -> tuple[str, ...]:
    """What those that ask a model have to say of it, each sentence once: what it took, and why there was no answer."""
    return tuple(dict.fromkeys(note for proposer in proposers for note in getattr(proposer, "notes", ())))


def _asker(llm: str, notice: Callable[[str], None] | None, options: Mapping[str, object] | None) -> Asker:
    from chathpc.fix.models.asker import ModelAsker
    from chathpc.llm.settings import load_settings
    from chathpc.llm.spec import wanted_spec

    settings = load_settings(options)
    wanted_spec(llm, settings)  # what the site forbids is told before anything is built
    return ModelAsker(llm, settings, notice)


def _made(place: str) -> Callable[..., Proposer]:
    module, _, name = place.partition(":")
    made: Callable[..., Proposer] = getattr(import_module(module), name)
    return made
