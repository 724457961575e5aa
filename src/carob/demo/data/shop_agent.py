"""The support agent of Mara's Bikes, small enough for a demo: fixed rules instead of a model."""

from __future__ import annotations

from typing import Any

ORDERS = {"MB-20418": "left our warehouse on 3 March and will be with you on Thursday, 5 March"}
STOCK = {"studded winter tyre": (6, 39)}


def answer(message: str, *, tyre: str = "studded winter tyre") -> dict[str, Any]:
    """Answer a question, and look up what the answer needs."""
    words = message.lower()
    if "order" in words:
        order = next((name for name in ORDERS if name.lower() in words), "")
        call = {"name": "lookup_order", "args": {"order_id": order}}
        return {"response": f"Order {order} {ORDERS[order]}.", "tool_calls": [call]}
    if "tyres" in words:
        call = {"name": "find_stock", "args": {"item": tyre, "size": "28"}}
        if tyre not in STOCK:
            return {"response": "I am sorry, they are sold out.", "tool_calls": [call]}
        number, price = STOCK[tyre]
        text = f"Yes, we have {number} {tyre}s in 28 inches in stock, at {price} euros each."
        return {"response": text, "tool_calls": [call]}
    return {"response": "On Saturday we are open from 10:00 to 16:00.", "tool_calls": []}


def answer_regressed(message: str) -> dict[str, Any]:
    """Answer as release 1.5.0 does, which asks for the wrong tyre."""
    return answer(message, tyre="winter tyre")
