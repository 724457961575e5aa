"""`carob completion`: the script with which a shell completes commands, options and names."""

from __future__ import annotations

import click
from click.shell_completion import BashComplete, FishComplete, ShellComplete, ZshComplete

from carob.cli.options import command
from carob.cli.output import emit

_SHELLS: dict[str, type[ShellComplete]] = {
    "bash": BashComplete,
    "zsh": ZshComplete,
    "fish": FishComplete,
}


@command("carob completion bash", "carob completion zsh")
@click.argument("shell", type=click.Choice([*_SHELLS]))
def completion(shell: str) -> None:
    """Print the completion script of a shell.

    Completes commands, options, metrics, formats, profiles, datasets, releases and
    runs. Append the script to ~/.bashrc or ~/.zshrc, or write it to
    ~/.config/fish/completions/carob.fish.
    """
    root = click.get_current_context().find_root()
    script = _SHELLS[shell](root.command, {}, "carob", "_CAROB_COMPLETE")
    emit(script.source_template % script.source_vars() + "\n", None)
