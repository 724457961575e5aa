"""`carob completion`: the script with which a shell completes commands, options and names."""

from __future__ import annotations

import os

import click
from click.shell_completion import (
    BashComplete,
    FishComplete,
    ShellComplete,
    ZshComplete,
    add_completion_class,
    split_arg_string,
)

from carob.cli.options import command
from carob.cli.output import emit

_BASH = r"""%(complete_func)s() {
    local IFS=$'\n'
    local line=${COMP_LINE:0:COMP_POINT}
    local completion type value

    COMPREPLY=()
    for completion in $(env COMP_LINE="$line" %(complete_var)s=bash_complete "$1"); do
        IFS=',' read -r type value <<< "$completion"
        case $type in
            dir) compopt -o dirnames ;;
            file) compopt -o default ;;
            plain)
                # Bash replaces only a part of the word: from its `@`, or after its `:`.
                if [[ ${line##* } == *@* && $COMP_WORDBREAKS == *@* ]]; then
                    value=@${value#*@}
                elif [[ ${line##* } == *:* && $COMP_WORDBREAKS == *:* ]]; then
                    value=${value#*:}
                fi
                if [[ $value == *" "* ]]; then value=$(printf '%%q' "$value"); fi
                COMPREPLY+=("$value")
                ;;
        esac
    done
}

complete -o nosort -F %(complete_func)s %(prog_name)s
"""


class _BashComplete(BashComplete):
    """Completes the line instead of the words of bash, which are split at `@`, `:` and `=`: a run
    is called `latest:support`, and a release `support@1.2.0`."""

    source_template = _BASH

    def get_completion_args(self) -> tuple[list[str], str]:
        line = os.environ.get("COMP_LINE")
        if line is None:  # a script that click wrote, not ours
            return super().get_completion_args()
        _, *words = split_arg_string(line)
        return (words, "") if line.endswith(" ") else (words[:-1], words[-1] if words else "")


_SHELLS: dict[str, type[ShellComplete]] = {
    "bash": _BashComplete,
    "zsh": ZshComplete,
    "fish": FishComplete,
}
_VARIABLE = "_CAROB_COMPLETE"


def register_bash() -> None:
    """Let click use our class when bash asks for completions."""
    add_completion_class(_BashComplete, "bash")


@command("carob completion bash", "carob completion zsh")
@click.argument("shell", type=click.Choice([*_SHELLS]))
def completion(shell: str) -> None:
    """Print the completion script of a shell.

    Completes commands, options, metrics, formats, profiles, datasets, releases and
    runs. Append the script to ~/.bashrc or ~/.zshrc, or write it to
    ~/.config/fish/completions/carob.fish.
    """
    root = click.get_current_context().find_root()
    script = _SHELLS[shell](root.command, {}, "carob", _VARIABLE)
    emit(script.source_template % script.source_vars() + "\n", None)
