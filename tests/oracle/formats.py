"""Load golden files with the tools that define their formats.

Each line of standard input is the name of a tool and a path; each line of the output is what the
tool read: the input, the expected output and more of every case, or the error. Run by the
interpreter of `.peers`, which has the tools; it must not import Carob.
"""

# pyright: basic, reportMissingImports=false
from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any

os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "YES"
Rows = list[dict[str, Any]]


def read_pydantic_evals(path: str) -> Rows:
    from pydantic_evals import Dataset
    from pydantic_evals.evaluators import LLMJudge

    dataset = Dataset[Any, Any, Any].from_file(path)
    return [
        {
            "id": case.name,
            "input": case.inputs,
            "expected": case.expected_output,
            "rubrics": [e.rubric for e in case.evaluators if isinstance(e, LLMJudge)],
        }
        for case in dataset.cases
    ]


def read_inspect(path: str) -> Rows:
    from inspect_ai.dataset import csv_dataset, json_dataset

    dataset = csv_dataset(path) if path.endswith(".csv") else json_dataset(path)
    return [
        {
            "id": sample.id,
            "input": sample.input
            if isinstance(sample.input, str)
            else [{"role": message.role, "text": message.text} for message in sample.input],
            "expected": sample.target,
        }
        for sample in dataset
    ]


def read_deepeval(path: str) -> Rows:
    from deepeval.dataset import EvaluationDataset

    dataset = EvaluationDataset()
    if path.endswith(".csv"):
        dataset.add_goldens_from_csv_file(
            path,
            context_col_name="context",
            retrieval_context_col_name="retrieval_context",
            expected_tools_col_name="expected_tools",
            tools_called_col_name="tools_called",
        )
    else:
        dataset.add_goldens_from_json_file(path)
    return [
        {
            "input": getattr(golden, "input", None) or getattr(golden, "scenario", None),
            "expected": getattr(golden, "expected_output", None)
            or getattr(golden, "expected_outcome", None),
            "context": golden.context or None,
            "recorded": getattr(golden, "actual_output", None),
            "tools": [
                tool if isinstance(tool, str) else tool.name
                for tool in getattr(golden, "expected_tools", None) or ()
            ],
        }
        for golden in dataset.goldens
    ]


TOOLS: dict[str, Callable[[str], Rows]] = {
    "deepeval": read_deepeval,
    "inspect": read_inspect,
    "pydantic-evals": read_pydantic_evals,
}


def main() -> None:
    out, sys.stdout = sys.stdout, sys.stderr  # the tools print, too
    for line in sys.stdin:
        tool, path = json.loads(line)
        try:
            answer: Any = {"rows": TOOLS[tool](path)}
        except Exception as error:  # noqa: BLE001 - whatever it is, the tool refuses the file
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer, default=str), file=out, flush=True)


if __name__ == "__main__":
    main()
