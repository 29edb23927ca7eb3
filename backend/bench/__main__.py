"""Measures everything on a private PostgreSQL cluster and keeps the numbers as JSON and Markdown.

python -m bench --instances 10000 --rounds 3 --keep bench/runs/2026-11-20-laptop
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from testing import postgres


def machine() -> dict[str, Any]:
    model = next((line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines()
                  if line.startswith("model name")), platform.machine())  # fmt: skip
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "load_before": [round(each, 1) for each in os.getloadavg()],
        "python": platform.python_version(),
    }


def measured(instances: int, rounds: int, minute_instances: int) -> dict[str, Any]:
    import django

    django.setup()
    from django.core.management import call_command

    from bench import applying, expressions, polling, reading

    call_command("migrate", verbosity=0)
    polling.make_fleet(instances)
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "expressions": expressions.measure(),
        "polling": polling.measure(instances, rounds),
        "applying": applying.measure(instances),
        "reading": reading.measure(minute_instances),
    }


def as_markdown(found: dict[str, Any]) -> str:
    lines = [f"# Control plane, {found['at']}", ""]
    for part in ("machine", "expressions", "polling", "applying", "reading"):
        lines += [f"## {part}", "", "| what | measured |", "|---|---|"]
        lines += [f"| {name} | {_cell(value)} |" for name, value in found[part].items()] + [""]
    return "\n".join(lines)


def _cell(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {number}" for name, number in value.items())
    return f"{value:,}" if isinstance(value, int) else str(value)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instances", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--minute-instances", type=int, default=20, help="how many have 30 days of minutes too")
    parser.add_argument("--keep", type=Path, help="folder for result.json and summary.md")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="fqc-bench-") as folder, postgres.cluster() as cluster:
        os.environ |= {"FQC_RUN_DIR": folder, "FQC_DATABASE_URL": cluster.url, "FQC_LOG_LEVEL": "CRITICAL"}
        os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
        found = measured(options.instances, options.rounds, options.minute_instances)
        from django.db import connection

        connection.close()
    print(as_markdown(found))  # noqa: T201 - the result
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
        (options.keep / "result.json").write_text(json.dumps(found, indent=2) + "\n")
        (options.keep / "summary.md").write_text(as_markdown(found))


if __name__ == "__main__":
    main()
