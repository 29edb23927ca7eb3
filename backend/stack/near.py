"""The near cache of a demo fleet: `fqc-near` in front of the first suitable server, on a socket in the run directory.

Its feed has an account of its own, with a new password at each start.
"""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pymysql

from stack import process, record, service
from stack.fleet import Instance
from stack.layout import NEAR_PROGRAM, RunDir, near_revision
from stack.owner import as_owner
from stack.problem import Problem
from stack.service import Service
from stack.step import progress

NAME = "near"
_FEED_USER = "near"
_PRIVILEGE = "REPLICATION MASTER ADMIN"
# It waits for its clients to finish.
_DRAIN_SECONDS = 40.0


@dataclass(frozen=True)
class NearCache:
    socket: str
    instance: str


def wanted(instances: Sequence[Instance]) -> Instance | None:
    """Returns the server that the near cache would serve for: the first MariaDB server, or None if there is none.

    A MySQL server would take the password of its account over TLS alone, which this near cache does not use.
    """
    return next((each for each in instances if each.is_serving and each.product == "MariaDB"), None)


def placed(run_dir: RunDir, instances: Sequence[Instance]) -> NearCache | None:
    """Returns where the near cache is or would be. None if `fqc-near` was not built or no server allows a near
    cache."""
    before = wanted(instances)
    return NearCache(str(_socket(run_dir)), before.name) if before and NEAR_PROGRAM.exists() else None


def ensure(
    run_dir: RunDir, kept: record.Record, instances: Sequence[Instance], environment: Mapping[str, str]
) -> NearCache | None:
    near = placed(run_dir, instances)
    now = near_revision() if near else ""
    if near is None or (NAME in kept.running() and kept.near_revision == now):
        return near
    if NAME in kept.running():
        process.stop([kept.processes[NAME]], _DRAIN_SECONDS)
    progress(f"starting a near cache in front of {near.instance}")
    before = next(instance for instance in instances if instance.name == near.instance)
    declared = _declare(run_dir, before)
    _make_account(before, run_dir)
    _socket(run_dir).unlink(missing_ok=True)
    kept.processes[NAME] = service.start(declared, run_dir, environment)
    kept.near_revision = now
    record.save(run_dir.record, kept)
    service.await_ready(declared, run_dir, kept.processes[NAME])
    return near


def _declare(run_dir: RunDir, before: Instance) -> Service:
    command = [str(NEAR_PROGRAM), "--server", f"{before.host}:{before.port}", "--listen", str(_socket(run_dir))]
    command += ["--socket-mode", "0600", "--metrics", "off", "--threads", "1", "--name", before.name]
    command += ["--feed-user", _FEED_USER, "--feed-password-file", str(_password_file(run_dir))]
    return Service(NAME, command, lambda: _socket(run_dir).exists())


def _make_account(before: Instance, run_dir: RunDir) -> None:
    """Makes the near cache's account on the server, with a new password. It may only attach to the engine."""
    password = secrets.token_urlsafe(18)
    account = f"'{_FEED_USER}'@'127.0.0.1'"
    try:
        with as_owner(before) as connection, connection.cursor() as cursor:
            cursor.execute(f"CREATE OR REPLACE USER {account} IDENTIFIED BY %s", (password,))
            cursor.execute(f"GRANT {_PRIVILEGE} ON *.* TO {account}")
    except pymysql.MySQLError as error:
        raise Problem(f"cannot make the near cache's account on {before.name}: {error}") from error
    _password_file(run_dir).write_text(password + "\n")


def _socket(run_dir: RunDir) -> Path:
    return run_dir.root / "near.sock"


def _password_file(run_dir: RunDir) -> Path:
    return run_dir.root / "near-password"
