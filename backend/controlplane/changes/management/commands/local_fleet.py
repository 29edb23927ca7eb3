"""A fleet of local servers for demos, tests and single-host use. Safe to repeat: what runs is left alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from controlplane.changes import local_fleet
from controlplane.core.errors import Problem
from controlplane.core.request_context import acting_as
from controlplane.gateway.product import DEFAULT_PRODUCT


class Command(BaseCommand):
    help = "start: create and start local servers up to --count; stop: stop them; reset: delete them and their data."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("action", choices=["start", "stop", "status", "reset"])
        parser.add_argument("--count", type=int, default=2, help="number of servers that `start` keeps running")
        parser.add_argument("--product", choices=list(local_fleet.NAMES), default=DEFAULT_PRODUCT.name)
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        if not 1 <= options["count"] <= 200:
            raise CommandError("--count: write a number from 1 to 200")
        actions: dict[str, Callable[[], object]] = {
            "start": lambda: local_fleet.start(options["count"], options["product"]),
            "stop": local_fleet.stop,
            "reset": local_fleet.reset,
            "status": lambda: None,
        }
        try:
            with acting_as("local_fleet"):
                actions[options["action"]]()
                self._report(local_fleet.status(), is_json=options["json"])
        except Problem as problem:
            raise CommandError(problem.detail) from problem

    def _report(self, rows: list[dict[str, Any]], *, is_json: bool) -> None:
        if is_json:
            self.stdout.write(json.dumps(rows))
            return
        for row in rows:
            self.stdout.write(f"{row['name']}  {row['state']}  {row['host']}:{row['port']}  {row['folder']}")
