"""A line read from a real server: all of its variables, and values that compare without drifting."""

from __future__ import annotations

import pytest

from controlplane.catalogue.models import EngineLine
from controlplane.catalogue.normal import NotOfType, normal
from controlplane.catalogue.sameness import is_same
from controlplane.catalogue.selectors import line_get, line_list
from controlplane.catalogue.server_variables import line_id
from controlplane.catalogue.services import engine_line_store
from controlplane.core.errors import NotFound
from controlplane.gateway.errors import NotAServer
from controlplane.gateway.product import MARIADB, MYSQL
from controlplane.gateway.variables import variable_rows


@pytest.mark.parametrize(
    ("text", "id"),
    [("10.11.19-MariaDB-log", "mariadb-10.11"), ("11.4.2-MariaDB", "mariadb-11.4"), ("5.7.44-log", "mysql-5.7")],
)
def test_the_line_of_a_version(text: str, id: str) -> None:
    assert line_id(text)[0] == id


def test_a_version_without_a_release_is_refused() -> None:
    with pytest.raises(ValueError, match="does not start with a release"):
        line_id("unknown")


@pytest.mark.django_db
def test_a_running_server_teaches_all_of_its_variables(shared_server) -> None:  # type: ignore[no-untyped-def]
    server = shared_server.connect()
    version = server.value("SELECT @@version")
    row = engine_line_store(server_version=version, rows=variable_rows(server, MARIADB))
    variables = dict(server.rows("SELECT LOWER(VARIABLE_NAME), GLOBAL_VALUE FROM information_schema.SYSTEM_VARIABLES"))
    server.close()
    line = line_get(row.pk)
    assert set(line.definitions) == set(variables)
    assert len(line.definitions) > 500
    pool = line.definitions["innodb_buffer_pool_size"]
    assert (pool.type, pool.unit, pool.rounds_to, pool.is_modifiable) == ("integer", "bytes", (1048576,), True)
    assert line.definitions["innodb_log_group_home_dir"].needs_restart
    assert not line.definitions["version"].is_modifiable
    assert not line.definitions["insert_id"].is_modifiable
    differing = {
        name: value
        for name, value in variables.items()
        if value is not None and not is_same(line.definitions[name], value, value, variables)
    }
    assert differing == {}
    unreadable = {
        name: value for name, value in variables.items() if value is not None and not _readable(line, name, value)
    }
    assert unreadable == {}


@pytest.mark.django_db
def test_a_running_mysql_teaches_all_of_its_variables(shared_mysql) -> None:  # type: ignore[no-untyped-def]
    server = shared_mysql.connect()
    row = engine_line_store(server_version=server.value("SELECT @@version"), rows=variable_rows(server, MYSQL))
    variables = server.variables()
    server.close()
    line = line_get(row.pk)
    assert row.pk.startswith("mysql-")
    assert set(line.definitions) >= set(variables)
    assert len(line.definitions) > 600
    assert [each.name for each in line.definitions.values() if not each.description] == []
    pool = line.definitions["innodb_buffer_pool_size"]
    assert (pool.type, pool.unit, pool.is_modifiable, pool.needs_restart) == ("integer", "bytes", True, False)
    assert pool.allowed.minimum == "5242880"
    assert line.definitions["back_log"].needs_restart and line.definitions["back_log"].is_modifiable
    assert line.definitions["transaction_isolation"].allowed.choices[-1] == "SERIALIZABLE"
    assert line.definitions["read_rnd_buffer_size"].default == "262144"
    for name in ("version", "insert_id", "hostname", "have_geometry"):
        assert not line.definitions[name].is_modifiable
    assert {
        name: value
        for name, value in variables.items()
        if not is_same(line.definitions[name], value, value, variables) or not _readable(line, name, value)
    } == {}
    enumerations = [each for each in line.definitions.values() if each.type in ("enum", "set")]
    assert [each.name for each in enumerations if each.is_modifiable and not each.allowed.choices] == []


@pytest.mark.django_db
def test_asking_a_mysql_what_can_be_set_sets_nothing(shared_mysql) -> None:  # type: ignore[no-untyped-def]
    server = shared_mysql.connect()
    told = "SELECT * FROM performance_schema.variables_info ORDER BY VARIABLE_NAME"
    before, kept = server.rows(told), server.rows("SELECT * FROM performance_schema.persisted_variables")
    variable_rows(server, MYSQL)
    assert server.rows(told) == before
    assert server.rows("SELECT * FROM performance_schema.persisted_variables") == kept == []
    server.close()


@pytest.mark.django_db
def test_an_older_mysql_that_describes_no_variable_teaches_them_too(older_mysql) -> None:  # type: ignore[no-untyped-def]
    server = older_mysql.connect()
    row = engine_line_store(server_version=server.value("SELECT @@version"), rows=variable_rows(server, MYSQL))
    variables = server.variables()
    server.close()
    line = line_get(row.pk)
    assert row.pk == f"mysql-{older_mysql.line}"
    assert set(line.definitions) >= set(variables)
    pool = line.definitions["innodb_buffer_pool_size"]
    assert (pool.type, pool.unit, pool.is_modifiable, pool.needs_restart) == ("integer", "bytes", True, False)
    assert line.definitions["back_log"].needs_restart and line.definitions["back_log"].is_modifiable
    assert line.definitions["sql_mode"].type == "set"
    assert [name for name, value in variables.items() if not is_same(line.definitions[name], value, value)] == []


@pytest.mark.django_db
def test_settings_of_the_engine_have_units_and_what_it_tells_of_itself_is_none(own_server) -> None:  # type: ignore[no-untyped-def]
    server = own_server(has_engine=True).connect()
    row = engine_line_store(server_version=server.value("SELECT @@version"), rows=variable_rows(server, MARIADB))
    server.close()
    engine = {name: each for name, each in line_get(row.pk).definitions.items() if name.startswith("fqc_")}
    units = {name: each.unit for name, each in engine.items() if each.type == "integer" and each.is_modifiable}
    assert units == {
        "fqc_size": "bytes",
        "fqc_limit": "bytes",
        "fqc_min_res_unit": "bytes",
        "fqc_verify_ppm": "parts per million",
    }
    facts = {name for name, each in engine.items() if not each.is_modifiable}
    assert facts == {
        "fqc_version",
        "fqc_minor_version",
        "fqc_compatibility",
        "fqc_trial",
        "fqc_allow_untested_server",
    }


def _readable(line, name: str, value: str) -> bool:  # type: ignore[no-untyped-def]
    try:
        normal(line.definitions[name], value)
    except NotOfType:
        return False
    return True


@pytest.mark.django_db
def test_a_line_that_is_read_again_is_seen_at_once() -> None:
    def row(name: str) -> tuple:
        return (name, "BOOLEAN", "OFF", "GLOBAL", "", None, None, None, "OFF,ON", "NO", "OPTIONAL")

    engine_line_store(server_version="10.6.1-MariaDB", rows=[row("a")])
    assert set(line_get("mariadb-10.6").definitions) == {"a"}
    engine_line_store(server_version="10.6.2-MariaDB", rows=[row("a"), row("b")])
    assert set(line_get("mariadb-10.6").definitions) == {"a", "b"}
    assert EngineLine.objects.get().server_version == "10.6.2-MariaDB"


@pytest.mark.django_db
def test_an_unknown_line_names_the_known_ones() -> None:
    with pytest.raises(NotFound, match=r"Known: 5\.7"):
        line_get("8.0")


@pytest.mark.django_db
def test_what_is_one_machines_own_is_no_default_of_other_servers(shared_server) -> None:  # type: ignore[no-untyped-def]
    server = shared_server.connect()
    version = server.value("SELECT @@version")
    line = line_get(engine_line_store(server_version=version, rows=variable_rows(server, MARIADB)).id)
    assert line.definitions["aria_log_dir_path"].default is None
    assert line.definitions["wsrep_node_name"].default is None
    assert line.definitions["innodb_data_file_path"].default == "ibdata1:12M:autoextend"


SOUND = ("max_connections", "BIGINT UNSIGNED", "151", "GLOBAL", "", "10", "100000", "1", None, "NO", "REQUIRED")


@pytest.mark.django_db
@pytest.mark.parametrize(
    "odd",
    [SOUND[:4], (None, *SOUND[1:]), (*SOUND[:2], 151, *SOUND[3:]), (*SOUND[:5], "x", "y", *SOUND[7:])],
    ids=["too few columns", "no name", "a default that is a number", "a range of letters"],
)
def test_a_line_that_could_not_be_read_is_not_learned_for_other_servers(odd):
    with pytest.raises(NotAServer):
        engine_line_store(server_version="10.11.19-MariaDB", rows=[SOUND, odd])
    assert "mariadb-10.11" not in {line.id for line in line_list()}
    engine_line_store(server_version="10.11.19-MariaDB", rows=[SOUND])
    assert line_get("mariadb-10.11").get("max_connections").allowed.notation == "[10-100000]"
