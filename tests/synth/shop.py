"""A small garden shop: cases with calls, and the declarations of its tools."""

from __future__ import annotations

from carob.schema import Case, Json, ToolCall, ToolResult, Turn
from carob.synth.generate import RELATIONS
from carob.synth.relation import Draw, Variant
from carob.synth.tool_schemas import find_tools
from carob.synth.world import World

TOOLS: Json = [
    {
        "type": "function",
        "function": {
            "name": "find_order",
            "parameters": {
                "properties": {
                    "order_id": {"type": "string", "minLength": 6},
                    "carrier": {"type": "string", "enum": ["bike", "van", "post"]},
                },
                "required": ["order_id"],
                "additionalProperties": False,
            },
        },
    },
    {
        "name": "track_parcel",
        "inputSchema": {"properties": {"parcel": {"type": "string"}}, "required": ["parcel"]},
    },
]


def order_case(id: str, user: str, response: str = "It arrives on Friday.", **args: Json) -> Case:
    call = ToolCall(name="find_order", args=args, id="c1")
    result = ToolResult(name="find_order", id="c1", result={"parcel": f"P-{id}", "days": 2})
    turn = Turn(user=user, response=response, tool_calls=(call,), tool_results=(result,))
    return Case(id=id, turns=(turn,), state={"seen": True}, contains=("Friday",))


FERN = order_case("fern", "Where is my order GS-1041?", order_id="GS-1041")
ROSE = order_case("rose", "Where is my order GS-2077 by van?", order_id="GS-2077", carrier="van")
SOIL = Case.of("How much compost does a raised bed need?", "About 300 litres.", id="soil")


def world(*cases: Case, tools: Json = TOOLS) -> World:
    return World(cases=cases or (FERN, ROSE, SOIL), tools=find_tools(tools))


def vary(relation: str, case: Case, where: World | None = None, seed: str = "0") -> Variant | None:
    return RELATIONS[relation].vary(case, Draw(seed, relation, case.id), where or world())


def variants(relation: str, case: Case, where: World | None = None, number: int = 30) -> list[Case]:
    made = [vary(relation, case, where, str(seed)) for seed in range(number)]
    return [variant.case for variant in made if variant]


def users(case: Case) -> list[str | None]:
    return [turn.user for turn in case.turns]
