"""Synthetic golden data by a model: other words, requests for chosen calls, questions about
documents."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

from carob.api.load import PathName, as_list, load
from carob.api.running.judges import judge_pool
from carob.api.store import store_url
from carob.api.synth import check_quotas, open_world, save_synthesis
from carob.errors import InputError, UsageError
from carob.judges.sync import run_sync
from carob.schema import Case, Dataset, JudgeSettings, ToolCall, ToolResult
from carob.schema.problem import ProgressListener, ignore
from carob.schema.synth import SynthReport
from carob.synth.coverage import count_coverage
from carob.synth.documents import Passage, ask_about, find_facts, split_passages
from carob.synth.generate import Synthesis, is_synthetic
from carob.synth.keep import CaseFilter
from carob.synth.requests import plan_calls, write_request
from carob.synth.rewrite import RewriteStyle, rewrite_case
from carob.synth.world import World
from carob.synth.writer import CaseWriter, NotKeptError
from carob.targets.mocks import MissingMockError, ToolMocks, golden_results

T = TypeVar("T")

_STYLES = {
    "paraphrase": "Use other words and another sentence structure.",
    "persona": "Write as this person would: {}",
    "translation": "Translate it to {}.",
}
_REQUEST = "request"
_DOCUMENTS = (".md", ".txt", ".rst", ".markdown")
_MAX_BYTES = 5_000_000


class _Draft(NamedTuple):
    """A case that the model is to write."""

    write: Callable[[], Awaitable[Case]]
    parent: Case | None = None
    text: str = ""
    """The source that it is about."""


def synth_with_model(
    src: PathName,
    dst: PathName,
    *,
    model: str | JudgeSettings,
    styles: str | Iterable[str] = ("paraphrase",),
    samples: int = 3,
    agree: int = 2,
    seed: int = 0,
    quotas: Mapping[str, int] | None = None,
    tools: PathName | None = None,
    with_parents: bool = False,
    to: str | None = None,
    from_: str | None = None,
    store: str | None = None,
    progress: ProgressListener = ignore,
) -> SynthReport:
    """Write the cases of a dataset in the words of a model such as `openai:gpt-5-mini`.

    A style is `paraphrase`, `persona: DESCRIPTION`, `translation: LANGUAGE` or `request`, which
    derives the words from the expected calls and recorded results alone. A case is kept if `agree`
    of `samples` checks succeed. The model's answers are cached in the store, so that the same
    arguments write the same bytes. `progress` receives the number of cases that were tried."""
    chosen = [_parse_style(style) for style in as_list(styles)]
    limits = check_quotas(quotas or {})
    dataset = load(src, from_=from_)
    parents = [case for case in dataset.cases if case.turns and not is_synthetic(case)]
    world = open_world(tuple(dataset.cases), tools)
    writer = _open_writer(model, store, seed, samples, agree)
    drafts = [
        draft
        for style in chosen
        for case in parents
        for draft in _drafts(case, style, world, writer)
    ]
    made = run_sync(_write_all(drafts, writer, CaseFilter(world=world, quotas=limits), progress))
    synthesis = _with_coverage(made, world.cases, limits)
    return save_synthesis(dataset, synthesis, dst, with_parents=with_parents, to=to)


def synth_from_documents(
    src: PathName,
    dst: PathName,
    *,
    model: str | JudgeSettings,
    per_passage: int = 3,
    samples: int = 3,
    agree: int = 2,
    seed: int = 0,
    quotas: Mapping[str, int] | None = None,
    to: str | None = None,
    store: str | None = None,
    progress: ProgressListener = ignore,
) -> SynthReport:
    """Write questions about a text file, or about all text files of a folder. Each case has its
    passage as context, and an answer that is copied from it. `progress` receives the number of
    passages that were read, then that of questions that were tried."""
    limits = check_quotas(quotas or {})
    passages = [*_read_passages(Path(src))]
    if not passages:
        hint = f"expected text files: {', '.join(_DOCUMENTS)}"
        raise InputError("no text to ask about", where=str(src), hint=hint)
    writer = _open_writer(model, store, seed, samples, agree)
    world = World(cases=())
    kept = CaseFilter(world=world, quotas=limits)
    made = run_sync(_ask_about_all(passages, writer, kept, per_passage, progress))
    source = Dataset(name=Path(src).stem, cases=[])
    return save_synthesis(
        source, _with_coverage(made, (), limits), dst, with_parents=False, to=to or "examples"
    )


def _parse_style(style: str) -> RewriteStyle:
    kind, _, detail = (part.strip() for part in style.partition(":"))
    if kind == _REQUEST and not detail:
        return RewriteStyle(kind, "")
    if kind not in _STYLES or (("{}" in _STYLES[kind]) != bool(detail)):
        known = "paraphrase, `persona: DESCRIPTION`, `translation: LANGUAGE` or request"
        raise UsageError(f"invalid style {style!r}", hint=f"expected {known}")
    return RewriteStyle(kind, _STYLES[kind].format(detail), keeps_answers=kind != "translation")


def _open_writer(
    model: str | JudgeSettings, store: str | None, seed: int, samples: int, agree: int
) -> CaseWriter:
    if not 1 <= agree <= samples <= 100:
        raise UsageError(f"agree and samples: expected 1 to {samples}, got {agree}")
    client = judge_pool(model, store_url(store)).client_of()
    if client is None:
        raise UsageError("missing model", hint="expected PROVIDER:MODEL")
    return CaseWriter(client=client, seed=seed, samples=samples, agree=agree)


def _drafts(case: Case, style: RewriteStyle, world: World, writer: CaseWriter) -> list[_Draft]:
    if style.name != _REQUEST:
        return [_Draft(partial(rewrite_case, case, writer, style), case)]
    plans = plan_calls(case, world, _executor(world))
    return [_Draft(partial(write_request, plan, case, world, writer), case) for plan in plans]


def _executor(world: World) -> Callable[[ToolCall], ToolResult | None]:
    """Execute calls on the results that the cases record."""
    results = [result for case in world.cases for result in golden_results(case)]

    def execute(call: ToolCall) -> ToolResult | None:
        try:
            result = ToolMocks(results=results).find(call.name, call.args)
        except MissingMockError:
            return None
        if result is None or result.args is None:  # that answers any arguments proves nothing
            return None
        return ToolResult(name=call.name, result=result.result, error=result.error)

    return execute


async def _write_all(
    drafts: Sequence[_Draft], writer: CaseWriter, kept: CaseFilter, progress: ProgressListener
) -> tuple[list[Case], CaseFilter]:
    """Write all drafts at once; the client limits how many questions are asked at a time. They are
    kept in their order, so that the result does not depend on who answers first."""

    async def write(draft: _Draft) -> Case | str:
        try:
            return await draft.write()
        except NotKeptError as error:
            return str(error)

    try:
        written = await _gather([*map(write, drafts)], progress)
    finally:
        await writer.client.close()
    return _keep_all(drafts, written, kept), kept


def _keep_all(
    drafts: Sequence[_Draft], written: Sequence[Case | str], kept: CaseFilter
) -> list[Case]:
    cases: list[Case] = []
    for draft, case in zip(drafts, written, strict=True):
        if isinstance(case, str):
            kept.skip(case)
        elif new := kept.keep(case, draft.parent, draft.text):
            cases.append(new)
    return cases


async def _ask_about_all(
    passages: Sequence[Passage],
    writer: CaseWriter,
    kept: CaseFilter,
    number: int,
    progress: ProgressListener,
) -> tuple[list[Case], CaseFilter]:
    async def choose(passage: Passage) -> list[str]:
        try:
            return await find_facts(passage, writer, number)
        except NotKeptError as error:
            kept.skip(str(error))
            return []

    facts = await _gather([*map(choose, passages)], progress)
    drafts = [
        _Draft(partial(ask_about, fact, passage, writer), text=passage.text)
        for passage, chosen in zip(passages, facts, strict=True)
        for fact in chosen
    ]
    return await _write_all(drafts, writer, kept, progress)


async def _gather(work: Sequence[Awaitable[T]], progress: ProgressListener) -> list[T]:
    """Await all at once, and report how many are done."""
    done = 0

    async def finish(item: Awaitable[T]) -> T:
        nonlocal done
        result = await item
        done += 1
        progress(done, len(work))
        return result

    return await asyncio.gather(*map(finish, work))


def _read_passages(path: Path) -> list[Passage]:
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.suffix.lower() in _DOCUMENTS)
    else:
        files = [path]
    root = path if path.is_dir() else path.parent
    return [
        passage
        for file in files
        for passage in split_passages(file.relative_to(root).as_posix(), _read_text(file))
    ]


def _read_text(path: Path) -> str:
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise InputError(f"larger than {_MAX_BYTES:,} bytes", where=str(path))
        return path.read_text("utf-8")
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=str(path)) from error
    except UnicodeDecodeError as error:
        raise InputError("not a UTF-8 text", where=str(path)) from error


def _with_coverage(
    made: tuple[list[Case], CaseFilter], source: Sequence[Case], quotas: Mapping[str, int]
) -> Synthesis:
    cases, kept = made
    coverage = count_coverage(source, cases, quotas)
    return Synthesis(tuple(cases), dict(sorted(kept.skipped.items())), coverage)
