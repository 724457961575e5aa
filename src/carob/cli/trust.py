"""`carob trust`: let sensitive settings of a configuration take effect."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from carob.api import trust as trust_api
from carob.cli.options import FILE, command, option, output_options
from carob.cli.output import emit_result
from carob.report.grants import format_trust, format_trusted
from carob.report.text import printable


@command("carob trust", "carob trust --revoke carob.toml")
@click.argument("config", type=FILE, required=False)
@option("--list", "listed", is_flag=True, help="List trusted configurations.")
@option("--revoke", is_flag=True, help="Stop trusting the configuration.")
@option("--yes", is_flag=True, help="Do not ask for confirmation.")
@output_options()
def trust(
    config: Path | None, listed: bool, revoke: bool, yes: bool, form: str, output: Path | None
) -> None:
    """Trust the addresses and keys that a configuration names.

    CONFIG is carob.toml by default. Settings that name an address, a key variable, a
    command or code have no effect until you trust them. Shows them, asks for
    confirmation on a terminal, and records their digest outside of the repository.
    Trust ends when one of them changes; other settings may change.
    """
    if listed and (config or revoke):
        raise click.UsageError("--list cannot be combined with a configuration or --revoke.")
    if listed:
        records = trust_api.trusted_configs()
        emit_result({"trusted": records}, form, output, lambda _: format_trusted(records))
    elif revoke:
        click.echo(f"no longer trusted: {printable(trust_api.revoke_trust(config))}", err=True)
    else:
        _trust(config, yes, form, output)


def _trust(config: Path | None, yes: bool, form: str, output: Path | None) -> None:
    record = trust_api.read_sensitive(config)
    if not record.settings:
        click.echo(f"{printable(record.file)}: no setting needs trust", err=True)
        return
    emit_result(record, form, output, lambda _: format_trust(record))
    if sys.stdin.isatty() and not yes:
        click.confirm("Trust these settings?", abort=True, err=True)
    trust_api.record_trust(record)
    click.echo("trusted", err=True)
