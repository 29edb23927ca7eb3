"""A change that is stopped at a given point, and the state of its server then."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from testing.servers import TestServer, row_for
from testing.wire import HoldingProxy
from testing.workers import until


@pytest.fixture
def held(shared_server: TestServer, shipped_classes: None) -> Iterator[tuple[Any, HoldingProxy]]:
    """Yields the shared server as an instance behind a proxy, and the proxy.

    The proxy holds back the answer to `SET GLOBAL sort_buffer_size`.
    """
    from controlplane.fleet.models import Instance

    instance = row_for(shared_server)
    proxy = HoldingProxy(shared_server.port, b"SET GLOBAL `sort_buffer_size`")
    Instance.objects.update(port=proxy.port)
    yield instance, proxy
    proxy.close()
    server = shared_server.connect()
    server.set_global_default("sort_buffer_size")
    server.set_global_default("long_query_time")
    server.close()


def killed_while_held(process: subprocess.Popen[bytes], proxy: HoldingProxy, shared_server: TestServer) -> None:
    """Kills a worker that runs a change of `sort_buffer_size` to 4M, after the server has set the value and before
    the worker gets the answer."""
    until(proxy.is_held.is_set, "the worker reaches the held step")
    until(lambda: running(shared_server, "sort_buffer_size") == "4194304", "the server does as it was told")
    process.kill()
    process.wait()
    proxy.release()


def running(shared_server: TestServer, name: str) -> str | None:
    server = shared_server.connect()
    try:
        return server.variable(name)
    finally:
        server.close()


def ended(change: Any) -> bool:
    change.refresh_from_db()
    return change.finished_at is not None
