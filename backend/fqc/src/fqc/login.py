"""`fqc login`: from a password, once, to a token in a context."""

from __future__ import annotations

import socket
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fqc import contexts
from fqc.asking import secret
from fqc.call import Call
from fqc.contexts import Context
from fqc.failure import Exit, Failure
from fqc.noun import single
from fqc.options import DRY_RUN, READ
from fqc.token import Scope

if TYPE_CHECKING:
    from fqc.api import Api

USUAL_DAYS = 30


def login(
    call: Call,
    username: Annotated[str, typer.Option("--username", "-u", help="User name.", prompt=True)],
    password_stdin: Annotated[bool, typer.Option("--password-stdin", help="Read the password from stdin.")] = False,
    scope: Annotated[Scope | None, typer.Option(help="Highest role of the token; default: yours.")] = None,
    days: Annotated[int | None, typer.Option(min=1, help="Days the token is valid; default: 30 or fewer.")] = None,
) -> None:
    """Log in with a password and save a token.

    The token is saved in a context (`default`, or --context), which becomes the current one.
    """
    name = call.context or "default"
    file = contexts.path()
    kept = contexts.load(file)
    url = call.url or (kept.contexts[name].url if name in kept.contexts else None)
    if not url:
        raise Failure("No control plane is configured.", Exit.USAGE, hint="Use --url http://host:port")
    if call.is_dry_run:
        call.would("POST", "tokens", _wanted(scope.value if scope else "what you may", days or USUAL_DAYS))
        return
    password = secret(f"Password of {username} at {url}", from_stdin=password_stdin)
    token = _token(url, username, password, scope, days)
    kept.contexts[name] = Context(url, token["token"], token["id"], username)
    kept.current = name
    contexts.save(file, kept)
    shown = {
        "context": name,
        "url": url,
        "username": username,
        "scope": token["scope"],
        "expires_at": token["expires_at"],
    }
    call.show_facts(
        shown, {"Context": "context", "Address": "url", "User": "username", "Scope": "scope", "Until": "expires_at"}
    )


def _token(url: str, username: str, password: str, scope: Scope | None, days: int | None) -> Any:
    """A session as the console's, for as long as it takes to make the token."""
    from fqc.api import Api

    api = Api(Context(url))
    begun = api.get("auth/session")
    given = {"username": username, "password": password}
    session = _post(api, "auth/session", given, begun["csrf_token"])
    days = days or min(USUAL_DAYS, session["token_lifetime_days"])
    body = _wanted(scope.value if scope else session["role"], days)
    try:
        return _post(api, "tokens", body, session["csrf_token"])
    finally:
        api.request("DELETE", "auth/session", headers=_proof(api, session["csrf_token"]))


def _wanted(scope: str, days: int) -> dict[str, str]:
    return {
        "name": f"fqc on {socket.gethostname()}"[:100],
        "scope": scope,
        "expires_at": (datetime.now(UTC) + timedelta(days=days)).isoformat(),
    }


def _post(api: Api, path: str, body: Any, csrf_token: str) -> Any:
    return api.request("POST", path, body=body, headers=_proof(api, csrf_token)).json()


def _proof(api: Api, csrf_token: str) -> dict[str, str]:
    return {"X-CSRFToken": csrf_token, "Origin": api.url, "Referer": f"{api.url}/"}


app = single("login", login, READ | DRY_RUN)
