"""Conversations of a recorded large model with the tools of the strategy agent: what it said in each turn, given again turn by turn.

    python -m tests.fix.agent.conversations FOLDER NAME ENDED   # keep what a model answered in FOLDER (of tests' relay) for NAME

NAME is a task beside this folder, or a program of tests/accuracy/unseen (b/basin).

What tools answer differs from run to run (times do), so that a turn is found by its number alone, and the gates judge anew.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from chathpc.llm.backend import Request, ToolCall
from tests.llm.scripted import ScriptedBackend

FOLDER = Path(__file__).parents[2] / "recordings" / "fix"


@dataclass(frozen=True)
class Conversation:
    """A task or an unseen program, what came of it when it was recorded, and the calls of each turn: names and arguments."""

    task: str
    ended: str
    turns: tuple[tuple[tuple[str, dict[str, object]], ...], ...]

    def model(self) -> ScriptedBackend:
        """A back end that says it all again; after the last turn it has finished."""
        left = iter(self.turns)

        def script(_request: Request) -> Iterator[str | ToolCall]:
            for number, (name, arguments) in enumerate(next(left, ())):
                yield ToolCall(f"call_{number}", name, json.dumps(arguments))
            yield "That is all."

        return ScriptedBackend(script, form="structured", calls_tools=True)


def conversations() -> list[Conversation]:
    """All that are kept."""
    found = []
    for file in sorted(FOLDER.rglob("*.json")):
        content = json.loads(file.read_text())
        turns = tuple(tuple((call["name"], call["arguments"]) for call in turn) for turn in content["turns"])
        found.append(Conversation(str(file.relative_to(FOLDER).with_suffix("")), content["ended"], turns))
    return found


def keep(folder: Path, task: str, ended: str) -> Path:
    """Write the conversation that lies in a relay's folder."""
    turns = []
    for answer in sorted(folder.glob("*.answer.txt")):
        said = answer.read_text()
        turns.append(json.loads(said.split("\n", 1)[1]) if said.startswith("TOOL_CALLS") else [])
    target = FOLDER / f"{task}.json"
    target.parent.mkdir(exist_ok=True)
    rows = ",\n".join(json.dumps(turn, ensure_ascii=False) for turn in turns)
    target.write_text(f'{{"ended": {json.dumps(ended)}, "turns": [\n{rows}\n]}}\n')
    return target


if __name__ == "__main__":
    sys.stdout.write(f"{keep(Path(sys.argv[1]), *sys.argv[2:4])}\n")
