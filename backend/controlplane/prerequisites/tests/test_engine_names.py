"""The control plane only knows the engine by its names, which one file states.

The engine's tests use that file, too.
"""

import json
import re
from pathlib import Path

import pytest

from controlplane.fleet.observation import IDENTITY_NAMES
from controlplane.gateway import reports
from controlplane.gateway.names import ENGINE_NAMES
from controlplane.metrics.columns import STATUS_NAMES, VARIABLE_NAMES

SOURCE = Path(__file__).resolve().parents[2]
STATED = json.loads((SOURCE.parents[1] / "docs" / "reference" / "engine.json").read_text())
# A server variable as the source names it, and any of the engine's counters, but not a family of them (`Fqc_x_*`).
VARIABLE = re.compile(r"(?:variable\(|set_session\(|variables\.get\(|@@|LIKE ')[\"']?(fqc_\w+)")
COUNTER = re.compile(r"\b(?:Fqc|Qcache)_\w*[a-z0-9]\b")


@pytest.mark.parametrize(
    ("report", "columns"),
    [
        (reports.STATUS, {reports.ITEM, reports.VALUE}),
        (reports.REASONS, {reports.REASON, reports.MEANING}),
        (
            reports.QUERIES,
            {reports.DIGEST, reports.QUERY, reports.TABLES_READ, reports.OBSERVED_RATIO, *reports.QUERY_COUNTERS},
        ),
        (reports.TABLES, {reports.TABLE_SCHEMA, reports.TABLE_NAME, *reports.TABLE_NUMBERS.values()}),
        (reports.CURVE, {reports.SIZE_BYTES, reports.HIT_RATIO}),
        (
            reports.NEAR,
            {
                reports.NEAR_NAME,
                reports.NEAR_ADDRESS,
                *reports.NEAR_NUMBERS.values(),
                *reports.NEAR_MILLISECONDS.values(),
            },
        ),
    ],
)
def test_a_report_has_the_columns_that_are_read(report: str, columns: set[str]) -> None:
    assert columns <= set(STATED[f"columns of {report}"])


def test_the_status_has_the_items_that_are_read() -> None:
    assert {*reports.OWN_COUNTS.values(), reports.WHY_NOT_CACHED} <= set(STATED["items of STATUS"])


def test_reasons_that_pass_are_reasons_of_the_engine() -> None:
    assert set(STATED["reasons"]) >= reports.PASSING_REASONS


def test_lists_of_names_hold_names_of_the_engine() -> None:
    names = [*ENGINE_NAMES.values(), *IDENTITY_NAMES, *VARIABLE_NAMES]
    assert {name for name in names if name.startswith("fqc_")} <= set(STATED["variables"])
    assert set(filter(COUNTER.fullmatch, STATUS_NAMES)) <= set(STATED["counters"])


@pytest.mark.parametrize(("pattern", "stated"), [(VARIABLE, "variables"), (COUNTER, "counters")])
def test_no_source_names_what_the_engine_does_not_have(pattern: re.Pattern[str], stated: str) -> None:
    sources = [file for file in SOURCE.rglob("*.py") if "tests" not in file.parts]
    named = {name: file.name for file in sources for name in pattern.findall(file.read_text())}
    assert len(named) > 3
    assert {name: file for name, file in named.items() if name not in STATED[stated]} == {}
