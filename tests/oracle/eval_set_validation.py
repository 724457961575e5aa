"""What agentevals answers about an eval set, and whether its client understands our answer.

Run by the interpreter of `.peers`, which has agentevals; it must not import Carob.

Usage: python eval_set_validation.py FILE < OUR_ANSWER
"""

# pyright: basic, reportMissingImports=false
from __future__ import annotations

import json
import sys

from agentevals.adk_bridge import load_eval_set
from agentevals.api.models import EvalSetValidation, StandardResponse

ours = StandardResponse[EvalSetValidation].model_validate_json(sys.stdin.read()).data
try:
    loaded = load_eval_set(sys.argv[1])
    theirs = [True, loaded.eval_set_id, len(loaded.eval_cases)]
except Exception:  # noqa: BLE001 - any error of theirs means "not valid"
    theirs = [False, None, None]
sys.stdout.write(
    json.dumps({"ours": [ours.valid, ours.eval_set_id, ours.num_cases], "theirs": theirs})
)
