"""`fqc alert channel`: the receivers of messages about incidents."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from fqc.asking import confirm, secret
from fqc.call import Call
from fqc.failure import Exit, Failure
from fqc.noun import Noun
from fqc.output import Cell
from fqc.units import human_time, pairs

app = Noun("Channels: where incidents are sent; for administrators.")
Id = Annotated[str, typer.Argument(help="Channel name or ID.", metavar="CHANNEL", show_default=False)]
SecretStdin = Annotated[
    bool, typer.Option("--secret-stdin", help="Read the signing key, Slack's address or PagerDuty's key from stdin.")
]
_LIST: dict[str, Cell] = {
    "ID": "id",
    "NAME": "name",
    "KIND": "kind",
    "WHERE": lambda it: it["url"] or ", ".join(it["recipients"]),
    "TAGS": "tags",
    "FROM SEVERITY": "least_severity",
    "ENABLED": "is_enabled",
    "LAST SENT": lambda it: human_time(it["last_sent_at"]),
    "ERROR": "last_error",
}
_WRITABLE = ("name", "kind", "url", "recipients", "tags", "least_severity", "is_enabled")


class Kind(StrEnum):
    WEBHOOK = "webhook"
    SLACK = "slack"
    PAGERDUTY = "pagerduty"
    MAIL = "mail"


@app.read("list")
def list_(call: Call) -> None:
    """List all channels."""
    call.show_items(call.api.items("channels"), _LIST)


@app.read("show")
def show(call: Call, channel: Id) -> None:
    """Show one channel."""
    call.show_facts(_named(call, channel), _LIST)


@app.write("create")
def create(
    call: Call,
    name: Annotated[str, typer.Argument(help="Name, shown on timelines.", show_default=False)],
    kind: Annotated[Kind, typer.Option(help="What receives its messages.", show_default=False)],
    address: Annotated[str, typer.Option(help="Address of a webhook.")] = "",
    to: Annotated[list[str] | None, typer.Option(help="Recipient of mail; may be repeated.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="Only instances with all of these tags.")] = None,
    critical_only: Annotated[bool, typer.Option("--critical-only", help="Only critical incidents.")] = False,
    secret_stdin: SecretStdin = False,
) -> None:
    """Create a channel. Its secret is asked for, and never shown again."""
    body: dict[str, Any] = {"name": name, "kind": kind.value, "url": address, "recipients": to or []}
    body |= {"tags": pairs(tag or []), "least_severity": "critical" if critical_only else "warning"}
    if call.is_dry_run:
        call.would("POST", "channels", body)
        return
    if kind != Kind.MAIL:
        body["secret"] = secret("Secret", from_stdin=secret_stdin, flag="--secret-stdin")
    call.show_facts(call.api.post("channels", body), _LIST)


@app.write("edit")
def edit(
    call: Call,
    channel: Id,
    address: Annotated[str | None, typer.Option(help="New address; its secret is asked for again.")] = None,
    to: Annotated[list[str] | None, typer.Option(help="Recipient, replacing the current ones.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="Tag, replacing the current ones.")] = None,
    enabled: Annotated[bool | None, typer.Option("--enable/--disable", help="Whether the channel is on.")] = None,
    new_secret: Annotated[bool, typer.Option("--new-secret", help="Replace its secret.")] = False,
    secret_stdin: SecretStdin = False,
) -> None:
    """Change a channel; options that are not given stay unchanged."""
    found = _named(call, channel)
    body = {name: found[name] for name in _WRITABLE}
    body |= {"url": address} if address is not None else {}
    body |= {"recipients": to} if to else {}
    body |= {"tags": pairs(tag)} if tag else {}
    body |= {"is_enabled": enabled} if enabled is not None else {}
    if call.is_dry_run:
        call.would("PUT", f"channels/{found['id']}", body)
        return
    if new_secret or secret_stdin or body["url"] != found["url"]:
        body["secret"] = secret("Secret", from_stdin=secret_stdin, flag="--secret-stdin")
    call.show_facts(call.api.replace("PUT", f"channels/{found['id']}", body, version=found["version"]), _LIST)


@app.write("test")
def test(call: Call, channel: Id) -> None:
    """Send a test message now."""
    found = _named(call, channel)
    if call.is_dry_run:
        call.would("POST", f"channels/{found['id']}/test")
    else:
        call.api.post(f"channels/{found['id']}/test")


@app.removal("delete")
def delete(call: Call, channel: Id) -> None:
    """Delete a channel."""
    found = _named(call, channel)
    if call.is_dry_run:
        call.would("DELETE", f"channels/{found['id']}")
        return
    confirm(call, f"The channel {found['name']} will be deleted. Continue?")
    call.api.replace("DELETE", f"channels/{found['id']}", version=found["version"])


def _named(call: Call, channel: str) -> dict[str, Any]:
    for found in call.api.items("channels"):
        if channel in (found["id"], found["name"]):
            return found
    raise Failure(f"No channel named {channel}.", Exit.NOT_FOUND, hint="List them with `fqc alert channel list`.")
