"""Every variable has a class, and operators may set none that could run code or open access."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from django.conf import settings

from controlplane.catalogue.access import (
    ADMIN,
    CLASSES,
    NEVER,
    OPERATOR,
    access_of,
    as_option,
    is_path,
    listed,
    reasons,
)
from controlplane.catalogue.definition import definition_from
from controlplane.catalogue.line import shipped_lines
from controlplane.catalogue.reference import page
from controlplane.catalogue.selectors import line_get
from controlplane.catalogue.services import engine_line_store
from controlplane.catalogue.validation import violations
from controlplane.gateway.local import server_program
from controlplane.gateway.product import LOCAL_PRODUCTS, MARIADB, LocalProduct
from controlplane.gateway.variables import variable_rows

# Switches of the server program: options that are no variables and take no name of a file or object.
SWITCHES = {"character_set_client_handshake"}
WORDS = ["fast", "slow_2", "READ-COMMITTED"]

# Texts that operators may set: names of engines, tables, counters, variables, zones, languages and character sets,
# formats, operators, rules.
TEXTS = {
    "character_set_client", "character_set_collations", "character_set_connection", "character_set_database",
    "character_set_filesystem",
    "character_set_results", "character_set_server", "collation_connection", "collation_database", "collation_server",
    "default_collation_for_utf8mb4", "lc_messages", "lc_time_names",
    "date_format", "datetime_format", "default_storage_engine", "default_time_zone",
    "default_tmp_storage_engine", "enforce_storage_engine", "external_table_secondary_storage_engine",
    "external_table_storage_engine", "fqc_rules", "ft_boolean_syntax", "innodb_ft_aux_table",
    "innodb_ft_server_stopword_table", "innodb_ft_user_stopword_table", "innodb_monitor_disable",
    "innodb_monitor_enable", "session_track_system_variables", "system_versioning_asof", "time_format", "time_zone",
}  # fmt: skip
# Words in the names of dangerous variables, at the end or as a whole word. Sizes of instrumentation tables do not
# count.
DOORS = {
    "address", "allowlist", "auth", "bind", "cmd", "command", "dir", "directory", "filename", "grant", "grants",
    "infile", "password", "passwords", "path", "plugin", "port", "privileges", "provider", "secure", "socket", "ssl",
    "tls", "user",
}  # fmt: skip
# Harmless exceptions: synchronising folders, a waiting time, a table.
NO_DOOR = {"aria_sync_log_dir", "mysqlx_port_open_timeout", "innodb_ft_user_stopword_table"}


def _looks_like_a_door(name: str) -> bool:
    if name in NO_DOOR or name.startswith(("performance_schema_", "max_user_")):
        return False
    return name.endswith("_file") or not DOORS.isdisjoint(name.split("_"))


@pytest.mark.django_db
@pytest.mark.parametrize("product", LOCAL_PRODUCTS, ids=lambda product: product.name)
def test_every_variable_of_a_real_server_has_a_class_and_no_door_is_an_operators(own_server, product) -> None:  # type: ignore[no-untyped-def]
    server = own_server(has_engine=product is MARIADB, product=product).connect()
    rows = variable_rows(server, product)
    values = server.variables()
    row = engine_line_store(server_version=server.value("SELECT @@version"), rows=rows)
    server.close()
    line = line_get(row.pk).definitions.values()
    assert len(line) > 500
    assert {each.access.who for each in line} == set(CLASSES)
    assert [each.name for each in line if each.name not in listed() and each.access.code != "fixed"] == []
    operators = [each for each in line if each.access.who == OPERATOR]
    assert [each.name for each in operators if _looks_like_a_door(each.name)] == []
    assert [each.name for each in operators if is_path(values.get(each.name)) or is_path(each.default)] == []
    assert {each.name for each in operators if each.type == "string"} <= TEXTS


def test_every_variable_of_the_shipped_line_has_a_class_and_no_door_is_an_operators() -> None:
    line = shipped_lines()["5.7"].definitions.values()
    assert [each.name for each in line if each.name not in listed()] == []
    operators = [each for each in line if each.access.who == OPERATOR]
    assert len(operators) > 100
    assert [each.name for each in operators if _looks_like_a_door(each.name) or is_path(each.default)] == []
    assert {each.name for each in operators if each.type == "string"} <= TEXTS


def test_no_listed_door_is_an_operators() -> None:
    assert [name for name, access in listed().items() if access.who == OPERATOR and _looks_like_a_door(name)] == []


def test_whatever_is_kept_from_operators_has_a_reason() -> None:
    told = [each for each in reasons() if each.who != OPERATOR]
    assert len({each.code for each in told}) == len(told) > 15
    assert [each.code for each in told if not each.reason.endswith(".")] == []


@pytest.mark.parametrize(
    "name",
    [
        "general_log_file", "slow_query_log_file", "bind_address", "skip_grant_tables", "plugin_dir", "init_file",
        "wsrep_notify_cmd", "wsrep_provider", "datadir", "log_error", "tmpdir", "innodb_tmpdir", "secure_file_priv",
        "pid_file", "socket", "port", "proxy_protocol_networks", "init_slave", "ssl_key", "character_sets_dir",
        "redirect_url", "admin_address", "mysqlx_socket", "authentication_policy", "keyring_file_data",
    ],
)  # fmt: skip
def test_what_reaches_beyond_the_data_is_never_set(name: str) -> None:
    assert access_of(name).who == NEVER


@pytest.mark.parametrize(
    "name", ["general_log", "log_output", "event_scheduler", "init_connect", "local_infile", "read_only"]
)
def test_what_a_dba_needs_and_an_operator_could_abuse_is_for_administrators(name: str) -> None:
    assert access_of(name).who == ADMIN


@pytest.mark.parametrize(
    ("name", "type", "default", "who"),
    [
        ("new_buffer_size", "integer", "1048576", OPERATOR),
        ("new_feature", "boolean", "OFF", OPERATOR),
        ("new_mode", "enum", "fast", OPERATOR),
        ("new_text", "string", "", NEVER),
        ("new_text", "string", None, NEVER),
        ("new_port", "integer", "0", NEVER),
        ("new_auth_check", "boolean", "ON", NEVER),
        ("skip_new_checks", "boolean", "OFF", NEVER),
        ("new_plugin_maturity", "enum", "stable", NEVER),
        ("wsrep_new_threads", "integer", "1", NEVER),
        ("new_place", "enum", "/var/lib/new", NEVER),
        ("new_switches", "flags", "a=on", NEVER),
    ],
)
def test_what_is_not_listed_is_refused_where_there_is_a_doubt(
    name: str, type: str, default: str | None, who: str
) -> None:
    assert access_of(name, type, default, WORDS).who == who


@pytest.mark.parametrize("type", ["enum", "set"])
@pytest.mark.parametrize(
    ("name", "choices"),
    [
        ("new_choice", []),
        ("new_choice", ["/etc/passwd", "b"]),
        ("new_choice", ["a", "../b"]),
        ("new_choice", ["a", "b.so"]),
        ("new_choice", ["a", "two words"]),
        ("new_choice", ["a", ""]),
        ("new_log_file", WORDS),
        ("new_dir", WORDS),
        ("component.file", WORDS),
    ],
)
def test_an_unlisted_choice_that_could_be_a_text_is_refused_like_one(name: str, type: str, choices: list[str]) -> None:
    assert access_of(name, type, "a", choices).who == NEVER
    assert access_of("new_choice", type, "a", WORDS).who == OPERATOR


@pytest.mark.parametrize("type", ["integer", "boolean", "enum", "string"])
@pytest.mark.parametrize(
    "name",
    [
        "general_log_fi", "GENERAL-log_fi", "basedi", "character_sets_di", "g", "loose_general_log_file",
        "skip_general_log_fi", "enable_basedi", "disable-basedi", "Maximum_basedi", "autoset_datadi",
        "loose_loose_basedir", "skip_enable_loose_tmpdi", "event_schedule", "init_conn", "loose_x", "maximum_x",
        "a=1\ngeneral_log_file", "a b", "a\x00", "", "general_log_file=", ".a", "[mysqld]",
    ],
)  # fmt: skip
def test_a_name_that_a_server_could_take_for_an_option_of_others_is_never_set(name: str, type: str) -> None:
    assert access_of(name, type, "a", WORDS).who == NEVER


def test_spelling_hides_no_listed_name() -> None:
    assert access_of("General-Log-File") == access_of("general_log_file")
    assert access_of("SORT-buffer_size", "integer").who == OPERATOR


@pytest.mark.parametrize("type", ["boolean", "integer", "decimal"])
@pytest.mark.parametrize("text", ["/tmp/x", "a", "on.log", "1\n"])
def test_a_number_or_a_switch_without_bounds_and_choices_still_takes_no_text(type: str, text: str) -> None:
    assert violations(definition_from({"name": "new_switch", "type": type}), text)
    assert not violations(definition_from({"name": "new_switch", "type": type}), "1")


@pytest.mark.parametrize("product", LOCAL_PRODUCTS, ids=lambda product: product.name)
def test_no_name_that_people_may_set_abbreviates_an_option_that_nobody_may(product) -> None:  # type: ignore[no-untyped-def]
    """Compared with every option that the real server program lists, including those that are not variables."""
    options = _options(product)
    assert len(options) > 500 and {"general_log_file", "init_file", "plugin_dir"} < options
    nobodys = {each for each in options if access_of(each).who == NEVER} - SWITCHES
    names = [name for name, access in listed().items() if access.who != NEVER and name not in options]
    assert [(name, each) for name in names for each in nobodys if each.startswith(name)] == []


def _options(product: LocalProduct) -> set[str]:
    program = server_program(product, settings.LOCAL_PROGRAMS.get(product.name, ""))
    told = subprocess.run([program, "--no-defaults", "--verbose", "--help"], capture_output=True, text=True).stdout
    return {as_option(name) for name in re.findall(r"^ {1,6}(?:-\S, )?--([\w.-]+)", told, re.MULTILINE)}


def test_the_reference_lists_what_is_kept_from_operators_and_why() -> None:
    """The page in docs/reference is the one that `make generate` writes from the table, and names these
    variables only.
    """
    text = (Path(__file__).parents[4] / "docs/reference/parameters.md").read_text()
    assert text == page()
    assert [name for name, access in listed().items() if (access.who != OPERATOR) != (f"`{name}`" in text)] == []
