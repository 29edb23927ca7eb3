"""Visits one application in all modes, which take turns request by request, and measures hits and processor time."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from driver.machine import exact_seconds
from lab.application import Application, Extent, Step, same
from lab.browser import Page
from lab.stage import Setting

MOST_LINES = 12
MOST_STATEMENTS = 15
OF_STATEMENTS = ("Executions", "Hits", "Outdated")
COUNTED = ("Questions", "Com_select", "Fqc_hits", "Fqc_misses")


@dataclass
class Difference:
    """A page that differs from the page of the mode `off`: in which mode, round and step, and the lines that differ."""

    mode: str
    round: int
    step: str
    lines: list[str]


@dataclass
class Measured:
    """The counts of one mode in one round: visited pages, seconds by program, and counters of server and near cache."""

    pages: int = 0
    seconds: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)


@dataclass
class Result:
    rounds: dict[str, list[Measured]]
    differences: list[Difference]
    # By mode: how often each reason occurred for which a read was not served.
    reasons: dict[str, dict[str, int]]
    # By mode: the statements with the most misses, most first.
    missed: dict[str, list[dict[str, Any]]]
    product: str = "MariaDB"

    def hits(self, mode: str) -> list[float]:
        """Returns the hits of each round, in percent of the reads that the server of the mode `off` ran for the same
        pages."""
        return [
            100 * (one.counts["Fqc_hits"] + one.counts["Near_hits"]) / off.counts["Com_select"]
            for one, off in zip(self.rounds.get(mode, []), self.rounds["off"], strict=False)
        ]


def measure(
    application: Application, settings: Mapping[str, Setting], rounds: int, extent: Extent, tell: Callable[[str], None]
) -> Result:
    """Runs a first round, which fills the caches and is not counted, and then `rounds` more. Pages are compared in
    all of them."""
    result = Result({mode: [] for mode in settings}, [], {}, {}, settings["off"].server.product.name)
    for setting in settings.values():
        _checked(application.log_in(setting.visitors), f"{application.name} {setting.mode}: logging in")
    before: dict[str, tuple[Counter[str], dict[str, dict[str, Any]]]] = {}
    for number in range(rounds + 1):
        if number == 1:
            before = {mode: (_reasons(one), _statements(one)) for mode, one in settings.items()}
        measured = _round(application, settings, number, extent, result.differences)
        if number:
            for mode, one in measured.items():
                result.rounds[mode].append(one)
        tell(f"{application.name}: round {number} of {rounds}, {len(result.differences)} pages differ")
    for mode, setting in settings.items():
        reasons, statements = before[mode]
        result.reasons[mode] = dict((_reasons(setting) - reasons).most_common())
        result.missed[mode] = _most_missed(_statements(setting), statements)
    return result


def _round(
    application: Application, settings: Mapping[str, Setting], number: int, extent: Extent, found: list[Difference]
) -> dict[str, Measured]:
    measured = {mode: Measured() for mode in settings}
    before = {mode: _counts(setting) for mode, setting in settings.items()}
    modes = list(settings)
    for turn, step in enumerate(application.crawl(number, extent)):
        pages = {mode: _visit(settings[mode], step, measured[mode]) for mode in _rotated(modes, turn)}
        if step.is_write:
            _checked(pages["off"], f"{application.name}: {step.name}")
        found += compared(application, number, step, pages)
    for mode, setting in settings.items():
        measured[mode].counts = _counts(setting)
        measured[mode].counts.subtract(before[mode])
    return measured


def _rotated(modes: Sequence[str], turn: int) -> Iterator[str]:
    """Yields the modes in an order that begins with another one at each turn, so that no mode is always the first."""
    for place in range(len(modes)):
        yield modes[(turn + place) % len(modes)]


def _visit(setting: Setting, step: Step, measured: Measured) -> Page:
    before = _seconds(setting)
    page = step.act(setting.visitors)
    after = _seconds(setting)
    after.subtract(before)
    measured.seconds.update(after)
    measured.pages += 1
    return page


def compared(application: Application, number: int, step: Step, pages: Mapping[str, Page]) -> list[Difference]:
    """Returns how the pages of one step in a round differ from the one of the mode `off`."""
    wanted, *others = (_parts(same(application, pages[mode]), step) for mode in ("off", *pages))
    found = []
    for mode, got in zip(pages, others, strict=True):
        if got != wanted:
            lines = difflib.unified_diff(wanted, got, "off", mode, n=0, lineterm="")
            shown = [line[:400] for _, line in zip(range(MOST_LINES), lines, strict=False)]
            found.append(Difference(mode, number, step.name, shown))
    return found


def _parts(text: str, step: Step) -> list[str]:
    """Returns the lines of a page, split again after each tag and comma, since applications write long lines."""
    parts = re.split(r"\n|(?<=[,>])", text)
    return sorted(parts) if step.is_in_any_order else parts


class NotDone(RuntimeError):
    """The application refused a request of the lab, so the run means nothing."""


def _checked(page: Page, what: str) -> None:
    if page.status >= 400 or '"error"' in page.text[:200]:
        raise NotDone(f"{what} was refused: {page.status} {page.text[:600]}")


def _seconds(setting: Setting) -> Counter[str]:
    near = exact_seconds(setting.near.pid) if setting.near else 0
    waiting = setting.distance.seconds() if setting.distance else 0
    server, application = exact_seconds(setting.server.pid), setting.site.seconds()
    return Counter({"server": server, "near": near, "application": application, "waiting": waiting})


def _counts(setting: Setting) -> Counter[str]:
    names = ",".join(f"'{name}'" for name in COUNTED)
    rows = setting.server.rows(f"SHOW GLOBAL STATUS WHERE Variable_name IN ({names})")
    counts = Counter({name: int(value) for name, value in rows})
    if setting.near:
        counts["Near_hits"] = setting.near.hits("Memory")
        counts["Process_hits"] = setting.near.hits_in_applications()
    return counts


def _report(setting: Setting, topic: str) -> list[dict[str, Any]]:
    """Returns the rows of `SHOW FQC topic` of the near cache, or of the server if there is none; empty without a
    cache."""
    if setting.near:
        connection = setting.near.connect()
    elif setting.mode == "plugin":
        connection = setting.server.connect()
    else:
        return []
    with connection, connection.cursor() as cursor:
        cursor.execute(f"SHOW FQC {topic}")
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def _reasons(setting: Setting) -> Counter[str]:
    return Counter({row["Reason"]: int(row["Count"]) for row in _report(setting, "REASONS")})


def _statements(setting: Setting) -> dict[str, dict[str, Any]]:
    """Returns the rows of `SHOW FQC QUERIES`, by the digest of the statement."""
    return {row["Digest"] or "": row for row in _report(setting, "QUERIES")}


def _most_missed(now: Mapping[str, dict[str, Any]], before: Mapping[str, dict[str, Any]]) -> list[dict[str, Any]]:
    rows = []
    for digest, row in now.items():
        earlier = before.get(digest, {})
        counts = {name: int(row[name] or 0) - int(earlier.get(name) or 0) for name in OF_STATEMENTS}
        missed = counts["Executions"] - counts["Hits"]
        if missed > 0:
            rows.append({"missed": missed, **counts, "reasons": row["Reasons"] or "", "statement": row["Query"][:300]})
    return sorted(rows, key=lambda row: -row["missed"])[:MOST_STATEMENTS]
