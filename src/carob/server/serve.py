"""Run the server: bind the ports, say where they are, and stop when asked to."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import sys
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from carob.api.golden.folder import GoldenFolder
from carob.api.serving.ingest import Ingest
from carob.api.serving.leases import Leases
from carob.api.serving.run_jobs import RunJobs
from carob.api.serving.tokens import TokenCheck, list_tokens
from carob.api.serving.trace_uploads import UPLOADS
from carob.api.serving.upkeep import Upkeep
from carob.api.store import prepare_store, store_arguments
from carob.errors import UsageError, install_hint
from carob.processes import call_when_stopped
from carob.server.app import create_app
from carob.server.events import EventStream, events_route
from carob.server.mcp_route import mcp_route
from carob.server.otlp import otlp_routes
from carob.server.security import FindRoles, HostNames
from carob.server.workspace import Workspace

if TYPE_CHECKING:
    from carob.server.otlp_grpc import GrpcReceiver

_DRAIN_SECONDS = 10
_MAX_HEAD_BYTES = 64 << 10


class Ports(NamedTuple):
    """The ports to listen on; 0 is any free one."""

    pages: int
    otlp: int
    grpc: int


class Listener(NamedTuple):
    """A port and what answers there."""

    name: str
    """What the first lines call it, such as `pages`."""
    app: ASGIApp
    socket: socket.socket

    @property
    def address(self) -> str:
        """The address to type."""
        return f"http://{host_and_port(self.socket)}"


def serve(
    store: str,
    host: str,
    ports: Ports,
    *,
    allowed_hosts: Sequence[str] = (),
    require_token: bool = False,
    folder: GoldenFolder,
    announce: Callable[[str], None],
) -> None:
    """Serve a store until SIGINT or SIGTERM."""
    prepare_store(store)
    find_roles = TokenCheck(store).roles if require_token or not is_loopback(host) else None
    if find_roles and not list_tokens(store):
        hint = "make one with `carob serve token new NAME --role read`"
        raise UsageError("a token is required, and there is none", hint=hint)
    with ExitStack() as stack:
        pages, otlp = bind(host, ports.pages, stack), bind(host, ports.otlp, stack)
        events = EventStream()
        ingest = stack.enter_context(Ingest(store, changed=_session_listener(events)))
        receivers = otlp_routes(ingest)
        bound = {"pages": pages, "otlp": otlp}
        addresses = {name: f"http://{host_and_port(port)}" for name, port in bound.items()}
        leases = Leases(store)
        stack.callback(leases.close)
        jobs = RunJobs(lambda job: events.publish("run", job), leases=leases)
        stack.callback(jobs.close)
        upkeep = Upkeep(store, folder, publish=events.publish, leases=leases)
        stack.callback(upkeep.close)
        workspace = Workspace(
            store=store,
            store_arguments=store_arguments(store),
            golden=folder.path,
            registry=folder.registry,
            uploads=folder.path.parent / UPLOADS,
            addresses=addresses,
            jobs=jobs,
            publish=events.publish,
            refused=lambda: ingest.refused,
            upkeep=upkeep,
        )
        for rule in upkeep.rules:
            if rule.problem:
                announce(f"warning: rule {rule.name} does not work: {rule.problem}")
        upkeep.start()
        rest = create_app(
            workspace,
            hosts=known_hosts(pages, allowed_hosts),
            find_roles=find_roles,
            routes=[*receivers, events_route(events), mcp_route(store)],
        )
        receiver = create_app(
            workspace,
            hosts=known_hosts(otlp, allowed_hosts),
            find_roles=find_roles,
            routes=receivers,
            with_rest=False,
        )
        grpc = _grpc_receiver(ingest, host, ports.grpc, find_roles)
        listeners = [Listener("pages", rest, pages), Listener("otlp", receiver, otlp)]
        run_listeners(listeners, grpc, events, announce, addresses)


def _session_listener(events: EventStream) -> Callable[[list[str]], None]:
    def changed(sessions: list[str]) -> None:
        for session in sessions:
            events.publish("session", {"id": session})

    return changed


def _grpc_receiver(
    ingest: Ingest, host: str, port: int, find_roles: FindRoles | None
) -> GrpcReceiver | None:
    """The receiver, unless its extra is not installed."""
    try:
        from carob.server.otlp_grpc import GrpcReceiver  # late: gRPC is an extra of its own
    except ModuleNotFoundError:
        return None
    return GrpcReceiver(ingest, host, port, find_roles)


def bind(host: str, port: int, stack: ExitStack) -> socket.socket:
    """Bind a port; 0 takes a free one."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        bound = stack.enter_context(socket.socket(family, socket.SOCK_STREAM))
        if sys.platform != "win32":  # where it lets two servers share a port
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        hint = "choose another port; 0 takes a free one"
        raise UsageError(f"cannot listen on {host} port {port}: {reason}", hint=hint) from error
    return bound


def host_and_port(bound: socket.socket) -> str:
    """Return the host and port of a socket as they stand in an address."""
    host, port = bound.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach a host."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def known_hosts(bound: socket.socket, allowed: Iterable[str] = ()) -> HostNames:
    """Return the `Host` headers that mean this server."""
    address, port = bound.getsockname()[:2]
    names = {address}
    is_any = ipaddress.ip_address(address).is_unspecified
    if is_any or is_loopback(address):
        names |= {"127.0.0.1", "localhost", "::1"}
    hosts = [f"[{name}]" if ":" in name else name for name in sorted(names)]
    bare = hosts if port in (80, 443) else ()
    exact = (*(f"{host}:{port}" for host in hosts), *bare)
    return HostNames(exact, allowed, any_address=is_any)


def run_listeners(
    listeners: Sequence[Listener],
    grpc: GrpcReceiver | None,
    events: EventStream,
    announce: Callable[[str], None],
    addresses: dict[str, str],
) -> None:
    """Serve until SIGINT or SIGTERM; requests that are being answered are finished first. The
    address of the gRPC receiver is added to `addresses` when it is known."""
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(_run(listeners, grpc, events, announce, addresses))


async def _run(
    listeners: Sequence[Listener],
    grpc: GrpcReceiver | None,
    events: EventStream,
    announce: Callable[[str], None],
    addresses: dict[str, str],
) -> None:
    servers = [_Server(_config(listener)) for listener in listeners]
    loop = asyncio.get_running_loop()
    call_when_stopped(loop, partial(_stop, servers, events))
    if grpc:
        addresses["grpc"] = await grpc.start()
    tasks = [
        asyncio.create_task(server.serve(sockets=[listener.socket]))
        for server, listener in zip(servers, listeners, strict=True)
    ]
    while not all(server.started for server in servers):
        if any(task.done() for task in tasks):
            break
        await asyncio.sleep(0.01)
    for listener in listeners:
        announce(f"{listener.name} {listener.address}{'/' if listener.name == 'pages' else ''}")
    announce(f"grpc {addresses['grpc']}" if grpc else f"grpc off: {install_hint('grpc')}")
    announce("ready")
    await asyncio.gather(*tasks)
    if grpc:
        await grpc.stop(_DRAIN_SECONDS)


class _Server(uvicorn.Server):
    """A server that leaves signals to us: several of them share one process."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


class _LimitedProtocol(HttpToolsProtocol):
    """Ends connections whose headers do not end: the parser itself would collect them for ever."""

    _head_bytes = 0
    _is_in_head = True

    def on_message_begin(self) -> None:
        self._head_bytes, self._is_in_head = 0, True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._is_in_head = False
        super().on_headers_complete()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._head_bytes += len(data)
        if self._is_in_head and self._head_bytes > _MAX_HEAD_BYTES:
            self.send_400_response("The headers are too large.")


def _stop(servers: Iterable[uvicorn.Server], events: EventStream) -> None:
    events.close()  # else the server would wait for the streams, which never end by themselves
    for server in servers:
        server.should_exit = True


def _config(listener: Listener) -> uvicorn.Config:
    return uvicorn.Config(
        listener.app,
        http=_LimitedProtocol,
        ws="none",
        lifespan="off",
        access_log=False,
        log_level="warning",
        server_header=False,
        timeout_graceful_shutdown=_DRAIN_SECONDS,
    )


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:  # Windows
        return None
    return uvloop.new_event_loop
