"""A fake judge provider with a fixed latency and answer, to measure the client.

It implements the APIs of OpenAI and Gemini. `python -m bench.judge_server --latency 0.2` prints its
URL and serves until it is stopped.
"""

from __future__ import annotations

import argparse
import asyncio
import json

from aiohttp import web
from aiohttp.typedefs import Handler

# The answers that Carob and google-adk expect.
_OURS = json.dumps({"explanation": "It says the same.", "verdict": "yes"})
_ADK = json.dumps({"reasoning": "It says the same.", "is_the_agent_response_valid": "valid"})
_OPENAI = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1700000000,
    "model": "judge",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": _OURS},
            "finish_reason": "stop",
        }
    ],
    "usage": {"prompt_tokens": 400, "completion_tokens": 12, "total_tokens": 412},
}
_GEMINI = {
    "candidates": [
        {"content": {"role": "model", "parts": [{"text": _ADK}]}, "finishReason": "STOP"}
    ],
    "usageMetadata": {"promptTokenCount": 400, "candidatesTokenCount": 12, "totalTokenCount": 412},
}


async def serve(latency: float, port: int) -> None:
    """Serve until cancelled."""

    def respond_with(answer: object) -> Handler:
        body = json.dumps(answer).encode()

        async def answered(request: web.Request) -> web.Response:
            await request.read()
            await asyncio.sleep(latency)
            return web.Response(body=body, content_type="application/json")

        return answered

    app = web.Application()
    app.router.add_post("/v1/chat/completions", respond_with(_OPENAI))
    app.router.add_post("/v1beta/models/{model}", respond_with(_GEMINI))
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    print(f"http://127.0.0.1:{runner.addresses[0][1]}", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--latency", type=float, default=0.2, help="seconds before each answer")
    parser.add_argument("--port", type=int, default=0, help="0 chooses a free port")
    asyncio.run(serve(**vars(parser.parse_args())))
