"""Mails: what they say, and that names from elsewhere stay names."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser

import pytest

from controlplane.alerts.letters import (
    MOST_LISTED,
    BundleRow,
    IncidentFacts,
    bundle_content,
    incident_content,
    message_of,
)

AT = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
FACTS = IncidentFacts(
    transition="opened", rule="low hit ratio", severity="warning", instance="shop-1", metric="Hit ratio",
    formula="hits / lookups", unit="percent", comparison="lt", threshold=50, value=12.345, for_seconds=600,
    opened_at=AT, at=AT, link="https://fqc.example/alerts?incident=inc-1",
)  # fmt: skip


class Structure(HTMLParser):
    """Parses an HTML text into the tags that it opens, in order, and the pieces of text between them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_text_and_html_say_the_same() -> None:
    letter = incident_content(FACTS)
    sentence = "Hit ratio on shop-1: 12.35 %, below 50 % for 10 minutes."
    assert letter.subject == "[Alert] low hit ratio: shop-1"
    for body in (letter.text, " ".join(Structure(letter.html).text)):
        for words in (sentence, "hits / lookups", "2026-11-20 12:00 UTC", "warning"):
            assert words in body
        assert FACTS.link in letter.text
    assert f'href="{FACTS.link}"' in letter.html


def test_a_resolved_mail_says_how_long_it_took() -> None:
    letter = incident_content(replace(FACTS, transition="resolved", value=80.0, at=AT + timedelta(hours=2, minutes=5)))
    assert letter.subject == "[Resolved] low hit ratio: shop-1"
    assert "no longer below 50 %" in letter.text
    assert "The alert was open for 2 hours 5 minutes." in letter.text


def test_a_reminder_says_how_long_it_has_been_open_not_how_long_the_rule_waits() -> None:
    letter = incident_content(replace(FACTS, transition="reminded", at=AT + timedelta(days=1, hours=1, minutes=9)))
    assert "still 12.35 %, below 50 %. The alert has been open for 1 day 1 hour." in letter.text


@pytest.mark.parametrize(
    ("transition", "sentence"),
    [
        ("opened", "Server unreachable on shop-1 for 10 minutes."),
        ("reminded", "Server unreachable on shop-1: not resolved yet. The alert has been open for 1 hour."),
        ("resolved", "Server unreachable on shop-1: resolved. The alert was open for 1 hour."),
    ],
)
def test_a_state_is_told_by_its_name(transition: str, sentence: str) -> None:
    state = replace(FACTS, metric="Server unreachable", unit="count", comparison="gt", threshold=0, is_state=True)
    letter = incident_content(replace(state, transition=transition, value=1, at=AT + timedelta(hours=1)))
    assert sentence in letter.text
    assert "above" not in letter.text


def test_an_end_before_its_beginning_by_a_clock_that_was_set_back_lasted_a_moment() -> None:
    letter = incident_content(replace(FACTS, transition="resolved", at=AT - timedelta(hours=1)))
    assert "The alert was open for a moment." in letter.text


@pytest.mark.parametrize(
    ("unit", "value", "shown"),
    [
        ("bytes", 1610612736, "1.5 GiB"),
        ("bytes", 512, "512 bytes"),
        ("bytes per second", 3 * 2**20, "3 MiB per second"),
        ("count", 30, "30"),
        ("per second", 0.0123, "0.0123 per second"),
        ("per second", 12345.6, "12,345.6 per second"),
        ("seconds", 90061, "1 day 1 hour"),
        ("percent", 0, "0 %"),
        ("percent", None, "unknown"),
    ],
)
def test_values_are_written_as_people_read_them(unit: str, value: float | None, shown: str) -> None:
    letter = incident_content(replace(FACTS, unit=unit, value=value))
    assert f"Hit ratio on shop-1: {shown}, below" in letter.text


def test_a_rule_that_does_not_wait_says_nothing_of_waiting() -> None:
    assert "12.35 %, below 50 %." in incident_content(replace(FACTS, for_seconds=0)).text
    assert "below 50 % for 1 minute 30 seconds." in incident_content(replace(FACTS, for_seconds=90)).text


def test_markup_in_names_is_shown_not_obeyed() -> None:
    letter = incident_content(replace(FACTS, instance="<img src=x>", rule='"><script>alert(1)</script>'))
    structure = Structure(letter.html)
    assert not {"img", "script"} & set(structure.tags)
    assert any("<img src=x>" in text for text in structure.text)


def test_a_line_break_in_a_name_starts_no_header() -> None:
    letter = incident_content(replace(FACTS, rule="low\r\nBcc: everyone@example.com"))
    message = message_of(
        letter, sender="fqc@example.com", recipients=["dba@example.com"], message_id="<a@b>", thread_id=None, at=AT
    )
    assert message["Bcc"] is None
    assert "\n" not in message["Subject"]


def test_mails_of_one_incident_are_a_thread() -> None:
    letter = incident_content(FACTS)
    later = message_of(
        letter, sender="a@b.c", recipients=["d@e.f"], message_id="<inc.resolved@x>", thread_id="<inc.opened@x>", at=AT
    )
    assert later["In-Reply-To"] == later["References"] == "<inc.opened@x>"
    assert later["Auto-Submitted"] == "auto-generated"
    assert [part.get_content_type() for part in later.iter_parts()] == ["text/plain", "text/html"]


def test_one_letter_tells_of_many_the_critical_ones_first() -> None:
    lines = [BundleRow(f"shop-production-{number}", "low hit ratio", "warning", 12.5, "percent") for number in (2, 1)]
    letter = bundle_content(
        "opened", [*lines, BundleRow("web", "errors", "critical", None, "count")], "https://fqc.example"
    )
    assert letter.subject == "[Alert] 3 incidents: low hit ratio (2), errors (1)"
    assert letter.text.splitlines()[2:8] == [
        "3 incidents opened at about the same time: low hit ratio (2), errors (1).",
        "",
        "web:               errors, unknown",
        "shop-production-1: low hit ratio, 12.5 %",
        "shop-production-2: low hit ratio, 12.5 %",
        "",
    ]
    assert "low hit ratio, 12.5 %" in " ".join(Structure(letter.html).text)


def test_of_very_many_the_letter_tells_the_number() -> None:
    lines = [BundleRow(f"i-{number}", "low hit ratio", "warning", 1.0, "percent") for number in range(1000)]
    letter = bundle_content("resolved", lines, "https://fqc.example")
    assert letter.subject == "[Resolved] 1,000 incidents: low hit ratio (1,000)"
    assert f"{1000 - MOST_LISTED} more:" in letter.text
    assert letter.text.count("low hit ratio, 1 %") == MOST_LISTED
