"""The first administrator: made once, with a random password that is kept in the run directory for its owner."""

from __future__ import annotations

import json
import secrets
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from controlplane.accounts.models import User
from controlplane.accounts.roles import Role
from controlplane.accounts.services import user_create
from controlplane.core.request_context import acting_as

USERNAME = "admin"


class Command(BaseCommand):
    help = "Make the first administrator, once. Prints the name and the file that holds the password."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="print name and password as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        file = settings.RUN_DIR / "admin-password"
        if not User.objects.filter(role=Role.ADMIN).exists():
            password = secrets.token_urlsafe(18)
            with acting_as("ensure_admin"):
                user_create(username=USERNAME, password=password, role=Role.ADMIN)
            file.touch(mode=0o600)
            file.write_text(password + "\n")
        password = file.read_text().strip() if file.exists() else ""
        if options["json"]:
            facts = {"username": USERNAME, "password": password, "password_file": str(file)}
            self.stdout.write(json.dumps(facts))
        else:
            self.stdout.write(f"{USERNAME}: the password is in {file}" if password else "there is an administrator")
