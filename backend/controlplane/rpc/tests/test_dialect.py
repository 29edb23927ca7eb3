"""The format of answers and errors is the dialect's in all cases, and never an HTML page."""

from urllib.parse import urlencode

import pytest
from django.http import HttpResponse

from controlplane.accounts.models import User
from controlplane.accounts.roles import Role, covers, lesser
from controlplane.parameters.models import Template
from controlplane.rpc.actions import ACTIONS
from controlplane.rpc.middleware import RpcMiddleware
from controlplane.rpc.tests.signing import HOST, acs3_headers, send, sha1_arguments

pytestmark = pytest.mark.django_db
PROMISED = [
    *("DescribeDBInstances", "DescribeDBInstanceAttribute", "DescribeDBInstancePerformance", "RestartDBInstance"),
    *("DescribeParameters", "DescribeParameterTemplates", "ModifyParameter", "DescribeModifyParameterLog"),
    *("CreateParameterGroup", "ModifyParameterGroup", "CloneParameterGroup", "DeleteParameterGroup"),
    *("DescribeParameterGroups", "DescribeParameterGroup", "UpgradeDBInstanceKernelVersion", "ModifyDBInstanceSpec"),
    *("DescribeDBProxy", "ModifyDBProxy", "DescribeParameterTimedScheduleTask"),
    *("ModifyParameterTimedScheduleTask", "DeleteParameterTimedScheduleTask"),
]


def test_every_promised_action_is_served():
    assert sorted(ACTIONS) == sorted(PROMISED)


@pytest.mark.parametrize("action", PROMISED)
def test_every_action_refuses_an_outsider_and_an_unknown_argument(signer, action):
    headers = {"x-acs-action": action, "x-acs-version": "2014-08-15"}
    status, body = send({}, headers)
    assert (status, body["Code"]) == (401, "MissingAccessKeyId")
    assert signer("operator").refused(action, Nonsense="1") == (400, "UnsupportedParameter")


@pytest.mark.parametrize("action", [name for name, action in ACTIONS.items() if action.is_write])
def test_every_write_refuses_a_viewer(signer, action):
    assert signer("viewer").refused(action) == (403, "Forbidden.RAM")


@pytest.mark.parametrize("scope", list(Role))
@pytest.mark.parametrize("role", list(Role))
def test_every_action_heeds_the_lesser_of_the_users_role_and_the_keys_scope(signer, role, scope):
    who = signer("admin", scope)
    User.objects.update(role=role)
    refused = {action for action in ACTIONS if who.call(action)[1].get("Code") == "Forbidden.RAM"}
    held = lesser(role, scope)
    assert refused == {name for name, action in ACTIONS.items() if not covers(held, action.role)}


@pytest.mark.parametrize("name", ["describedbinstances", "DropEverything", "x" * 300, "<b>"])
def test_an_unknown_action_is_refused_by_name(rpc, name):
    assert rpc.refused(name) == (404, "InvalidAction.NotFound")


def test_another_version_is_refused(rpc):
    headers = acs3_headers(rpc.key, "DescribeDBInstances", {}, **{"x-acs-version": "2013-01-01"})
    assert send({}, headers)[1]["Code"] == "InvalidVersion"


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH"])
def test_other_methods_are_refused_in_the_dialect(rpc, method):
    status, body = send({"Action": "DescribeDBInstances"}, {}, method)
    assert (status, body["Code"]) == (405, "UnsupportedHTTPMethod")


@pytest.mark.parametrize(
    "query", ["", "Action=", "%00=1", "Action=Describe%00", "a=%ff", "a=1&a=2", "&".join(f"a{n}=1" for n in range(600))]
)
def test_what_cannot_be_read_is_refused_in_the_dialect(client, query):
    answer = client.generic("POST", f"/?{query}")
    assert answer.status_code in (400, 404)
    assert answer.json().keys() == {"RequestId", "HostId", "Code", "Message", "Recommend"}
    assert answer.json()["RequestId"] == answer.headers["X-Request-ID"]


def test_a_body_that_is_too_large_is_refused_in_the_dialect(client):
    form = "application/x-www-form-urlencoded"
    answer = client.generic("POST", "/", b"a=" + b"x" * 3_000_000, content_type=form)
    assert (answer.status_code, answer.json()["Code"]) == (413, "InvalidRequest.TooLarge")


def test_a_fault_inside_says_so_in_the_dialect_and_keeps_it_to_itself(rpc, monkeypatch):
    def broken(*_: object) -> None:
        raise RuntimeError("a secret detail")

    monkeypatch.setattr("controlplane.rpc.actions.instances.statuses", broken)
    status, body = rpc.call("DescribeDBInstances")
    assert (status, body["Code"]) == (500, "InternalError")
    assert "secret" not in str(body)


def test_xml_on_request_for_answers_and_refusals(rpc, client):
    arguments = sha1_arguments(rpc.key, "DescribeParameterGroups", Format="XML")
    answer = client.generic("POST", f"/?{urlencode(arguments)}", headers={"host": HOST})
    assert answer.headers["Content-Type"] == "text/xml;charset=utf-8"
    text = answer.content.decode()
    assert text.startswith('<?xml version="1.0" encoding="UTF-8"?><DescribeParameterGroupsResponse><RequestId>req-')
    assert text.count("<ParameterGroup>") == Template.objects.count() > 1
    again = client.generic("POST", f"/?{urlencode(arguments)}", headers={"host": HOST})
    assert "<Error>" in again.content.decode() and "<Code>SignatureNonceUsed</Code>" in again.content.decode()


@pytest.mark.parametrize("path", ["/", "/instances", "/?tab=1", "/api/v1/instances?Action=x", "/index.html"])
def test_what_a_browser_gets_is_left_to_the_console(rf, path):
    console = RpcMiddleware(lambda request: HttpResponse("console"))
    assert console(rf.get(path)).content == b"console"


def test_a_get_that_names_an_action_is_answered_in_the_dialect(client):
    assert client.get("/?Action=DescribeDBInstances").json()["Code"] == "InvalidVersion"


def test_too_many_requests_are_throttled(rpc, monkeypatch):
    monkeypatch.setattr("controlplane.rpc.endpoint.CallerThrottle.rate", "0/min", raising=False)
    assert rpc.refused("DescribeDBInstances") == (429, "Throttling.User")
