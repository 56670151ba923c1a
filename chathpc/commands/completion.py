"""`chathpc completion`."""

from __future__ import annotations

import click
from click.shell_completion import ShellComplete, get_completion_class

from chathpc.commands.output import answer

SHELLS = ("bash", "zsh", "fish")


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> None:
    """Print the completion script of a shell.

    For example, in ~/.bashrc: eval "$(chathpc completion bash)"

    For fish: chathpc completion fish > ~/.config/fish/completions/chathpc.fish
    """
    from chathpc.commands.main import cli

    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"There is no completion for {shell}.")
    # Not `kind.source`: for bash it runs the bash that comes first on PATH, to look at its version.
    script = ShellComplete.source(kind(cli, {}, "chathpc", "_CHATHPC_COMPLETE"))
    answer(script + "\n", None)
