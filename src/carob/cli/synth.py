"""The command that generates golden data."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from carob.api.synth import invariance as measure
from carob.api.synth import list_relations
from carob.api.synth import synth as generate
from carob.api.synth_model import synth_from_documents, synth_with_model
from carob.cli.names import RUN
from carob.cli.options import (
    FILE,
    INPUT,
    command,
    from_format,
    option,
    output_options,
    store_option,
    to_option,
)
from carob.cli.output import emit_result
from carob.cli.progress import progress_line
from carob.report.synth import format_invariance, format_relations, format_synth
from carob.schema import JudgeSettings


@command(
    "carob synth golden.json variants.json --relation typos --relation missing_slot",
    "carob synth handbook/ questions.json --model openai:gpt-5-mini --questions 3",
)
@click.argument("src", type=INPUT, required=False)
@click.argument("dst", type=FILE, required=False)
@option(
    "--relation",
    "relations",
    multiple=True,
    metavar="NAME",
    show_default="all",
    help="Relation to apply. Repeatable.",
)
@option(
    "--per-case",
    type=click.IntRange(1, 1000),
    metavar="N",
    default=1,
    show_default=True,
    help="Maximum variants of a case by each relation.",
)
@option(
    "--seed",
    type=int,
    metavar="N",
    default=0,
    show_default=True,
    help="Determines the variants.",
)
@option(
    "--quota",
    "quotas",
    multiple=True,
    metavar="KEY=N",
    help="Maximum variants with a property, such as tool:NAME=10. Repeatable.",
)
@option("--tools", type=FILE, help="JSON file with tool declarations.")
@option("--model", metavar="PROVIDER:MODEL", help="Model that writes cases, instead of relations.")
@option(
    "--style",
    "styles",
    multiple=True,
    metavar="STYLE",
    show_default="paraphrase",
    help="How the model writes: paraphrase, 'persona: WHO', 'translation: LANGUAGE', or "
    "request: words for the expected calls. Repeatable.",
)
@option(
    "--questions",
    type=click.IntRange(1, 50),
    metavar="N",
    help="Let the model ask N questions about each passage of SRC, a text file or a folder.",
)
@option(
    "--samples",
    type=click.IntRange(1, 100),
    metavar="N",
    default=3,
    show_default=True,
    help="How often the model checks what it wrote.",
)
@option(
    "--agree",
    type=click.IntRange(1, 100),
    metavar="N",
    default=2,
    show_default=True,
    help="How many checks must agree.",
)
@option("--model-url", metavar="URL", help="Base URL of the model's API.")
@option("--model-key-env", metavar="NAME", help="Environment variable with the model's API key.")
@option(
    "--max-cost",
    type=click.FloatRange(min=0, min_open=True),
    metavar="USD",
    help="Cost after which the model is not asked any more.",
)
@store_option
@option("--with-parents", is_flag=True, help="Write the cases of SRC before their variants.")
@option("--list", "listing", is_flag=True, help="List the relations and exit.")
@to_option
@from_format
@output_options()
def synth(
    src: Path | None,
    dst: Path | None,
    relations: tuple[str, ...],
    per_case: int,
    seed: int,
    quotas: tuple[str, ...],
    tools: Path | None,
    model: str | None,
    styles: tuple[str, ...],
    questions: int | None,
    samples: int,
    agree: int,
    model_url: str | None,
    model_key_env: str | None,
    max_cost: float | None,
    store: str | None,
    with_parents: bool,
    listing: bool,
    to: str | None,
    name: str | None,
    form: str,
    output: Path | None,
) -> None:
    """Generate variants of golden cases.

    Each relation changes cases of SRC in one way, and says what must hold for the
    variant: the same calls and answer, a changed argument, a question to the user, or
    a refusal. Expectations that are no longer known are removed. DST has the format of
    SRC, and is never overwritten; the same seed writes the same bytes.

    With --model, a model writes cases: other words for the same expectations, or questions
    about documents. They are kept only if its samples agree. Its answers are cached.
    """
    if listing:
        known = list_relations()
        emit_result({"relations": known}, form, output, partial(format_relations, known))
        return
    if src is None or dst is None:
        raise click.UsageError(f"Missing argument {'SRC' if src is None else 'DST'!r}.")
    limits = dict(map(_parse_quota, quotas))
    with progress_line("generating") as line:
        if model is None:
            _refuse_options(styles, questions)
            report = generate(
                src,
                dst,
                relations=relations,
                per_case=per_case,
                seed=seed,
                quotas=limits,
                tools=tools,
                with_parents=with_parents,
                to=to,
                from_=name,
                progress=line.of("generating", unit_name=" cases"),
            )
        else:
            if relations:
                raise click.UsageError("--relation and --model: pass only one of them.")
            settings = JudgeSettings(
                model=model, url=model_url, key_env=model_key_env, max_cost=max_cost
            )
            common: dict[str, Any] = {
                "model": settings,
                "samples": samples,
                "agree": agree,
                "seed": seed,
            }
            common |= {"quotas": limits, "to": to, "store": store}
            common["progress"] = line.of("asking the model")
            if questions is not None:
                report = synth_from_documents(src, dst, per_passage=questions, **common)
            else:
                styles = styles or ("paraphrase",)
                common |= {"tools": tools, "with_parents": with_parents, "from_": name}
                report = synth_with_model(src, dst, styles=styles, **common)
    emit_result(report, form, output, partial(format_synth, report, str(dst)))


def _refuse_options(styles: tuple[str, ...], questions: int | None) -> None:
    if styles or questions is not None:
        option = "--style" if styles else "--questions"
        raise click.UsageError(f"{option} needs --model PROVIDER:MODEL.")


def _parse_quota(text: str) -> tuple[str, int]:
    key, _, number = text.rpartition("=")
    if not key or not number.isdecimal():
        raise click.UsageError(f"Invalid quota {text!r}; expected KEY=N, as in tool:find_order=10.")
    return key, int(number)


@command("carob invariance latest golden.json", "carob invariance run.json golden.json")
@click.argument("run", type=RUN)
@click.argument("golden", type=INPUT)
@store_option
@output_options()
def invariance(run: str, golden: Path, store: str | None, form: str, output: Path | None) -> None:
    """Compare variants with their parents in a run.

    RUN is a run of GOLDEN, which contains variants and their parents, as `carob synth
    --with-parents` writes them. Shows the share of variants that must behave as their
    parent and do, by relation, and the variants that do not.
    """
    result = measure(run, golden, store=store)
    emit_result(result, form, output, partial(format_invariance, result))
