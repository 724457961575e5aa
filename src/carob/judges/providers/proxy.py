"""The proxy that the environment names. aiohttp would look it up in a thread for each call, and
take passwords out of ~/.netrc besides."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from carob.errors import UsageError
from carob.judges.providers.keys import Keys


@dataclass(frozen=True, kw_only=True)
class Proxy:
    """Where requests go first."""

    url: str = field(repr=False)
    keys: Keys


def find_proxy(url: str) -> Proxy | None:
    """The proxy for an address, or `UsageError` if it is of a kind that cannot be used."""
    parts = urlsplit(url)
    found = None if proxy_bypass(parts.hostname or "") else getproxies().get(parts.scheme)
    if not found:
        return None
    proxy = urlsplit(found)
    if proxy.scheme not in ("http", "https") or not proxy.hostname:
        raise UsageError(
            f"the proxy for {parts.scheme} is not an address of http or https",
            hint=f"mend the environment, or name {parts.hostname} in NO_PROXY",
        )
    return Proxy(url=found, keys=Keys(unquote(proxy.password) if proxy.password else None))
