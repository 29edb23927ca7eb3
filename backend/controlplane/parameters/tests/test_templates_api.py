"""Templates over HTTP: versions, clones, differences, documents, and who may do what."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from controlplane.audit.models import AuditEvent
from controlplane.catalogue.models import EngineLine
from controlplane.fleet.models import Instance
from controlplane.fleet.selectors import class_get

pytestmark = pytest.mark.django_db
VALUES = {"query_cache_size": "{ DBInstanceClassMemory/32 }", "query_cache_type": "1"}
GIB = 1024**3


def make(client: APIClient, name: str = "shop", values: dict[str, str] | None = None) -> dict[str, Any]:
    answer = client.post("/api/v1/templates", {"name": name, "values": VALUES if values is None else values})
    assert answer.status_code == 201, answer.content
    return answer.json()


def change(client: APIClient, template: dict[str, Any], **fields: Any) -> Any:
    etag = {"If-Match": f'"{template["version"]}"'}
    return client.patch(f"/api/v1/templates/{template['id']}", fields, headers=etag)


def test_values_are_kept_byte_for_byte(operator: APIClient) -> None:
    template = make(operator)
    assert operator.get(f"/api/v1/templates/{template['id']}").json()["values"] == VALUES
    assert operator.get("/api/v1/templates/shop").json()["id"] == template["id"]


def test_merging_keeps_what_is_not_named_and_null_removes(operator: APIClient) -> None:
    template = make(operator)
    changed = change(operator, template, values={"query_cache_type": None, "long_query_time": "2"}).json()
    assert changed["values"] == {"query_cache_size": VALUES["query_cache_size"], "long_query_time": "2"}
    assert changed["version"] == 2


def test_overwriting_leaves_only_what_is_given(operator: APIClient) -> None:
    changed = change(operator, make(operator), values={"long_query_time": "2"}, mode="overwrite").json()
    assert changed["values"] == {"long_query_time": "2"}


def test_every_change_is_a_version_and_an_audit_event(operator: APIClient) -> None:
    template = make(operator)
    change(operator, template, values={"long_query_time": "2"}, note="slower is slow")
    versions = operator.get(f"/api/v1/templates/{template['id']}/versions").json()["items"]
    assert [(each["number"], each["note"]) for each in versions] == [(2, "slower is slow"), (1, "")]
    assert versions[1]["values"] == VALUES
    assert {each["actor"] for each in versions} == {operator.user.username}  # type: ignore[attr-defined]
    [created, updated] = AuditEvent.objects.filter(target_id=template["id"]).order_by("created_at", "id")
    assert (created.action, updated.action) == ("template.created", "template.updated")
    assert (updated.before["version"], updated.after["version"]) == (1, 2)


def test_a_stale_or_blind_write_is_refused(operator: APIClient) -> None:
    template = make(operator)
    change(operator, template, description="new")
    assert change(operator, template, description="newer").status_code == 412
    assert operator.patch(f"/api/v1/templates/{template['id']}", {"description": "x"}).status_code == 428
    assert operator.delete(f"/api/v1/templates/{template['id']}").status_code == 428


def test_what_ships_is_cloned_not_changed(operator: APIClient) -> None:
    shipped = operator.get("/api/v1/templates/fast-query-cache-on").json()
    assert shipped["is_system"]
    assert change(operator, shipped, description="mine").json()["code"] == "system_template"
    clone = operator.post(f"/api/v1/templates/{shipped['id']}/clone", {"name": "mine"}).json()
    assert (clone["values"], clone["is_system"], clone["version"]) == (shipped["values"], False, 1)


def test_an_older_version_is_cloned(operator: APIClient) -> None:
    template = make(operator)
    change(operator, template, values={}, mode="overwrite")
    clone = operator.post(f"/api/v1/templates/{template['id']}/clone", {"name": "old", "version": 1}).json()
    assert clone["values"] == VALUES
    missing = operator.post(f"/api/v1/templates/{template['id']}/clone", {"name": "older", "version": 9})
    assert missing.json()["code"] == "template_version_not_found"


def test_differences_tell_another_spelling_from_another_value(operator: APIClient) -> None:
    template = make(operator)
    values = {"query_cache_size": "<DBInstanceClassMemory/32>", "query_cache_type": "2", "long_query_time": "2"}
    change(operator, template, values=values, mode="overwrite")
    path = f"/api/v1/templates/{template['id']}/diff"
    found = operator.get(path, {"version": 1, "other_version": 2}).json()["items"]
    assert [(each["name"], each["kind"]) for each in found] == [
        ("long_query_time", "added"),
        ("query_cache_size", "respelled"),
        ("query_cache_type", "changed"),
    ]
    against = operator.get(path, {"other": "fast-query-cache-off"}).json()["items"]
    assert {each["name"]: each["kind"] for each in against}["long_query_time"] == "removed"


def test_a_document_goes_out_and_comes_in(operator: APIClient) -> None:
    template = make(operator)
    document = operator.get(f"/api/v1/templates/{template['id']}/export").json()
    assert document["values"] == VALUES
    back = operator.post("/api/v1/templates/import", {**document, "name": "again"})
    assert (back.status_code, back.json()["values"]) == (201, VALUES)
    assert operator.post("/api/v1/templates/import", document).json()["code"] == "name_taken"


@pytest.mark.parametrize(
    ("body", "field", "code"),
    [
        ({"values": {}}, "name", "required"),
        ({"name": "1st"}, "name", "invalid"),
        ({"name": "x", "values": {"nonsense": "1"}}, "values.nonsense", "unknown_parameter"),
        ({"name": "x", "values": {"binlog_format": "ROW"}}, "values.binlog_format", "not_modifiable"),
        ({"name": "x", "values": {"query_cache_size": "1000"}}, "values.query_cache_size", "not_a_multiple"),
        ({"name": "x", "values": {"query_cache_size": "{1+1}"}}, "values.query_cache_size", "expression_invalid"),
        ({"name": "x", "values": {"query_cache_size": 5}}, None, None),
        ({"name": "x", "values": {"query_cache_type": True}}, "values.query_cache_type", "invalid"),
        ({"name": "x", "values": ["a"]}, "values", "not_a_dict"),
        ({"name": "x", "values": {"query_cache_size": "9" * 5000}}, "values.query_cache_size", "max_length"),
    ],
)
def test_bad_templates_name_the_field(
    operator: APIClient, body: dict[str, Any], field: str | None, code: str | None
) -> None:
    answer = operator.post("/api/v1/templates", body)
    assert answer.status_code == 400, answer.content
    if field:
        assert (answer.json()["errors"][0]["field"], answer.json()["errors"][0]["code"]) == (field, code)


def test_an_unknown_engine_line_is_named(operator: APIClient) -> None:
    answer = operator.post("/api/v1/templates", {"name": "x", "engine_line": "8.0"})
    assert (answer.status_code, answer.json()["code"]) == (404, "engine_line_not_found")


def test_resolving_changes_nothing_and_tells_all(viewer: APIClient) -> None:
    body = {
        "variables": {"DBInstanceClassMemory": 12 * GIB, "DBInstanceClassCPU": 4, "DBInstanceClassConnections": 100}
    }
    found = viewer.post("/api/v1/templates/fast-query-cache-on/resolve", body).json()
    assert {value["name"]: value["resolved"] for value in found["values"]}["innodb_buffer_pool_size"] == "8117488189"
    # With the engine query_cache_type needs no restart.
    assert (found["findings"], found["is_blocked"]) == ([], False)
    assert not any(value["needs_restart"] for value in found["values"])


def test_roles(outsider: APIClient, viewer: APIClient) -> None:
    for path in ("templates", "templates/fast-query-cache-on", "templates/fast-query-cache-on/versions"):
        assert outsider.get(f"/api/v1/{path}").status_code == 401, path
        assert viewer.get(f"/api/v1/{path}").status_code == 200, path
    for path in ("templates", "templates/import", "templates/fast-query-cache-on/clone"):
        assert viewer.post(f"/api/v1/{path}", {}).status_code == 403, path
    assert viewer.delete("/api/v1/templates/fast-query-cache-on").status_code == 403


def test_the_list_takes_the_same_queries_however_long(operator: APIClient, django_assert_num_queries: Any) -> None:
    operator.get("/api/v1/templates")
    for count in (1, 20):
        for _ in range(count):
            make(operator, name=f"t{count}x{_}")
        with django_assert_num_queries(2):
            operator.get("/api/v1/templates?limit=50")


class TestEvaluate:
    def evaluated(self, client: APIClient, **body: Any) -> dict[str, Any]:
        answer = client.post("/api/v1/expressions/evaluate", body)
        assert answer.status_code == 200, answer.content
        return answer.json()

    def test_a_value(self, viewer: APIClient) -> None:
        found = self.evaluated(
            viewer, expression="{ M }".replace("M", "DBInstanceClassMemory*63/100"),
            variables={"DBInstanceClassMemory": 12 * GIB}, parameter="innodb_buffer_pool_size",
        )  # fmt: skip
        assert (found["value"], found["canonical"]) == ("8117488189", "{DBInstanceClassMemory*63/100}")
        assert (found["variables"], found["error"], found["findings"]) == (["DBInstanceClassMemory"], None, [])

    def test_beyond_what_json_numbers_hold(self, viewer: APIClient) -> None:
        found = self.evaluated(viewer, expression="{18446744073709551615*2}", variables={})
        assert found["value"] == "36893488147419103230"

    def test_a_mistake_is_an_answer_that_points_at_it(self, viewer: APIClient) -> None:
        found = self.evaluated(viewer, expression="{DBInstanceClassMemory*0.75}")
        assert (found["value"], found["error"]["column"], found["error"]["found"]) == (None, 24, "'0.75'")

    def test_no_value_is_an_answer_too(self, viewer: APIClient) -> None:
        found = self.evaluated(viewer, expression="{8/DBInstanceClassCPU}", variables={"DBInstanceClassCPU": 0})
        assert (found["error"]["code"], found["canonical"]) == ("expression_has_no_value", "{8/DBInstanceClassCPU}")
        missing = self.evaluated(viewer, expression="{8/DBInstanceClassCPU}", variables={})
        assert missing["error"]["found"] == "DBInstanceClassCPU without a value"

    def test_spelling_alone(self, viewer: APIClient) -> None:
        found = self.evaluated(viewer, expression="least(1,2)")
        assert (found["canonical"], found["value"], found["error"]) == ("{LEAST(1,2)}", None, None)

    def test_findings_for_a_parameter(self, viewer: APIClient) -> None:
        found = self.evaluated(viewer, expression="{0}", variables={}, parameter="table_open_cache")
        assert [each["code"] for each in found["findings"]] == ["zero_on_this_class"]

    def test_the_line_of_a_parameter_is_that_of_most_instances(self, viewer: APIClient) -> None:
        def judged_by() -> str:
            found = self.evaluated(viewer, expression="{1}", variables={}, parameter="nosuch")
            [finding] = found["findings"]
            return str(finding["facts"]["server"])

        assert judged_by() == "MySQL 5.7"
        EngineLine.objects.create(
            id="mariadb-10.11", product="MariaDB", version="10.11", definitions=[], read_at=timezone.now()
        )
        Instance.objects.create(
            name="shop-1", port=3306, engine_version="10.11.14-MariaDB", instance_class=class_get("local.small")
        )
        assert judged_by() == "MariaDB 10.11"

    @pytest.mark.parametrize(
        "variables", [{"DBInstanceClassMemory": -1}, {"DBInstanceClassCPU": "x"}, {"DBInstanceClassCPU": 2**63}, []]
    )
    def test_bad_variables_are_refused(self, viewer: APIClient, variables: Any) -> None:
        answer = viewer.post("/api/v1/expressions/evaluate", {"expression": "{1}", "variables": variables})
        assert (answer.status_code, answer.json()["errors"][0]["field"].split(".")[0]) == (400, "variables")
