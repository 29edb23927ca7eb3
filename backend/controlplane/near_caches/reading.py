"""One row of ``SHOW FQC NEAR``, as numbers. Pure. A server may answer anything: what is no row of it is left out."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from controlplane.gateway import reports

NAME = re.compile(r"[A-Za-z0-9._:-]{1,64}")
ADDRESS = re.compile(r"[!-~]{0,80}")
MOST_ROWS = 1000  # of one server
MOST, MOST_PROTOCOL = 2**63 - 1, 2**31 - 1

Row = Mapping[str, str | None]  # as the server wrote it, by column


def near_rows(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Fields of near caches, one for each attachment."""
    read = (_fields(row) for row in list(rows)[:MOST_ROWS])
    return list({(each["name"], each["attachment"]): each for each in read if each is not None}.values())


def _fields(row: Row) -> dict[str, Any] | None:
    name, address = row.get(reports.NEAR_NAME) or "", row.get(reports.NEAR_ADDRESS) or ""
    if not NAME.fullmatch(name) or not ADDRESS.fullmatch(address):
        return None
    try:
        whole = {field: int(row.get(column) or 0) for field, column in reports.NEAR_NUMBERS.items()}
        times = {field: float(row.get(column) or 0) for field, column in reports.NEAR_MILLISECONDS.items()}
    except ValueError:
        return None
    is_sound = all(0 <= number <= MOST for number in whole.values()) and whole["protocol"] <= MOST_PROTOCOL
    is_sound = is_sound and all(math.isfinite(number) and number >= 0 for number in times.values())
    return {"name": name, "address": address, **whole, **times} if is_sound else None
