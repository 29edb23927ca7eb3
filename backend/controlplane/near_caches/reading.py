"""Parses the rows of ``SHOW FQC NEAR``. Pure. A server may answer anything, so invalid rows are left out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from controlplane.gateway import reports
from controlplane.gateway.numbers import MOST_STORED, decimal, whole

NAME = re.compile(r"[A-Za-z0-9._:-]{1,64}")
ADDRESS = re.compile(r"[!-~]{0,80}")
MOST_ROWS = 1000  # per server
MOST_PROTOCOL = 2**31 - 1
MOST_OBSTACLE = 200

Row = Mapping[str, str | None]  # the server's text by column


def near_rows(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Returns the near caches that valid rows of SHOW FQC NEAR describe, as fields of the model NearCache.

    Of rows with the same name and the same number of the attachment (a near cache's connection to the server) the last
    one counts.
    """
    read = (_fields(row) for row in list(rows)[:MOST_ROWS])
    return list({(each["name"], each["attachment"]): each for each in read if each is not None}.values())


def _fields(row: Row) -> dict[str, Any] | None:
    name, address = row.get(reports.NEAR_NAME) or "", row.get(reports.NEAR_ADDRESS) or ""
    if not NAME.fullmatch(name) or not ADDRESS.fullmatch(address):
        return None
    most = dict.fromkeys(reports.NEAR_NUMBERS, MOST_STORED) | {"protocol": MOST_PROTOCOL}
    counts = {field: whole(row.get(reports.NEAR_NUMBERS[field]) or "0", limit) for field, limit in most.items()}
    times = {field: decimal(row.get(column) or "0") for field, column in reports.NEAR_MILLISECONDS.items()}
    is_sound = None not in (*counts.values(), *times.values())
    # a plugin without this column reports to near caches whatever its state is
    obstacle = (row.get(reports.NEAR_OBSTACLE) or "")[:MOST_OBSTACLE]
    return {"name": name, "address": address, "obstacle": obstacle, **counts, **times} if is_sound else None
