"""`fqc login`: stores a token in a context. The token is made with a password, or was made in the console."""

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
    username: Annotated[str, typer.Option("--username", "-u", help="User name; asked for if needed.")] = "",
    password_stdin: Annotated[bool, typer.Option("--password-stdin", help="Read the password from stdin.")] = False,
    token_stdin: Annotated[bool, typer.Option("--token-stdin", help="Read a token from stdin instead.")] = False,
    scope: Annotated[Scope | None, typer.Option(help="Highest role of the token; default: yours.")] = None,
    days: Annotated[int | None, typer.Option(min=1, help="Days the token is valid; default: 30 or fewer.")] = None,
) -> None:
    """Log in with a password and save a token.

    The token is saved in a context (`default`, or --context), which becomes the current one. If you sign in by an
    identity provider, make a token in the console, and pass it with --token-stdin.
    """
    name = call.context or "default"
    file = contexts.path()
    kept = contexts.load(file)
    url = call.url or (kept.contexts[name].url if name in kept.contexts else None)
    if not url:
        raise Failure("No control plane is configured.", Exit.USAGE, hint="Use --url http://host:port")
    if call.is_dry_run:
        call.would("POST", "tokens", _wanted(scope.value if scope else "your role", days or USUAL_DAYS))
        return
    if token_stdin:
        token = _given(url, secret("Token", from_stdin=True))
    else:
        _refuse_without_passwords(url, username)
        username = username or typer.prompt("Username", err=True)
        token = _made(url, username, secret(f"Password of {username} at {url}", from_stdin=password_stdin), scope, days)
    username = token["username"]
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


def _refuse_without_passwords(url: str, username: str) -> None:
    """Raises a Failure before a password is asked for, if users log in with an identity provider. Not for a given user
    name: the local administrator may still have a password.
    """
    from fqc.api import Api

    session = Api(Context(url)).get("auth/session")
    if not session.get("has_passwords", True) and not username:
        place = f"{url}/access?tab=tokens"
        raise Failure(
            f"People sign in at {url} with {session['provider']}, not with a password.",
            Exit.DENIED,
            hint=f"Create a token at {place}, then: fqc login --url {url} --token-stdin",
        )


def _given(url: str, text: str) -> Any:
    """Returns the token's record with the token itself. Raises a Failure if it is not a token of its user's."""
    from fqc.api import Api

    mine = Api(Context(url, text)).items("tokens")
    found = next((each for each in mine if text.startswith(f"{each['prefix']}_")), None)
    if found is None:
        raise Failure("This token does not belong to you.", Exit.DENIED)
    return {**found, "token": text}


def _made(url: str, username: str, password: str, scope: Scope | None, days: int | None) -> Any:
    """Creates a token with a password, and returns its record with the token itself. The session that this needs is
    ended afterwards. `days` defaults to 30, or to the longest lifetime that is allowed.
    """
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
