"""The command line: finds the sub-command, runs it, and turns every error into a message and an exit code."""

from __future__ import annotations

import gc
import os
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from errno import EDQUOT, ENOSPC
from importlib import import_module

import click

from chathpc import __version__
from chathpc.commands.help import Context, laid_out
from chathpc.commands.streams import BROKEN_PIPE, complain, drop
from chathpc.errors import ChathpcError

#: Exit codes beyond those of chathpc.errors: EX_SOFTWARE of sysexits.h, and 128 + SIGINT as shells have it.
INTERNAL_ERROR = 70
INTERRUPTED = 130


#: The sub-commands, each with its help in one line; `command` in the module of that name, which is imported when it is used.
COMMANDS = {
    "explain": "Find what costs time in a profile, why, and what to do.",
    "chat": "Ask about a profile, line by line.",
    "ask": "Ask one question about a profile.",
    "diff": "Compare two profiles: what got slower or faster beyond noise, where, and why.",
    "scale": "Say where a program loses when it is scaled, why, and what it costs at larger scales.",
    "ranks": "Say how a run is spread over its ranks and threads: groups, and who stands out.",
    "view": "Render a JSON report again, as a page or as text.",
    "fix": "Find changes that make a program faster, and prove that they do.",
    "measure": "Run a program under the best available profiler.",
    "predict": "Predict what a GPU kernel will do, without a GPU.",
    "tree": "Show the calling context tree of a profile.",
    "metrics": "List what was measured, and where.",
    "post": "Explain a profile as the last line of a job script; never fails the job.",
    "export": "Convert a profile to a format that other tools open.",
    "adapters": "Formats that chathpc reads.",
    "patterns": "Look up why programs are slow, and what to do.",
    "bench": "Measure how good chathpc is, on labelled cases.",
    "models": "List, fetch and test local language models.",
    "logs": "Show what was sent to language models, and what they said.",
    "mcp": "Answer other programs' questions about a profile.",
    "doctor": "Check the installation and list what is missing.",
    "completion": "Print the completion script of a shell.",
}


@dataclass(slots=True)
class Session:
    """What holds for the whole command line."""

    debug: bool = False


class LazyGroup(click.Group):
    """A group whose sub-commands are imported when they are used: `chathpc --help` imports none."""

    context_class = Context

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order of the help page."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The sub-command, imported now."""
        return laid_out(import_module(f"chathpc.commands.{cmd_name}").command) if cmd_name in COMMANDS else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of sub-commands on the help page."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, with a better message for a word that is no command."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(_no_command(args[0]))
        return super().resolve_command(ctx, args)


def _no_command(word: str) -> str:
    close = get_close_matches(word, COMMANDS, n=1)
    if close:
        return f"There is no command '{word}'. Did you mean '{close[0]}'?"
    if os.path.exists(word):
        return f"There is no command '{word}'. To explain this profile: chathpc explain {word}"
    return f"There is no command '{word}'."


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 fine, 1 failed, 2 wrong usage, 3 unreadable profile, 4 no model, 5 budget spent, "
    "6 fix rejected, 7 slower than allowed, 70 a bug in chathpc, 130 interrupted.",
)
@click.version_option(__version__, prog_name="chathpc", message="%(prog)s %(version)s")
@click.option("--debug", is_flag=True, help="Show the Python traceback of an error (also CHATHPC_DEBUG=1).")
@click.pass_context
def cli(ctx: click.Context, debug: bool) -> None:
    """Explain what costs time in HPC and GPU programs, from their profiles.

    For example: chathpc explain hpctoolkit-app-database
    """
    ctx.ensure_object(Session).debug |= debug


def main(args: Sequence[str] | None = None) -> int:
    """Run the command line `args` (default: that of the process) and return the exit code; prints no traceback."""
    # What a start makes stays: to look through it for cycles again and again takes a twentieth of the time of a small report.
    gc.set_threshold(50_000, 20, 20)
    session = Session(debug=os.environ.get("CHATHPC_DEBUG", "") not in ("", "0"))
    stdout = sys.stdout
    try:
        result = cli.main(args=args, prog_name="chathpc", standalone_mode=False, obj=session)
        return result if isinstance(result, int) else 0
    except SystemExit as error:
        if sys.stdout is not stdout:  # as click leaves it, with 1, where the reader of --help went away
            return BROKEN_PIPE
        return error.code if isinstance(error.code, int) else 1
    except (click.Abort, KeyboardInterrupt):
        complain("interrupted")
        return INTERRUPTED
    except click.ClickException as error:
        return _usage(error)
    except ChathpcError as error:
        if session.debug:
            complain(traceback.format_exc())
        complain(error.message, error.hint)
        return error.exit_code
    except MemoryError:
        complain("out of memory", "Use a machine with more memory, or a profile of fewer ranks.")
        return 1
    except OSError as error:
        if error.errno not in (ENOSPC, EDQUOT):
            return _bug(error, session)
        drop(1)
        complain(f"Cannot write: {error.strerror}.")
        return 1
    except Exception as error:  # noqa: BLE001  # the last resort: a user gets a sentence, not a traceback
        return _bug(error, session)


def _bug(error: Exception, session: Session) -> int:
    if session.debug:
        complain(traceback.format_exc())
    complain(_internal(error), "Run again with CHATHPC_DEBUG=1 for the details.")
    return INTERNAL_ERROR


def _usage(error: click.ClickException) -> int:
    context = getattr(error, "ctx", None)
    # From click 8.2 on; before, click prints it.
    if isinstance(error, getattr(click.exceptions, "NoArgsIsHelpError", ())):
        click.echo(error.format_message(), err=True)
        return error.exit_code
    complain(
        " ".join(error.format_message().split()), f"See '{context.command_path} --help'." if context is not None else ""
    )
    return error.exit_code


def _internal(error: BaseException) -> str:
    """One line: what kind of error, and where in chathpc it happened."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "chathpc" in frame.filename]
    where = f" at {os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""
    text = " ".join(str(error).split())[:200]
    return f"internal error{where}, please report it: {type(error).__name__}{': ' + text if text else ''}"
