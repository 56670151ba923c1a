"""The Model Context Protocol over standard input and output, by the package `mcp`.

One client a process. Calls are answered one after the other, in a thread, so that the protocol (cancellation, end of input) is
attended to meanwhile. Standard output carries the protocol alone.
"""

from __future__ import annotations

import logging
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

import anyio
import mcp_types as types
from anyio.to_thread import run_sync
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from chathpc import __version__
from chathpc.errors import ChathpcError
from chathpc.mcp import offers
from chathpc.mcp.opened import OpenProfiles
from chathpc.profile.text import clean
from chathpc.prompts.untrusted import quote

_log = logging.getLogger(__name__)
_READS = types.ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)

Value = TypeVar("Value")


class _OneLine(logging.Formatter):
    """A record on one line, without the traceback of an error and with nothing that acts on a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        """`chathpc mcp: top answered in 0.01 s`."""
        error = record.exc_info[1] if record.exc_info else None
        reason = f" ({type(error).__name__})" if error is not None else ""
        return clean(f"chathpc mcp: {' '.join(record.getMessage().split())[:500]}{reason}")


class _OneAtATime:
    """Runs functions in threads, never two at once, also not if nobody waits for the first any more."""

    def __init__(self) -> None:
        self._waiting = anyio.CapacityLimiter(1)
        self._running = threading.Lock()

    async def __call__(self, function: Callable[[], Value]) -> Value:
        def alone() -> Value:
            with self._running:
                return function()

        return await run_sync(alone, abandon_on_cancel=True, limiter=self._waiting)


def build(profiles: OpenProfiles) -> Server[Any]:
    """The server for some profiles, not yet connected to anything."""
    one = _OneAtATime()

    async def list_tools(context: Any, asked: Any) -> types.ListToolsResult:
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=tool.name,
                    description=tool.description,
                    input_schema=tool.parameters,
                    output_schema=dict(offers.OUTPUT),
                    annotations=_READS,
                )
                for tool in offers.tools(profiles)
            ]
        )

    async def call_tool(context: Any, asked: types.CallToolRequestParams) -> types.CallToolResult:
        begin = time.perf_counter()
        answer = await one(lambda: _answer(profiles, asked))
        outcome = "refused" if answer.is_error else "answered"
        _log.info("%s %s in %.2f s", quote(asked.name, longest=80), outcome, time.perf_counter() - begin)
        return types.CallToolResult(
            content=[types.TextContent(text=answer.text)], structured_content=answer.values, is_error=answer.is_error
        )

    async def list_resources(context: Any, asked: Any) -> types.ListResourcesResult:
        return types.ListResourcesResult(
            resources=[
                types.Resource(uri=one.uri, name=one.name, description=one.description, mime_type=one.mime)
                for one in offers.RESOURCES
            ]
        )

    async def list_templates(context: Any, asked: Any) -> types.ListResourceTemplatesResult:
        cause = offers.CAUSE_RESOURCE
        template = types.ResourceTemplate(
            uri_template=cause.uri, name=cause.name, description=cause.description, mime_type=cause.mime
        )
        return types.ListResourceTemplatesResult(resource_templates=[template])

    async def read_resource(context: Any, asked: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        text, mime = await one(lambda: _expected(lambda: offers.read(profiles, asked.uri)))
        return types.ReadResourceResult(contents=[types.TextResourceContents(uri=asked.uri, mime_type=mime, text=text)])

    async def list_prompts(context: Any, asked: Any) -> types.ListPromptsResult:
        return types.ListPromptsResult(
            prompts=[
                types.Prompt(
                    name=offer.name,
                    description=offer.description,
                    arguments=[
                        types.PromptArgument(name=name, description=word, required=True)
                        for name, word in offer.arguments.items()
                    ],
                )
                for offer in offers.PROMPTS
            ]
        )

    async def get_prompt(context: Any, asked: types.GetPromptRequestParams) -> types.GetPromptResult:
        text = _expected(lambda: offers.prompt(asked.name, asked.arguments))
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=types.TextContent(text=text))])

    title = f"\nThe profile: {quote(profiles.title)}" if profiles.title else ""
    server: Server[Any] = Server(
        "chathpc",
        version=__version__,
        instructions=offers.INSTRUCTIONS + title,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
    )
    # Spans of OpenTelemetry, which an exporter of the environment might send somewhere.
    server.middleware.clear()
    return server


def _answer(profiles: OpenProfiles, asked: types.CallToolRequestParams) -> offers.Answer:
    try:
        return offers.answer(profiles, asked.name, asked.arguments)
    except MemoryError:
        return offers.Answer("Out of memory. Ask about a smaller profile.", None, is_error=True)
    except Exception as error:  # noqa: BLE001  # the last resort: a sentence, not a traceback, and the next call is answered
        _log.exception("internal error in %s", quote(asked.name, longest=80))
        text = f"Internal error in chathpc, please report it: {type(error).__name__}. Ask in another way."
        return offers.Answer(text, None, is_error=True)


def _expected(function: Callable[[], Value]) -> Value:
    """What `function` gives; its errors as those of the protocol, in a sentence."""
    try:
        return function()
    except ChathpcError as error:
        raise MCPError(types.INVALID_PARAMS, f"{clean(error.message)} {clean(error.hint)}".rstrip()) from None
    except Exception as error:  # noqa: BLE001  # the same for resources and prompts
        _log.exception("internal error")
        raise MCPError(
            types.INTERNAL_ERROR, f"Internal error in chathpc, please report it: {type(error).__name__}."
        ) from None


def serve(profiles: OpenProfiles, *, verbose: bool = False) -> None:
    """Answer one client over standard input and output until the input ends, or nobody reads the answers any more.

    `verbose` logs each call on stderr. ChathpcError if one of the two is closed.
    """
    if sys.stdin is None or sys.stdout is None:
        raise ChathpcError(
            "Standard input or output is closed.", hint="A program that speaks the protocol starts this with both open."
        )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_OneLine())
    logging.basicConfig(level=logging.INFO if verbose else logging.WARNING, handlers=[handler], force=True)
    # A thread waits in a read of standard input that nothing can interrupt; there is nothing to clean up.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    server = build(profiles)
    if sys.stdin.isatty():
        _log.warning(
            "waiting for messages of the Model Context Protocol on standard input; Ctrl-C ends it (docs/mcp.md)"
        )

    async def connection() -> None:
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    try:
        anyio.run(connection)
    except* BrokenPipeError:
        _log.info("the client is gone")
