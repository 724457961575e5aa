"""The command line. A command's module is imported when the command is called, so that
`carob --help` answers as fast as `import click`."""

from __future__ import annotations

import atexit
import gc
import io
import os
import sys
from typing import TYPE_CHECKING

import click

from carob import __version__
from carob.cli.color import color_setting
from carob.errors import CarobError, StoppedError, UsageError
from carob.lazy import load_object
from carob.text.spelling import did_you_mean, nearest_name

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_COMMANDS = {
    "demo": ("demo", "Run a full walkthrough on sample data."),
    "validate": ("datasets", "Validate golden files and list every problem."),
    "show": ("datasets", "Show a summary of a dataset."),
    "subset": ("datasets", "Write selected cases of a dataset to a new file."),
    "convert": ("datasets", "Convert golden data to another format."),
    "lint": ("datasets", "Check golden data for PII, secrets, duplicates and more."),
    "synth": ("synth", "Generate variants of golden cases."),
    "invariance": ("synth", "Compare variants with their parents in a run."),
    "schema": ("datasets", "Print the JSON Schema of a format."),
    "diff": ("versions", "Show changes between datasets and the version bump."),
    "release": ("versions", "Release a dataset as an immutable version."),
    "versions": ("versions", "List or verify released versions."),
    "checkout": ("versions", "Copy a released version to a file."),
    "review": ("versions", "Show or set the review status of cases."),
    "traces": ("traces", "Show traces and the metrics that they support."),
    "capture": ("traces", "Turn traces into golden cases."),
    "metrics": ("scoring", "List the available metrics."),
    "run": ("run", "Evaluate traces or a live agent against golden data."),
    "policy": ("scoring", "Apply scoring policies to existing scores."),
    "runs": ("history", "List stored runs."),
    "report": ("report", "Show a run in any output format."),
    "compare": ("compare", "Compare two runs for significant differences."),
    "gate": ("compare", "Decide whether a run passes, for CI."),
    "leaderboard": ("leaderboard", "Rank runs of the same cases."),
    "calibrate": ("calibrate", "Measure how well a judge agrees with human labels."),
    "trust": ("trust", "Trust the addresses and keys that a configuration names."),
    "serve": ("serve", "Serve the store over REST, and receive traces of live agents."),
    "new": ("new", "Write the template of a plugin."),
    "mcp": ("mcp", "Offer tools to coding agents over MCP."),
    "mocks": ("mocks", "Offer the tools of golden data over MCP."),
    "store": ("history", "Verify, copy and prune the store of runs."),
    "completion": ("completion", "Print the completion script of a shell."),
}

_ALIASES = {"list-metrics": "metrics"}
"""Commands of other tools, and their names here. Help does not list them."""


class _Commands(click.Group):
    """A group that imports only the command that is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        cmd_name = _ALIASES.get(cmd_name, cmd_name)
        if cmd_name not in _COMMANDS:
            return None
        module, _ = _COMMANDS[cmd_name]
        return load_object(f"carob.cli.{module}:{cmd_name}")

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        unknown = args and args[0] not in {*_COMMANDS, *_ALIASES} and not args[0].startswith("-")
        if unknown and not ctx.resilient_parsing:
            raise click.UsageError(_unknown_command(args[0]), ctx)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            raise StoppedError("interrupted") from error

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        # click would import every command to ask for its help.
        item = load_object("click.shell_completion:CompletionItem")
        commands = [
            item(name, help=text)
            for name, (_, text) in _COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return [*commands, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in _COMMANDS.items()])


def _unknown_command(name: str) -> str:
    hint = did_you_mean(name, _COMMANDS)
    return f"Unknown command {name!r}" + (f"; {hint}" if hint else "")


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
)
@click.version_option(__version__, prog_name="carob")
def carob() -> None:
    """Measure AI agents against golden data.

    Results go to stdout, everything else to stderr. Exit codes: 0 good, 1 the data
    or the agent did not pass, 2 the command could not be carried out.
    """


def main() -> None:
    """Run `carob`. Errors are printed without a traceback and set the exit code of their class."""
    _collect_rarely()
    _open_closed_streams()
    _write_utf8()
    if "_CAROB_COMPLETE" in os.environ:
        load_object("carob.cli.completion:register_bash")()
    try:
        _check_arguments(sys.argv)
        sys.exit(carob(prog_name="carob", color=color_setting(), standalone_mode=False))
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(UsageError.exit_code)
    except (click.ClickException, CarobError, OSError) as error:
        shown = _as_carob_error(error)
        load_object("carob.cli.output:show_error")(shown)  # late: only errors need it
        sys.exit(shown.exit_code)


def _as_carob_error(error: click.ClickException | CarobError | OSError) -> CarobError:
    if isinstance(error, CarobError):
        return error
    if isinstance(error, click.ClickException):
        return _usage_error(error)
    return CarobError(error.strerror or str(error), where=error.filename)


def _collect_rarely() -> None:
    """Make the cycle collector rare, and skip the collection at exit.

    By default it walks all imported modules again and again, an eighth of the time of a small run.
    """
    gc.set_threshold(50_000)
    atexit.register(gc.freeze)


def _open_closed_streams() -> None:
    """Discard what would go to a stream that the caller closed, as with `carob run >&-`. Python
    has `None` in its place, and the exit code would be that of a traceback."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, io.TextIOWrapper(io.FileIO(os.devnull, "w"), encoding="utf-8"))


def _write_utf8() -> None:
    """Write UTF-8 to files and pipes in every locale, and escape what a terminal cannot show."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            encoding = stream.encoding if stream.isatty() else "utf-8"
            stream.reconfigure(encoding=encoding, errors="backslashreplace")


def _check_arguments(args: list[str]) -> None:
    """Reject file names that are not UTF-8: no JSON result could contain them."""
    for arg in args:
        if any("\ud800" <= letter <= "\udfff" for letter in arg):
            raise UsageError(f"{arg!r} is not valid UTF-8", hint="rename the file")


_OTHER_TOOLS = {"--dataset": "--golden", "--metrics": "--metric"}
"""Options of other tools, and their names here."""


def _usage_error(error: click.ClickException) -> UsageError:
    """Return an error of click in the format of all errors."""
    # Of a missing argument, click lists the choices twice: in its name, and on lines of their own.
    text = error.format_message().partition(". Choose from:")[0].rstrip(".")
    context = error.ctx if isinstance(error, click.UsageError) else None
    hint = f"run `{context.command_path} --help` for usage" if context else None
    if isinstance(error, click.NoSuchOption):
        name, similar = error.option_name, sorted(error.possibilities or ())
        text = f"unknown option {name}"
        known = _OTHER_TOOLS.get(name) or nearest_name(name, similar)
        candidates = [known] if known else [option for option in similar if option.startswith(name)]
        hint = f"did you mean {' or '.join(candidates)}?" if candidates else hint
    return UsageError(text[:1].lower() + text[1:], hint=hint)
