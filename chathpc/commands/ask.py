"""`chathpc ask`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from chathpc.chat.asker import ASK
from chathpc.commands.conversation import begin, conversation_options
from chathpc.commands.output import answer, check_output, output_options, style_for
from chathpc.commands.progress import Progress
from chathpc.errors import BudgetSpentError, ChathpcError, ModelUnavailableError


@click.command("ask")
@click.argument("words", metavar="PATH... QUESTION", nargs=-1, required=True)
@conversation_options
@output_options(("text", "json", "markdown"))
def command(words: tuple[str, ...], form: str, output: str | None, llm: str | None, quiet: bool, **asked: Any) -> None:
    """Ask one question about a profile.

    QUESTION is plain language, or a command of chat. Exits with 1 where the profile has no answer, with 4 if a model was
    asked for and gave none, and with 5 if its budget was spent; the tools' answer is printed regardless.

    For example: chathpc ask hpctoolkit-app-database "who calls solve?"

    As data: chathpc ask db "/top line 5" --llm none --format json
    """
    if len(words) < 2:  # a path and a question
        raise click.UsageError('Give a profile and a question: chathpc ask PATH "why is it slow?"')
    *places, question = words
    paths = [Path(place) for place in places]
    check_output(output, paths)
    style = style_for(output)
    with Progress(quiet=quiet) as progress:
        conversation, *_ = begin(paths, llm=llm, progress=progress, asker=ASK, notice=progress.notice, **asked)
        from chathpc.chat.render import answer_text, markdown

        progress("answering")
        found = conversation.ask(question)
    renderers = {"json": lambda: found.to_json() + "\n", "markdown": lambda: markdown(found, style, ASK)}
    text = renderers.get(form, lambda: answer_text(found, style, ASK))()
    answer(text, output)
    if not found.matched or all(step.error for step in found.steps):
        raise ChathpcError("The profile has no answer to that.", hint=ASK.commands)
    if llm in (None, "none", "auto"):
        return
    if found.lack == "budget":
        raise BudgetSpentError(f"No model worded this answer: {found.note}")
    if found.lack is not None or found.model is None:
        raise ModelUnavailableError(f"No model worded this answer: {found.note or 'there was nothing to word.'}")
