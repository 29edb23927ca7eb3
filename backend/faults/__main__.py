"""The command line: `python -m faults --seconds N --database sqlite|postgresql --broker files|valkey|rabbitmq`."""

from __future__ import annotations

import argparse
import json
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from faults.books import Books, compared, quiet, unfinished
from faults.deployment import Deployment, deployment
from faults.strikes import Strikes
from faults.work import Client, Work

CLIENTS = 4
STRIKERS = 2
QUIET_SECONDS = 300.0


def main() -> int:
    options = _options()
    with deployment(
        database=options.database, broker=options.broker, server_count=options.servers, logs=options.logs
    ) as made:
        client = Client(made.url, _register(made))
        work = Work(client, [each.instance_id for each in made.servers], options.seed)
        strikers = [Strikes(made, options.seed + number) for number in range(STRIKERS)]
        ends = [_run(work.go_on) for _ in range(CLIENTS)] + [_run(strikes.go_on) for strikes in strikers]
        time.sleep(options.seconds)
        for strikes in strikers:
            strikes.is_over.set()
        work.is_over.set()
        for thread in ends:
            thread.join()
        made.mend()
        _connect_anew()
        quiet(lambda: not unfinished(), time.sleep, QUIET_SECONDS)
        # The watch sets variables again that killed servers have lost.
        quiet(lambda: not compared(made, work.told).half_applied_unsaid, time.sleep, QUIET_SECONDS)
        books = compared(made, work.told)
    print(_ledger(options, work, strikers, books))
    return 0 if books.are_right else 1


def _connect_anew() -> None:
    """Closes connections that were opened before the database was stopped."""
    from django.db import connection

    connection.close()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m faults", description=sys.modules["faults"].__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="how long things break")
    parser.add_argument("--database", choices=["sqlite", "postgresql"], default="sqlite")
    parser.add_argument("--broker", choices=["files", "valkey", "rabbitmq"], default="files")
    parser.add_argument("--servers", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--logs", type=Path, default=Path("faults-logs"), help="where the processes' logs go")
    options = parser.parse_args()
    options.logs = options.logs.resolve()
    return options


def _run(do: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=do, daemon=True)  # an interrupt ends the thread, too
    thread.start()
    return thread


def _register(made: Deployment) -> str:
    """Registers the fleet and a user who may change it. Returns a token."""
    from controlplane.accounts.services import token_create, user_create
    from controlplane.core.request_context import acting_as
    from controlplane.gateway.local_accounts import Use, account
    from testing.servers import row_for

    for managed in made.servers:
        name, password = account(Use.CHANGE, managed.server.username, managed.server.password)
        facts = {"username": name, "password": password, "port": managed.proxy.port}
        instance = row_for(managed.server, provider="external", **facts)
        managed.instance_id = instance.pk
    with acting_as("faults"):
        user = user_create(username="faults", password="stand the test of faults", role="operator")
        _, token = token_create(user, name="faults", scope="operator")
    return token


def _ledger(options: argparse.Namespace, work: Work, strikers: list[Strikes], books: Books) -> str:
    struck = sum((strikes.struck for strikes in strikers), start=type(strikers[0].struck)())
    return json.dumps(
        {
            "run": {name: getattr(options, name) for name in ("database", "broker", "seconds", "seed", "servers")},
            "strikes": dict(struck),
            "answers": work.told.statuses,
            "changes": dict(books.outcomes),
            "faults": {name: len(found) for name, found in books.faults.items()},
            "found": {name: found[:20] for name, found in books.faults.items() if found},
        },
        indent=2,
    )


if __name__ == "__main__":
    sys.exit(main())
