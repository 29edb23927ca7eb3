"""Lag and stopped channels of real replicas, from the first poll on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from controlplane.fleet.kept_connections import Connections
from controlplane.gateway.product import MARIADB, MYSQL, LocalProduct
from controlplane.metrics import polling
from controlplane.metrics.models import Sample
from controlplane.metrics.replication import MOST_SECONDS, Replication, lag_of
from testing.servers import CONFIGURATION, managed
from testing.workers import until

pytestmark = pytest.mark.django_db
T = 1_800_000_000
FOLLOW = {
    MARIADB: (
        "SET GLOBAL server_id = 2",
        "CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = {port}, MASTER_USER = 'copy', "
        "MASTER_PASSWORD = 'x', MASTER_USE_GTID = slave_pos, MASTER_CONNECT_RETRY = 1",
        "START SLAVE",
    ),
    MYSQL: (
        "SET GLOBAL server_id = 2",
        "CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_PORT = {port}, SOURCE_USER = 'copy', "
        "SOURCE_PASSWORD = 'x', GET_SOURCE_PUBLIC_KEY = 1, SOURCE_CONNECT_RETRY = 1",
        "START REPLICA",
    ),
}
STOP = {MARIADB: "STOP SLAVE", MYSQL: "STOP REPLICA"}


@pytest.fixture(params=[MARIADB, MYSQL], ids=["MariaDB", "MySQL"])
def product(request: pytest.FixtureRequest) -> LocalProduct:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture
def replica(product: LocalProduct, own_server: Callable[..., Any]) -> Iterator[tuple[Any, Any, Any]]:
    """Yields the instance of a replica, and a connection to its source and one to itself."""
    source_server = own_server(product=product, configured={**CONFIGURATION, "log_bin": "log"})
    server = own_server(product=product)
    source, copy = source_server.connect(), server.connect()
    source.run("CREATE USER copy IDENTIFIED BY 'x'")
    source.run("GRANT REPLICATION SLAVE ON *.* TO copy")
    source.run("CREATE DATABASE shop")
    source.run("CREATE TABLE shop.items (id INT PRIMARY KEY)")
    for statement in FOLLOW[product]:
        copy.run(statement.format(port=source_server.port))
    until(lambda: has_table(copy), "the table is there")
    yield managed(server), source, copy
    source.close()
    copy.close()


def has_table(copy: Any) -> bool:
    return bool(copy.rows("SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'shop'"))


def test_a_replica_that_falls_behind_or_stops_is_sampled(
    replica: tuple[Any, Any, Any], product: LocalProduct, connections: Connections
) -> None:
    instance, source, copy = replica
    replication = Replication()
    rounds = iter(range(T, T + 1000))

    def sample() -> tuple[float | None, float | None]:
        at = next(rounds)
        polling.poll_round(at, connections, replication)
        found = Sample.objects.get(instance_id=instance.pk, at=at)
        return found.replication_lag_seconds, found.stopped_channels

    until(lambda: sample() == (0, 0), "the replica is up to date")
    copy.run("LOCK TABLES shop.items READ")
    source.run("INSERT INTO shop.items VALUES (1)")
    until(lambda: (sample()[0] or 0) >= 1, "the lag is seen")
    copy.run("UNLOCK TABLES")
    until(lambda: sample() == (0, 0), "the replica is up to date again")
    copy.run(STOP[product])
    assert sample() == (None, 1)


def test_a_server_that_does_not_replicate_is_queried_every_few_minutes(
    shared_server: Any, connections: Connections
) -> None:
    instance = managed(shared_server)
    replication = Replication()
    asked: list[str] = []

    class Counting(Connections):
        def rows_all(self, instances: Any, limits: Any, statement: str, **how: Any) -> Any:
            asked.append(statement)
            return super().rows_all(instances, limits, statement, **how)

    counting = Counting()
    limits = polling._limits()
    for now in (0.0, 10.0, MOST_SECONDS / 2 - 1, MOST_SECONDS):
        assert replication.of([instance], now, counting, limits) == {}
    counting.keep_only(())
    assert asked == ["SHOW ALL SLAVES STATUS"] * 2


def test_a_grant_counts_at_the_next_query(own_server: Callable[..., Any], connections: Connections) -> None:
    server = own_server()
    owner = server.connect()
    owner.run("CREATE USER watcher@'127.0.0.1' IDENTIFIED BY 'x'")
    owner.run("CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = 1, MASTER_USER = 'copy'")
    instance = managed(server, username="watcher", password="x")
    replication, limits = Replication(), polling._limits()
    assert replication.of([instance], 0.0, connections, limits) == {}
    owner.run("GRANT SLAVE MONITOR ON *.* TO watcher@'127.0.0.1'")
    assert replication.of([instance], 1.0, connections, limits) == {}
    stopped = {instance.pk: {"replication_lag_seconds": None, "stopped_channels": 1}}
    assert replication.of([instance], MOST_SECONDS, connections, limits) == stopped
    owner.close()


def channel(**columns: str | None) -> dict[str, str | None]:
    usual = {"Slave_IO_Running": "Yes", "Slave_SQL_Running": "Yes", "Seconds_Behind_Master": "0"}
    return {**usual, **columns}


def test_the_slowest_of_several_channels_counts_and_one_that_retries_is_stopped() -> None:
    retrying = channel(Slave_IO_Running="Connecting", Seconds_Behind_Master=None)
    assert lag_of([channel(), channel(Seconds_Behind_Master="7"), retrying]) == {
        "replication_lag_seconds": 7,
        "stopped_channels": 1,
    }
