"""`fqc access-key`: the keys with which clients of the managed service's RPC dialect sign their requests."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from fqc.asking import confirm
from fqc.call import Call
from fqc.noun import Noun
from fqc.output import Cell
from fqc.token import Scope
from fqc.units import human_time

app = Noun("Access keys for RPC clients that sign requests.")
Id = Annotated[str, typer.Argument(help="Its AccessKeyId.", metavar="KEY", show_default=False)]
_LIST: dict[str, Cell] = {
    "ID": "id",
    "NAME": "name",
    "SCOPE": "scope",
    "OWNER": "username",
    "ENABLED": "is_active",
    "LAST USED": lambda it: human_time(it["last_used_at"]),
    "CREATED": lambda it: human_time(it["created_at"]),
}


@app.read("list")
def list_(
    call: Call,
    is_active: Annotated[bool | None, typer.Option("--enabled/--disabled", help="Only those in this state.")] = None,
) -> None:
    """List your own keys; administrators see all keys."""
    call.show_items(call.api.items("access-keys", is_active=is_active), _LIST)


@app.write("create")
def create(
    call: Call,
    name: Annotated[str, typer.Argument(help="What it is for.", show_default=False)],
    scope: Annotated[Scope, typer.Option(help="Highest role it can act as.")] = Scope.VIEWER,
) -> None:
    """Create a key. Its secret is shown only once."""
    body = {"name": name, "scope": scope.value}
    if call.is_dry_run:
        call.would("POST", "access-keys", body)
    else:
        call.show_facts(call.api.post("access-keys", body), {**_LIST, "SECRET": "secret"})


@app.write("enable")
def enable(call: Call, key: Id) -> None:
    """Enable a disabled key."""
    _alter(call, key, {"is_active": True})


@app.write("disable")
def disable(call: Call, key: Id) -> None:
    """Disable a key until it is enabled again."""
    _alter(call, key, {"is_active": False})


def _alter(call: Call, key: str, body: dict[str, Any]) -> None:
    if call.is_dry_run:
        call.would("PATCH", f"access-keys/{key}", body)
    else:
        call.show_facts(call.api.replace("PATCH", f"access-keys/{key}", body), _LIST)


@app.removal("delete")
def delete(call: Call, key: Id) -> None:
    """Delete a key for good."""
    found = call.api.get(f"access-keys/{key}")
    if call.is_dry_run:
        call.would("DELETE", f"access-keys/{key}")
        return
    confirm(call, f"The access key {found['name']} of {found['username']} will be deleted. Continue?")
    call.api.replace("DELETE", f"access-keys/{key}")
