"""A conversation with a model that calls tools: what it says, what its calls were told, and what all of that took."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from chathpc.llm.backend import Backend, Completion, OnToken, Request, ToolCall, Turn


@dataclass(slots=True)
class Exchange:
    """The turns between a model and who answers its calls; nothing is called here.

    `request` is the question as it was put first, `completions` are all answers. What a call was told is given to `tell` before the model
    is asked again.
    """

    backend: Backend
    request: Request
    turns: list[Turn] = field(default_factory=list)
    completions: list[Completion] = field(default_factory=list)

    def ask(
        self,
        tools: tuple[Mapping[str, object], ...],
        deadline: float,
        most: int | None = None,
        on_token: OnToken | None = None,
    ) -> tuple[ToolCall, ...]:
        """Ask the model, offering `tools`, and return the first `most` of its calls; none where it has answered. Raise what `complete` raises."""
        asked = replace(self.request, tools=tools, turns=tuple(self.turns), deadline=max(deadline, 0.001))
        done = self.backend.complete(asked, on_token=on_token)
        self.completions.append(done)
        calls = done.tool_calls[:most] if tools else ()
        if calls:
            self.turns.append(Turn("assistant", done.text, calls))
        return calls

    def tell(self, call: ToolCall, text: str) -> None:
        """Answer one of the model's calls."""
        self.turns.append(Turn("tool", text, call_id=call.id))

    @property
    def text(self) -> str:
        """What the model said last."""
        return self.completions[-1].text if self.completions else ""
