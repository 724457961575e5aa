"""`carob trust`, and every door through which a config could send something: a real server on
loopback records what arrives."""

from __future__ import annotations

import json
import shutil
from collections.abc import Generator
from importlib import resources
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import carob as library
from carob.cli import carob
from carob.errors import CarobError, UntrustedError, UsageError
from tests.judges.scripted_server import ScriptedServer, ServerResponse, json_response

SECRET = "sk-test-4f1b9d2c7e"  # noqa: S105 - made up
RUN = ("run", "--golden", "support.explain.jsonl", "-m", "TaskAdherence", "--no-store")


@pytest.fixture(autouse=True)
def _shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shop = tmp_path / "shop"
    with resources.as_file(resources.files("carob") / "demo" / "data") as data:
        shutil.copytree(data, shop)
    monkeypatch.chdir(shop)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.setenv("GITHUB_TOKEN", SECRET)


@pytest.fixture
def thief() -> Generator[ScriptedServer]:
    answer = {"thoughtChain": "", "explanation": "Good.", "score": 5}
    choice = {"message": {"role": "assistant", "content": json.dumps(answer)}}
    with ScriptedServer(json_response({"choices": [choice | {"finish_reason": "stop"}]})) as server:
        yield server


def write_config(thief: ScriptedServer, key: str = "OPENAI_API_KEY") -> None:
    Path("carob.toml").write_text(
        f'[judge]\nmodel = "openai:judge"\nurl = "{thief.url}/v1"\nkey_env = "{key}"\n'
        '[run]\ngolden = "support.explain.jsonl"\n[gate]\nmin_pass_rate = 0.1\n'
    )


def invoke(*args: str) -> Result:
    return CliRunner().invoke(carob, args)


def error_of(result: Result) -> CarobError:
    assert isinstance(result.exception, CarobError)
    return result.exception


def test_nothing_arrives_before_trust(thief: ScriptedServer):
    write_config(thief)
    error = error_of(invoke(*RUN))
    assert isinstance(error, UntrustedError)
    assert error.exit_code == 2
    assert error.where == "carob.toml" or str(error.where).endswith("/carob.toml")
    assert error.message == (
        f"settings that need your trust: judge.url = {thief.url}/v1; judge.key_env = OPENAI_API_KEY"
    )
    assert "`carob trust " in str(error.hint)
    assert "CAROB_TRUST=sha256:" in str(error.hint)
    assert not thief.requests

    trusted = invoke("trust")
    assert trusted.exit_code == 0
    assert f"judge.url = {thief.url}/v1  (judges send prompts to this address)" in trusted.stdout
    assert not thief.requests

    assert invoke(*RUN).exit_code == 0
    assert thief.requests[0].headers["authorization"] == f"Bearer {SECRET}"


def test_trust_is_listed_and_revoked(thief: ScriptedServer):
    write_config(thief)
    invoke("trust", "--yes")
    assert "1 trusted file\n" in invoke("trust", "--list").stdout
    listed = json.loads(invoke("trust", "--list", "--format", "json").stdout)
    assert listed["trusted"][0]["file"] == str(Path("carob.toml").resolve())
    assert invoke("trust", "--revoke").exit_code == 0
    assert isinstance(error_of(invoke(*RUN)), UntrustedError)
    assert not thief.requests


def test_trust_of_a_config_without_sensitive_settings_records_nothing():
    Path("carob.toml").write_text('judge = "openai:gpt-5-mini"\n')
    assert "no setting needs trust" in invoke("trust").stderr
    assert "0 trusted files" in invoke("trust", "--list").stdout


@pytest.mark.parametrize("how", ["option", "variable", "digest"])
def test_ci_can_trust_without_a_record(
    thief: ScriptedServer, monkeypatch: pytest.MonkeyPatch, how: str
):
    write_config(thief)
    if how == "variable":
        monkeypatch.setenv("CAROB_TRUST", "1")
    if how == "digest":
        digest = json.loads(invoke("trust", "--format", "json").stdout)["digest"]
        invoke("trust", "--revoke")
        monkeypatch.setenv("CAROB_TRUST", digest)
    assert invoke(*RUN, *(["--trust-config"] if how == "option" else [])).exit_code == 0
    assert thief.requests


def test_harmless_settings_and_commands_need_no_trust(thief: ScriptedServer):
    write_config(thief)
    run = invoke("run", "-m", "latency", "--format", "json", "-o", "run.json")
    assert not isinstance(run.exception, CarobError)
    for args in (["lint", "support.explain.jsonl"], ["gate", "run.json"], ["runs"]):
        assert not isinstance(invoke(*args).exception, UntrustedError), args
    assert invoke(*RUN, "--dry-run").exit_code == 0
    assert not thief.requests


def test_settings_of_the_command_line_need_no_trust(thief: ScriptedServer):
    write_config(thief)
    url = ("--judge-url", f"{thief.url}/v1")
    assert isinstance(error_of(invoke(*RUN, *url)), UntrustedError)  # the key is still the file's
    assert not thief.requests
    assert invoke(*RUN, *url, "--judge-key-env", "GITHUB_TOKEN").exit_code == 0
    assert thief.requests[0].headers["authorization"] == f"Bearer {SECRET}"


@pytest.mark.parametrize("trust", [[], ["--trust-config"]])
def test_config_never_sends_a_secret_that_is_not_a_judge_key(
    thief: ScriptedServer, trust: list[str]
):
    write_config(thief, key="GITHUB_TOKEN")
    error = error_of(invoke(*RUN, *trust))
    assert "'GITHUB_TOKEN' is not a variable for a key of openai" in str(error)
    assert not thief.requests


@pytest.mark.parametrize(
    "args",
    [
        ("calibrate", "labels.csv", "--metric", "TaskAdherence"),
        (*RUN, "-c", "carob.toml"),
        (*RUN, "-c", "other/settings.toml"),
        (*RUN, "--judge", "openai:another"),
    ],
)
def test_every_command_refuses(thief: ScriptedServer, args: tuple[str, ...]):
    write_config(thief)
    Path("other").mkdir()
    shutil.copy("carob.toml", "other/settings.toml")
    case = json.loads(Path("support.explain.jsonl").read_text().splitlines()[0])["case_id"]
    Path("labels.csv").write_text(f"case,label\n{case},pass\n")
    assert isinstance(error_of(invoke(*args)), UntrustedError)
    assert not thief.requests


def test_python_and_project_files_are_no_doors(thief: ScriptedServer):
    write_config(thief)
    Path("pyproject.toml").write_text(f'[tool.carob.judge]\nurl = "{thief.url}/v1"\n')
    with pytest.raises(UsageError, match="no judge is configured"):
        library.run(golden="support.explain.jsonl", metrics=["TaskAdherence"])
    Path("carob.toml").unlink()
    assert "no judge is configured" in str(error_of(invoke(*RUN)))
    assert not thief.requests


def test_configs_of_other_tools_are_no_doors(thief: ScriptedServer):
    Path("eval_config.yaml").write_text(
        "evaluators:\n  - name: final_response_match_v2\n    type: builtin\n"
        f"    judge_model: openai:m\n    judge_base_url: {thief.url}\n"
        "    credential_ref: GITHUB_TOKEN\n"
    )
    error = error_of(invoke("run", "-g", "support.explain.jsonl", "-c", "eval_config.yaml"))
    assert "judge_base_url" in str(error) or "credential_ref" in str(error)
    assert not thief.requests


@pytest.mark.parametrize("more", ["url = 'http://127.0.0.1:1'", "key_env = 'OPENAI_API_KEY'"])
def test_rubric_cannot_name_an_address_or_a_key(more: str):
    rubric = "question = 'Good?'\nscale = 'yes/no'\ninputs = ['response']\nmodel = 'openai:m'\n"
    Path("tone.toml").write_text(rubric + more)
    Path("carob.toml").write_text("[metrics.tone]\nrubric = 'tone.toml'\n")
    error = error_of(invoke("run", "-g", "support.explain.jsonl"))
    assert "unknown key" in str(error)


def test_rubric_cannot_name_the_file_of_a_model():
    rubric = "question = 'Good?'\nscale = 'yes/no'\ninputs = ['response']\n"
    Path("tone.toml").write_text(f"{rubric}model = 'local:weights.gguf'\n")
    Path("carob.toml").write_text("[metrics.tone]\nrubric = 'tone.toml'\n")
    error = error_of(invoke("run", "-g", "support.explain.jsonl"))
    assert isinstance(error, UntrustedError)
    assert "cannot name the file of a model" in error.message


def test_golden_data_names_no_judge(thief: ScriptedServer):
    row = json.loads(Path("support.explain.jsonl").read_text().splitlines()[0])
    judge = {"model": "openai:m", "url": f"{thief.url}/v1", "key_env": "OPENAI_API_KEY"}
    Path("row.jsonl").write_text(json.dumps(row | {"judge": judge, **judge}) + "\n")
    error = error_of(invoke("run", "-g", "row.jsonl", "-m", "TaskAdherence"))
    assert "no judge is configured" in str(error)
    assert not thief.requests


def test_redirect_does_not_carry_the_key(thief: ScriptedServer):
    moved = ServerResponse(status=307, headers={"Location": f"{thief.url}/v1/chat/completions"})
    with ScriptedServer(moved) as judge:
        url = ("--judge-url", f"{judge.url}/v1", "--judge-key-env", "OPENAI_API_KEY")
        result = invoke(*RUN, "--judge", "openai:m", *url, "--max-calls", "1")
        assert judge.requests
    assert result.exit_code == 1
    assert not thief.requests


@pytest.mark.parametrize("more", [[], ["-m", "latency"], ["--repeat", "2"]])
def test_code_of_a_config_does_not_run_before_trust(more: list[str]):
    Path("agent.py").write_text("open('ran', 'w').close()\ndef answer(message): return 'Yes.'\n")
    Path("carob.toml").write_text('target = "python:agent.py:answer"\n')
    run = ["run", "--golden", "support_golden.json", "--no-store", "-m", "contains", *more]
    assert isinstance(error_of(invoke(*run)), UntrustedError)
    assert not Path("ran").exists()
    assert invoke("trust").exit_code == 0
    assert not Path("ran").exists()
    assert not isinstance(invoke(*run).exception, UntrustedError)


def test_target_of_the_command_line_does_not_take_over_untrusted_settings(thief: ScriptedServer):
    Path("agent.py").write_text("def answer(message): return 'Yes.'\n")
    Path("carob.toml").write_text(
        f'[target]\nname = "chat:m"\nurl = "{thief.url}"\nkey_env = "OPENAI_API_KEY"\n'
    )
    run = ("run", "--golden", "support_golden.json", "--no-store", "-m", "contains")
    assert invoke(*run, "--target", "python:agent.py:answer").exit_code in (0, 1)
    assert not thief.requests
