"""`fqc cache`: the fast query cache of one instance."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from fqc import change_flow
from fqc.call import Call
from fqc.change_view import FINDINGS
from fqc.failure import Exit, Failure
from fqc.headlines import headline_cells
from fqc.instance import Name
from fqc.noun import Noun
from fqc.output import Cell, facts, say, stacked, table
from fqc.units import engine_name, human_bytes, human_time, size_bytes

app = Noun("The fast query cache of an instance.")

_ANSWER_TIMES = "Fqc_answered_in_"  # counters of a histogram, not shown: `fqc metrics` has its percentile
# What follows from an estimate for a near cache, by the API's word. Nothing is said if it may well pay.
_VERDICTS = {
    "little_time": ["A near cache is not worth it for this server's load: reads take little of its time."],
    "small_sample": ["The sample is small: check again while the application is busy."],
    "few_repeat": ["By this sample a near cache is hardly worth it. To be sure, start fqc-near with observe = true."],
}
_STATUS: dict[str, Cell] = {
    "Enabled": "is_enabled",
    "Obstacle": lambda it: it["engine_obstacle"] or None,
    "Type": "type",
    "Size": lambda it: human_bytes(it["size_bytes"]),
    "Largest result": lambda it: human_bytes(it["limit_bytes"]),
    "Engine": lambda it: engine_name(it["version"], it["minor_version"]),
    "Connections served": lambda it: _connections(it),
}
_SIZES: dict[str, Cell] = {
    "RULE": lambda it: f"{it['rule']} (suggested)" if it["is_suggested"] else it["rule"],
    "SIZE": lambda it: human_bytes(it["size_bytes"]),
    "WHY": "explanation",
}
_TABLES: dict[str, Cell] = {
    "TABLE": lambda it: f"{it['schema']}.{it['table']}",
    "READ": "rows_read",
    "CHANGED": "rows_changed",
    "ADVICE": "advice",
    "WHY": "explanation",
}
_TRIAL: dict[str, Cell] = {
    "Repetitions": "repetitions",
    "Hits": "hits",
    "Stored": "inserts",
    "Not cached": "not_cached",
    "Reason": "reason",
    "Without cache": lambda it: _latency(it["uncached"]),
    "With cache": lambda it: _latency(it["cached"]),
    "Detail": "detail",
}


class Rule(StrEnum):
    BUFFER_POOL = "buffer_pool"
    RESULT_SET = "result_set"
    CURVE = "curve"
    EXPLICIT = "explicit"


def _connections(found: dict[str, Any]) -> str | None:
    """Returns how many of the server's connections the cache serves. Connections opened before it was enabled are not
    served, so they have to reconnect. None if the cache is off, or the engine does not count them.
    """
    counts = found["connections"]
    if counts is None or not found["is_enabled"]:
        return None
    hint = "; reconnect the pool" if counts["served"] < counts["all"] else ""
    return f"{counts['served']} of {counts['all']}{hint}"


def _latency(found: dict[str, Any]) -> str:
    return f"{found['median_microseconds']} µs median, {found['p95_microseconds']} µs p95"


@app.read("check")
def check(call: Call, instance: Name) -> None:
    """Check whether the cache can be enabled; exit code 4 if not."""
    found = call.api.get(f"instances/{instance}/prerequisites")
    verdict = "ready" if found["is_ready"] else "not ready"
    call.show(found, lambda it: stacked(table(FINDINGS, it["findings"]), "", verdict))
    if not found["is_ready"]:
        raise Failure(
            f"The cache cannot be enabled on {instance} yet.", Exit.REFUSED, hint="The findings say how to fix it."
        )


@app.change("enable")
def enable(
    call: Call,
    instance: Name,
    rule: Annotated[
        Rule | None,
        typer.Option(help="How to choose the size; default: a cache that is on keeps it, else as advised."),
    ] = None,
    size: Annotated[str | None, typer.Option(help="Cache size, for example 64M.")] = None,
    result_sets: Annotated[
        str | None, typer.Option(help="Total size of the results that are read repeatedly, for example 1G.")
    ] = None,
    on_demand: Annotated[bool, typer.Option("--on-demand", help="Cache only statements with SQL_CACHE.")] = False,
    keep_pool: Annotated[
        bool, typer.Option("--keep-buffer-pool", help="Do not shrink the buffer pool to 90 %.")
    ] = False,
    allow_restart: Annotated[bool, typer.Option("--allow-restart", help="Restart the server if needed.")] = False,
) -> None:
    """Enable the cache: buffer pool to 90 %, cache size, type."""
    body: dict[str, Any] = {"allow_restart": allow_restart, "type": 2 if on_demand else 1}
    body |= {"shrink_buffer_pool": not keep_pool} | _sizing(rule, size, result_sets)
    if call.is_dry_run:
        change_flow.preview(call, f"instances/{instance}/cache/preview", body)
    else:
        change_flow.run(call, f"instances/{instance}/cache/enable", body)


def _sizing(rule: Rule | None, size: str | None, result_sets: str | None) -> dict[str, Any]:
    rule = rule or (Rule.EXPLICIT if size else Rule.RESULT_SET if result_sets else None)
    body: dict[str, Any] = {"rule": rule.value} if rule else {}
    body |= {"size_bytes": size_bytes(size)} if size else {}
    return body | ({"result_set_bytes": size_bytes(result_sets)} if result_sets else {})


@app.change("disable")
def disable(
    call: Call,
    instance: Name,
    keep_pool: Annotated[
        bool, typer.Option("--keep-buffer-pool", help="Do not return the memory to the buffer pool.")
    ] = False,
) -> None:
    """Disable the cache and return its memory to the buffer pool."""
    change_flow.run(call, f"instances/{instance}/cache/disable", {"restore_buffer_pool": not keep_pool})


@app.read("trial")
def trial(
    call: Call,
    instance: Name,
    statement: Annotated[str, typer.Argument(help="One SELECT.", metavar="SELECT", show_default=False)],
    database: Annotated[str | None, typer.Option(help="Database to run it in.")] = None,
    repetitions: Annotated[int, typer.Option(min=2, max=1000, help="How many times to run it.")] = 20,
) -> None:
    """Try one statement with the cache, in one session only."""
    body = {"statement": statement, "repetitions": repetitions} | ({"database": database} if database else {})
    call.show_facts(call.api.post(f"instances/{instance}/cache/trial", body), _TRIAL)


@app.watch("status")
def status(call: Call, instance: Name) -> None:
    """Show settings, counters, and why statements were not cached."""
    call.show(call.api.get(f"instances/{instance}/cache/status"), _status)


def _status(found: dict[str, Any]) -> Any:
    counters = [
        {"name": name, "value": value}
        for name, value in found["counters"].items()
        if not name.startswith(_ANSWER_TIMES)
    ]
    return stacked(
        facts({**_STATUS, **headline_cells(found["headlines"])}, found),
        "",
        table({"COUNTER": "name", "VALUE": "value"}, counters),
        *_free(found["reasons"]),
    )


@app.read("advice")
def advice(call: Call, instance: Name) -> None:
    """Show whether the cache is worthwhile, and which size is best."""
    call.show(
        call.api.get(f"instances/{instance}/cache/advice"),
        lambda it: stacked(
            it["recommendation"]["text"],
            *_observation(it["observation"]),
            *_sizes(it),
            "",
            table(FINDINGS, it["findings"]),
            "",
            it["tables_note"] or table(_TABLES, it["tables"], none="No table stands out."),
        ),
    )


def _sizes(found: dict[str, Any]) -> list[Any]:
    """Returns the sizes that a cache in the server could have. Empty for a server that cannot load the engine."""
    if found["recommendation"]["verdict"] == "no_engine_there":
        return []
    return ["", table(_SIZES, found["sizes"])]


def _observation(found: dict[str, Any] | None) -> list[str]:
    return [f"Observing until {human_time(found['ends_at'])}."] if found and found["is_running"] else []


@app.change("observe")
def observe(
    call: Call,
    instance: Name,
    hours: Annotated[int, typer.Option(min=1, max=168, help="How long; it ends by itself.")] = 24,
    stop: Annotated[bool, typer.Option("--stop", help="End it now.")] = False,
) -> None:
    """Observe what the cache would do while it is off.

    `fqc cache advice` then says whether it is worthwhile.
    """
    if call.is_dry_run:
        parameters = {"fqc_observe": None if stop else "ON"}
        change_flow.preview(call, "changes/preview", {"instance": instance, "parameters": parameters})
    elif change := call.api.post(f"instances/{instance}/cache/observe", {"hours": 0 if stop else hours}):
        change_flow.finish(call, change)
    else:
        say("The observation has ended; nothing had to be set back.")


@app.watch("queries")
def queries(
    call: Call,
    instance: Name,
    hours: Annotated[
        int, typer.Option(min=0, max=168, help="How many hours to look back; 0: since the server started to count.")
    ] = 0,
) -> None:
    """Show figures per statement."""
    call.show(
        call.api.get(f"instances/{instance}/cache/queries", hours=hours),
        lambda it: (
            stacked(*_since(it), *gain(it), *_free(it["items"])[1:], it["note"] or None)
            if it["items"]
            else it["note"] or "none"
        ),
    )


def _since(found: dict[str, Any]) -> list[str]:
    return [f"Since {human_time(found['since'])}.", ""] if found["since"] else []


def gain(found: dict[str, Any]) -> list[str]:
    """Returns sentences on how many reads a near cache could answer, for a server without the engine, and whether that
    is worth it. Empty if the API has no estimate.
    """
    if not (told := found.get("estimate")):
        return []
    reads = f"Reads take {told['read_time_ratio']:.0%} of the time that the server spends on statements."
    if not told["sampled"]:
        unknown = "Whether their texts repeat is not known: no open connection is known to have run a read."
        return [reads, unknown, *_VERDICTS.get(told["verdict"], []), ""]
    ratio = told["repeated"] / told["sampled"]
    repeated = (
        f"Of {told['sampled']} recent reads, {ratio:.0%} repeated the text of another one: a near cache could have "
        "answered at least these."
    )
    return [reads, repeated, *_VERDICTS.get(told["verdict"], []), ""]


def _free(rows: list[dict[str, Any]]) -> list[Any]:
    """Returns a blank line and a table of rows whose columns the engine names. Empty without rows."""
    return ["", table({name.upper(): name for name in rows[0]}, rows)] if rows else []
