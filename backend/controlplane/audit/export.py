"""Exports the audit trail of a period as CSV or JSON lines, oldest first. Only one page is in memory at a time."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import AsyncIterator, Callable, Iterable
from datetime import datetime
from typing import Any

from asgiref.sync import sync_to_async
from django.db import close_old_connections
from django.db.models import Q
from rest_framework.utils.encoders import JSONEncoder

from controlplane.audit.models import AuditEvent
from controlplane.audit.serializers import AuditEventSerializer

PAGE = 500
COLUMNS = AuditEventSerializer.Meta.fields
FORMULA = tuple("=+-@\t\r\n")  # a spreadsheet would execute a cell that begins with one of these

Row = dict[str, Any]


def json_lines(rows: Iterable[Row]) -> str:
    return "".join(json.dumps(row, cls=JSONEncoder, ensure_ascii=False) + "\n" for row in rows)


def csv_lines(rows: Iterable[Row]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows([_cell(row[name]) for name in COLUMNS] for row in rows)
    return text.getvalue()


def _cell(value: Any) -> str:
    told = json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else "" if value is None else str(value)
    return f"'{told}" if told.startswith(FORMULA) else told


LINES: dict[str, Callable[[Iterable[Row]], str]] = {"csv": csv_lines, "jsonl": json_lines}
HEADS = {"csv": ",".join(COLUMNS) + "\r\n", "jsonl": ""}


async def export(since: datetime, until: datetime, form: str) -> AsyncIterator[str]:
    yield HEADS[form]
    last: AuditEvent | None = None
    while page := await sync_to_async(_page)(since, until, last):
        last = page[-1]
        yield LINES[form](AuditEventSerializer(page, many=True).data)


def _page(since: datetime, until: datetime, last: AuditEvent | None) -> list[AuditEvent]:
    """Returns the next page of events after `last` (None: the first page).

    The database connection is closed after each page, since the client may read slowly.
    """
    rows = AuditEvent.objects.filter(created_at__gte=last.created_at if last else since, created_at__lt=until)
    if last:
        rows = rows.filter(Q(created_at__gt=last.created_at) | Q(id__gt=last.pk))
    try:
        return list(rows.order_by("created_at", "id")[:PAGE])
    finally:
        close_old_connections()
