"""Writes the summary in Markdown: machine and conditions, aims that were missed, then every workload with its
tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

from driver import aims, cold, configuration, near, published
from driver.kept import BASE, Kept, Measured
from driver.statistic import Spread, crossing
from driver.tables import NOTHING, change, figure, percent, quantity, share, table

TITLE = "# Measured with and without a query cache\n"
READING = """A figure is the median of its rounds with their range in brackets. Configurations took turns {turns}.
A change is taken round by round between neighbours, never between runs of different settings; where the rounds differ
by more than {noise:.0f} % the table says *too noisy*. Processor time is that of {whose}, by the
kernel's accounting. Hit ratio is the share of reads that the cache answered.
"""
CONFIGURATIONS = {
    "OFF": "no query cache",
    "NATIVE": "the server's own",
    "FQC": "the plugin",
    "DOZING": "the plugin, which may doze",
    "LOADED": "the plugin, switched off",
    "IDEAL": "no server: every read is answered at once with the same row, by the same calls and threads",
    near.LOOPBACK: "a near cache, over loopback; the processor time is its own",
    near.SOCKET: "the same by a unix socket",
    near.IN_PROCESS: "a near cache by a unix socket, whose hits the client's own process reads from its memory",
    near.MEMORY: "a near cache by rules, with memory of its own alone",
    near.SHARED: "one by rules that finds in memcached what another one has asked before",
    near.HELD: "near caches hold what is written",
    near.NOT_HELD: "they hold something else",
    "DIRECT": "PostgreSQL alone",
    "CACHED": "pgpool-II's cache",
}
# The limit applies to this many small entries. With fewer, memory that is reserved and still empty has too large a
# share.
MANY_ENTRIES = 1_000_000
MOST_OVERHEAD_BYTES = 64
# Above this share of the processor time, used by processes other than server and load generator, the summary warns.
FOREIGN = 0.05
SPECIAL: dict[str, dict[str, str]] = {
    "write_cost": {
        "write_ms": "first write, ms",
        "further_us": "further writes, us",
        "entries_before": "entries",
        "entries_after": "entries left",
    },
    "near_write": {
        "write_us": "a write, us",
        "p95_us": "p95, us",
        "waits": "writes that waited",
        "stored": "results stored",
    },
    "memory": {
        "bytes_per_entry": "bytes per entry",
        "payload_bytes": "payload",
        "overhead_bytes": "overhead",
        "resident_bytes_per_entry": "growth of the process per entry",
    },
}


def render(kept: Kept) -> str:
    parts = [_head(kept), _aims(kept), _published(kept)]
    return "\n".join([*filter(None, parts), *(_workload(measured) for measured in kept.measured)])


def _head(kept: Kept) -> str:
    machine, profile = kept.machine, kept.measured[0].profile
    is_cold = kept.measured[0].workload["kind"] == "cold"
    length = f"{cold.QUERIES} statements" if is_cold else f"{profile['seconds']} s"
    facts = [
        f"{machine['processor']}, {_cores(machine)}, {machine['memory_gb']} GB; {machine['system']}",
        f"kernel {machine['kernel']}; {'; '.join(machine['versions'])}",
        f"commit {machine['commit']}, plugin sha256 {machine['plugin_sha256'][:16]}",
        f"profile `{profile['name']}`: {profile['rounds']} rounds of {length} at each point;"
        f" {profile['tables']} tables of {profile['rows']:,} rows; client and server on the same cores",
    ]
    lines = "".join(f"- {fact}\n" for fact in facts)
    whose = "all programs together" if is_cold else "the server process alone"
    reading = READING.format(noise=profile["noisy_above"] * 100, turns=_turns(kept), whose=whose)
    return f"{TITLE}\n{lines}{_foreign(kept)}\n{reading}\n{_configurations(kept)}"


def _configurations(kept: Kept) -> str:
    used = {name for measured in kept.measured for name in measured.configurations}
    return "; ".join(f"{name}: {words}" for name, words in CONFIGURATIONS.items() if name in used) + ".\n"


def _turns(kept: Kept) -> str:
    runs = [run["results"] for measured in kept.measured for run in measured.runs]
    lengths = [run["turn_seconds"] for run in runs if "turn_seconds" in run]
    return f"of {min(lengths):g} to {max(lengths):g} s within each round" if lengths else "run by run"


def _foreign(kept: Kept) -> str:
    """Returns the summary's line on the share of the processors that other processes used during the runs. Empty if
    that was not measured."""
    runs = [run["results"] for measured in kept.measured for run in measured.runs]
    shares = [_foreign_share(run, kept.machine["cores"]) for run in runs if "cpu_seconds" in run]
    if not shares:
        return ""
    typical, most = median(shares), max(shares)
    line = f"other processes took {typical:.1%} of the processors while measuring, {most:.1%} at most"
    if kept.measured[0].profile.get("stage", "").endswith("away"):
        return f"- {line}, nearly all for what stands in between\n"
    return f"- **{line}: do not trust these figures**\n" if typical > FOREIGN else f"- {line}\n"


def _cores(machine: Any) -> str:
    of_all = f" of {machine['all_cores']}" if machine.get("all_cores", machine["cores"]) != machine["cores"] else ""
    return f"{machine['cores']}{of_all} cores"


def _foreign_share(results: Any, cores: int) -> float:
    used = results["cpu_seconds"]
    # If each run had the machine for itself, the kept figure is that of all processes, instead of the others alone.
    others = used.get("others", used.get("machine", 0) - used["server"] - used["client"])
    return max(0.0, float(others)) / (cores * float(results["seconds"]))


def _aims(kept: Kept) -> str:
    verdicts = [verdict for measured in kept.measured for verdict in aims.verdicts(measured)]
    if not verdicts:
        return ""
    rows = [[one.title, one.point, one.subject, _aim(one), _multiple(one.found), one.words] for one in verdicts]
    return "## Aims\n\n" + table(["Workload", "at", "ratio of", "aim", "found", ""], rows)


def _aim(verdict: aims.Verdict) -> str:
    return f"{'<=' if verdict.is_lower_better else '>='} {verdict.wanted}"


def _multiple(spread: Spread) -> str:
    return f"{spread.median:.3f} ({spread.low:.3f}..{spread.high:.3f})"


def _published(kept: Kept) -> str:
    pairs = [pair for measured in kept.measured for pair in aims.compared(measured)]
    if not pairs:
        return ""
    worse = [pair for pair in pairs if pair.is_worse]
    verdict = f"{len(pairs) - len(worse)} of {len(pairs)} changes against OFF are at least the published ones."
    rows = [[pair.title, pair.point, change(pair.ours), percent(pair.theirs)] for pair in worse]
    lines = table(["Worse than published", "at", "here", "published"], rows) if worse else "None is worse.\n"
    return f"## Against the published figures\n\n{verdict}\n\n{lines}"


def _workload(measured: Measured) -> str:
    workload = measured.workload
    tables = TABLES[workload["kind"]](measured)
    plot = "" if workload["kind"] == "memory" else f"![{workload['title']}](plots/{workload['name']}.png)\n\n"
    if workload["kind"] == "load":
        plot += f"[Distribution of latency](plots/{workload['name']}-latency.png)\n\n"
    rounds = f"Rounds: {workload['rounds']}.\n\n" if workload.get("rounds") else ""
    return f"## {workload['title']}\n\n{workload['about'].strip()}\n\n{rounds}{plot}{tables}"


def _load_tables(measured: Measured) -> str:
    parts = [_speed(measured), _use(measured)]
    if measured.workload["axis"] == "hit-percent":
        parts.insert(0, "".join(_break_even(measured)) + "\n")
    return "\n".join(parts)


def _cold(measured: Measured) -> str:
    used = "By the processor time of client, near cache, memcached and server together:\n\n"
    by_use = _break_even(measured, lambda name, value: aims.ratio_at(measured, BASE, name, value, "cpu_us_per_query"))
    header = [measured.workload["axis"], *(f"{name} CPU us/query" for name in measured.configurations)]
    rows = [[str(value), *_cells(measured, value, "cpu_us_per_query", quantity)] for value in measured.axis_values]
    return "\n".join(["".join(_break_even(measured)), _speed(measured), used + "".join(by_use), table(header, rows)])


def _speed(measured: Measured) -> str:
    others = [name for name in measured.configurations if name != BASE]
    theirs = published.changes(measured.workload["published"], measured.workload["scale"])
    header = [measured.workload["axis"], *(f"{name} queries/s" for name in measured.configurations)]
    header += [f"{name} against {BASE}" for name in others] + [f"published {name}" for name in theirs]
    rows = []
    for value in measured.axis_values:
        row = [str(value), *_cells(measured, value, "qps", quantity)]
        row += [change(aims.ratio_at(measured, name, BASE, value, "qps")) for name in others]
        row += [percent(found[value]) if value in found else NOTHING for found in theirs.values()]
        rows.append(row)
    return table(header, rows)


def _use(measured: Measured) -> str:
    """Returns a table of latency, processor time and hits. Only medians are shown; the ranges are in the raw data."""
    names = measured.configurations
    cached = [name for name in names if name in (*configuration.HAS_CACHE, *near.NAMES, near.IN_PROCESS)]
    header = [measured.workload["axis"]]
    for title in ("p50 ms", "p95 ms", "p99 ms", "CPU us/query"):
        header += [f"{name} {title}" for name in names]
    header += [f"{name} hits" for name in cached]
    rows = []
    for value in measured.axis_values:
        row = [str(value)]
        for measure in ("p50_ms", "p95_ms", "p99_ms", "cpu_us_per_query"):
            row += _cells(measured, value, measure, _median)
        row += [share(_spread(measured, name, value, "hit_ratio")) for name in cached]
        rows.append(row)
    return table(header, rows)


def _special_table(measured: Measured) -> str:
    measures = SPECIAL[measured.workload["kind"]]
    header = [measured.workload["axis"]]
    for title in measures.values():
        header += [f"{name} {title}" for name in measured.configurations]
    rows = []
    for value in measured.axis_values:
        row = [str(value)]
        for measure in measures:
            row += _cells(measured, value, measure, quantity)
        rows.append(row)
    return table(header, rows)


def _memory(measured: Measured) -> str:
    verdicts = filter(None, (_overhead(measured, value) for value in measured.axis_values))
    return "\n".join([_special_table(measured), *verdicts])


def _overhead(measured: Measured, value: Any) -> str | None:
    found, entries = (_spread(measured, "FQC", value, name) for name in ("overhead_bytes", "entries"))
    if found is None or entries is None or entries.median < MANY_ENTRIES * 0.99:
        return None
    verdict = "met" if found.high <= MOST_OVERHEAD_BYTES else "**not met**"
    return (
        f"Aim: at most {MOST_OVERHEAD_BYTES} bytes beyond statement and answer for each of the"
        f" {figure(entries.median)} {value}; found {figure(found.median)}: {verdict}.\n"
    )


def _break_even(measured: Measured, find: Callable[[str, Any], Spread | None] | None = None) -> Iterator[str]:
    """Yields, for each configuration, the least share of hits at which it pays. `find` returns how many times better
    than OFF it is."""
    find = find or (lambda name, value: aims.ratio_at(measured, name, BASE, value, "qps"))
    for name in measured.configurations:
        if name == BASE:
            continue
        points = []
        for value in measured.axis_values:
            found = find(name, value)
            if found:
                points.append((float(value), found.median))
        at = crossing(points, 1.0)
        yield f"{name} pays from {at:.0f} % hits on.\n" if at is not None else f"{name} never pays here.\n"


def _cells(measured: Measured, value: Any, measure: str, words: Callable[[Spread | None], str]) -> list[str]:
    return [words(_spread(measured, name, value, measure)) for name in measured.configurations]


def _spread(measured: Measured, name: str, value: Any, measure: str) -> Spread | None:
    series = measured.series(name, value, measure)
    return series.spread() if series else None


def _median(spread: Spread | None) -> str:
    return NOTHING if spread is None else figure(spread.median)


TABLES: dict[str, Callable[[Measured], str]] = {
    "load": _load_tables,
    "cold": _cold,
    "peer": _speed,
    "write_cost": _special_table,
    "near_write": _special_table,
    "memory": _memory,
}
