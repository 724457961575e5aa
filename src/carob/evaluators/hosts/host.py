"""Load a Python evaluator of another tool once, and call it for every line on stdin.

`host.py KIND REFERENCE [FUNCTION]` runs in the Python of the evaluator, which may not have Carob:
it imports nothing but the standard library, and what the evaluator itself needs.
"""

# pyright: basic
from __future__ import annotations

import asyncio
import importlib
import importlib.util
import inspect
import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any


def load_module(reference: str) -> Any:
    """Import a file or a module, which may import its neighbours, or read a grader file."""
    if reference.endswith(".json"):
        document = json.loads(Path(reference).read_text("utf-8"))
        return document.get("grader", document)
    if not reference.endswith(".py"):
        sys.path.insert(0, str(Path.cwd()))
        return importlib.import_module(reference)
    sys.path.insert(0, str(Path(reference).resolve().parent))
    name = Path(reference).stem
    spec = importlib.util.spec_from_file_location(name, reference)
    module = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]
    sys.modules[name] = module
    spec.loader.exec_module(module)  # type: ignore[union-attr]
    return module


def call(function: Any, *args: Any, **kwargs: Any) -> Any:
    """Call a function, and wait for its result if it is async."""
    result = function(*args, **kwargs)
    return asyncio.run(result) if inspect.iscoroutine(result) else result


def agentevals(module: Any, _name: str | None) -> Any:
    """The only function with the decorator of the SDK."""
    functions = [value for value in vars(module).values() if hasattr(value, "run")]
    functions = [value for value in functions if inspect.isfunction(value)]
    types = importlib.import_module("agentevals_evaluator_sdk")
    (function,) = functions

    def answer(document: Any) -> Any:
        result = call(function, types.EvalInput.model_validate(document))
        return result.model_dump(mode="json")

    return answer


def promptfoo(module: Any, name: str | None) -> Any:
    """`get_assert(output, context)`, or the named function."""
    function = getattr(module, name or "get_assert")

    def answer(document: Any) -> Any:
        result = call(function, document["output"], document["context"])
        if hasattr(result, "__dict__") and not isinstance(result, dict):
            result = vars(result)
        return {"result": result}

    return answer


def adk(module: Any, name: str | None) -> Any:
    """A custom metric function of ADK."""
    function = getattr(module, name or "")
    cases = importlib.import_module("google.adk.evaluation.eval_case")
    metrics = importlib.import_module("google.adk.evaluation.eval_metrics")

    def answer(document: Any) -> Any:
        metric = metrics.EvalMetric.model_validate(document["metric"])
        actual = [cases.Invocation.model_validate(item) for item in document["actual"]]
        expected = document["expected"]
        if expected is not None:
            expected = [cases.Invocation.model_validate(item) for item in expected]
        scenario = None
        args = (metric, actual, expected, scenario)
        count = len(inspect.signature(function).parameters)
        result = call(function, *args[: min(count, 4)])
        return {
            "score": result.overall_score,
            "status": getattr(result.overall_eval_status, "name", None),
            "per_invocation_scores": [item.score for item in result.per_invocation_results or ()],
        }

    return answer


def grader(document: Any, _name: str | None) -> Any:
    """`grade(sample, item)` of the Python graders in an OpenAI grader file."""
    functions: dict[str, Any] = {}

    def answer(pair: Any) -> Any:
        key = ".".join(pair["path"])
        if key not in functions:
            part = document
            for name in pair["path"]:
                part = part["graders"][name]
            namespace: dict[str, Any] = {}
            exec(compile(part["source"], f"grader {key}".strip(), "exec"), namespace)  # noqa: S102 - the user's code
            functions[key] = namespace["grade"]
        return {"score": call(functions[key], *pair["arguments"])}

    return answer


HOSTED = {"agentevals": agentevals, "promptfoo": promptfoo, "adk": adk, "openai": grader}


def main() -> None:
    """Answer lines until the input ends."""
    kind, reference, *names = sys.argv[1:]
    # What the evaluator prints goes to stderr: on stdout it would be taken for an answer.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    answer = HOSTED[kind](load_module(reference), names[0] if names else None)
    for line in sys.stdin:
        try:
            result = answer(json.loads(line))
        except Exception as error:  # noqa: BLE001 - whatever an evaluator raises is an answer
            last = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{Path(last.filename).name} line {last.lineno}"
            result = {"error": f"{type(error).__name__}: {error} ({where})"}
        out.write(json.dumps(result) + "\n")
        out.flush()


if __name__ == "__main__":
    main()
