"""The fixed text around a rubric, the same for all judges. Changing it invalidates calibrations."""

from __future__ import annotations

from collections.abc import Iterable

from carob.judges.rubrics.fence import FENCE_RULES
from carob.judges.rubrics.rubric import RubricKind

ROLE = """\
You are a judge. You are shown what an AI agent was asked and what it did, and you judge it by the \
rubric below and by nothing else. Judge what is there, not what you would have said: neither \
length nor a confident tone is a merit, and what the material does not show has not happened. \
Where the rubric leaves room, take the lower of two answers that fit equally well."""

_MISSING = "A part that is not there was not recorded: do not hold that against the agent."
_ANSWER: dict[RubricKind, str] = {
    "numbers": """\
Answer with a JSON object. `thoughtChain`: what you compared, step by step, in a few short \
sentences. `explanation`: the reason for the score in one or two sentences that a reader of a \
report understands without the material. `score`: {score}.""",
    "yes/no": """\
Answer with a JSON object. `explanation`: the reason for the verdict in one or two sentences that \
a reader of a report understands without the material. `verdict`: "yes" or "no".""",
    "properties": """\
Answer with a JSON object that has one field for each property, under its name, and leaves none \
out. Each field is an object. `explanation`: the reason in one sentence. `verdict`: "yes" if the \
property holds or does not apply here, and "no" if it does not hold or cannot be seen to hold from \
the material. Judge each property on its own.""",
    "sentences": """\
Answer with a JSON object that has one field for each sentence, under its name, and leaves none \
out. Each field is an object. `explanation`: the reason in one sentence, with the words of the \
source that decide it. `label`: "supported" if the sources say it or it follows from them; \
"unsupported" if they do not; "contradictory" if they say otherwise; "disputed" if some say so and \
some otherwise; "not_applicable" if the sentence claims nothing that a source could bear out, such \
as a greeting, a question, an offer or an opinion. What you know from elsewhere is no source.""",
}


def build_instructions(
    kind: RubricKind, rubric: str, parts: Iterable[tuple[str, str]], score: str = ""
) -> str:
    """Return the system prompt. `parts` are the parts of the material with their meanings."""
    material = "\n".join(f"- {name}: {meaning}" for name, meaning in parts)
    blocks = [
        ROLE,
        f"# Rubric\n\n{rubric}",
        f"# Material\n\n{_MISSING}\n\n{material}\n\n{FENCE_RULES}",
        f"# Answer\n\n{_ANSWER[kind].format(score=score)}",
    ]
    return "\n\n".join(block for block in blocks if block)
