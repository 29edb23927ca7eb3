"""A catalogue of server variables that an operator has filled, which an older version of the product allowed."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

PATH = "/tmp/elsewhere.pth"
# Each name would make a server write or load a file if it came into its option file.
ABBREVIATED = (
    "general_log_fi", "basedi", "character_sets_di", "loose_general_log_file", "skip_general_log_fi",
    "maximum_general_log_file", "enable_basedir", "disable_basedi", "autoset_datadi", "slow_query_log_f",
)  # fmt: skip
# No access class forbids this name: only the server itself shows that it has no such variable.
INVENTED = "new_page_count"


def variable_row(name: str, kind: str, choices: str | None = None) -> tuple[Any, ...]:
    bounds = ("0", "100") if kind == "BIGINT" else (None, None)
    return (name, kind, choices and choices.split(",")[0], "GLOBAL", "", *bounds, None, choices, "YES", "REQUIRED")


@pytest.fixture
def odd_instance(instance: Any) -> Any:
    """Returns the instance `instance`. The catalogue has these variables for its release line in addition to the
    real ones."""
    from controlplane.catalogue.models import EngineLine
    from controlplane.catalogue.server_variables import entries_from
    from controlplane.fleet.selectors import server_line_id

    rows = [variable_row(name, "ENUM", f"{PATH},other") for name in ABBREVIATED] + [variable_row(INVENTED, "BIGINT")]
    line = EngineLine.objects.get(id=server_line_id(instance.engine_version))
    line.definitions += entries_from(rows)
    line.read_at = datetime.now(UTC)
    line.save()
    return instance
