"""Body and headers of a message, in the format of the channel's receiver. Pure.

The facts of an incident are the same for all formats; a webhook gets them as they are.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from controlplane.alerts.letters import ENDED, HEADINGS, IncidentFacts, colour_of, sentence_of, subject_of
from controlplane.alerts.vocabulary import ChannelKind

VERSION = 1
TEST = "test"
PRODUCT = "Fast Query Cache"
ENDINGS = ("resolved", ENDED)
MOST_LISTED = 20
MOST_SUMMARY = 1000  # characters; PagerDuty takes 1024

FactsSent = dict[str, Any]


@dataclass(frozen=True)
class Message:
    body: bytes
    headers: dict[str, str]


def facts_sent(
    facts: IncidentFacts, *, incident_id: str, instance_id: str, metric: str, tags: dict[str, str]
) -> FactsSent:
    return {
        "version": VERSION,
        "event": facts.transition,
        "subject": subject_of(facts),
        "text": sentence_of(facts),
        "incident": {
            "id": incident_id,
            "rule": facts.rule,
            "metric": metric,
            "unit": facts.unit,
            "comparison": facts.comparison,
            "threshold": facts.threshold,
            "value": facts.value,
            "opened_at": facts.opened_at.isoformat(),
            "url": facts.link,
            "severity": facts.severity,
        },
        "instance": {"id": instance_id, "name": facts.instance, "tags": tags},
        "at": facts.at.isoformat(),
        "seen": facts.why or facts.seen,
        "likely_cause": facts.cause,
        "next_action": facts.action,
    }


def facts_of_test(name: str, link: str, at: str, incident_id: str) -> FactsSent:
    """Returns facts like those of an incident, so that a receiver's template is tested as well."""
    return {
        "version": VERSION,
        "event": TEST,
        "subject": f"[Test] {PRODUCT} can notify {name}",
        "text": "This is a test. Incidents will reach you the same way.",
        "incident": {
            "id": incident_id, "rule": "test", "severity": "warning", "metric": "hit_ratio", "unit": "percent",
            "comparison": "lt", "threshold": 0, "value": None, "opened_at": at, "url": link,
        },
        "instance": {"id": "", "name": "test", "tags": {}},
        "at": at,
        "seen": "",
        "likely_cause": "",
        "next_action": "",
    }  # fmt: skip


def message_for(kind: str, sent: Sequence[FactsSent], secret: str, *, delivery: str, now: int) -> Message:
    """Returns the message for a channel of this kind, in its receiver's format.

    `sent` has one element, except for Slack, where one message may list many. `delivery` is the name by which a webhook
    recognises a repeat; `now` is in epoch seconds.
    """
    if kind == ChannelKind.SLACK:
        return _message(_slack(sent), {})
    if kind == ChannelKind.PAGERDUTY:
        return _message(_pagerduty(sent[0], secret), {})
    unsigned = _message(sent[0], {"FQC-Delivery": delivery})
    return Message(unsigned.body, unsigned.headers | _signature(unsigned.body, secret, now))


def _message(body: Any, headers: dict[str, str]) -> Message:
    usual = {"Content-Type": "application/json", "User-Agent": "fast-query-cache"}
    return Message(json.dumps(body, ensure_ascii=False).encode(), usual | headers)


def _signature(body: bytes, secret: str, now: int) -> dict[str, str]:
    """Returns the headers that sign body and time, so that a recorded message cannot be sent again later; none without
    a secret.
    """
    if not secret:
        return {}
    signed = hmac.new(secret.encode(), f"{now}.".encode() + body, hashlib.sha256).hexdigest()
    return {"FQC-Timestamp": str(now), "FQC-Signature": f"v1={signed}"}


def _slack(sent: Sequence[FactsSent]) -> dict[str, Any]:
    if len(sent) > 1:
        return _slack_list(sent)
    [facts] = sent
    fields = [("Likely cause", facts["likely_cause"]), ("What to do", facts["next_action"]), ("Seen", facts["seen"])]
    attachment = {
        "color": _colour(facts),
        "title": _escaped(facts["subject"]),
        "title_link": facts["incident"]["url"],
        "fallback": _escaped(facts["subject"]),
        "text": _escaped(facts["text"]),
        "fields": [{"title": title, "value": _escaped(value), "short": False} for title, value in fields if value],
    }
    return {"text": "", "attachments": [attachment]}


def _slack_list(sent: Sequence[FactsSent]) -> dict[str, Any]:
    heading = HEADINGS.get(sent[0]["event"], "Test")
    ordered = sorted(sent, key=lambda facts: facts["incident"]["severity"] != "critical")
    lines = [_escaped(f"{it['incident']['rule']}: {it['instance']['name']}") for it in ordered[:MOST_LISTED]]
    if len(sent) > MOST_LISTED:
        lines.append(f"and {len(sent) - MOST_LISTED:,} more")
    title = f"[{heading}] {len(sent):,} incidents"
    listed = {"color": _colour(ordered[0]), "title": title, "fallback": title, "text": "\n".join(lines)}
    return {"text": "", "attachments": [listed]}


def _colour(facts: FactsSent) -> str:
    return colour_of(facts["event"], is_critical=facts["incident"]["severity"] == "critical")


def _escaped(text: str) -> str:
    """Escapes the three characters that Slack reads as markup."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _pagerduty(facts: FactsSent, routing_key: str) -> dict[str, Any]:
    incident = facts["incident"]
    event = {
        "routing_key": routing_key,
        "event_action": "resolve" if facts["event"] in ENDINGS else "trigger",
        "dedup_key": incident["id"],
    }
    if facts["event"] in ENDINGS:
        return event
    payload = {
        "summary": f"{incident['rule']}: {facts['text']}"[:MOST_SUMMARY],
        "source": facts["instance"]["name"],
        "severity": incident["severity"],
        "timestamp": facts["at"],
        "class": incident["metric"],
        "custom_details": {name: facts[name] for name in ("seen", "likely_cause", "next_action") if facts[name]},
    }
    link = {"href": incident["url"], "text": "Open in the console"}
    return {**event, "payload": payload, "links": [link], "client": PRODUCT, "client_url": incident["url"]}
