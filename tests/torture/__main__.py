"""Run campaigns and write docs/reliability.md: `python -m tests.torture --seconds 600 kills`."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.postgres import server
from tests.torture.faults import fail_calls
from tests.torture.figures import ROOT, record
from tests.torture.fuzz import fuzz
from tests.torture.kills import kill_commands, kill_with_postgres
from tests.torture.receivers import receive
from tests.torture.tally import Tally
from tests.torture.writers import write_together


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.torture")
    parser.add_argument("campaigns", nargs="*", choices=[*_CAMPAIGNS, []])
    parser.add_argument("--seconds", type=float, default=60, help="for each campaign")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--workers", type=int, default=2, help="processes that try inputs")
    parser.add_argument("--home", type=Path, default=ROOT / ".torture", help="corpus and findings")
    options = parser.parse_args()
    options.home = options.home.absolute()  # workers have working directories of their own
    problems = 0
    for name in options.campaigns or _CAMPAIGNS:
        started = time.monotonic()
        tally = _CAMPAIGNS[name](options)
        record(name, tally, time.monotonic() - started, options.home)
        problems += len(tally.findings)
        print(f"{name}: {tally.total:,} {tally.unit}, {len(tally.findings):,} problems")
    return 1 if problems else 0


def _writers(options: argparse.Namespace) -> Tally:
    with server() as url:
        return write_together(options.seconds, postgres=url)


def _receivers(options: argparse.Namespace) -> Tally:
    with server(durable=True) as url:
        return receive(options.seconds, seed=options.seed, postgres=url)


_CAMPAIGNS: dict[str, Callable[[argparse.Namespace], Tally]] = {
    "kills": lambda options: kill_commands(options.seconds, seed=options.seed),
    "PostgreSQL": lambda options: kill_with_postgres(options.seconds, seed=options.seed),
    "faults": lambda options: fail_calls(options.seconds, seed=options.seed),
    "receivers": _receivers,
    "writers": _writers,
    "inputs": lambda options: fuzz(
        options.seconds, options.home, seed=options.seed, workers=options.workers
    ),
}


if __name__ == "__main__":
    sys.exit(main())
