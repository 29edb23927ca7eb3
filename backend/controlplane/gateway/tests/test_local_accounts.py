"""What each account of a local server may do, on real servers."""

from __future__ import annotations

import stat
from pathlib import Path
from types import SimpleNamespace

import pytest

from controlplane.gateway.errors import AccessDenied, RefusedStatement
from controlplane.gateway.local_accounts import Use, account
from controlplane.gateway.server import open_server
from testing.servers import LIMITS

USER_SCHEMAS_ALONE = {
    r"GRANT SELECT ON `%`.*",
    r"GRANT CREATE TEMPORARY TABLES ON `mysql`.*",
    r"GRANT CREATE TEMPORARY TABLES ON `sys`.*",
    r"GRANT CREATE TEMPORARY TABLES ON `performance\_schema`.*",
}
GRANTS = {
    Use.WATCH: {"GRANT PROCESS ON *.*", *USER_SCHEMAS_ALONE},
    Use.CHANGE: {
        "GRANT PROCESS, SUPER, SET USER, FEDERATED ADMIN, CONNECTION ADMIN, READ_ONLY ADMIN, REPLICATION SLAVE ADMIN,"
        " REPLICATION MASTER ADMIN, BINLOG ADMIN ON *.*",
        "GRANT INSERT, DELETE ON `mysql`.`plugin`",
        "GRANT INSERT, DELETE ON `mysql`.`func`",
    },
    Use.TRIAL: {"GRANT `fqc_counts`", "GRANT USAGE ON *.*", *USER_SCHEMAS_ALONE},
}


# Tables with counters, and facts about one's own connection.
FOR_EVERYBODY = {
    "performance_schema.global_status",
    "performance_schema.session_status",
    "performance_schema.session_account_connect_attrs",
}


def opened_as(server, use):
    username, password = account(use, server.username, server.password)
    endpoint = SimpleNamespace(
        host="127.0.0.1",
        port=server.port,
        username=username,
        password=password,
        is_tls_required=False,
        tls_ca="",
        public_key="",
    )
    return open_server(endpoint, LIMITS)


def granted(connection):
    return {row[0].partition(" TO ")[0].replace("\\\\", "\\") for row in connection.rows("SHOW GRANTS")}


@pytest.mark.parametrize("use", list(Use))
def test_each_account_has_exactly_its_grants(shared_server, use):
    connection = opened_as(shared_server, use)
    assert granted(connection) == GRANTS[use]
    connection.close()


@pytest.fixture
def shop(shared_server):
    server = shared_server.connect()
    server.run("CREATE OR REPLACE DATABASE accounts_shop")
    server.run("CREATE TABLE accounts_shop.items (id INT PRIMARY KEY)")
    server.run("INSERT INTO accounts_shop.items VALUES (7)")
    yield server
    server.run("DROP DATABASE accounts_shop")
    server.close()


@pytest.mark.parametrize("use", [Use.WATCH, Use.TRIAL])
def test_accounts_that_read_see_the_users_schemas_and_no_system_table(shared_server, shop, use):
    connection = opened_as(shared_server, use)
    assert connection.value("SELECT id FROM accounts_shop.items") == 7
    system = "SELECT TABLE_SCHEMA, TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA IN %s"
    tables = shop.rows(system, [("mysql", "sys", "performance_schema")])
    assert {schema for schema, _ in tables} == {"mysql", "sys", "performance_schema"}
    read = {f"{schema}.{table}" for schema, table in tables if is_read(connection, schema, table)}
    assert read <= FOR_EVERYBODY
    connection.close()


def is_read(connection, schema, table):
    try:
        connection.rows(f"SELECT * FROM `{schema}`.`{table}` LIMIT 1")
    except (RefusedStatement, AccessDenied) as error:
        return error.number != 1142
    return True


@pytest.mark.parametrize("use", list(Use))
def test_no_account_reads_or_writes_files(shared_server, shop, tmp_path, use):
    tmp_path.chmod(0o777)
    (tmp_path / "known").write_text("a-kept-secret")
    inside = shared_server.folder / "files"
    (inside / "known").write_text("a-kept-secret")
    connection = opened_as(shared_server, use)
    try:
        for folder in (tmp_path, inside):
            assert connection.value("SELECT LOAD_FILE(%s)", [str(folder / "known")]) is None
            with pytest.raises((RefusedStatement, AccessDenied)):
                connection.run("SELECT 1 INTO OUTFILE %s", [str(folder / "written")])
            assert not (folder / "written").exists()
    finally:
        (inside / "known").unlink()
        connection.close()


def test_not_even_the_owner_reaches_files_outside_of_the_servers_folder_for_them(shared_server, shop, tmp_path):
    (tmp_path / "known").write_text("a-kept-secret")
    assert shop.value("SELECT LOAD_FILE(%s)", [str(tmp_path / "known")]) is None
    assert Path(shop.variable("secure_file_priv")) == shared_server.folder / "files"


@pytest.mark.parametrize("use", [Use.WATCH, Use.TRIAL])
@pytest.mark.parametrize(
    "statement",
    [
        "SET GLOBAL max_connections = 100",
        "INSERT INTO accounts_shop.items VALUES (8)",
        "CREATE TABLE accounts_shop.more (id INT)",
        "UNINSTALL SONAME 'fqc'",
        "SHUTDOWN",
        "CREATE USER somebody",
        "GRANT SELECT ON *.* TO CURRENT_USER",
    ],
)
def test_accounts_that_read_alter_nothing(shared_server, shop, use, statement):
    connection = opened_as(shared_server, use)
    with pytest.raises((RefusedStatement, AccessDenied)) as refused:
        connection.run(statement)
    assert refused.value.number in (1044, 1045, 1142, 1227), refused.value.detail
    connection.close()


def test_a_trial_sees_no_statement_of_others_unless_it_counts(shared_server, shop):
    connection = opened_as(shared_server, Use.TRIAL)
    others = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER <> 'fqc_trial'"
    assert connection.value(others) == 0
    connection.run("SET ROLE fqc_counts")
    assert connection.value(others) > 0
    connection.close()


def test_the_changing_account_reads_no_table_of_users(shared_server, shop):
    connection = opened_as(shared_server, Use.CHANGE)
    with pytest.raises((RefusedStatement, AccessDenied)):
        connection.rows("SELECT * FROM accounts_shop.items")
    connection.close()


def test_the_changing_account_sets_every_variable_that_its_owner_sets(own_server):
    server = own_server(has_engine=True)
    owner, changing = server.connect(), opened_as(server, Use.CHANGE)
    names = [
        row[0]
        for row in owner.rows(
            "SELECT VARIABLE_NAME FROM information_schema.SYSTEM_VARIABLES"
            " WHERE READ_ONLY = 'NO' AND VARIABLE_SCOPE <> 'SESSION ONLY'"
        )
    ]
    assert len(names) > 300
    denied = []
    for name in names:
        statement = f"SET GLOBAL `{name.lower()}` = @@GLOBAL.`{name.lower()}`"
        try:
            changing.run(statement)
        except (RefusedStatement, AccessDenied) as error:
            if error.number in (1044, 1045, 1142, 1227):
                denied.append(name)
    assert denied == ["INNODB_TMPDIR"]  # setting it needs FILE, which no account has
    owner.close()
    changing.close()


def test_the_changing_account_installs_and_uninstalls_the_engine(own_server):
    server = own_server()
    from django.conf import settings

    from controlplane.gateway.engine import install_engine

    changing = opened_as(server, Use.CHANGE)
    install_engine(server, changing, settings.ENGINE_LIBRARY)
    assert changing.variable("fqc_minor_version") is not None
    changing.run("UNINSTALL SONAME 'fqc'")
    changing.close()


def modes(folder):
    return {
        str(path.relative_to(folder)): stat.S_IMODE(path.lstat().st_mode)
        for path in [folder, *folder.rglob("*")]
        if not path.is_symlink()
    }


def open_to_others(folder):
    return {name: oct(mode) for name, mode in modes(folder).items() if mode & 0o077}


def test_nothing_of_a_local_server_is_open_to_other_users_of_the_machine(own_server):
    server = own_server(has_engine=True)
    connection = server.connect()
    connection.run("CREATE DATABASE modes")
    for engine in ("InnoDB", "Aria", "MyISAM"):
        connection.run(f"CREATE TABLE modes.t_{engine} (id INT PRIMARY KEY) ENGINE={engine}")
    connection.close()
    assert open_to_others(server.folder) == {}
    server.configure({"max_connections": "50"})
    server.restart()
    assert open_to_others(server.folder) == {}


OLD_CONFIGURATION = """[mariadbd]
datadir={folder}/data
socket={folder}/server.sock
pid-file={folder}/server.pid
log-error={folder}/error.log
plugin-dir={folder}/plugins
tmpdir={folder}/tmp
port={port}
bind-address=127.0.0.1
skip-name-resolve
skip-log-bin
user=root
!include {folder}/configured.cnf
"""


@pytest.fixture
def old_server(own_server):
    """Makes a running server as earlier versions did, with data in `old.kept`: one account with all privileges, and a
    folder that others can read.
    """
    from controlplane.gateway import process
    from controlplane.gateway.local import server_program

    server = own_server()
    connection = server.connect()
    for use in (Use.CHANGE, Use.TRIAL):
        connection.run(f"DROP USER '{account(use, 'fqc', '')[0]}'@'127.0.0.1'")
    connection.run("DROP ROLE fqc_counts")
    connection.run(f"CREATE OR REPLACE USER 'fqc'@'127.0.0.1' IDENTIFIED BY '{server.password}'")
    connection.run("GRANT ALL PRIVILEGES ON *.* TO 'fqc'@'127.0.0.1' WITH GRANT OPTION")
    connection.run("CREATE DATABASE old")
    connection.run("CREATE TABLE old.kept (id INT PRIMARY KEY)")
    connection.run("INSERT INTO old.kept VALUES (42)")
    connection.close()
    server.stop()
    (server.folder / "accounts").unlink()
    (server.folder / "files").rmdir()
    for path in [server.folder, *server.folder.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    server.defaults.write_text(OLD_CONFIGURATION.format(folder=server.folder, port=server.port))
    process.start_detached([server_program(), f"--defaults-file={server.defaults}"], server.log)
    while not server._answers():
        pass
    yield server


def test_an_old_server_that_runs_is_given_its_accounts_without_a_restart(old_server):
    pid = old_server.pid
    assert granted(opened_as(old_server, Use.WATCH)) == {"GRANT ALL PRIVILEGES ON *.*"}
    with pytest.raises(AccessDenied):
        opened_as(old_server, Use.CHANGE)
    old_server.accounts_ensure()
    for use in Use:
        assert granted(opened_as(old_server, use)) == GRANTS[use]
    assert old_server.pid == pid
    assert stat.S_IMODE(old_server.folder.stat().st_mode) == 0o700
    assert old_server.connect().value("SELECT id FROM old.kept") == 42


def test_an_old_server_that_starts_again_is_given_accounts_options_and_modes(old_server):
    old_server.stop()
    old_server.start()
    for use in Use:
        assert granted(opened_as(old_server, use)) == GRANTS[use]
    connection = old_server.connect()
    assert Path(connection.variable("secure_file_priv")) == old_server.folder / "files"
    assert connection.value("SELECT id FROM old.kept") == 42
    assert open_to_others(old_server.folder) == {}


def test_an_altered_account_is_mended_by_a_restart(own_server):
    server = own_server()
    server.connect().run("GRANT FILE ON *.* TO 'fqc_trial'@'127.0.0.1'")
    server.restart()
    assert granted(opened_as(server, Use.TRIAL)) == GRANTS[Use.TRIAL]


def test_accounts_that_are_there_are_not_made_again(own_server):
    """`accounts_ensure` leaves accounts alone whose definition has not changed, even if their grants have: every watch
    calls it.
    """
    server = own_server()
    server.connect().run("GRANT INSERT ON mysql.plugin TO 'fqc_trial'@'127.0.0.1'")
    super(type(server), server).accounts_ensure()
    assert granted(opened_as(server, Use.TRIAL)) != GRANTS[Use.TRIAL]


def test_no_two_accounts_share_a_password():
    secrets = {account(use, "fqc", "seed")[1] for use in Use}
    assert len(secrets) == len(Use)
    assert account(Use.WATCH, "fqc", "seed") == ("fqc", "seed")
