"""The words of a mail, as text and as HTML. Pure: facts in, letter out.

HTML is built from a few tables with inline styles, since that is what mail programs agree on. Everything that came from
people or servers is escaped.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from email.message import EmailMessage
from email.utils import format_datetime
from html import escape

INK, GREY, LINE, PAPER = "#1f2430", "#5d6675", "#e3e6eb", "#f5f6f8"
COLOURS = {"opened": "#c2410c", "critical": "#b91c1c", "reminded": "#c2410c", "resolved": "#15803d", "test": "#1d4ed8"}
HEADINGS = {"opened": "Alert", "reminded": "Still open", "resolved": "Resolved"}
COMPARED = {"lt": "below", "le": "at or below", "gt": "above", "ge": "at or above"}
FONT = "font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"


@dataclass(frozen=True)
class Told:
    """What an incident's mail tells."""

    transition: str  # opened, reminded, resolved
    rule: str
    severity: str
    instance: str
    metric: str  # its title
    formula: str
    unit: str
    comparison: str
    threshold: float
    value: float | None
    for_seconds: int
    opened_at: datetime
    at: datetime
    link: str


@dataclass(frozen=True)
class Letter:
    subject: str
    text: str
    html: str


def incident_letter(told: Told) -> Letter:
    heading = HEADINGS[told.transition]
    subject = f"[{heading}] {told.rule}: {told.instance}"
    sentence = _sentence(told)
    rows = _rows(told)
    text = "\n".join(
        [subject, "", sentence, "", *(f"{name + ':':<12}{value}" for name, value in rows), "", told.link, ""]
    )
    colour = COLOURS["critical" if told.transition == "opened" and told.severity == "critical" else told.transition]
    return Letter(_one_line(subject), text, _page(colour, heading, told.rule, sentence, rows, told.link))


def test_letter(place: str, public_url: str, at: datetime) -> Letter:
    subject = "[Test] Fast Query Cache can send mail"
    sentence = f"This message came through {place}. Incidents will reach you the same way."
    rows = [("Sent", _when(at)), ("From", public_url)]
    text = "\n".join([sentence, "", *(f"{name + ':':<12}{value}" for name, value in rows), ""])
    return Letter(subject, text, _page(COLOURS["test"], "Test", "Mail works", sentence, rows, public_url))


def message_of(
    letter: Letter, *, sender: str, recipients: list[str], message_id: str, thread_id: str | None, at: datetime
) -> EmailMessage:
    message = EmailMessage()
    message["Subject"], message["From"], message["To"] = letter.subject, sender, ", ".join(recipients)
    message["Date"], message["Message-ID"] = format_datetime(at), message_id
    message["Auto-Submitted"] = "auto-generated"
    if thread_id and thread_id != message_id:
        message["In-Reply-To"] = message["References"] = thread_id
    message.set_content(letter.text)
    message.add_alternative(letter.html, subtype="html")
    return message


def _sentence(told: Told) -> str:
    bound = f"{COMPARED[told.comparison]} {_amount(told.threshold, told.unit)}"
    if told.transition == "resolved":
        return f"{told.metric} of {told.instance} is no longer {bound}."
    return (
        f"{told.metric} of {told.instance} is {_amount(told.value, told.unit)}, {bound} for {_span(told.for_seconds)}."
    )


def _rows(told: Told) -> list[tuple[str, str]]:
    rows = [
        ("Instance", told.instance),
        ("Value", _amount(told.value, told.unit)),
        ("Formula", told.formula),
        ("Severity", told.severity),
        ("Since", _when(told.opened_at)),
    ]
    if told.transition == "resolved":
        rows.append(("Resolved", f"{_when(told.at)}, after {_span(int((told.at - told.opened_at).total_seconds()))}"))
    return rows


def _amount(value: float | None, unit: str) -> str:
    if value is None:
        return "unknown"
    shown = f"{value:,.2f}".rstrip("0").rstrip(".")
    return f"{shown} %" if unit == "percent" else f"{shown} {unit}".strip()


def _span(seconds: int) -> str:
    for size, name in ((86400, "day"), (3600, "hour"), (60, "minute"), (1, "second")):
        if seconds >= size:
            count = seconds // size
            return f"{count} {name}{'' if count == 1 else 's'}"
    return "a moment"


def _when(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"


def _one_line(text: str) -> str:
    """A header has one line; line breaks in a name must not start another header."""
    return " ".join(text.split())[:200]


def _page(colour: str, heading: str, title: str, sentence: str, rows: list[tuple[str, str]], link: str) -> str:
    cells = "".join(
        f'<tr><td style="padding:8px 16px 8px 0;color:{GREY};white-space:nowrap;vertical-align:top;'
        f'border-top:1px solid {LINE}">{escape(name)}</td>'
        f'<td style="padding:8px 0;border-top:1px solid {LINE}">{escape(value)}</td></tr>'
        for name, value in rows
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light">'
        f"<title>{escape(title)}</title></head>"
        f'<body style="margin:0;background:{PAPER};{FONT};color:{INK}">'
        f'<table role="presentation" width="100%" cellpadding="0" cellspacing="0"><tr><td align="center" '
        f'style="padding:32px 12px"><table role="presentation" width="560" cellpadding="0" cellspacing="0" '
        f'style="max-width:560px;width:100%;background:#fff;border:1px solid {LINE};border-radius:8px;'
        f'border-top:4px solid {colour}"><tr><td style="padding:24px 28px">'
        f'<p style="margin:0 0 4px;color:{colour};font-size:13px;font-weight:600">{escape(heading)}</p>'
        f'<h1 style="margin:0 0 12px;font-size:20px;line-height:28px">{escape(title)}</h1>'
        f'<p style="margin:0 0 20px;font-size:15px;line-height:22px">{escape(sentence)}</p>'
        f'<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="font-size:14px">{cells}</table>'
        f'<p style="margin:24px 0 0"><a href="{escape(link)}" style="display:inline-block;padding:10px 18px;'
        f'background:{INK};color:#fff;text-decoration:none;border-radius:6px;font-size:14px">Open in the console</a></p>'
        "</td></tr></table>"
        f'<p style="margin:16px 0 0;font-size:12px;color:{GREY}">Fast Query Cache</p></td></tr></table></body></html>'
    )
