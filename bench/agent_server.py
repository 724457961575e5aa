"""An agent on loopback with a fixed latency, to measure the client of live runs.

`python -m bench.agent_server --latency 0.1` prints its URL and serves until it is stopped.
"""

from __future__ import annotations

import argparse
import asyncio

from aiohttp import web


def main() -> None:
    """Serve until the process is stopped."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--latency", type=float, required=True)
    latency: float = parser.parse_args().latency
    asyncio.run(_serve(latency))


async def _serve(latency: float) -> None:
    async def answer(request: web.Request) -> web.Response:
        await request.read()
        await asyncio.sleep(latency)
        return web.json_response({"reply": "The hose costs 19 euros."})

    app = web.Application()
    app.router.add_post("/", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    print(f"http://{host}:{port}/", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    main()
