"""Which variables operators and administrators may set, in every operation that leads to a change."""

import pytest

from controlplane.changes.execution import change_run
from controlplane.changes.models import ChangeSet
from controlplane.fleet.local import configure_anew, local_server
from controlplane.fleet.models import InstanceParameter
from controlplane.parameters.models import Template, TemplateVersion
from testing.changes import changed, run

pytestmark = pytest.mark.django_db

NEVER = {
    "general_log_file": "/tmp/elsewhere.pth",
    "slow_query_log_file": "/tmp/elsewhere.pth",
    "bind_address": "0.0.0.0",
    "skip_grant_tables": "ON",
    "plugin_dir": "/tmp/plugins",
    "init_file": "/tmp/init.sql",
    "wsrep_notify_cmd": "/tmp/run",
    "wsrep_provider": "/tmp/provider.so",
    "datadir": "/tmp/data",
    "log_error": "/tmp/error.log",
    "port": "4000",
    "proxy_protocol_networks": "*",
    "secure_file_priv": "",
    "ssl_key": "/tmp/key.pem",
    "innodb_tmpdir": "/tmp",
}


def change(client, instance, parameters, **more):
    body = {"parameters": parameters, "apply": True, **more}
    return client.post(f"/api/v1/instances/{instance.pk}/changes", body, format="json")


def preview(client, instance, parameters, **more):
    body = {"instance": instance.pk, "parameters": parameters, **more}
    found = client.post("/api/v1/changes/preview", body, format="json").json()
    return {each["parameter"]: each for each in found["findings"] if each["severity"] == "blocking"}


def configured(instance, **values):
    """Stores values as configured on the instance without any checks, as an older version of the product may have left
    them.
    """
    for name, value in values.items():
        InstanceParameter.objects.create(instance=instance, name=name, submitted=value, resolved=value, running=value)


def legacy_template(**values):
    template = Template.objects.create(name="from-before", engine_line="5.7")
    TemplateVersion.objects.create(template=template, number=1, values=values, actor="somebody")
    return template


@pytest.mark.parametrize("name", NEVER)
def test_what_reaches_beyond_the_data_is_refused_to_everybody(operator, admin, instance, name):
    for client in (operator, admin):
        answer = change(client, instance, {name: NEVER[name]}, allow_restart=True)
        assert (answer.status_code, answer.json()["code"]) == (422, "not_modifiable"), name
    assert not ChangeSet.objects.exists()


@pytest.mark.parametrize("name", ["bind_address", "pid_file", "datadir", "general_log_file", "tmpdir"])
def test_neither_is_it_emptied(operator, instance, name):
    assert preview(operator, instance, {name: ""})[name]["code"] == "not_modifiable"
    nothing = change(operator, instance, {name: None})
    assert (nothing.status_code, nothing.json()["lines"], nothing.json()["steps"]) == (201, [], [])


def test_the_refusal_says_why(operator, instance):
    found = preview(operator, instance, {"general_log_file": "/tmp/x"})["general_log_file"]
    assert "names a file or folder" in found["seen"]


@pytest.mark.parametrize("name", ["general_log", "init_connect", "event_scheduler", "local_infile", "log_output"])
def test_what_is_for_administrators_is_refused_to_others(operator, viewer, admin, instance, name):
    value = {"init_connect": "SET @a = 1", "log_output": "FILE", "general_log": "ON", "local_infile": "OFF"}
    wanted = {name: value.get(name, "ON")}
    for client in (operator, viewer):
        assert preview(client, instance, wanted)[name]["code"] == "admin_only"
    assert change(operator, instance, wanted).json()["code"] == "admin_only"
    assert preview(admin, instance, wanted) == {}


def test_a_token_of_an_administrator_with_the_scope_of_an_operator_is_an_operators(admin, instance):
    from controlplane.accounts.services import token_create

    _, text = token_create(admin.user, name="lesser", scope="operator")
    admin.credentials(HTTP_AUTHORIZATION=f"Bearer {text}")
    assert change(admin, instance, {"general_log": "ON"}).json()["code"] == "admin_only"


def test_an_operator_neither_approves_nor_starts_nor_moves_nor_undoes_what_is_for_administrators(
    operator, admin, instance
):
    made = change(admin, instance, {"event_scheduler": "ON"}, apply=False).json()
    assert made["needs_admin"]
    for action in ("approve", "apply"):
        answer = operator.post(f"/api/v1/changes/{made['id']}/{action}", {}, format="json")
        assert (answer.status_code, answer.json()["code"]) == (403, "admin_only"), action
    later = {"when": "at", "at": "2030-01-01T00:00:00Z"}
    assert admin.post(f"/api/v1/changes/{made['id']}/approve", later, format="json").status_code == 200
    assert operator.post(f"/api/v1/changes/{made['id']}/apply").json()["code"] == "admin_only"
    assert admin.post(f"/api/v1/changes/{made['id']}/apply").status_code == 200
    assert run(ChangeSet.objects.get(pk=made["id"])).state == "applied"
    refused = operator.post(f"/api/v1/changes/{made['id']}/rollback")
    assert (refused.status_code, refused.json()["code"]) == (422, "admin_only")
    reset = change(operator, instance, {"event_scheduler": None})
    assert reset.json()["code"] == "admin_only"
    undone = admin.post(f"/api/v1/changes/{made['id']}/rollback")
    assert run(ChangeSet.objects.get(pk=undone.json()["id"])).state == "applied"


def test_what_an_administrator_configured_is_applied_again_by_an_operator_as_it_is(
    operator, admin, instance, shared_server
):
    made = change(admin, instance, {"event_scheduler": "ON"}).json()
    change_run(made["id"])
    server = shared_server.connect()
    server.set_global("event_scheduler", "OFF")  # as if the server had lost the value
    again = change(operator, instance, {"event_scheduler": "ON"})
    assert (again.status_code, again.json()["needs_admin"]) == (201, False)
    assert run(ChangeSet.objects.get(pk=again.json()["id"])).state == "applied"
    assert server.variable("event_scheduler") == "ON"
    server.set_global("event_scheduler", "OFF")
    server.close()


def test_a_template_takes_no_value_that_is_never_set(operator, admin):
    for route, body in (
        ("templates", {"name": "x", "engine_line": "5.7"}),
        ("templates/import", {"name": "x", "engine_line": "5.7", "format": "fqc-template-1"}),
    ):
        for client in (operator, admin):
            answer = client.post(f"/api/v1/{route}", {**body, "values": {"tls_version": "TLSv1"}}, format="json")
            assert answer.status_code == 400, route
            assert [each["code"] for each in answer.json()["errors"]] == ["not_modifiable"], route


def test_a_template_is_applied_by_who_may_set_all_of_it(operator, admin, instance):
    template = {"name": "logged", "engine_line": "5.7", "values": {"general_log": "OFF", "long_query_time": "3"}}
    assert admin.post("/api/v1/templates", template, format="json").status_code == 201
    assert change(operator, instance, {}, template="logged").json()["code"] == "admin_only"
    assert change(admin, instance, {}, template="logged", apply=False).status_code == 201


def test_what_a_template_says_for_administrators_is_said_by_one(operator, admin):
    """An operator may not put a value that only administrators may set into a template, or change or remove one: an
    administrator may later apply the template by its name alone.
    """
    bare = {"engine_line": "5.7", "values": {"init_connect": "SET @a = 1"}}
    document = {**bare, "format": "fqc-template-1"}

    def is_refused(answer):
        found = [(each["field"], each["code"]) for each in answer.json().get("errors", ())]
        return answer.status_code == 403 and found == [("values.init_connect", "admin_only")]

    assert is_refused(operator.post("/api/v1/templates", {"name": "one", **bare}))
    assert is_refused(operator.post("/api/v1/templates/import", {"name": "one", **document}))
    path = f"/api/v1/templates/{admin.post('/api/v1/templates', {'name': 'one', **bare}).json()['id']}"
    for values in ({"init_connect": "SET @a = 2"}, {"init_connect": None}):
        assert is_refused(operator.patch(path, {"values": values}, HTTP_IF_MATCH="*"))
    replaced = {"values": {"long_query_time": "3"}, "mode": "overwrite"}
    assert is_refused(operator.patch(path, replaced, HTTP_IF_MATCH="*"))
    assert is_refused(operator.post(f"{path}/clone", {"name": "two"}))
    kept = operator.patch(path, {"values": {"long_query_time": "3"}}, HTTP_IF_MATCH="*")
    assert (kept.status_code, kept.json()["values"]) == (200, {**bare["values"], "long_query_time": "3"})
    assert admin.patch(path, {"values": {"init_connect": "SET @a = 2"}}, HTTP_IF_MATCH="*").status_code == 200


def test_a_template_from_before_does_not_bring_what_is_never_set(admin, instance):
    legacy_template(general_log_file="/tmp/x", long_query_time="3")
    assert change(admin, instance, {}, template="from-before").json()["code"] == "not_modifiable"


def test_a_resize_decides_nothing_that_is_for_others(operator, instance):
    body = {"instance_class": "local.small", "parameters": {"general_log_file": "/tmp/x"}}
    answer = operator.post(f"/api/v1/instances/{instance.pk}/resize", body, format="json")
    assert (answer.status_code, answer.json()["code"]) == (422, "not_modifiable")
    body = {"instance_class": "local.small", "parameters": {"general_log": "ON"}}
    answer = operator.post(f"/api/v1/instances/{instance.pk}/resize", body, format="json")
    assert (answer.status_code, answer.json()["code"]) == (422, "admin_only")


def test_a_rollback_does_not_bring_back_what_is_never_set(admin, operator, instance):
    configured(instance, general_log_file="/tmp/x")
    taken_off = change(operator, instance, {"general_log_file": None})
    assert taken_off.status_code == 201, taken_off.json()
    assert run(ChangeSet.objects.get(pk=taken_off.json()["id"])).state == "applied"
    answer = admin.post(f"/api/v1/changes/{taken_off.json()['id']}/rollback")
    assert (answer.status_code, answer.json()["code"]) == (422, "not_modifiable")


def test_what_is_configured_from_before_is_shown_and_taken_off_without_a_word_to_the_server(operator, instance):
    configured(instance, general_log_file="/tmp/x", long_query_time="3")
    shown = operator.get(f"/api/v1/instances/{instance.pk}/parameters").json()["items"]
    row = next(each for each in shown if each["name"] == "general_log_file")
    assert (row["configured"], row["access"], row["is_modifiable"]) == ("/tmp/x", "never", False)
    check = operator.get(f"/api/v1/instances/{instance.pk}/prerequisites").json()
    assert ("no_longer_set", "general_log_file") in [(each["code"], each["parameter"]) for each in check["findings"]]

    made = change(operator, instance, {"general_log_file": None}).json()
    assert [step["kind"] for step in made["steps"]] == ["write_configuration"]
    assert "taken_off" in [each["code"] for each in made["findings"]]
    assert run(ChangeSet.objects.get(pk=made["id"])).state == "applied"
    assert list(instance.parameters.values_list("name", flat=True)) == ["long_query_time"]


def test_what_is_never_set_is_no_longer_written_for_a_local_server(instance):
    configured(instance, general_log_file="/tmp/x", skip_grant_tables="ON", unheard_of="/tmp/x")
    file = local_server(instance).folder / "configured.cnf"
    changed(instance, {"long_query_time": "3"})
    assert file.read_text().split() == ["[mariadbd]", "loose-long_query_time=3"]
    file.write_text("[mariadbd]\nskip_grant_tables=ON\n")  # as written by an older version
    configure_anew(instance)
    assert file.read_text().split() == ["[mariadbd]", "loose-long_query_time=3"]


def test_a_change_that_was_approved_before_it_was_refused_does_not_reach_the_server(instance):
    from testing.changes import asked

    made = asked(instance, {"long_query_time": "3"})
    made.steps.filter(kind="set_global").update(name="general_log_file", old=None, new="/tmp/x")
    ended = run(made)
    assert ended.state == "rolled_back"
    assert "not set through this product" in ended.outcome_detail


@pytest.mark.parametrize(
    ("value", "code"),
    [("SET @a = 1\n!include /tmp/x", "control_character"), ("a\rb", "control_character"), ("a" * 3901, "too_long")],
)
def test_a_text_cannot_become_another_line_of_an_option_file(admin, instance, value, code):
    assert preview(admin, instance, {"init_connect": value})["init_connect"]["code"] == code


@pytest.mark.parametrize("name", ["innodb_monitor_enable", "innodb_ft_server_stopword_table", "time_zone"])
def test_a_text_that_servers_take_no_nothing_for_is_refused_before_and_reset_to_their_default(operator, instance, name):
    assert preview(operator, instance, {name: ""})[name]["code"] == "no_match"
    configured(instance, **{name: "x"})
    made = change(operator, instance, {name: None}).json()
    assert run(ChangeSet.objects.get(pk=made["id"])).state == "applied"
