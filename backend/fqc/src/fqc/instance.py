"""`fqc instance`: the servers of the fleet."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from fqc import change_flow, completing
from fqc.asking import confirm, secret
from fqc.call import Call
from fqc.failure import Exit, Failure
from fqc.noun import Noun
from fqc.output import Cell, table
from fqc.units import engine_name, human_time, pairs, release_day, size_bytes
from fqc.waiting import until

app = Noun("Instances: the servers of the fleet.")
Name = Annotated[
    str,
    typer.Argument(
        help="Instance name or ID.", metavar="INSTANCE", show_default=False, autocompletion=completing.instances
    ),
]

_LIST: dict[str, Cell] = {
    "NAME": "name",
    "STATE": "state",
    "CLASS": "instance_class",
    "ENDPOINT": lambda it: _address(it),
    "SERVER": lambda it: f"{it['product']} {it['engine_version'].partition('-')[0]}".strip() or None,
    "CACHE": lambda it: _cache(it),
    "PENDING": "pending_restart_count",
    "DRIFTED": "drifted_count",
    "TAGS": "tags",
}
_VERSIONS: dict[str, Cell] = {
    "RELEASED": lambda it: release_day(it["minor_version"]),
    "OFFERED": "is_offered",
    "ACCEPTABLE": "is_acceptable",
    "INSTANCES": "instance_count",
}
_FACTS: dict[str, Cell] = {
    "Name": "name",
    "Id": "id",
    "State": "state",
    "Reason": "state_reason",
    "Provider": "provider",
    "Endpoint": lambda it: f"{it['endpoint']['username']}@{_address(it)}",
    "Trials as": lambda it: it["endpoint"]["trial_username"] or None,
    "Class": "instance_class",
    "Server": lambda it: _server(it),
    "Cache engine": lambda it: engine_name(it["fqc_version"], it["minor_version"]),
    "Cache": lambda it: _cache(it),
    "Obstacle": lambda it: it["engine_obstacle"] or None,
    "Not tested": lambda it: it["untested_server"] or None,
    "Pending restart": "pending_restart_count",
    "Drifted": "drifted_count",
    "Window": lambda it: _window(it["maintenance_window"]),
    "Tags": "tags",
    "Last seen": lambda it: human_time(it["last_seen_at"]),
}
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def _server(found: dict[str, Any]) -> str | None:
    known = [found["product"], found["engine_version"], f"({found['edition']})" if found["edition"] else ""]
    return " ".join(filter(None, known)) or None


def _cache(found: dict[str, Any]) -> str | None:
    """Returns the state of the server's cache. None before the first poll, when it is not known whether there is an
    engine.
    """
    return found["cache"]["state"] if found["engine_version"] else None


def _address(found: dict[str, Any]) -> str:
    return f"{found['endpoint']['host']}:{found['endpoint']['port']}"


def _window(window: dict[str, Any]) -> str:
    day = "every day" if window["weekday"] is None else _DAYS[window["weekday"]]
    return f"{day} {window['start']} UTC, {window['minutes']} min"


@app.watch("list")
def list_(
    call: Call,
    search: Annotated[str | None, typer.Option(help="Part of a name, ID or host.")] = None,
    state: Annotated[str | None, typer.Option(help="Only those in this state.")] = None,
    tag: Annotated[str | None, typer.Option(help="Only with this tag.")] = None,
    instance_class: Annotated[str | None, typer.Option("--class", help="Only of this class.")] = None,
    is_drifted: Annotated[
        bool | None,
        typer.Option("--drifted/--not-drifted", help="Only with drift: running values differ from configured ones."),
    ] = None,
    is_pending: Annotated[
        bool | None, typer.Option("--pending/--not-pending", help="Only with a pending restart.")
    ] = None,
    has_engine: Annotated[
        bool | None, typer.Option("--engine/--no-engine", help="Only with, or without, the cache engine.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Number to show; default: all.")] = None,
) -> None:
    """List instances."""
    found = call.api.items(
        "instances", limit=limit, search=search, state=state, tag=tag, instance_class=instance_class,
        is_drifted=is_drifted, is_pending_restart=is_pending, has_engine=has_engine,
    )  # fmt: skip
    call.show_items(found, _LIST)


@app.watch("show")
def show(call: Call, instance: Name) -> None:
    """Show one instance."""
    _show(call, call.api.get(f"instances/{instance}"))


@app.watch("versions")
def versions(call: Call) -> None:
    """Show which versions of the cache engine are offered and running."""
    call.show(call.api.get("minor-versions"), lambda found: table(_VERSIONS, found["items"]))


@app.decision("add")
def add(
    call: Call,
    name: Annotated[str, typer.Argument(help="A unique name.", show_default=False)],
    instance_class: Annotated[
        str | None, typer.Option("--class", help="Its class; see fqc class list.", show_default=False)
    ] = None,
    memory: Annotated[
        str | None, typer.Option(help="Memory of its machine, for example 24G, instead of a class.", show_default=False)
    ] = None,
    cpus: Annotated[int | None, typer.Option(min=1, help="With --memory; default: as the server reports.")] = None,
    host: Annotated[
        str | None, typer.Option(help="Host of an existing server; without it, a local server is created.")
    ] = None,
    port: Annotated[int, typer.Option(help="Port of that server.")] = 3306,
    username: Annotated[str, typer.Option(help="Account the control plane uses there.")] = "fqc",
    password_stdin: Annotated[bool, typer.Option("--password-stdin", help="Read the password from stdin.")] = False,
    trial_username: Annotated[
        str | None, typer.Option(help="Account for trials, SELECT only; its password is read second.")
    ] = None,
    tls: Annotated[bool, typer.Option("--tls", help="Require TLS.")] = False,
    tls_ca: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="CA certificate that signed its certificate.")
    ] = None,
    public_key: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="Its RSA key, to log in without TLS (MySQL).")
    ] = None,
    product: Annotated[str | None, typer.Option(help="Product of a local server: MariaDB or MySQL.")] = None,
    untested: Annotated[bool, typer.Option("--untested", help="Register it without connecting to it first.")] = False,
    has_proxy: Annotated[bool, typer.Option("--proxy", help="Clients connect through a dedicated proxy.")] = False,
    tag: Annotated[list[str] | None, typer.Option(help="May be repeated.")] = None,
) -> None:
    """Register an existing server, or create a local one."""
    if (instance_class is None) == (memory is None):
        raise Failure("No size given.", Exit.USAGE, hint="Use --class, or --memory for a custom size.")
    body: dict[str, Any] = {"name": name, "instance_class": instance_class, "tags": pairs(tag or [])}
    body |= {"provider": "external" if host else "local", "proxy_enabled": has_proxy}
    if host:
        body |= {"host": host, "port": port, "username": username, "is_tls_required": tls}
        body |= {"tls_ca": _pem(tls_ca) if tls_ca else ""}
        body |= {"public_key": _pem(public_key)} if public_key else {}
        body |= {"trial_username": trial_username} if trial_username else {}
    body |= {"product": product} if product else {}
    if call.is_dry_run:
        call.would("POST", "instances", body)
        return
    if host:
        body["password"] = secret(f"Password of {username} on {host}", from_stdin=password_stdin)
        if trial_username:
            asked = f"Password of {trial_username} on {host}"
            body["trial_password"] = secret(asked, from_stdin=password_stdin)
    seen = _look(call, body) if host and not untested else {}
    if memory:
        body["instance_class"] = _class_of(call, size_bytes(memory), cpus, seen)
    made = call.api.post("instances", body)
    _show(call, _await_ready(call, made) if call.is_waiting else made)


def _pem(file: Path) -> str:
    """Returns the text of a certificate or key. The files that MySQL makes at its first start end with a zero byte."""
    return file.read_text().rstrip("\0\n")


def _show(call: Call, found: dict[str, Any]) -> None:
    """Prints an instance. The proxy, which only the managed service's workflow sets, is left out unless enabled."""
    proxy: dict[str, Cell] = {"Dedicated proxy": "proxy_enabled"} if found["proxy_enabled"] else {}
    call.show_facts(found, _FACTS | proxy)


def _look(call: Call, body: dict[str, Any]) -> dict[str, Any]:
    """Connects to the server that is to be registered, and returns what the control plane saw. Raises a Failure if it
    does not answer. If an instance with this address exists, asks whether to go on.
    """
    names = ("host", "port", "username", "password", "is_tls_required", "tls_ca", "public_key")
    seen: dict[str, Any] = call.api.post("endpoints/check", {name: body[name] for name in names if name in body})
    if seen["same_endpoint"]:
        known = ", ".join(seen["same_endpoint"])
        confirm(call, f"{body['host']}:{body['port']} is registered already, as {known}. Continue?")
    return seen


def _class_of(call: Call, memory_bytes: int, cpus: int | None, seen: dict[str, Any]) -> str:
    """Returns the name of the class for this size, which the API creates if needed. `seen` gives what the options do
    not. Raises a Failure if the number of processors is unknown.
    """
    cpu_count, connections = cpus or seen.get("cpu_count"), seen.get("max_connections") or 151
    if cpu_count is None:
        raise Failure("The server does not report how many processors it has.", Exit.USAGE, hint="Use --cpus.")
    size = {"memory_bytes": memory_bytes, "cpu_count": cpu_count, "max_connections": connections}
    size |= {"storage_bytes": seen.get("storage_bytes")}
    return str(call.api.post("instance-classes/custom", size)["name"])


def _await_ready(call: Call, made: dict[str, Any]) -> dict[str, Any]:
    ready: dict[str, Any] = until(
        lambda: call.api.get(f"instances/{made['id']}"),
        lambda found: found["state"] != "creating",
        lambda found: (found["state"], 0, 0),
        timeout_seconds=call.timeout_seconds,
        what=f"Making {made['name']}",
        hint=f"It continues in the background: fqc instance show {made['name']} --watch",
    )
    if ready["state"] == "failed":
        raise Failure(f"{made['name']} could not be created: {ready['state_reason']}", hint="See fqc change list.")
    return ready


@app.write("edit")
def edit(
    call: Call,
    instance: Name,
    name: Annotated[str | None, typer.Option(help="New name.")] = None,
    host: Annotated[str | None, typer.Option(help="New host.")] = None,
    port: Annotated[int | None, typer.Option(help="New port.")] = None,
    username: Annotated[str | None, typer.Option(help="Account the control plane uses there.")] = None,
    is_password: Annotated[
        bool,
        typer.Option("--password", help="Ask for the account's new password; also after any change above but name."),
    ] = False,
    password_stdin: Annotated[bool, typer.Option("--password-stdin", help="Read it from stdin.")] = False,
    tag: Annotated[list[str] | None, typer.Option(help="All of its tags from now on; may be repeated.")] = None,
) -> None:
    """Change the name, address, account or tags of an instance.

    The server itself is not touched.
    """
    receiver = {"host": host, "port": port, "username": username}
    body: dict[str, Any] = {key: value for key, value in {"name": name, **receiver}.items() if value is not None}
    body |= {"tags": pairs(tag)} if tag else {}
    has_password = is_password or password_stdin or any(value is not None for value in receiver.values())
    if not body and not has_password:
        raise Failure("Nothing to change is given.", Exit.USAGE, hint="See fqc instance edit --help.")
    found = call.api.get(f"instances/{instance}")
    path = f"instances/{found['id']}"
    if call.is_dry_run:
        call.would("PATCH", path, {**body, "password": "..."} if has_password else body)
        return
    if has_password:
        account = f"{username or found['endpoint']['username']} on {host or found['endpoint']['host']}"
        body["password"] = secret(f"Password of {account}", from_stdin=password_stdin)
    _show(call, call.api.replace("PATCH", path, body, version=found["version"]))


@app.change("restart")
def restart(call: Call, instance: Name) -> None:
    """Restart the server; pending parameters take effect."""
    change_flow.run(call, f"instances/{instance}/restart", {})


@app.change("resize")
def resize(
    call: Call,
    instance: Name,
    instance_class: Annotated[
        str | None,
        typer.Argument(help="The new class.", metavar="[CLASS]", show_default=False, autocompletion=completing.classes),
    ] = None,
    memory: Annotated[str | None, typer.Option(help="Custom size instead of a class, for example 12G.")] = None,
    cpus: Annotated[int | None, typer.Option(min=1, help="Its processors; default: as now.")] = None,
    parameter: Annotated[
        list[str] | None, typer.Option("--set", help="Parameter to set with it: query_cache_size=64M.")
    ] = None,
    allow_restart: Annotated[
        bool, typer.Option("--allow-restart", help="Restart the server if a parameter needs it.")
    ] = False,
) -> None:
    """Change the class; expressions are resolved again."""
    if (instance_class is None) == (memory is None):
        raise Failure("No size given.", Exit.USAGE, hint="Name a class, or use --memory for a custom size.")
    body = {"instance_class": instance_class, "parameters": pairs(parameter or []), "allow_restart": allow_restart}
    if memory and call.is_dry_run:  # a preview would take the class, which does not exist yet
        call.would("POST", f"instances/{instance}/resize", {**body, "instance_class": memory})
        return
    if memory:
        body["instance_class"] = _resized_class(call, instance, size_bytes(memory), cpus)
    change_flow.run(call, f"instances/{instance}/resize", body)


def _resized_class(call: Call, instance: str, memory_bytes: int, cpus: int | None) -> str:
    """Returns the name of the class with this memory, and with the processors, unless given, connections and storage of
    the instance's present class.
    """
    name = call.api.get(f"instances/{instance}")["instance_class"]
    present = next(each for each in call.api.items("instance-classes") if each["name"] == name)
    return _class_of(call, memory_bytes, cpus, present)


@app.change("upgrade")
def upgrade(call: Call, instance: Name) -> None:
    """Install the cache engine, or upgrade it to the offered version."""
    change_flow.run(call, f"instances/{instance}/upgrade", {})


@app.change("proxy")
def proxy(
    call: Call,
    instance: Name,
    enabled: Annotated[bool, typer.Option("--on/--off", help="On or off.", show_default=False)],
) -> None:
    """Enable or disable the dedicated proxy."""
    change_flow.run(call, f"instances/{instance}/proxy", {"enabled": enabled})


@app.decision("remove")
def remove(call: Call, instance: Name) -> None:
    """Remove an external server, or delete a local one with its data."""
    found = call.api.get(f"instances/{instance}")
    if call.is_dry_run:
        call.would("DELETE", f"instances/{found['id']}")
        return
    loss = (
        "is stopped and its data deleted"
        if found["provider"] == "local"
        else "is removed from the fleet; its server keeps running"
    )
    confirm(call, f"{found['name']} {loss}. Continue?")
    change = call.api.replace("DELETE", f"instances/{found['id']}", version=found["version"])
    change_flow.awaits_second_person(change)
    change_flow.finish(call, change)
