"""A provider that takes a while and always says the same: what is left to measure is the caller.

python -m bench.judge_server --latency 0.2 prints its address, and serves until it is stopped.
"""

from __future__ import annotations

import argparse
import asyncio

from aiohttp import web

_ANSWER = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1700000000,
    "model": "judge",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": '{"verdict": "yes", "reason": "It is."}'},
            "finish_reason": "stop",
        }
    ],
    "usage": {"prompt_tokens": 400, "completion_tokens": 12, "total_tokens": 412},
}


async def serve(latency: float, port: int) -> None:
    """Until cancelled."""

    async def answer(request: web.Request) -> web.Response:
        await request.read()
        await asyncio.sleep(latency)
        return web.json_response(_ANSWER)

    app = web.Application()
    app.router.add_post("/v1/chat/completions", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    print(f"http://127.0.0.1:{runner.addresses[0][1]}/v1", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--latency", type=float, default=0.2, help="seconds before each answer")
    parser.add_argument("--port", type=int, default=0, help="0 is any that is free")
    asyncio.run(serve(**vars(parser.parse_args())))
