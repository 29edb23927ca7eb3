"""The trail leaves whole, page by page, for admins alone and on record, and no spreadsheet would run what is in it."""

import asyncio
import csv
import io
import json
from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from controlplane.audit import export as exporting
from controlplane.audit.models import AuditEvent
from controlplane.audit.services import WHOLE_TRAIL, audit_record
from controlplane.core.request_context import acting_as
from controlplane.fleet.services import instance_facts
from controlplane.metrics.tests.fleet import instance_make

# The test client reads a stream without an event loop.
pytestmark = pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume")
EXPORT = "/api/v1/audit-events/export"
HOUR = timedelta(hours=1)


def recorded(*actors, at=None, after=None):
    for actor in actors:
        with acting_as(actor), transaction.atomic():
            event = audit_record("user.updated", WHOLE_TRAIL, after=after)
        AuditEvent.objects.filter(pk=event.pk).update(created_at=at or timezone.now())


def span(**more):
    return {"since": (timezone.now() - HOUR).isoformat(), **more}


def rows_of(answer):
    assert answer.status_code == 200, answer.content
    text = b"".join(answer).decode()
    return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))


@pytest.fixture(autouse=True)
def _connection_stays(monkeypatch):
    """Lets the export leave the database connection open, since it has the test's transaction."""
    monkeypatch.setattr(exporting, "close_old_connections", lambda: None)


@pytest.mark.django_db
def test_all_of_the_span_and_nothing_else_comes_oldest_first(admin, monkeypatch):
    monkeypatch.setattr(exporting, "PAGE", 2)
    same = timezone.now() - HOUR / 2
    recorded("early", at=timezone.now() - 2 * HOUR)
    recorded("a", "b", "c", "d", "e", at=same)  # more events of the same time than fit on a page
    recorded("f", at=same + timedelta(minutes=1))
    recorded("late", at=same + timedelta(minutes=2))
    found = rows_of(admin.get(EXPORT, span(until=(same + timedelta(minutes=2)).isoformat())))
    assert [row["actor"] for row in found][5:] == ["f"]
    assert {row["actor"] for row in found} == set("abcdef")
    assert [*found[0]] == list(exporting.COLUMNS)


@pytest.mark.django_db
def test_a_server_is_told_by_its_product_and_not_by_the_line_of_its_catalogue(admin):
    recorded("a", after=instance_facts(instance_make(product="MariaDB")))
    [row] = [each for each in rows_of(admin.get(EXPORT, span())) if each["actor"] == "a"]
    told = json.loads(row["after"])
    assert told["product"] == "MariaDB" and "engine_line" not in told


@pytest.mark.django_db
def test_json_lines_say_what_the_api_says(admin):
    recorded("alice", after={"role": "admin", "name": "日本\nx"})
    event = admin.get("/api/v1/audit-events", {"actor": "alice"}).json()["items"][0]
    answer = admin.get(EXPORT, span(format="jsonl"))
    assert answer.headers["Content-Type"] == "application/jsonl"
    assert event in [json.loads(line) for line in b"".join(answer).decode().splitlines()]


@pytest.mark.django_db
@pytest.mark.parametrize("begins", ["=", "+", "-", "@", "\t", "\r", "\n"])
def test_a_cell_that_a_spreadsheet_would_run_begins_with_an_apostrophe(admin, begins):
    name = f'{begins}cmd|" /C calc"!A0, b'
    recorded(name)
    assert [row["actor"] for row in rows_of(admin.get(EXPORT, span())) if "calc" in row["actor"]] == [f"'{name}"]


@pytest.mark.django_db
def test_other_cells_are_as_they_are(admin):
    recorded('o\'neil, "x"\nnext =1', after={"a": 1})
    (row,) = (row for row in rows_of(admin.get(EXPORT, span())) if row["action"] == "user.updated")
    assert (row["actor"], json.loads(row["after"]), row["before"]) == ('o\'neil, "x"\nnext =1', {"a": 1}, "")


@pytest.mark.django_db
def test_an_export_is_on_record_and_for_admins(admin, operator):
    assert operator.get(EXPORT, span()).json()["code"] == "denied"
    answer = admin.get(EXPORT, span(format="csv"))
    assert answer.headers["Content-Disposition"].startswith('attachment; filename="audit-')
    event = AuditEvent.objects.get(action="audit.exported")
    assert (event.actor, event.after["format"]) == (admin.user.username, "csv")
    assert set(event.after) == {"since", "until", "format"}


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({}, "since"),
        ({"since": "yesterday"}, "since"),
        ({"since": "9999-12-31T23:59:59-14:00"}, "since"),
        ({"since": "2026-01-02T00:00:00Z", "until": "2026-01-01T00:00:00Z"}, "since"),
        ({"since": "2026-01-01T00:00:00Z", "format": "xlsx"}, "format"),
    ],
)
def test_a_span_that_is_none_is_refused_by_its_field(admin, query, field):
    answer = admin.get(EXPORT, query)
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, field)


@pytest.mark.django_db(transaction=True)
def test_no_more_than_a_page_is_read_ahead(monkeypatch):
    monkeypatch.setattr(exporting, "PAGE", 2)
    recorded(*"abcdef")
    now = timezone.now()

    monkeypatch.setattr(exporting, "_page", counted := Counted(exporting._page))

    async def two_pages():
        told = exporting.export(now - HOUR, now + HOUR, "csv")
        return [await anext(told) for _ in range(3)]

    assert [text.count("\n") for text in asyncio.run(two_pages())] == [1, 2, 2]
    assert counted.calls == 2


class Counted:
    def __init__(self, page):
        self.page, self.calls = page, 0

    def __call__(self, *arguments):
        self.calls += 1
        return self.page(*arguments)
