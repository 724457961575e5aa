"""What the fuzzer feeds to which command: every command, and every kind of file that it reads."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from importlib import resources
from pathlib import Path
from random import Random
from typing import NamedTuple

from click.testing import CliRunner

from carob.cli import carob

SAMPLES = Path(__file__).parents[1] / "samples"
_FORMATS = ("adk", "questions", "examples", "csv", "explain", "simulation", "test")
_METRICS = (
    "tool_trajectory_avg_score",
    "response_match_score",
    "latency",
    "factuality",
    "safety",
    "contract",
    "exact_match",
    "contains",
    "regex",
    "bleu",
    "tool_usage_accuracy",
    "state_management_fidelity",
    "trajectory_accuracy",
    "pii_leak",
)
_FORMS = ("text", "json", "csv", "md", "html", "junit", "sarif", "eval_summary")
_EXPRESSIONS = (
    "len(turns) > 1",
    "'refund' in tags and metadata.difficulty == 'hard'",
    "not (agent == 'returns') or id >= 'q'",
    "metadata['topic'] in ['a', 'b']",
)


class Target(NamedTuple):
    """A kind of input."""

    name: str
    file: str
    """Where the command finds the input."""
    seeds: Callable[[Path], Sequence[bytes]]
    """Inputs to start from, given a prepared folder."""
    commands: Callable[[Random], Sequence[str]]
    """A command line that reads the input."""


def prepare(folder: Path) -> None:
    """Fill a folder with the sample data, a run, a store, a registry and an export."""
    with resources.as_file(resources.files("carob") / "demo" / "data") as data:
        shutil.copytree(data, folder, dirs_exist_ok=True)
    at = str(folder)
    golden = f"{at}/support.evalset.json"
    run = ("run", f"{at}/traces/good.otlp.jsonl", "-g", golden, "--store", f"{at}/s.db")
    for args in (
        (*run, "--jobs", "1", "--keep-traces", "--format", "json", "-o", f"{at}/run.json"),
        ("store", "export", f"{at}/export.jsonl", "--store", f"{at}/s.db"),
        ("release", golden, "--by", "me", "--registry", f"{at}/registry"),
        ("convert", golden, f"{at}/table.csv", "--to", "csv"),
    ):
        result = CliRunner().invoke(carob, args)
        if result.exit_code == 2 or not isinstance(result.exception, SystemExit | None):
            raise RuntimeError(f"{args}: {result.output}") from result.exception


def _golden(random: Random) -> Sequence[str]:
    where = random.choice(_EXPRESSIONS)
    return random.choice(
        (
            ("validate", "input", "--format", "json"),
            ("show", "input"),
            ("lint", "input", "--format", random.choice(("text", "json", "sarif"))),
            ("lint", "input", "--fix", "--use", "regression"),
            ("convert", "input", "output", "--to", random.choice(_FORMATS), "--force"),
            ("convert", "input", "output", "--to", random.choice(_FORMATS), "--strict", "--force"),
            ("convert", "input", "support.evalset.json", "--append"),
            ("diff", "support.evalset.json", "input", "--format", random.choice(("md", "json"))),
            ("diff", "input", "input"),
            ("subset", "input", "output", "--where", where, "--force"),
            ("review", "input", "--as", "approved", "--all", "--by", "me", "--date", "2026-01-01"),
            ("release", "input", "--registry", "new", "--by", "me"),
            ("run", "-g", "input", "--no-store", "--jobs", "1", "--format", random.choice(_FORMS)),
            ("run", "-g", "input", *_metrics(random), "--by", "agent"),
            ("run", "traces/good.otlp.jsonl", "-g", "input", "--no-store", "--jobs", "1"),
        )
    )


def _metrics(random: Random) -> tuple[str, ...]:
    names = random.sample(_METRICS, 3)
    return ("--no-store", "--jobs", "1", *(f"--metric={name}" for name in names))


def _traces(random: Random) -> Sequence[str]:
    return random.choice(
        (
            ("traces", "input", "--format", random.choice(("text", "json"))),
            ("capture", "input", "output", "--to", random.choice(_FORMATS), "--force"),
            ("capture", "input", "output", "--to", "adk", "--mask", "--force"),
            ("run", "input", "-g", "support.evalset.json", *_metrics(random)),
            ("run", "input", *_metrics(random), "--format", random.choice(_FORMS)),
            ("run", "input", "-g", "support.explain.jsonl", "--cross", *_metrics(random)),
        )
    )


def _config(random: Random) -> Sequence[str]:
    return random.choice(
        (
            ("run", "-g", "support.explain.jsonl", "-c", "input", *_metrics(random)),
            ("run", "-g", "support.explain.jsonl", "-c", "input", "--no-store", "--dry-run"),
            ("lint", "support.csv", "-c", "input"),
            ("gate", "run.json", "-c", "input"),
            ("gate", "run.json", "--quarantine", "input", "--min-pass-rate", "0.5"),
            ("trust", "input", "--format", "json"),
            ("run", "-g", "support.explain.jsonl", "--profile", "input", *_metrics(random)),
        )
    )


def _run(random: Random) -> Sequence[str]:
    return random.choice(
        (
            ("report", "input", "--format", random.choice(_FORMS), "-g", "support.evalset.json"),
            ("compare", "run.json", "input", "--format", random.choice(("json", "md", "html"))),
            ("compare", "input", "run.json"),
            ("gate", "input", "--baseline", "run.json", "--min-pass-rate", "0.5"),
            ("calibrate", "judged/tone.labels.csv", "--run", "input", "--no-store"),
            ("store", "import", "input", "--store", "new.db"),
        )
    )


def _labels(_: Random) -> Sequence[str]:
    return ("calibrate", "input", "--run", "judged/tone.run.json", "--no-store")


def _scores(random: Random) -> Sequence[str]:
    return ("policy", "apply", "input", *random.choice(((), ("--profile", "prep_default"))))


def _registry(random: Random) -> Sequence[str]:
    return random.choice(
        (
            ("versions", "--registry", "registry", "--verify"),
            ("versions", "--registry", "registry", "--format", "json"),
            ("checkout", "bike-shop-support@1.0.0", "out", "--registry", "registry", "--force"),
            ("release", "support_golden.json", "--registry", "registry", "--by", "me"),
            ("diff", "bike-shop-support@1.0.0", "support.evalset.json", "--registry", "registry"),
        )
    )


def _store(random: Random) -> Sequence[str]:
    command = random.choice(
        (
            ("runs", "--format", "json"),
            ("store", "verify"),
            ("report", "latest"),
            ("store", "export", "output", "--force"),
            ("store", "prune", "--keep", "1"),
            ("run", "-g", "support.csv", "-m", "exact_match", "--jobs", "1"),
        )
    )
    return (*command, "--store", "input")


def _sidecar(random: Random) -> Sequence[str]:
    return random.choice(
        (
            ("validate", "table.csv"),
            ("convert", "table.csv", "output", "--to", random.choice(_FORMATS), "--force"),
            ("review", "table.csv", "--as", "approved", "--all", "--by", "me"),
        )
    )


def _files(*patterns: str) -> Callable[[Path], Sequence[bytes]]:
    def read(folder: Path) -> Sequence[bytes]:
        roots = (folder, SAMPLES)
        files = [file for root in roots for part in patterns for file in sorted(root.glob(part))]
        return [file.read_bytes() for file in files if file.is_file()]

    return read


def _texts(*texts: str) -> Callable[[Path], Sequence[bytes]]:
    return lambda _: [text.encode() for text in texts]


_CONFIGS = (
    """\
judge = "openai:m"
[run]
golden = "support.csv"
metrics = ["latency", "safety"]
[metrics.latency]
threshold = 2.5
[gate]
min_pass_rate = 0.5
margin = 0.1
[gate.thresholds]
latency = 3
[lint]
ignore = ["typos"]
[lint.levels]
pii = "note"
""",
    """\
[judge]
model = "openai:m"
url = "http://127.0.0.1:1/v1"
key_env = "OPENAI_API_KEY"
temperature = 0.5
max_tokens = 3
[policy]
profile = "prep_default"
[store]
path = "x.db"
""",
    """\
[target]
name = "python:agent.py:answer"
url = "http://127.0.0.1:1/v1"
key_env = "SHOP_AGENT_TOKEN"
turn_timeout = 5
headers = {X-Tenant = "CAROB_TENANT"}
[target.options]
path = "/chat"
[serve]
keep_days = 30
[online.tone]
metrics = ["safety"]
sample = 0.5
max_cost_per_day = 2
""",
    '{"criteria": {"tool_trajectory_avg_score": {"threshold": 1, "match_type": "ANY_ORDER"}}}',
    "evaluators:\n  - name: response_match_score\n    type: builtin\n    threshold: 0.5\n",
    """\
{"metrics": {"tone": {"template": "Rate {response}", "score_range": {"min": 1, "max": 5},
"dataset_mapping": {"response": {"source_column": "final_response"}}}}}""",
    '[[quarantine]]\ncase = "a"\nowner = "me"\nexpires = "2027-01-01"\nreason = "flaky"\n',
    'name = "mine"\n[weights]\nlatency = 1\n[thresholds]\nlatency = 2\n',
)
_SCORES = (
    """\
{"case": "a", "profile": "prep_default", "scores": {"Relevance": 4, "Coherence": 2.5}}
{"case": "b", "scores": {"Relevance": null}}
""",
)

TARGETS = (
    Target(
        "golden",
        "input",
        _files("support*.json*", "support*.csv", "adk*/*", "csv/*", "e*/*", "questions/*",
               "simulation/*", "test/*", "broken/*"),
        _golden,
    ),
    Target("traces", "input", _files("traces/*", "traces/containers/*", "traces/*/*"), _traces),
    Target("config", "input", _texts(*_CONFIGS), _config),
    Target("run", "input", _files("run.json", "judged/*.json", "export.jsonl"), _run),
    Target("labels", "input", _files("judged/*.csv"), _labels),
    Target("scores", "input", _texts(*_SCORES), _scores),
    Target("release", "registry/bike-shop-support/1.0.0/release.json",
           _files("registry/*/*/release.json"), _registry),
    Target("released", "registry/bike-shop-support/1.0.0/support.evalset.json",
           _files("registry/*/*/support.evalset.json"), _registry),
    Target("heads", "registry/bike-shop-support.json", _files("registry/*.json"), _registry),
    Target("store", "input", _files("s.db"), _store),
    Target("sidecar", "table.csv.carob.json", _files("table.csv.carob.json"), _sidecar),
    Target("expression", "input", _texts(*_EXPRESSIONS), _golden),
)  # fmt: skip
