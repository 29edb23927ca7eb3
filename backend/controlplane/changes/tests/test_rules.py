"""Rules are read from the server, explained by its statements, refused before they are applied, and set by a change."""

import pytest

from testing.changes import changed
from testing.workers import until

pytestmark = pytest.mark.django_db


@pytest.fixture
def reader(shared_server, instance):
    """Switches the cache on and yields a session of an application, with the tables `ruled.items` and `ruled.prices` to
    read from.
    """
    changed(instance, {"query_cache_size": "1048576", "query_cache_type": "1"})
    server = shared_server.connect()
    server.run("CREATE OR REPLACE DATABASE ruled")
    for table in ("items", "prices"):
        server.run(f"CREATE TABLE ruled.{table} (id INT PRIMARY KEY)")
        server.run(f"INSERT INTO ruled.{table} VALUES (1)")
    yield server
    server.run("DROP DATABASE ruled")
    server.run("SET GLOBAL fqc_rules = DEFAULT")
    server.close()


def rules_of(client, instance):
    return client.get(f"/api/v1/instances/{instance.pk}/cache/rules").json()


def previewed(client, instance, *rules):
    answer = client.post(f"/api/v1/instances/{instance.pk}/cache/rules/preview", {"rules": rules})
    assert answer.status_code == 200, answer.content
    return answer.json()


def until_known(viewer, instance, server):
    """Reads from both tables until the engine knows each statement with its table, which is so once a result of it is
    stored.
    """

    def is_known():
        for table in ("items", "prices"):
            server.rows(f"SELECT id FROM ruled.{table}")
        rule = {"schema": "ruled", "cache": "never"}
        return previewed(viewer, instance, rule)["effects"][0]["matched"] == 2

    until(is_known, "the statements are known with their tables")


def test_a_preview_says_which_statements_each_rule_would_decide(viewer, instance, reader):
    until_known(viewer, instance, reader)
    found = previewed(
        viewer,
        instance,
        {"table": "ruled.items", "cache": "always", "ttl": 10},
        {"schema": "ruled", "cache": "never"},
    )
    first, second = found["effects"]
    assert (first["matched"], first["examples"]) == (1, ["SELECT id FROM ruled.items"])
    assert (second["matched"], second["examples"]) == (1, ["SELECT id FROM ruled.prices"])
    assert first["executions"] >= 1 and found["statements"] >= 2
    assert found["errors"] == [] and [line["name"] for line in found["change"]["lines"]] == ["fqc_rules"]
    assert rules_of(viewer, instance)["rules"] == []


def test_what_was_previewed_is_set_by_a_change_and_read_again(operator, instance, reader):
    rule = {"table": "ruled.items", "cache": "never"}
    changed(instance, {"fqc_rules": previewed(operator, instance, rule)["text"]})
    [found] = rules_of(operator, instance)["rules"]
    assert {name: value for name, value in found.items() if value is not None} == rule
    changed(instance, {"fqc_rules": previewed(operator, instance)["text"]})
    assert rules_of(operator, instance)["rules"] == []


def test_a_wrong_rule_is_told_at_its_row_and_field(viewer, instance, reader):
    found = previewed(viewer, instance, {"schema": "a", "cache": "never"}, {"table": "items", "cache": "always"})
    assert [(each["index"], each["field"], each["code"]) for each in found["errors"]] == [
        (1, "table", "rule_table"),
        (1, "ttl", "rule_ttl"),
    ]
    assert found["change"] is None


def test_a_wrong_rule_hides_no_statement(viewer, instance, reader):
    until_known(viewer, instance, reader)
    assert previewed(viewer, instance, {"cache": "never"})["statements"] >= 2


def test_rules_that_the_engine_would_refuse_block_any_preview_of_a_change(operator, instance, reader):
    body = {"instance": instance.pk, "parameters": {"fqc_rules": '[{"table": "items", "cache": "never"}]'}}
    preview = operator.post("/api/v1/changes/preview", body).json()
    [finding] = [each for each in preview["findings"] if each["code"] == "rules_invalid"]
    assert preview["is_blocked"] and (finding["seen"], finding["parameter"]) == ("rule 1, table", "fqc_rules")


def test_the_statements_are_told_with_the_tables_that_they_read(viewer, instance, reader):
    until_known(viewer, instance, reader)
    rows = viewer.get(f"/api/v1/instances/{instance.pk}/cache/queries").json()["items"]
    [row] = [each for each in rows if each["Query"] == "SELECT id FROM ruled.items"]
    assert row["Tables"] == "ruled.items"
