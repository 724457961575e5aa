"""The command that serves REST and receives traces, and its tokens."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from carob.api.golden.folder import GoldenFolder
from carob.api.load import REGISTRY
from carob.api.serving import tokens as tokens_api
from carob.api.store import DEFAULT, store_url
from carob.cli.options import option, output_options, store_option, subcommand
from carob.cli.output import emit_result
from carob.errors import UsageError, install_hint
from carob.report.grants import format_new_token, format_tokens


@click.group(invoke_without_command=True)
@option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@option("--port", default=8001, show_default=True, metavar="N", help="Port of REST; 0 is any.")
@option(
    "--otlp-port",
    default=4318,
    show_default=True,
    metavar="N",
    help="Port of the OTLP/HTTP receiver; 0 is any.",
)
@option(
    "--grpc-port",
    default=4317,
    show_default=True,
    metavar="N",
    help="Port of the OTLP/gRPC receiver; 0 is any.",
)
@option(
    "--allow-host",
    "hosts",
    multiple=True,
    metavar="NAME",
    help="Another name of this server, such as that of a proxy. Repeatable.",
)
@option(
    "--require-token",
    is_flag=True,
    help="Require a token from this machine, too, as behind a proxy.",
)
@option("--demo", is_flag=True, help="Serve the sample data of a bike shop instead of a store.")
@store_option
@click.pass_context
def serve(
    context: click.Context,
    host: str,
    port: int,
    otlp_port: int,
    grpc_port: int,
    hosts: tuple[str, ...],
    require_token: bool,
    demo: bool,
    store: str | None,
) -> None:
    """Serve the store over REST, and receive traces of live agents.

    Prints the addresses to stderr, then `ready`. An agent that exports to the OTLP
    address, as with OTEL_EXPORTER_OTLP_ENDPOINT, appears as a session. Beyond this
    machine, every request needs a token.
    """
    if context.invoked_subcommand is not None:
        return
    if demo and store:
        raise click.UsageError("--demo has a store of its own; pass --demo or --store.")
    try:
        from carob.server.serve import Ports, serve
    except ModuleNotFoundError as error:
        message = f"the server needs {error.name}"
        raise UsageError(message, hint=install_hint("server")) from error
    with _demo_folder() if demo else nullcontext() as folder:
        serve(
            str(folder / DEFAULT) if folder else store_url(store),
            host,
            Ports(pages=port, otlp=otlp_port, grpc=grpc_port),
            allowed_hosts=hosts,
            require_token=require_token,
            folder=_golden_in(folder) if folder else GoldenFolder(),
            announce=lambda line: click.echo(line, err=True),
        )


@contextmanager
def _demo_folder() -> Generator[Path]:
    """Load the sample data into a directory that is the working directory meanwhile. Its path is
    absolute, so that commands that are copied from its pages work elsewhere, too."""
    from carob.api.demo import load_demo  # late: few servers are demos

    here = Path.cwd()
    with TemporaryDirectory(prefix="carob-demo-") as name:
        folder = Path(name).resolve()
        os.chdir(folder)
        try:
            load_demo(_golden_in(folder), str(folder / DEFAULT))
            yield folder
        finally:
            os.chdir(here)


def _golden_in(folder: Path) -> GoldenFolder:
    return GoldenFolder(folder / REGISTRY.parent, folder / REGISTRY)


@serve.group()
def token() -> None:
    """Make, list and remove the tokens of a server."""


@subcommand(token, "carob serve token new ci --role read", name="new")
@click.argument("name")
@option(
    "--role",
    "roles",
    multiple=True,
    type=click.Choice(tokens_api.ROLES),
    required=True,
    help="What the token allows. Repeatable.",
)
@store_option
@output_options()
def new_token(
    name: str, roles: tuple[str, ...], store: str | None, form: str, output: Path | None
) -> None:
    """Make a token. It is shown once."""
    made = tokens_api.new_token(store_url(store), name, roles)
    emit_result(made, form, output, lambda _display: format_new_token(made))


@subcommand(token, "carob serve token list", name="list")
@store_option
@output_options()
def list_tokens(store: str | None, form: str, output: Path | None) -> None:
    """List the tokens, without their secrets."""
    found = tokens_api.list_tokens(store_url(store))
    emit_result({"tokens": found}, form, output, lambda display: format_tokens(found, display))


@subcommand(token, "carob serve token remove ci", name="remove")
@click.argument("name")
@store_option
def remove_token(name: str, store: str | None) -> None:
    """Remove a token. A running server refuses it from the next second on."""
    tokens_api.remove_token(store_url(store), name)
