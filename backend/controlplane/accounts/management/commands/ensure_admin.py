"""An administrator, with a random password that is kept in the run directory for its owner."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from controlplane.accounts.admin_services import admin_ensure
from controlplane.core.request_context import acting_as


class Command(BaseCommand):
    help = "Make sure that there is an active administrator. Prints the name and the file that holds the password."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="print name and password as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        file: Path = settings.RUN_DIR / "admin-password"
        with acting_as("ensure_admin"):
            admin_ensure(settings.LOCAL_ADMIN, lambda password: _keep(file, password))
        password = file.read_text().strip() if file.exists() else ""
        if options["json"]:
            facts = {"username": settings.LOCAL_ADMIN, "password": password, "password_file": str(file)}
            self.stdout.write(json.dumps(facts))
        else:
            self.stdout.write(
                f"{settings.LOCAL_ADMIN}: the password is in {file}"
                if password
                else "there is an administrator already"
            )


def _keep(file: Path, password: str) -> None:
    file.touch(mode=0o600)
    file.write_text(password + "\n")
