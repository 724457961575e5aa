"""The tokens of a server."""

from __future__ import annotations

from carob.api.serving import tokens as tokens_api
from carob.schema.base import Struct
from carob.schema.token import NewToken, TokenInfo, TokenRole
from carob.server.binding import Endpoints, Query, Reply
from carob.server.workspace import Workspace

endpoints = Endpoints()


class TokenList(Struct, frozen=True, omit_defaults=False):
    """The tokens of a server, without their secrets."""

    tokens: tuple[TokenInfo, ...]


class TokenRequest(Query, frozen=True):
    """A token to make."""

    name: str
    roles: tuple[TokenRole, ...]


class TokenPath(Query, frozen=True):
    """A token."""

    token: str


@endpoints.get("/api/tokens", role="write")
def list_tokens(workspace: Workspace) -> TokenList:
    """List the tokens, without their secrets, as `carob serve token list` does."""
    return TokenList(tokens_api.list_tokens(workspace.store))


@endpoints.post("/api/tokens")
def new_token(workspace: Workspace, body: TokenRequest) -> Reply[NewToken]:
    """Make a token. It is shown once."""
    return Reply(tokens_api.new_token(workspace.store, body.name, body.roles), 201)


@endpoints.delete("/api/tokens/{token}")
def remove_token(workspace: Workspace, path: TokenPath) -> None:
    """Remove a token."""
    tokens_api.remove_token(workspace.store, path.token)
