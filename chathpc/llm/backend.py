"""What a language model is asked and what comes back, the same for every back end."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

Form = Literal["prose", "structured"]
FinishReason = Literal["stop", "length", "deadline"]
#: How a user gives a model more time, as the beginning of a hint.
MORE_TIME = "Allow more time (`deadline` in config.yaml, or CHATHPC_DEADLINE)"

#: Called with each piece of text as it arrives, in order; pieces are not tokens, and their sum is the completion's text.
OnToken = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that a model asks for. `arguments` is JSON text as the model wrote it, not validated; `id` tells calls apart."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Turn:
    """What was said after the first message: by the model, with the tools it asked for, or by the tool of call `call_id`."""

    role: Literal["assistant", "tool"]
    content: str
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""

    def message(self) -> dict[str, Any]:
        """As a chat message, free of chat-template tokens."""
        message: dict[str, Any] = {"role": self.role, "content": strip_template_tokens(self.content)}
        if self.call_id:
            message["tool_call_id"] = self.call_id
        if self.calls:
            message["tool_calls"] = [
                {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
                for call in self.calls
            ]
        return message


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a model.

    `system` holds what is the same in every request, so that the prefix cache of a local engine can serve it; what
    changes belongs into `user`. `deadline` is wall-clock seconds for the whole call, loading and retries included.
    With a `json_schema` the answer is constrained to it where the back end can; the caller validates the text. `tools` are
    offered as OpenAI's chat protocol describes functions (name, description, parameters), to back ends that `calls_tools`;
    `turns` is what was said since `user`.
    """

    system: str
    user: str
    max_tokens: int
    temperature: float = 0.0
    seed: int = 0
    json_schema: Mapping[str, object] | None = None
    deadline: float = 60.0
    tools: tuple[Mapping[str, object], ...] = ()
    turns: tuple[Turn, ...] = ()

    def messages(self) -> list[dict[str, Any]]:
        """The request as chat messages, free of chat-template tokens: the only way from here to a model."""
        return [
            {"role": "system", "content": strip_template_tokens(self.system)},
            {"role": "user", "content": strip_template_tokens(self.user)},
            *(turn.message() for turn in self.turns),
        ]


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's answer; token counts are null where the back end does not tell them.

    `finish_reason` is `length` if the token limit cut the text and `deadline` if the clock did. `seconds` is the wall-clock
    time of the whole call. `tool_calls` are the tools that the model wants to be called before it answers. `cached_tokens` of the
    prompt did not have to be read again, since the request before began with them.
    """

    text: str
    model: str
    prompt_tokens: int | None
    completion_tokens: int | None
    finish_reason: FinishReason
    seconds: float
    tool_calls: tuple[ToolCall, ...] = ()
    cached_tokens: int | None = None


class Backend(Protocol):
    """Something that completes requests."""

    @property
    def name(self) -> str:
        """What `--llm` was resolved to: `local:qwen2.5-coder-1.5b`."""

    @property
    def label(self) -> str:
        """How reports name it: the model and where it runs."""

    @property
    def form(self) -> Form:
        """The prompt form that fits the model, as far as is known."""

    def complete(self, request: Request, *, on_token: OnToken | None = None) -> Completion:
        """Answer `request` within its deadline.

        An answer that the deadline cuts is returned as far as it got; raises BudgetSpentError if there is none by then or
        if the prompt does not fit the model's context, and ModelUnavailableError if the model cannot answer at all.
        """


# Control tokens of the chat templates of Llama, Qwen, Phi, DeepSeek, GPT-OSS (<|…|>, also with full-width bars), Mistral
# ([INST] and its kin), Llama 2 (<<SYS>>), Gemma (<start_of_turn>) and GLM ([gMASK], <sop>).
_TOKENS = re.compile(
    r"""
      [<＜][|｜]\S{0,64}?[|｜][>＞]
    | \[ /? (?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_CONTENT|TOOL_RESULTS|MODEL_SETTINGS|IMG|THINK) \]
    | \[ s?g?MASK \]
    | << /? SYS >>
    | < /? (?:start_of_turn|end_of_turn|start_of_image|end_of_image|bos|eos|pad|mask|unk|sop|eop|think|tool_call
            |tool_response|(?:unused|reserved_|extra_id_)\d{1,6}) >
    """,
    re.VERBOSE | re.IGNORECASE,
)
# <s> is a template argument of C++ too: a blank inside takes the special meaning away and leaves the name readable.
_SENTENCE = re.compile(r"<(/?)s>", re.IGNORECASE)


def strip_template_tokens(text: str) -> str:
    """`text` with everything removed that a model's tokenizer takes for a turn, a role or an end; idempotent.

    Tokenizers read such tokens in the middle of user text as well, so a function named `<|im_end|>` would end the user's
    turn. A blank takes their place, so that no new token grows together from the remains.
    """
    if "<" not in text and "[" not in text and "＜" not in text:
        return text
    return _SENTENCE.sub(r"< \1s>", _TOKENS.sub(" ", text))
