"""`fqc user`: users and their roles, for administrators."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from fqc.asking import confirm, new_secret
from fqc.call import Call
from fqc.failure import Exit, Failure
from fqc.noun import Noun
from fqc.output import Cell
from fqc.password import ENDED
from fqc.token import Scope
from fqc.units import human_time

app = Noun("Users and their roles; for administrators.")
Name = Annotated[str, typer.Argument(help="User name or ID.", metavar="USER", show_default=False)]
KeepTokens = Annotated[bool, typer.Option("--keep-tokens", help="End only the sessions; keep tokens and keys.")]
_LIST: dict[str, Cell] = {
    "ID": "id",
    "NAME": "username",
    "ROLE": "role",
    "ACTIVE": "is_active",
    "EMAIL": "email",
    "SUBJECT": "subject",
    "LAST LOG-IN": lambda it: human_time(it["last_login"]),
}


@app.read("list")
def list_(call: Call) -> None:
    """List users."""
    call.show_items(call.api.items("users"), _LIST)


@app.write("create")
def create(
    call: Call,
    name: Annotated[str, typer.Argument(help="User name.", show_default=False)],
    role: Annotated[Scope, typer.Option(help="What the user may do.", show_default=False)],
    email: Annotated[str, typer.Option(help="E-mail address.")] = "",
    password_stdin: Annotated[bool, typer.Option("--password-stdin", help="Read the password from stdin.")] = False,
) -> None:
    """Create a user who logs in with a password."""
    body = {"username": name, "role": role.value, "email": email}
    if call.is_dry_run:
        call.would("POST", "users", body)
        return
    password = new_secret(f"Password of {name}", from_stdin=password_stdin)
    call.show_facts(call.api.post("users", {**body, "password": password}), _LIST)


@app.write("role")
def role(
    call: Call,
    user: Name,
    role: Annotated[Scope, typer.Argument(help="What the user may do from now on.", show_default=False)],
) -> None:
    """Change a user's role."""
    _patch(call, _found(call, user), {"role": role.value})


@app.removal("delete")
def delete(call: Call, user: Name) -> None:
    """Delete a user with their sessions, tokens and access keys."""
    found = _found(call, user)
    path = f"users/{found['id']}"
    if call.is_dry_run:
        call.would("DELETE", path)
        return
    confirm(call, f"The user {found['username']} is deleted, with all sessions, tokens and access keys. Continue?")
    call.api.replace("DELETE", path, version=found["version"])


@app.removal("reset-password")
def reset_password(
    call: Call,
    user: Name,
    keep_tokens: KeepTokens = False,
    password_stdin: Annotated[bool, typer.Option("--password-stdin", help="Read the new password from stdin.")] = False,
) -> None:
    """Reset a user's password and end their sessions."""
    _end(call, user, {}, keep_tokens, "The password will be changed", password_stdin)


@app.removal("disable")
def disable(call: Call, user: Name, keep_tokens: KeepTokens = False) -> None:
    """Disable a user and end their sessions."""
    _end(call, user, {"is_active": False}, keep_tokens, "The user will be disabled", None)


@app.write("enable")
def enable(call: Call, user: Name) -> None:
    """Enable a user again."""
    found = _found(call, user)
    _patch(call, found, {"is_active": True})


def _end(
    call: Call, user: str, body: dict[str, Any], keep_tokens: bool, what: str, password_stdin: bool | None
) -> None:
    found = _found(call, user)
    body = {**body, "keep_tokens": keep_tokens}
    ending = "sessions" if keep_tokens else "sessions, tokens and access keys"
    if not call.is_dry_run:
        confirm(call, f"{what}; {ending} of {found['username']} will end. Continue?")
        if password_stdin is not None:
            body["password"] = new_secret(f"New password of {found['username']}", from_stdin=password_stdin)
    _patch(call, found, body)


def _patch(call: Call, user: dict[str, Any], body: dict[str, Any]) -> None:
    path = f"users/{user['id']}"
    if call.is_dry_run:
        call.would("PATCH", path, body)
    else:
        call.show_facts(call.api.replace("PATCH", path, body, version=user["version"]), _LIST | ENDED)


def _found(call: Call, user: str) -> dict[str, Any]:
    for each in call.api.items("users"):
        if each["id"] == user or each["username"].lower() == user.lower():
            return each
    raise Failure(f"No user named {user}.", Exit.NOT_FOUND, hint="See `fqc user list`.")
