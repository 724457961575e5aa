"""Load documents with google-adk: a line of JSON in, a line of JSON out.

Run by the interpreter of `.peers`, which has google-adk; it must not import Carob.
"""

# pyright: basic, reportMissingImports=false
from __future__ import annotations

import json
import logging
import sys
import warnings

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)

from google.adk.evaluation.eval_set import EvalSet  # noqa: E402


def answer(document: object) -> dict[str, object]:
    """Whether google-adk loads the document, and its serialization."""
    try:
        loaded = EvalSet.model_validate_json(json.dumps(document))
        EvalSet.model_validate(document)
    except Exception as error:  # noqa: BLE001 - whatever it is, google-adk refuses the document
        return {"loads": False, "error": f"{type(error).__name__}: {error}"[:500]}
    document_out = loaded.model_dump_json(
        indent=2, exclude_unset=True, exclude_defaults=True, exclude_none=True
    )
    return {"loads": True, "error": None, "written": document_out, "full": loaded.model_dump_json()}


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)  # noqa: T201
