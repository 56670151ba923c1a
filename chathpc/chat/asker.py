"""Who asks the tools, and so what a hint can tell them to do: a person types commands, a program calls tools."""

from __future__ import annotations

from dataclasses import dataclass

from chathpc.llm.backend import MORE_TIME


@dataclass(frozen=True, slots=True)
class Asker:
    """`before` stands before the name of a tool as this asker writes it, `after` behind it; the others are hints as a whole.

    `commands` says where all tools are listed, `load` how another profile comes in, `tokens` and `patience` how a model gets more
    tokens and more time; the empty string where the asker has no way.
    """

    before: str
    after: str = ""
    commands: str = ""
    load: str = ""
    tokens: str = ""
    patience: str = ""

    def see(self, tool: str, what: str = "") -> str:
        """`See /top for names.`"""
        from chathpc.chat.slash import COMMANDS

        names = {one.tool: name for name, one in COMMANDS.items() if one.tool}
        typed = names.get(tool, tool) if self.before else tool
        return f"See {self.before}{typed}{self.after}{f' for {what}' if what else ''}."


#: A conversation, line by line.
CHAT = Asker(
    "/",
    commands="All commands: /help.",
    load="Load one: /diff PATH.",
    tokens="More: /budget TOKENS.",
    patience=f"{MORE_TIME}, or /model none.",
)
#: One question on the command line.
ASK = Asker(
    '"/',
    '"',
    commands="All commands: chathpc chat PATH, then /help.",
    load="Name one: --compare PATH.",
    tokens="More: --budget TOKENS.",
    patience=f"{MORE_TIME}, or --llm none.",
)
#: A cell of a notebook.
NOTEBOOK = Asker(
    "%chathpc ",
    commands="All of them: %chathpc.",
    load="Compare two: %chathpc diff BEFORE AFTER.",
    tokens="Start over: %chathpc open PATH.",
    patience=f"{MORE_TIME}, or %chathpc model none.",
)
#: Another program, by the Model Context Protocol; without folders to open profiles from.
CLIENT = Asker("", load="The user names one when the server is started: --compare PATH.")
#: The same where the client may open profiles.
OPENING_CLIENT = Asker("", load="Open it with open_profile; the one that is open now stays for comparison.")
#: A program in Python.
PROGRAM = Asker("", load="Give one to the session: Session(profile, others={name: profile}).")
