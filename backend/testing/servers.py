"""Real servers of the `local` provider, in the run directory of the test run.

One MariaDB server and one MySQL server are shared by the tests of a session, each of which restores what it changed;
tests that restart or kill a server make their own. MySQL is `FQC_MYSQLD`, or the server that `scripts/fetch-server
MySQL tested` has brought. Without either, tests that need MySQL are skipped, and the summary says so.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, time, timedelta
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from django.apps import apps
from django.conf import settings

from controlplane.core.ids import new_id
from controlplane.gateway.local import LocalServer
from controlplane.gateway.product import MARIADB, MYSQL, LocalProduct
from controlplane.gateway.server import Limits, Server, open_server
from testing.guard import servers_left
from testing.ports import free_port

if TYPE_CHECKING:
    from controlplane.fleet.observation import Identity

# The limits of the tests' own connections to servers. They are long, since a test machine may be loaded.
LIMITS = Limits(networks=("127.0.0.0/8",), connect_seconds=60, statement_seconds=120)
# Variables in the option file of every server that tests make.
CONFIGURATION = {"innodb_buffer_pool_size": "268435456", "innodb_log_file_size": "8388608"}
# The folder with older MySQL versions, as `scripts/fetch-server` brings them.
SERVERS = Path(os.environ.get("FQC_OLDER_SERVERS") or Path(__file__).parents[2] / "engine" / "target" / "servers")
NO_MYSQL = "NO MYSQL SERVER IS HERE: set FQC_MYSQLD, or run scripts/fetch-server MySQL tested"


class TestServer(LocalServer):
    """A local server that is also an endpoint to connect to. It is not running before `make` and `start`.

    Its empty databases are a copy of those of the run's first server. Tests connect to it with an account that has all
    privileges; the control plane uses the accounts that it made itself.
    """

    __test__ = False
    host = "127.0.0.1"
    is_tls_required = False
    tls_ca = ""
    # The release line, if it is not the one that local servers are made of.
    line: ClassVar = ""

    @property
    def everything(self) -> SimpleNamespace:
        return SimpleNamespace(
            host=self.host, port=self.port, username="tester", password="may-do-everything", is_tls_required=False,
            tls_ca="", public_key=self.public_key,
        )  # fmt: skip

    def connect(self) -> Server:
        return open_server(self.everything, LIMITS)

    def accounts_ensure(self) -> None:
        super().accounts_ensure()
        self._tester_ensure()

    def _tester_ensure(self) -> None:
        with self.as_owner() as connection, connection.cursor() as cursor:
            name = f"'{self.everything.username}'@'{self.host}'"
            cursor.execute(f"CREATE USER IF NOT EXISTS {name} IDENTIFIED BY '{self.everything.password}'")
            cursor.execute(f"GRANT ALL PRIVILEGES ON *.* TO {name} WITH GRANT OPTION")

    def _install_databases(self) -> None:
        template = settings.RUN_DIR / f"empty-databases-{self.product.name}{self.line}"
        if not template.exists():
            super()._install_databases()
            # Copies must not share the server's UUID and keys.
            shutil.copytree(self.folder / "data", template, ignore=shutil.ignore_patterns("auto.cnf", "*.pem"))
            return
        shutil.copytree(template, self.folder / "data")


class OlderMySQL(TestServer):
    """A server of a MySQL version that local servers are not made of.

    It stands for a user's own server: only the tests' account exists, and none of the control plane.
    """

    __test__ = False

    def accounts_ensure(self) -> None:
        self._tester_ensure()


class MySQL57(OlderMySQL):
    line = "5.7"


class MySQL80(OlderMySQL):
    line = "8.0"


OLDER = (MySQL57, MySQL80)
# Parameters for tests of everything that is advised by product and release line: a class of server, and its product.
LINES = [
    pytest.param(TestServer, MARIADB, id="MariaDB"),
    pytest.param(TestServer, MYSQL, id="MySQL"),
    *(pytest.param(kind, MYSQL, id=f"MySQL-{kind.line}") for kind in OLDER),
]


def no_older(kind: type[OlderMySQL]) -> str:
    return f"NO MYSQL {kind.line} IS HERE: run scripts/fetch-server MySQL {kind.line}"


@contextmanager
def servers() -> Iterator[Callable[..., TestServer]]:
    """Yields a function that makes and starts a server with empty databases, and with `has_engine` installs the engine.

    `configured` is its option file's variables. In the end all servers are stopped, also those whose making failed.
    """
    made: list[TestServer] = []

    def make(
        *, has_engine: bool = False, product: LocalProduct = MARIADB, configured: Mapping[str, str] = CONFIGURATION
    ) -> TestServer:
        program = mysqld() if product is MYSQL else ""
        folder = settings.LOCAL_ROOT / new_id("rm")
        server = TestServer(folder, free_port(), "fqc", "a-password_for-tests", product, program)
        made.append(server)
        server.make(configured)
        server.start()
        if has_engine:
            _install_engine(server)
        return server

    try:
        yield make
    finally:
        for server in made:
            server.stop(force=True)


def mysqld() -> str:
    found: str = settings.LOCAL_PROGRAMS[MYSQL.name]
    if not Path(found).is_file():
        pytest.skip(NO_MYSQL)
    return found


def pytest_terminal_summary(terminalreporter: Any) -> None:
    skipped = [str(each.longrepr) for each in terminalreporter.stats.get("skipped", [])]
    for what in (NO_MYSQL, *map(no_older, OLDER)):
        if number := sum(what in each for each in skipped):
            terminalreporter.write_line(f"{number} TESTS WERE SKIPPED. {what}", yellow=True)


def _install_engine(server: TestServer) -> None:
    from controlplane.gateway.engine import install_engine

    connection = server.connect()
    install_engine(server, connection, settings.ENGINE_LIBRARY)
    connection.close()


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lengthens the time limits of rounds over all servers, since a test machine may be loaded.

    Tests of the limits set their own.
    """
    for module in ("controlplane.metrics.polling", "controlplane.changes.watch", "controlplane.statements.noting"):
        monkeypatch.setattr(f"{module}.CONNECT_SECONDS", LIMITS.connect_seconds)
        monkeypatch.setattr(f"{module}.STATEMENT_SECONDS", LIMITS.statement_seconds)


@pytest.fixture(scope="session", autouse=True)
def _no_server_outlives_its_test() -> Iterator[None]:
    yield
    left = servers_left()
    assert not left, f"still running at the end of all tests, and ended now: {left}"


@pytest.fixture(scope="session")
def shared_server() -> Iterator[TestServer]:
    with servers() as make:
        yield make(has_engine=True)


@pytest.fixture(scope="session")
def shared_mysql() -> Iterator[TestServer]:
    with servers() as make:
        yield make(product=MYSQL)


@pytest.fixture(scope="session", params=OLDER, ids=lambda kind: kind.line)
def older_mysql(request: pytest.FixtureRequest) -> Iterator[TestServer]:
    with server_of_line(request.param, MYSQL, ("loose-persisted_globals_load = ON",)) as server:
        yield server


@contextmanager
def server_of_line(
    kind: type[TestServer], product: LocalProduct, option_lines: Iterable[str] = ()
) -> Iterator[TestServer]:
    """Yields a running server of this class. Its option file also has `option_lines`, verbatim. Skips if it is
    missing."""
    folder = settings.LOCAL_ROOT / new_id("rm")
    server = kind(folder, free_port(), "fqc", "a-password_for-tests", product, _program(kind, product))
    try:
        server.make(CONFIGURATION)
        with (folder / "configured.cnf").open("a") as file:
            file.writelines(f"{line}\n" for line in option_lines)
        server.start()
        yield server
    finally:
        server.stop(force=True)


def _program(kind: type[TestServer], product: LocalProduct) -> str:
    if product is not MYSQL:
        return ""
    if not issubclass(kind, OlderMySQL):
        return mysqld()
    found = SERVERS / f"MySQL-{kind.line}" / "sbin" / MYSQL.program
    if not found.is_file():
        pytest.skip(no_older(kind))
    return str(found)


@pytest.fixture
def own_server() -> Iterator[Callable[..., TestServer]]:
    with servers() as make:
        yield make


def shut_window() -> time:
    """Returns a start (UTC) for an instance's maintenance window that keeps it closed for the length of a test, at
    any time of day."""
    return (datetime.now(UTC) + timedelta(hours=12)).time().replace(second=0, microsecond=0)


def row_for(server: TestServer, **facts: Any) -> Any:
    """Adds an instance for a running server, as its creation would have left it, and returns it.

    `facts` sets fields of the instance, such as its state or class, to other values than usual. Also stores what the
    server's release line knows of its variables.
    """
    from controlplane.core.request_context import acting_as
    from controlplane.fleet.models import Instance
    from controlplane.fleet.observation import note_identity, read_identity
    from controlplane.fleet.selectors import class_get

    usual: dict[str, Any] = {"provider": "local", "state": "running", "instance_class": class_get("local.medium")}
    usual |= {"product": server.product.name, "window_start": shut_window()}
    instance = Instance(id=server.folder.name, name=f"test-{server.port}", host="127.0.0.1", port=server.port)
    instance.username, instance.password = server.username, server.password
    for name, value in {**usual, **facts}.items():
        setattr(instance, name, value)
    instance.save()
    connection = server.connect()
    identity = read_identity(connection)
    with acting_as("test"):
        note_identity(instance, identity)
        _learn_line(connection, identity)
    connection.close()
    return instance


def managed(server: TestServer, **facts: Any) -> Any:
    """Adds an external instance for a server, with the tests' account, which has all privileges. `facts` as in
    `row_for`."""
    who = server.everything
    usual = {"username": who.username, "password": who.password, "public_key": who.public_key}
    return row_for(server, provider="external", **{**usual, **facts})


# By engine version and engine release: the description of the server's variables, and when it was read.
_taught: dict[tuple[str, int | None], tuple[list[tuple[Any, ...]], datetime]] = {}


def _learn_line(connection: Server, identity: Identity) -> None:
    """Stores the description of the server's variables in the catalogue, as the product does.

    A server with this engine is read once per test run, and `read_at` stays the same, so that the description is parsed
    once.
    """
    from controlplane.catalogue.models import EngineLine
    from controlplane.catalogue.selectors import described_engines, is_news
    from controlplane.catalogue.server_variables import line_id
    from controlplane.catalogue.services import engine_line_store
    from controlplane.gateway.product import product_of
    from controlplane.gateway.variables import variable_rows

    version, minor_version = identity.engine_version, identity.minor_version
    if (version, minor_version) not in _taught:
        _taught[version, minor_version] = variable_rows(connection, product_of(version)), datetime.now(UTC)
    rows, read_at = _taught[version, minor_version]
    line = line_id(version)[0]
    if is_news(line, minor_version, described_engines([line])):
        engine_line_store(server_version=version, rows=rows, minor_version=minor_version)
        EngineLine.objects.filter(id=line).update(read_at=read_at)


@pytest.fixture
def shipped_classes(transactional_db: None) -> None:
    """Restores the instance classes that a migration ships and that the previous test has deleted."""
    from controlplane.fleet.models import InstanceClass

    if not InstanceClass.objects.exists():
        import_module("controlplane.fleet.migrations.0002_shipped_classes").ship(apps, None)


@pytest.fixture
def instance(db: None, shared_server: TestServer) -> Iterator[Any]:
    """Yields the shared server as an instance. In the end it runs, and global variables that the test set are
    restored."""
    before = _settings(shared_server)
    yield row_for(shared_server)
    shared_server.start()
    connection = shared_server.connect()
    for name, value in before.items():
        if connection.variable(name) != value:
            connection.set_global(name, value)
    connection.close()
    shared_server.configure(CONFIGURATION)


# Global variables that tests may change, in addition to those of the engine.
TOUCHED = (
    "query_cache_type", "query_cache_size", "query_cache_limit", "innodb_buffer_pool_size", "max_connections",
    "long_query_time", "table_open_cache", "sort_buffer_size",
)  # fmt: skip


def _settings(server: TestServer) -> dict[str, str]:
    """Returns the present values of all global variables that tests may change."""
    connection = server.connect()
    names = [*TOUCHED, *connection.name_values("SHOW GLOBAL VARIABLES LIKE 'fqc%'")]
    found = {name: connection.variable(name) or "" for name in names}
    connection.close()
    return found
