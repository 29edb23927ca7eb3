"""`fqc near`: the near caches of an instance."""

from __future__ import annotations

from typing import Any

from fqc.call import Call
from fqc.change_view import FINDINGS
from fqc.failure import Exit, Failure
from fqc.instance import Name
from fqc.noun import Noun
from fqc.output import Cell, stacked, table
from fqc.units import human_bytes, human_time

app = Noun("Near caches, which run beside the application.")
_LIST: dict[str, Cell] = {
    "NAME": "name",
    "STATE": "state",
    "ADDRESS": "address",
    "LEASE": lambda it: _milliseconds(it["lease_ms"]) if it["state"] == "serving" else None,
    "LAG": lambda it: _milliseconds(it["lag_ms"]),
    "ENTRIES": "entries",
    "SIZE": lambda it: human_bytes(it["stored_bytes"]),
    "HIT RATIO": lambda it: _ratio(it),
    "HITS/S": lambda it: _rate(it["hits_per_second"]),
    "WRITERS WAITED": "writers_waited",
    "EACH": lambda it: _milliseconds(it["writer_wait_ms"]),
    "SEEN": lambda it: human_time(it["seen_at"]),
}


@app.watch("list")
def list_(call: Call, instance: Name) -> None:
    """List the near caches of an instance, as the newest poll found them."""
    call.show_items(call.api.items(f"instances/{instance}/near-caches"), _LIST)


@app.read("check")
def check(call: Call, instance: Name) -> None:
    """Check whether near caches may attach, and show how to start one."""
    found = call.api.get(f"instances/{instance}/near-caches/prerequisites")
    call.show(found, _check)
    if not found["is_ready"]:
        raise Failure(
            f"No near cache can attach to {instance} yet.", Exit.REFUSED, hint="The findings say how to fix it."
        )


def _check(found: dict[str, Any]) -> Any:
    start = ["On the server:", *found["statements"], "", "Beside the application:", found["command"]]
    return stacked(table(FINDINGS, found["findings"]), "", *start)


def _milliseconds(value: float | None) -> str | None:
    return None if value is None else f"{value:.1f} ms"


def _rate(value: float | None) -> str | None:
    return None if value is None else f"{value:.1f}"


def _ratio(near: dict[str, Any]) -> str | None:
    reads = near["hits"] + near["misses"]
    return f"{near['hits'] / reads:.1%}" if reads else None
