"""`fqc token`: the tokens with which scripts, Terraform and `fqc` itself log in."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Annotated

import typer

from fqc.asking import confirm
from fqc.call import Call
from fqc.noun import Noun
from fqc.output import Cell
from fqc.units import human_day, human_time

app = Noun("Tokens for scripts and tools.")
_LIST: dict[str, Cell] = {
    "ID": "id",
    "NAME": "name",
    "SCOPE": "scope",
    "INSTANCE": "instance_id",
    "OWNER": "username",
    "EXPIRES": lambda it: human_day(it["expires_at"]),
    "LAST USED": lambda it: human_time(it["last_used_at"]),
    "PREFIX": "prefix",
}
MADE: dict[str, Cell] = {**_LIST, "TOKEN": "token"}
Days = Annotated[int | None, typer.Option(min=1, help="Days it is valid; default: the maximum.")]


class Scope(StrEnum):
    VIEWER = "viewer"
    OPERATOR = "operator"
    ADMIN = "admin"


@app.read("list")
def list_(call: Call) -> None:
    """List your own tokens; administrators see all tokens."""
    call.show_items(call.api.items("tokens"), _LIST)


@app.write("create")
def create(
    call: Call,
    name: Annotated[str, typer.Argument(help="What it is for.", show_default=False)],
    scope: Annotated[Scope, typer.Option(help="Highest role it can act as.")] = Scope.VIEWER,
    days: Days = None,
) -> None:
    """Create a token. It is shown only once."""
    body = {"name": name, "scope": scope.value, **lifetime(days)}
    if call.is_dry_run:
        call.would("POST", "tokens", body)
    else:
        call.show_facts(call.api.post("tokens", body), MADE)


def lifetime(days: int | None) -> dict[str, str]:
    """Returns the field of a request that limits a token to so many days. Empty for None: the longest lifetime then
    applies.
    """
    return {"expires_at": (datetime.now(UTC) + timedelta(days=days)).isoformat()} if days else {}


@app.removal("revoke")
def revoke(
    call: Call, token_id: Annotated[str, typer.Argument(help="Token ID.", metavar="TOKEN", show_default=False)]
) -> None:
    """Revoke a token; whatever uses it is refused from then on."""
    found = call.api.get(f"tokens/{token_id}")
    if call.is_dry_run:
        call.would("DELETE", f"tokens/{token_id}")
        return
    confirm(call, f"The token {found['name']} of {found['username']} will be revoked. Continue?")
    call.api.replace("DELETE", f"tokens/{token_id}")
