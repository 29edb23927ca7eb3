"""Formats the output of the commands."""

from stack import near_build
from stack.layout import RunDir
from stack.status import State
from stack.up import Running


def started(running: Running, run_dir: RunDir) -> str:
    servers = "\n".join(
        f"    {instance.name:<12} {instance.product:<8} {instance.host}:{instance.port}  {instance.engine}"
        for instance in running.instances
    )
    return f"""
  Fast Query Cache is up.

    console   {running.address}
    user      {running.admin.username}
    password  {running.admin.password or "the one you set"}

  servers
{servers}
{_near_cache(running)}
  Try next
    make demo     a workload on all of them; then open Monitoring of an instance
    make status   what runs, and where its logs are ({run_dir.logs})
    make down     stop it; `make up` finds everything as it was
"""


def _near_cache(running: Running) -> str:
    lines = []
    if running.near_cache is not None:
        lines.append(f"{running.near_cache.instance:<12} {running.near_cache.socket}")
    if running.is_near_being_built:
        how = "a newer one" if running.near_cache else "it"
        lines.append(f"fqc-near is being built in the background, for some minutes; {how} is started when it is ready")
    return "".join(["\n  near cache\n", *(f"    {line}\n" for line in lines)]) if lines else ""


def state(found: State) -> str:
    lines = [f"console   {found.address or 'never started'}"]
    for service in found.services:
        word = f"running, pid {service.pid}" if service.is_running else "stopped"
        lines.append(f"{service.name:<12} {word:<22} {service.log}")
    if found.near_build:
        lines.append(f"{near_build.NAME:<12} {found.near_build.words:<22} {found.near_build.log}")
    for instance in found.instances:
        word = f"running, pid {instance.pid}" if instance.is_running else "stopped"
        lines.append(f"{instance.name:<12} {word:<22} {instance.folder}/error.log")
    return "\n".join(lines)
