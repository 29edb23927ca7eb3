"""Measures everything on a private PostgreSQL cluster, and keeps the numbers as JSON and Markdown in bench/runs.

python -m bench --instances 10000
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench import machine
from testing import postgres

RUNS = Path(__file__).parent / "runs"


def measured(instances: int, rounds: int, minute_instances: int) -> dict[str, Any]:
    import django

    django.setup()
    from django.core.management import call_command

    from bench import alerting, applying, expressions, polling, reading

    call_command("migrate", verbosity=0)
    polling.make_fleet(instances)
    parts: dict[str, Callable[[], dict[str, Any]]] = {
        "machine": machine.machine,
        "expressions": expressions.measure,
        "polling": lambda: polling.measure(instances, rounds),
        "alerting": lambda: alerting.measure(instances),
        "applying": lambda: applying.measure(instances),
        "reading": lambda: reading.measure(minute_instances),
    }
    found: dict[str, Any] = {"at": datetime.now(UTC).isoformat(timespec="seconds")}
    for name, measure in parts.items():
        found[name] = measure()
        print(as_markdown({name: found[name]}), flush=True)  # noqa: T201 - the result
    return {**found, "machine": {**found["machine"], "load_after": machine.load()}}


def as_markdown(parts: dict[str, Any]) -> str:
    lines = []
    for part, rows in parts.items():
        lines += [f"## {part}", "", "| what | measured |", "|---|---|"]
        lines += [f"| {name} | {_cell(value)} |" for name, value in rows.items()] + [""]
    return "\n".join(lines)


def _cell(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {number}" for name, number in value.items())
    return f"{value:,}" if isinstance(value, int) else str(value)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instances", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--minute-instances", type=int, default=20, help="how many have 30 days of minutes too")
    parser.add_argument("--keep", type=Path, default=RUNS / machine.run_name(), help="folder of the results")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="fqc-bench-") as folder, postgres.cluster() as cluster:
        os.environ |= {"FQC_RUN_DIR": folder, "FQC_DATABASE_URL": cluster.url, "FQC_LOG_LEVEL": "CRITICAL"}
        os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
        found = measured(options.instances, options.rounds, options.minute_instances)
        from django.db import connection

        connection.close()
    keep(found, options.keep)


def keep(found: dict[str, Any], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "result.json").write_text(json.dumps(found, indent=2) + "\n")
    parts = {name: rows for name, rows in found.items() if name != "at"}
    (folder / "summary.md").write_text(f"# Control plane, {found['at']}\n\n{as_markdown(parts)}")
    print(f"kept in {folder}")  # noqa: T201 - the result


if __name__ == "__main__":
    main()
