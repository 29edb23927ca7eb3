"""Writes the summary of a run in Markdown: figures by mode, reasons, statements that were missed, pages that
differed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from driver.statistic import Spread
from driver.tables import NOTHING, figure, quantity, table
from lab.measure import Measured, Result
from lab.servers import TTL_SECONDS
from lab.stage import ALWAYS_SAME

NOISY_ABOVE = 0.2
MOST_ROWS = 15
MOST_DIFFERENCES = 10
READING = f"""# Real applications with the cache and without it

Visitors ask each application for the same pages in every mode; modes take turns request by request. A figure is the
median of its rounds with their range in brackets. Hits are in percent of the reads (`SELECT`) that the server of the
mode `off` ran for the same pages. Processor time is that of all threads of a program while it works for a page, by the
kernel's accounting. Pages are compared without times and CSRF tokens.

If no read were refused: the hits and the reads with a reason for which they were not answered or kept. All other reads
came for the first time, or the first time since their tables were written (by rules: since the `ttl` was over). It
is shown for modes in which a single cache decides.

Waiting is what passes from each request of the application to the database until the last part of its response, added
up over its connections; it is measured where the server stands at a distance.

off: no cache; plugin: the server has the plugin; exact: a near cache before a server with the plugin; in-process:
the same, and hits are read from its memory in the application's processes; binlog: a near cache by the binary log;
rules: a near cache with a `ttl` of {TTL_SECONDS} seconds, whose pages may be outdated.
"""
# The modes with one cache, whose reasons are those of all reads that it did not answer.
WITH_ONE_CACHE = ("plugin", "binlog", "rules")
# The reasons of a near cache for reads that it would have served, had it had a fresh result.
NOT_REFUSED = ("absent", "outdated")
COLUMNS = (
    "mode",
    "hits in the near cache, %",
    "of these in the application's processes, %",
    "hits in the server, %",
    "hits if no read were refused, %",
    "statements a page",
    "reads a page",
    "application, ms a page",
    "near cache, ms a page",
    "server, ms a page",
    "waiting for the database, ms a page",
    "pages that differ",
)


def render(machine: Mapping[str, Any], results: Mapping[str, Result], each_way_us: int = 0) -> str:
    facts = [
        f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gb']} GB; {machine['system']}",
        "; ".join(machine["versions"]),
        f"commit {machine['commit']}, plugin sha256 {machine['plugin_sha256'][:16]}",
    ]
    if each_way_us:
        facts.append(f"a packet takes {each_way_us / 1000:g} ms to the server, and as long back")
    head = READING + "\n" + "".join(f"- {fact}\n" for fact in facts)
    return "\n".join([head, *(_application(name, result) for name, result in results.items())])


def _application(name: str, result: Result) -> str:
    parts = [f"## {name} on {result.product}\n", table(COLUMNS, [_row(mode, result) for mode in result.rounds])]
    for mode in result.rounds:
        parts += _why(mode, result)
    parts += _differences(result)
    return "\n".join(parts)


def _row(mode: str, result: Result) -> list[str]:
    rounds, off = result.rounds[mode], result.rounds["off"]
    reads = {id(one): other.counts["Com_select"] for one, other in zip(rounds, off, strict=True)}

    def share(counter: str) -> Callable[[Measured], float]:
        return lambda one: 100 * one.counts[counter] / reads[id(one)]

    def each_page(program: str) -> Callable[[Measured], float]:
        return lambda one: 1000 * one.seconds[program] / one.pages

    has_near = any(one.seconds["near"] for one in rounds)
    has_plugin = any(one.counts["Fqc_hits"] or one.counts["Fqc_misses"] for one in rounds)
    return [
        mode,
        _figure(rounds, share("Near_hits")) if has_near else NOTHING,
        _figure(rounds, share("Process_hits")) if any(one.counts["Process_hits"] for one in rounds) else NOTHING,
        _figure(rounds, share("Fqc_hits")) if has_plugin else NOTHING,
        figure(_hits_without_refusals(mode, result)) if mode in WITH_ONE_CACHE else NOTHING,
        _figure(off, lambda one: one.counts["Questions"] / one.pages),
        _figure(off, lambda one: one.counts["Com_select"] / one.pages),
        _figure(rounds, each_page("application")),
        _figure(rounds, each_page("near")) if has_near else NOTHING,
        _figure(rounds, each_page("server")),
        _figure(rounds, each_page("waiting")) if any(one.seconds["waiting"] for one in rounds) else NOTHING,
        f"{sum(one.mode == mode for one in result.differences)}",
    ]


def _hits_without_refusals(mode: str, result: Result) -> float:
    """Returns the hits and the refused reads of all rounds, in percent of their reads."""
    refused = sum(count for reason, count in result.reasons[mode].items() if count > 0 and reason not in NOT_REFUSED)
    hits = sum(one.counts["Near_hits"] + one.counts["Fqc_hits"] for one in result.rounds[mode])
    return 100 * (hits + refused) / sum(one.counts["Com_select"] for one in result.rounds["off"])


def _figure(rounds: list[Measured], of: Callable[[Measured], float]) -> str:
    return quantity(Spread(tuple(of(one) for one in rounds), NOISY_ABOVE))


def _why(mode: str, result: Result) -> Iterator[str]:
    if reasons := {name: count for name, count in result.reasons[mode].items() if count > 0}:
        total = sum(reasons.values())
        rows = [(name, str(count), f"{100 * count / total:.1f} %") for name, count in reasons.items()]
        yield f"### {mode}: why reads were not answered or kept\n"
        yield table(("reason", "times", "share"), rows[:MOST_ROWS])
    if result.missed[mode]:
        names = ("missed", "Executions", "Outdated", "reasons", "statement")
        rows = [[_cell(row[name]) for name in names] for row in result.missed[mode][:MOST_ROWS]]
        yield f"### {mode}: the statements that were missed most often\n"
        yield table(names, [(*row[:-1], f"`{row[-1]}`") for row in rows])


def _cell(value: object) -> str:
    return " ".join(str(value).replace("|", "\\|").replace("`", "").split())[:240]


def _differences(result: Result) -> Iterator[str]:
    wrong = [one for one in result.differences if one.mode in ALWAYS_SAME]
    if wrong:
        yield "### Pages that must not differ, and do\n"
    for one in wrong[:MOST_DIFFERENCES]:
        lines = "\n".join(one.lines)
        yield f"{one.mode}, round {one.round}, {one.step}:\n\n```diff\n{lines}\n```\n"
