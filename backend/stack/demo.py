"""`demo`: runs the workload on every server of the fleet, and enables the cache first if it is off."""

import secrets
from collections.abc import Sequence
from dataclasses import replace

import pymysql

from stack import fleet, near, near_build, record, workload
from stack.enabling import Api, enable
from stack.environment import for_children, web_address
from stack.fleet import Instance
from stack.layout import RunDir
from stack.owner import as_owner
from stack.problem import Problem
from stack.step import progress
from stack.workload import SCHEMA, Account


def demo(run_dir: RunDir, seconds: float | None) -> None:
    kept = record.load(run_dir.record)
    instances = [instance for instance in fleet.listed(run_dir, kept) if instance.is_running]
    if kept.ports is None or not instances:
        raise Problem("no local server runs; start the stack first with: make up")
    for instance in (each for each in instances if not each.is_serving):
        progress(f"{instance.name}: {instance.engine}; its reads are not cached")
    off = [instance for instance in instances if instance.is_serving and not _is_on(instance)]
    if off:
        environment = for_children(run_dir, kept.ports, kept.stack_id)
        api = Api(web_address(kept.ports))
        api.log_in(fleet.ensure_admin(run_dir, environment))
        for instance in off:
            progress(f"enabling the cache on {instance.name}")
            enable(api, instance)
    progress(f"reading and writing on {', '.join(instance.name for instance in instances)}; Ctrl-C ends it")
    workload.run(_accounts(run_dir, kept, instances), seconds)


def _accounts(run_dir: RunDir, kept: record.Record, instances: Sequence[Instance]) -> list[Account]:
    """Returns an account per connection: half of them go through the near cache, if there is one."""
    accounts = {instance.name: _make_account(instance) for instance in instances}
    found = near.placed(run_dir, instances) if near.NAME in kept.running() else None
    if found is None:
        if near_build.NAME in kept.running():
            progress("the near cache is still being built: all of it goes to the servers")
        return [*accounts.values()] * workload.CONNECTIONS_PER_SERVER
    progress(f"half of it goes through the near cache in front of {found.instance}")
    return [*accounts.values(), *[replace(accounts[found.instance], socket=found.socket)] * len(accounts)]


def _is_on(instance: Instance) -> bool:
    with as_owner(instance) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT @@GLOBAL.query_cache_type <> 'OFF' AND @@GLOBAL.query_cache_size > 0")
        return cursor.fetchall() == ((1,),)


def _make_account(instance: Instance) -> Account:
    """Makes the workload's account again, with a new password. It may only use its own schema. Earlier demos cannot
    log in any more."""
    password = secrets.token_urlsafe(18)
    try:
        with as_owner(instance) as connection, connection.cursor() as cursor:
            cursor.execute("DROP USER IF EXISTS 'demo'@'127.0.0.1'")
            cursor.execute("CREATE USER 'demo'@'127.0.0.1' IDENTIFIED BY %s", (password,))
            cursor.execute(f"GRANT ALL PRIVILEGES ON {SCHEMA}.* TO 'demo'@'127.0.0.1'")
    except pymysql.MySQLError as error:
        raise Problem(f"cannot make the demo's account on {instance.name}: {error}") from error
    return Account(instance.host, instance.port, "demo", password, instance.public_key)
