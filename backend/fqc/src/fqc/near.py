"""`fqc near`: near caches (caches next to applications) of an instance, and the tokens with which they report."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from fqc.call import Call
from fqc.change_view import FINDINGS
from fqc.failure import Exit, Failure
from fqc.instance import Name
from fqc.noun import Noun
from fqc.output import Cell, stacked, table
from fqc.token import MADE, Days, lifetime
from fqc.units import human_bytes, human_time

app = Noun("Near caches, which run next to the application.")
_LIST: dict[str, Cell] = {
    "NAME": "name",
    "STATE": lambda it: "not serving" if it["state"] == "waiting" else it["state"],
    "MODE": lambda it: "log" if it["mode"] == "bounded" else it["mode"],
    "KNOWN BY": "source",
    "ADDRESS": "address",
    "LEASE": lambda it: _milliseconds(it["lease_ms"] or None) if it["state"] == "serving" else None,
    "LAG": lambda it: _milliseconds(it["lag_ms"] if it["source"] == "attached" else it["staleness_ms"]),
    "ENTRIES": "entries",
    "SIZE": lambda it: human_bytes(it["stored_bytes"]),
    "HIT RATIO": lambda it: _ratio(it),
    "HITS/S": lambda it: _rate(it["hits_per_second"]),
    "WRITERS WAITED": "writers_waited",
    "EACH": lambda it: _milliseconds(it["writer_wait_ms"]),
    "SEEN": lambda it: human_time(it["seen_at"]),
    "OBSTACLE": "obstacle",
}


_WAYS = {
    "exact": "Attached to the server's cache, never stale",
    "bounded": "Following the server's binary log, stale by at most a bound",
    "rules": "By rules",
}


@app.watch("list")
def list_(call: Call, instance: Name) -> None:
    """List the near caches of an instance, as last polled or reported."""
    call.show_items(call.api.items(f"instances/{instance}/near-caches"), _LIST)


@app.read("check")
def check(call: Call, instance: Name) -> None:
    """Show the ways in which near caches can serve, and what each lacks."""
    found = call.api.get(f"instances/{instance}/near-caches/prerequisites")
    call.show(found, _check)
    if not found["is_ready"]:
        raise Failure(
            f"No near cache can run in front of {instance} yet.", Exit.REFUSED, hint="The findings say how to fix it."
        )


@app.write("token")
def token(
    call: Call,
    instance: Name,
    name: Annotated[str, typer.Argument(help="What it is for.", show_default=False)],
    days: Days = None,
) -> None:
    """Create a token for near caches that report. It is shown only once.

    They report where no plugin can be loaded.
    """
    path, body = f"instances/{instance}/near-caches/tokens", {"name": name, **lifetime(days)}
    if call.is_dry_run:
        call.would("POST", path, body)
    else:
        call.show_facts(call.api.post(path, body), {**MADE, "START": "command"})


def _check(found: dict[str, Any]) -> Any:
    return stacked(table(FINDINGS, found["findings"]), *(line for way in found["ways"] for line in _way(way)))


def _way(way: dict[str, Any]) -> list[Any]:
    """Returns the lines on one mode in which a near cache can serve: its name, and how to start one."""
    on_server = ["", "On the server:", *way["statements"]] if way["statements"] else []
    findings = [table(FINDINGS, way["findings"])] if way["findings"] else []
    heading = f"{_WAYS.get(way['mode'], way['mode'])}: {'ready' if way['is_ready'] else 'not ready'}"
    file = ["", "In its rules file, for example:", *way["file_lines"]] if way["file_lines"] else []
    service = ["", "Or as a service there, with this file:", *way["config_lines"], "", *way["service_lines"]]
    container = ["", "Or in a container:", way["docker_command"]]
    return [
        "", heading, *findings, *on_server, *file, "", "Next to the application:", way["command"], *service, *container
    ]  # fmt: skip


def _milliseconds(value: float | None) -> str | None:
    return None if value is None else f"{value:.1f} ms"


def _rate(value: float | None) -> str | None:
    return None if value is None else f"{value:.1f}"


def _ratio(near: dict[str, Any]) -> str | None:
    """Returns the hit ratio of a near cache, marked `would be` for one that only observes. None without reads."""
    observed = near["observed_hits"]
    hits = near["hits"] if observed is None else observed
    if not (reads := hits + near["misses"]):
        return None
    return f"{hits / reads:.1%}" if observed is None else f"would be {hits / reads:.1%}"
