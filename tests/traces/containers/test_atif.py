"""ATIF: totals where steps have no counts, copied steps, and trajectories of sub-agents."""

from __future__ import annotations

from carob.schema import Json, Trace
from carob.traces.containers.detect import read_items


def read(*steps: Json, **fields: Json) -> list[Trace]:
    agent: Json = {"name": "shop", "model_name": "atlas-2"}
    document: Json = {"schema_version": "ATIF-v1.6", "agent": agent, "steps": list(steps), **fields}
    return [record for record in read_items([document], source="f") if isinstance(record, Trace)]


USER: Json = {"step_id": 1, "source": "user", "message": "Hi"}
ANSWER: Json = {"step_id": 2, "source": "agent", "message": [{"type": "text", "text": "Hello"}]}


def test_totals_count_only_if_no_step_does():
    totals: Json = {"total_prompt_tokens": 5, "total_completion_tokens": 2}
    (trace,) = read(USER, ANSWER, final_metrics=totals)
    assert (trace.turns[0].response, trace.usage.input_tokens) == ("Hello", 5)


def test_copied_steps_were_recorded_elsewhere():
    copied: Json = {"step_id": 0, "source": "user", "message": "Old", "is_copied_context": True}
    (trace,) = read(copied, USER, ANSWER)
    assert [turn.user for turn in trace.turns] == ["Hi"]


def test_embedded_subagent_is_a_trace_of_its_own():
    inner: Json = {
        "schema_version": "ATIF-v1.7",
        "trajectory_id": "t2",
        "agent": {},
        "steps": [USER],
    }
    traces = read(USER, ANSWER, trajectory_id="t1", subagent_trajectories=[inner])
    assert [trace.id for trace in traces] == ["t1", "t2"]
