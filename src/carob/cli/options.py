"""Commands with examples, and the arguments and options that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from carob.cli.names import GOLDEN_FORMAT, Name
from carob.errors import UsageError
from carob.files.remote import is_address
from carob.lazy import load_object
from carob.report.forms import RUN_FORMS

if TYPE_CHECKING:
    from click.types import OptionHelpExtra

F = TypeVar("F", bound=Callable[..., object])

FILE = click.Path(readable=False, path_type=Path)  # the reader reports missing files itself


class _InputPath(click.Path):
    """A path to read from; `-` is standard input, and an address is a file in object storage."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "-" and not (ctx and ctx.resilient_parsing):
            return load_object("carob.files.stdin:stdin_file")()  # late: few commands read it
        if is_address(value) and not (ctx and ctx.resilient_parsing):
            from carob.cli.progress import progress_line  # late: few inputs are elsewhere

            with progress_line("downloading") as line:
                return load_object("carob.files.remote:fetch_file")(value, line.reading)
        return super().convert(value, param, ctx)


class _TracesPath(_InputPath):
    """A path to read traces from. An address stays a text: it may name many files."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return value if is_address(value) else super().convert(value, param, ctx)


INPUT = _InputPath(readable=False, path_type=Path)
TRACES = _TracesPath(readable=False, path_type=Path)


class _Command(click.Command):
    """A command whose help ends with examples, and that refuses a repeated `--golden`."""

    def __init__(self, *args: Any, examples: tuple[str, ...] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = examples

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # click would silently take the last of several, and the others would never be evaluated.
        if ctx.resilient_parsing:  # the shell asks for completions of half a command
            return super().parse_args(ctx, args)
        given = self.make_parser(ctx).parse_args(args=[*args])[2]
        for param in self.params:
            if isinstance(param, _Option) and param.once and given.count(param) > 1:
                hint = "evaluate each dataset in a run of its own"
                raise UsageError(f"--{param.name} may be passed only once", hint=hint)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        _check_inputs_kept(ctx)
        return super().invoke(ctx)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_epilog(ctx, formatter)
        if self.examples:
            with formatter.section("Examples"):
                # Written line by line: click would wrap commands in the middle of an argument.
                for example in self.examples:
                    formatter.write(f"  {example}\n")


def _check_inputs_kept(ctx: click.Context) -> None:
    """Refuse `-o` with an input of the command. A golden file that is not valid, for example, is
    not recognized as golden data, and would be replaced by the report about it."""
    output = ctx.params.get("output")
    if not isinstance(output, Path) or not output.is_file():
        return
    for name, value in ctx.params.items():
        values = cast("tuple[object, ...]", value if isinstance(value, tuple) else (value,))
        for path in values if name != "output" else ():
            if isinstance(path, Path) and path.exists() and path.samefile(output):
                hint = "pass another file name to -o"
                raise UsageError(f"{output} is an input of this command", hint=hint)


class _Option(click.Option):
    """An option whose help shows `[default: CPU count]` for a computed default."""

    def __init__(self, *args: Any, once: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.once = once

    def get_help_extra(self, ctx: click.Context) -> OptionHelpExtra:
        extra = super().get_help_extra(ctx)
        extra.pop("range", None)
        if isinstance(self.show_default, str):
            extra["default"] = self.show_default  # click puts it in parentheses
        return extra


def command(*examples: str, name: str | None = None) -> Callable[[Callable[..., Any]], _Command]:
    """Declare a command with the examples that its help ends with."""
    return partial(click.command, name, cls=_Command)(examples=examples)


def subcommand(
    group: click.Group, *examples: str, name: str | None = None
) -> Callable[[Callable[..., Any]], click.Command]:
    """Declare a command of a group."""

    def decorate(function: Callable[..., Any]) -> click.Command:
        made = command(*examples, name=name)(function)
        group.add_command(made)
        return made

    return decorate


option = partial(click.option, cls=_Option)

_MAPPING = "carob.mapping"


def _keep_mapping(ctx: click.Context, _param: click.Parameter, value: str | None) -> None:
    ctx.meta[_MAPPING] = value


def _add_mapping(ctx: click.Context, _param: click.Parameter, value: str | None) -> str | None:
    mapping = ctx.meta.get(_MAPPING)
    if mapping is None:
        return value
    if value not in (None, "rows"):
        raise click.UsageError(f"--map is for plain rows, not for the format {value!r}.")
    return f"rows:{mapping}"


def from_format(function: F) -> F:
    """Add `--from`, and `--map`, which makes it plain rows with other names."""
    form = option(
        "--from",
        "name",
        type=GOLDEN_FORMAT,
        metavar="FORMAT",
        callback=_add_mapping,
        help="Input format.",
        show_default="detected from content",
    )
    mapping = option(
        "--map",
        metavar="FIELD=NAME,…",
        is_eager=True,  # before --from, which it changes
        expose_value=False,
        callback=_keep_mapping,
        help="Names of the fields in plain rows: input=frage,expected=antwort.",
    )
    return form(mapping(function))


log_mapping_option = option(
    "--map",
    "mapping",
    metavar="FIELD=NAME,…",
    help="Names of the fields in a log of rows: user=query,response=answer,calls=steps[].tool.",
)
mapping_option = option(
    "--map",
    "mapping",
    metavar="FIELD=NAME,…",
    help="Names of the fields in plain golden rows and in logs: "
    "input=frage,expected=antwort,user=query,response=answer.",
)
trust_option = option(
    "--trust-config",
    is_flag=True,
    help="Use the addresses and key variables that the configuration names, whoever wrote it.",
)
config_option = option(
    "-c", "--config", type=FILE, help="Configuration file.", show_default="carob.toml"
)
store_option = option(
    "--store", metavar="PATH|URL", help="Store of runs.", show_default=".carob/carob.db"
)


force_option = option("--force", is_flag=True, help="Overwrite an existing file.")
append_option = option("--append", is_flag=True, help="Add the cases to an existing file.")
to_option = option(
    "--to",
    type=GOLDEN_FORMAT,
    metavar="FORMAT",
    help="Output format. Required, except with --append to an existing file.",
)


def check_append(append: bool, force: bool) -> None:
    """Refuse options that contradict each other: keep the cases of a file, and overwrite it."""
    if append and force:
        raise click.UsageError("--append and --force cannot be combined.")


def output_options(*formats: str) -> Callable[[F], F]:
    """Add `--format` and `--output`, which every command that prints a result has."""

    def decorate(function: F) -> F:
        form = option(
            "--format",
            "form",
            type=click.Choice(["text", "json", *formats]),
            default="text",
            show_default=True,
            help="Output format.",
        )
        return form(output_option(function))

    return decorate


def _check_output(ctx: click.Context, _param: click.Parameter, value: Path | None) -> Path | None:
    """Check the file before any work is done: the report of a long run must have a place to go."""
    if value is None or value.name == "-" or ctx.resilient_parsing or not value.exists():
        return value
    # Late: few reports go to a file that exists.
    from carob.api.running.sources import check_report_path

    check_report_path(value)
    return value


output_option = option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    callback=_check_output,
    help="Write the result to a file.",
    show_default="stdout",
)


def _form_names() -> tuple[str, ...]:
    # Late: most commands print a built-in form, and need no plugins for that.
    from carob.api.completion import form_names

    return form_names()


_FORM = Name("form", lambda _: _form_names())


def report_options(function: F) -> F:
    """Add `--format` with all forms of a run, and `--output`."""
    form = option(
        "--format",
        "form",
        type=_FORM,
        metavar="FORMAT",
        callback=_check_form,
        default="text",
        show_default=True,
        help=f"Output format: {', '.join(RUN_FORMS)}.",
    )
    return form(output_option(function))


def _check_form(ctx: click.Context, param: click.Parameter, value: str) -> str:
    """Check the form before the run starts: a misspelt one must not cost a run."""
    if value not in RUN_FORMS and value not in (names := _form_names()):
        message = f"{value!r}; expected one of: {', '.join(names)}"
        raise click.BadParameter(message, ctx, param)
    return value


def golden_option(text: str) -> Callable[[F], F]:
    """Add `--golden`, which may be passed once. Other tools call it `--eval-set`."""
    return option("-g", "--golden", "--eval-set", "golden", type=INPUT, once=True, help=text)


def selection_options(function: F) -> F:
    """Add the options that select cases."""
    options = [
        option(
            "--tag",
            "tags",
            multiple=True,
            metavar="TAG",
            help="Select cases with all of these tags. Repeatable.",
        ),
        option("--where", metavar="EXPRESSION", help="Select cases that match an expression."),
        option(
            "--case", "cases", multiple=True, metavar="ID", help="Select a case by id. Repeatable."
        ),
        option(
            "--limit",
            metavar="N",
            type=click.IntRange(min=1),
            help="Select only the first N of these cases.",
        ),
    ]
    for decorate in reversed(options):
        function = decorate(function)
    return function


def judge_options(function: F) -> F:
    """Add the options that select a judge model and limit its use."""
    options = [
        option("--judge", metavar="PROVIDER:MODEL", help="Model that judges use."),
        option("--judge-url", metavar="URL", help="Base URL of an OpenAI-compatible API."),
        option(
            "--judge-key-env", metavar="NAME", help="Environment variable with the judge's API key."
        ),
        option(
            "--concurrency",
            metavar="N",
            type=click.IntRange(min=1),
            help="Maximum concurrent judge calls.",
            show_default="16",
        ),
        option(
            "--max-calls",
            metavar="N",
            type=click.IntRange(min=1),
            help="Maximum number of judge calls.",
        ),
        option(
            "--max-cost",
            type=click.FloatRange(min=0, min_open=True),
            metavar="DOLLARS",
            help="Maximum cost of judge calls.",
        ),
    ]
    for decorate in reversed(options):
        function = decorate(function)
    return function


def parse_pairs(texts: Iterable[str], option: str, form: str = "NAME=VALUE") -> dict[str, str]:
    """Parse an option that is repeated in the form NAME=VALUE."""
    pairs: dict[str, str] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name:
            raise _invalid_value(option, text, form)
        pairs[name] = value
    return pairs


def parse_numbers(texts: Iterable[str], option: str) -> dict[str, float]:
    """Parse an option that is repeated in the form METRIC=NUMBER."""
    numbers: dict[str, float] = {}
    for text in texts:
        name, sign, value = text.rpartition("=")
        if not sign or not name:
            raise _invalid_value(option, text, "METRIC=NUMBER")
        numbers[name] = parse_number(value, option)
    return numbers


def parse_number(text: str, option: str) -> float:
    """Parse a number of an option."""
    try:
        return float(text)
    except ValueError as error:
        raise _invalid_value(option, text, "a number") from error


def _invalid_value(option: str, text: str, form: str) -> click.UsageError:
    return click.UsageError(f"Invalid value for {option!r}: {text!r}; expected {form}.")
