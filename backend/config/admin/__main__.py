"""`python -m config.admin COMMAND`, installed as `fqc-admin`: the database and the keys of this installation."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import django
from django.core.management import call_command
from django.core.management.base import CommandError

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")


def parsed(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="fqc-admin", description="Care for this installation's database and keys.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("migrate", help="migrate the database to this version")
    commands.add_parser("first-admin", help="create an administrator if there is none")
    commands.add_parser("rotate-key", help="encrypt every secret again, with the newest of FQC_SEALING_KEYS")
    backup = commands.add_parser("backup", help="back up the database to a file, without downtime")
    backup.add_argument("file", type=Path)
    restore = commands.add_parser("restore", help="restore a backup into an empty database, and verify it")
    restore.add_argument("file", type=Path)
    restore.add_argument(
        "--without-keys", action="store_true", help="even if stored passwords cannot be decrypted afterwards"
    )
    return parser.parse_args(words)


def carry_out(options: argparse.Namespace) -> str:
    from config.admin import backup, restore

    match options.command:
        case "migrate":
            call_command("migrate", interactive=False)
        case "first-admin":
            call_command("ensure_admin")
        case "rotate-key":
            call_command("rotate_sealing_key")
        case "backup":
            return backup.write(options.file)
        case "restore":
            return restore.read(options.file, is_without_keys=options.without_keys)
    return ""


def main(words: Sequence[str]) -> int:
    options = parsed(words)
    django.setup()
    from config.admin.archive import ActionNeeded

    try:
        sys.stdout.write(carry_out(options))
    except (ActionNeeded, CommandError, OSError) as error:
        sys.stderr.write(f"fqc-admin: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
