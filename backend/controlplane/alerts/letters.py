"""The words of a mail, as text and as HTML. Pure: facts in, content out.

The page (`letter.html`) is tables with inline styles, since that is what mail programs agree on. What came from people
or servers is escaped.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from email.message import EmailMessage
from email.utils import format_datetime
from html import escape
from pathlib import Path
from string import Template

PAGE = Template(Path(__file__).with_name("letter.html").read_text(encoding="utf-8"))
ROW = (
    '<tr><td style="padding:8px 16px 8px 0;color:#5d6675;white-space:nowrap;vertical-align:top;'
    'border-top:1px solid #e3e6eb">{name}</td><td style="padding:8px 0;border-top:1px solid #e3e6eb">{value}</td></tr>'
)
ENDED = "ended"  # resolved without recovery: rule or instance were deleted, or the rule no longer covers the instance
COLOURS = {
    "warning": "#854d00", "critical": "#ad221b", "resolved": "#14633b", "test": "#2348b5", ENDED: "#5d6675",
}  # fmt: skip
HEADINGS = {"opened": "Alert", "reminded": "Still open", "resolved": "Resolved", ENDED: "No longer monitored"}
BUNDLED = {
    "opened": "opened at about the same time", "reminded": "are still open", "resolved": "are resolved",
    ENDED: "have ended because they are no longer monitored",
}  # fmt: skip
MOST_LISTED = 50
UNITS = {"percent": "%", "count": ""}
COMPARED = {"lt": "below", "le": "at or below", "gt": "above", "ge": "at or above"}


@dataclass(frozen=True)
class IncidentFacts:
    """The facts of an incident that a mail reports."""

    transition: str  # opened, reminded, resolved, ended
    rule: str
    severity: str
    instance: str
    metric: str  # the metric's title
    formula: str
    unit: str
    comparison: str
    threshold: float
    value: float | None
    for_seconds: int
    opened_at: datetime
    at: datetime
    link: str
    why: str = ""  # why it ended without recovery
    is_state: bool = False  # the metric is either there or not: its title says all, and "above 0" would be confusing
    seen: str = ""  # what was observed, for a state
    cause: str = ""
    action: str = ""


@dataclass(frozen=True)
class MailContent:
    subject: str
    text: str
    html: str


@dataclass(frozen=True)
class BundleRow:
    """One incident in a mail about many."""

    instance: str
    rule: str
    severity: str
    value: float | None
    unit: str


def incident_content(facts: IncidentFacts) -> MailContent:
    subject = subject_of(facts)
    is_critical = facts.severity == "critical"
    return _content(facts.transition, is_critical, subject, facts.rule, sentence_of(facts), _rows(facts), facts.link)


def subject_of(facts: IncidentFacts) -> str:
    return f"[{HEADINGS[facts.transition]}] {facts.rule}: {facts.instance}"


def colour_of(transition: str, *, is_critical: bool) -> str:
    """Returns the colour of a mail or message about a transition, the one that the console's light scheme uses."""
    return COLOURS.get(transition) or COLOURS["critical" if is_critical else "warning"]


def bundle_content(transition: str, lines: list[BundleRow], link: str) -> MailContent:
    """Returns one mail instead of many about the same transition.

    It lists critical incidents first, and of more than MOST_LISTED only how many more there are.
    """
    count = f"{len(lines):,} incidents"
    rules = ", ".join(f"{rule} ({number:,})" for rule, number in Counter(line.rule for line in lines).most_common())
    ordered = sorted(lines, key=lambda line: (line.severity != "critical", line.rule, line.instance))
    rows = [(line.instance, f"{line.rule}, {_amount(line.value, line.unit)}") for line in ordered[:MOST_LISTED]]
    if len(lines) > MOST_LISTED:
        rows.append((f"{len(lines) - MOST_LISTED:,} more", "in the console"))
    subject = f"[{HEADINGS[transition]}] {count}: {rules}"
    is_critical = any(line.severity == "critical" for line in lines)
    return _content(transition, is_critical, subject, count, f"{count} {BUNDLED[transition]}: {rules}.", rows, link)


def _content(
    transition: str, is_critical: bool, subject: str, title: str, sentence: str, rows: list[tuple[str, str]], link: str
) -> MailContent:
    text = "\n".join(
        [
            subject,
            "",
            sentence,
            "",
            *_columns(rows),
            "",
            f"Open in the console: {link}",
            "",
        ]
    )
    return MailContent(
        _one_line(subject),
        text,
        _page(colour_of(transition, is_critical=is_critical), HEADINGS[transition], title, sentence, rows, link),
    )


def content_of_test(place: str, public_url: str, at: datetime) -> MailContent:
    subject = "[Test] Fast Query Cache can send mail"
    sentence = f"This message was sent through {place}. Incidents will reach you the same way."
    rows = [("Sent", _when(at)), ("From", public_url)]
    text = "\n".join([sentence, "", *_columns(rows), ""])
    return MailContent(subject, text, _page(COLOURS["test"], "Test", "Mail works", sentence, rows, public_url))


def message_of(
    content: MailContent, *, sender: str, recipients: list[str], message_id: str, thread_id: str | None, at: datetime
) -> EmailMessage:
    message = EmailMessage()
    message["Subject"], message["From"], message["To"] = content.subject, sender, ", ".join(recipients)
    message["Date"], message["Message-ID"] = format_datetime(at), message_id
    message["Auto-Submitted"] = "auto-generated"
    if thread_id and thread_id != message_id:
        message["In-Reply-To"] = message["References"] = thread_id
    message.set_content(content.text)
    message.add_alternative(content.html, subtype="html")
    return message


def _columns(rows: list[tuple[str, str]]) -> list[str]:
    width = max(10, *(len(name) for name, _ in rows)) + 2
    return [f"{name + ':':<{width}}{value}" for name, value in rows]


def sentence_of(facts: IncidentFacts) -> str:
    what = f"{facts.metric} on {facts.instance}"
    # not negative, since the clock may have been set back
    open_for = _span(max(0, int((facts.at - facts.opened_at).total_seconds())))
    if facts.transition == "resolved":
        now = "resolved" if facts.is_state else f"no longer {_bound(facts)}"
        return f"{what}: {now}. The alert was open for {open_for}."
    if facts.transition == ENDED:
        return f"{what} is no longer monitored: {facts.why}. The alert was open for {open_for}."
    value = _amount(facts.value, facts.unit)
    if facts.transition == "reminded":
        now = "not resolved yet" if facts.is_state else f"still {value}, {_bound(facts)}"
        return f"{what}: {now}. The alert has been open for {open_for}."
    return f"{what}{_lasting(facts)}." if facts.is_state else f"{what}: {value}, {_condition(facts)}."


def _bound(facts: IncidentFacts) -> str:
    return f"{COMPARED[facts.comparison]} {_amount(facts.threshold, facts.unit)}"


def _condition(facts: IncidentFacts) -> str:
    return (facts.metric if facts.is_state else _bound(facts)) + _lasting(facts)


def _lasting(facts: IncidentFacts) -> str:
    return f" for {_span(facts.for_seconds)}" if facts.for_seconds else ""


def _rows(facts: IncidentFacts) -> list[tuple[str, str]]:
    rows = [
        ("Instance", facts.instance),
        ("Last value" if facts.transition == ENDED else "Value", _amount(facts.value, facts.unit)),
        ("Condition", _condition(facts)),
        ("Formula", facts.formula),
        ("Severity", facts.severity),
        ("Opened", _when(facts.opened_at)),
    ]
    rows += [(name, value) for name, value in _explained(facts) if value]
    ends = {"resolved": [("Resolved", _when(facts.at))], ENDED: [("Ended", _when(facts.at)), ("Reason", facts.why)]}
    return rows + ends.get(facts.transition, [])


def _explained(facts: IncidentFacts) -> list[tuple[str, str]]:
    """Returns what was seen, likely cause and next action while the incident is open; empty afterwards."""
    if facts.transition not in ("opened", "reminded"):
        return []
    return [("Seen", facts.seen), ("Likely cause", facts.cause), ("What to do", facts.action)]


def _amount(value: float | None, unit: str) -> str:
    if value is None:
        return "unknown"
    if unit == "seconds":
        return _span(int(value))
    if unit.startswith("bytes"):
        return _bytes(value) + unit.removeprefix("bytes")
    return f"{_number(value)} {UNITS.get(unit, unit)}".strip()


def _number(value: float) -> str:
    """Returns the number with two decimal places; a smaller one with three significant digits."""
    if 0 < abs(value) < 0.1:
        return f"{value:.3g}"
    shown = f"{value:,.2f}"
    return shown.rstrip("0").rstrip(".")


def _bytes(value: float) -> str:
    for size, name in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if abs(value) >= size:
            return f"{_number(value / size)} {name}"
    return f"{_number(value)} bytes"


def _span(seconds: int) -> str:
    """Returns a duration in its two largest units."""
    parts = []
    for size, name in ((86400, "day"), (3600, "hour"), (60, "minute"), (1, "second")):
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(f"{count} {name}{'' if count == 1 else 's'}")
    return " ".join(parts[:2]) or "a moment"


def _when(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"


def _one_line(text: str) -> str:
    """Returns a subject without line breaks, since a line break in a name must not start another header."""
    return " ".join(text.split())[:200]


def _page(colour: str, heading: str, title: str, sentence: str, rows: list[tuple[str, str]], link: str) -> str:
    words = {"heading": heading, "title": title, "sentence": sentence, "link": link}
    cells = "\n".join(ROW.format(name=escape(name), value=escape(value)) for name, value in rows)
    return PAGE.substitute({name: escape(word) for name, word in words.items()}, colour=colour, rows=cells)
