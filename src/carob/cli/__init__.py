"""The command line. A command's module is imported when the command is called, and not before:
`carob --help` must answer before the user's hand leaves the key."""

from __future__ import annotations

import atexit
import gc
import io
import os
import sys
from importlib import import_module

import click

from carob import __version__
from carob.errors import CarobError, StoppedError, UsageError
from carob.text.spelling import did_you_mean

_COMMANDS = {
    "demo": ("demo", "Tell the whole story on bundled data, offline."),
    "validate": ("golden", "Check golden files and name every problem."),
    "show": ("golden", "Summarise a dataset."),
    "subset": ("golden", "Write part of a dataset."),
    "convert": ("golden", "Convert golden data, with a report of what is lost."),
    "lint": ("lint", "Find personal data, duplicates, contradictions and more in golden data."),
    "schema": ("golden", "Print the JSON Schema of a format."),
    "diff": ("versions", "Show what changed, and the version bump that it demands."),
    "release": ("versions", "Freeze a dataset as a version that never changes."),
    "versions": ("versions", "List releases, or verify that none was touched."),
    "checkout": ("versions", "Copy a released version."),
    "review": ("versions", "Show or set which cases are draft, reviewed or approved."),
    "traces": ("traces", "Show what was understood from recordings."),
    "capture": ("traces", "Make golden cases of recordings."),
    "metrics": ("metrics", "List every metric: what it needs, its scale, its default threshold."),
    "run": ("run", "Score traces against golden data."),
    "policy": ("policy", "Turn scores that exist already into verdicts."),
    "runs": ("history", "List the runs that are kept."),
    "report": ("history", "Show a run again, in any form."),
    "compare": ("compare", "Is the difference between two runs real?"),
    "gate": ("compare", "May a run pass? One exit code for CI."),
    "calibrate": ("calibrate", "How well does a judge agree with people?"),
    "store": ("history", "Check, copy and clear out the store of runs."),
}


class _Commands(click.Group):
    """A group that knows its commands by name and imports only the one that is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module, _ = _COMMANDS[cmd_name]
        return getattr(import_module(f"carob.cli.{module}"), cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in _COMMANDS and not args[0].startswith("-"):
            raise click.UsageError(_unknown(args[0]), ctx)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            raise StoppedError("stopped") from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in _COMMANDS.items()])


def _unknown(name: str) -> str:
    hint = did_you_mean(name, _COMMANDS)
    return f"No such command {name!r}" + (f", {hint}" if hint else "")


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="carob")
def carob() -> None:
    """Carob measures AI agents against golden data.

    Exit codes: 0 good, 1 the data or the agent did not pass, 2 the command could not be carried
    out. Data goes to stdout, everything else to stderr.
    """


def main() -> None:
    """The `carob` command: an error is shown without a traceback, and gives exit code 2."""
    _collect_rarely()
    _write_utf8()
    try:
        _check_names(sys.argv)
        sys.exit(carob(prog_name="carob", color=_coloured(), standalone_mode=False))
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
    except click.ClickException as error:
        show_error(_reworded(error))
    except CarobError as error:
        show_error(error)
    except OSError as error:
        show_error(CarobError(error.strerror or str(error), where=error.filename))
    sys.exit(2)


def _collect_rarely() -> None:
    """The cycle collector would look through all that is imported, again and again, and through
    all there is when the process ends, which is an eighth of the time of a small run."""
    gc.set_threshold(50_000)
    atexit.register(gc.freeze)


def _write_utf8() -> None:
    """What goes to a file or a pipe is the same everywhere, whatever the locale; and no character
    that a terminal does not have is worth a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            encoding = stream.encoding if stream.isatty() else "utf-8"
            stream.reconfigure(encoding=encoding, errors="backslashreplace")


def _check_names(args: list[str]) -> None:
    """A file name that is no text could be opened, but in no result be named."""
    for arg in args:
        if any("\ud800" <= letter <= "\udfff" for letter in arg):
            raise UsageError(f"{arg!r} is not UTF-8", hint="give the file another name")


def _coloured() -> bool | None:
    """Not if the user wants none, see https://no-color.org; otherwise the terminal decides."""
    return False if os.environ.get("NO_COLOR") else None


_ELSEWHERE = {"--eval-set": "--golden", "--dataset": "--golden", "--metrics": "--metric"}
"""Options of other tools, and what they are called here."""


def _reworded(error: click.ClickException) -> UsageError:
    """What click finds wrong with a command, said as everything else is said."""
    text = error.format_message().rstrip(".")
    context = error.ctx if isinstance(error, click.UsageError) else None
    hint = f"`{context.command_path} --help` tells what it takes" if context else None
    if isinstance(error, click.NoSuchOption):
        text = f"no such option {error.option_name}"
        known = _ELSEWHERE.get(error.option_name)
        near = [known] if known else sorted(error.possibilities or ())
        hint = f"did you mean {' or '.join(near)}?" if near else hint
    return UsageError(text[:1].lower() + text[1:], hint=hint)


def show_error(error: CarobError) -> None:
    """The error, a blank line, then the hint, on stderr. What it quotes may come from a file."""
    printable = import_module("carob.report.text").printable
    shown = [f"{click.style('error:', fg='red', bold=True)} {printable(str(error))}"]
    if error.hint:
        shown.append(f"{click.style('hint:', fg='cyan', bold=True)} {printable(error.hint)}")
    click.echo("\n\n".join(shown), err=True, color=_coloured())
