"""The three ways to sign a call, each refused with its own error code when it is wrong."""

from datetime import timedelta
from urllib.parse import urlencode

import pytest

from controlplane.accounts.models import AccessKey, User
from controlplane.audit.models import AuditEvent
from controlplane.rpc import freshness
from controlplane.rpc.models import UsedNonce
from controlplane.rpc.tests.signing import HOST, acs3_headers, now, send, sha1_arguments

pytestmark = pytest.mark.django_db
LIST = "DescribeDBInstances"


def code(answer):
    return answer[0], answer[1]["Code"]


def test_headers_signed_with_acs3_are_accepted(rpc):
    assert rpc.done(LIST)["Items"] == {"DBInstance": []}


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_arguments_signed_with_hmac_sha1_are_accepted(rpc, method):
    assert send(sha1_arguments(rpc.key, LIST, method), {}, method)[0] == 200


@pytest.mark.parametrize("value", ["a b", "a+b", "~*'()!", "é&=/?", "", "%"])
def test_any_value_may_be_signed(rpc, value):
    assert rpc.done(LIST, SearchKey=value)
    assert send(sha1_arguments(rpc.key, LIST, SearchKey=value), {})[0] == 200


def test_arguments_may_come_as_a_form(rpc, client):
    answer = client.post("/", sha1_arguments(rpc.key, LIST), headers={"host": HOST})
    assert answer.status_code == 400  # multipart, which the RPC dialect does not support
    assert answer.json()["Code"] == "MissingAction"
    form = urlencode(sha1_arguments(rpc.key, LIST))
    assert client.post("/", form, content_type="application/x-www-form-urlencoded").status_code == 200


def test_a_token_of_the_api_is_accepted_in_the_header_and_among_the_arguments(operator):
    token = operator._credentials["HTTP_AUTHORIZATION"].split()[1]
    headers = {"x-acs-action": LIST, "x-acs-version": "2014-08-15", "x-acs-bearer-token": token}
    assert send({"SignatureType": "BEARERTOKEN"}, headers)[0] == 200
    arguments = {"SignatureType": "BEARERTOKEN", "BearerToken": token, "Action": LIST, "Version": "2014-08-15"}
    assert send(arguments, {})[0] == 200
    wrong = headers | {"x-acs-bearer-token": token + "x"}
    assert code(send({"SignatureType": "BEARERTOKEN"}, wrong)) == (401, "InvalidBearerToken")


def test_a_session_of_the_console_is_nobody_here(admin, client):
    client.force_login(admin.user)
    answer = client.post(f"/?Action={LIST}&Version=2014-08-15")
    assert (answer.status_code, answer.json()["Code"]) == (401, "MissingAccessKeyId")
    assert not answer.cookies


def test_a_changed_request_is_not_what_was_signed(rpc):
    headers = acs3_headers(rpc.key, LIST, {"SearchKey": "a"})
    assert code(send({"SearchKey": "b"}, headers)) == (400, "SignatureDoesNotMatch")
    assert code(send({"SearchKey": "a"}, headers | {"x-acs-action": "DescribeParameterGroups"})) == (
        400, "SignatureDoesNotMatch",
    )  # fmt: skip
    arguments = sha1_arguments(rpc.key, LIST) | {"PageSize": "2"}
    assert code(send(arguments, {})) == (400, "SignatureDoesNotMatch")
    assert not UsedNonce.objects.exists()


def test_a_header_beside_signed_arguments_names_no_other_action(rpc):
    answer = send(sha1_arguments(rpc.key, LIST), {"x-acs-action": "DescribeParameterGroups"})
    assert code(answer) == (400, "IncompleteSignature")


def test_the_wrong_secret_is_refused(rpc):
    wrong = (rpc.key[0], "another secret")
    assert code(send({}, acs3_headers(wrong, LIST, {}))) == (400, "SignatureDoesNotMatch")
    assert code(send(sha1_arguments(wrong, LIST), {})) == (400, "SignatureDoesNotMatch")


@pytest.mark.parametrize("name", ["x-acs-action", "x-acs-version", "x-acs-date", "x-acs-signature-nonce", "host"])
def test_what_is_read_from_the_headers_must_be_signed(rpc, name):
    headers = acs3_headers(rpc.key, LIST, {})
    headers["authorization"] = headers["authorization"].replace(name, "x-other")
    assert code(send({}, headers)) == (400, "IncompleteSignature")


def test_a_request_is_accepted_once(rpc):
    headers = acs3_headers(rpc.key, LIST, {})
    assert send({}, headers)[0] == 200
    assert code(send({}, headers)) == (400, "SignatureNonceUsed")
    arguments = sha1_arguments(rpc.key, LIST)
    assert send(arguments, {})[0] == 200
    assert code(send(arguments, {})) == (400, "SignatureNonceUsed")


def test_a_nonce_belongs_to_its_signer(signer):
    one, other = signer(), signer()
    for each in (one, other):
        assert send({}, acs3_headers(each.key, LIST, {}, **{"x-acs-signature-nonce": "the-same"}))[0] == 200


@pytest.mark.parametrize("ago", [{"minutes": 16}, {"minutes": -16}, {"days": 400}])
def test_a_date_that_is_far_is_refused_by_either_way(rpc, ago):
    assert code(send({}, acs3_headers(rpc.key, LIST, {}, **{"x-acs-date": now(**ago)}))) == (
        400, "InvalidTimeStamp.Expired",
    )  # fmt: skip
    assert code(send(sha1_arguments(rpc.key, LIST, Timestamp=now(**ago)), {})) == (400, "InvalidTimeStamp.Expired")


@pytest.mark.parametrize("date", ["", "today", "2026-13-40T00:00:00Z"])
def test_a_date_that_cannot_be_read_is_refused(rpc, date):
    answer = send({}, acs3_headers(rpc.key, LIST, {}, **{"x-acs-date": date}))
    assert code(answer) == (400, "InvalidTimeStamp.Format")


def test_unknown_disabled_and_orphaned_keys_are_refused(rpc):
    assert code(send({}, acs3_headers(("AKUNKNOWN", "x"), LIST, {}))) == (404, "InvalidAccessKeyId.NotFound")
    AccessKey.objects.update(is_active=False)
    assert rpc.refused(LIST) == (400, "InvalidAccessKeyId.Inactive")
    AccessKey.objects.update(is_active=True)
    User.objects.update(is_active=False)
    assert rpc.refused(LIST) == (400, "InvalidAccessKeyId.Inactive")


def test_temporary_credentials_are_refused_by_name(rpc):
    headers = acs3_headers(rpc.key, LIST, {}, **{"x-acs-security-token": "sts"})
    assert code(send({}, headers)) == (400, "InvalidSecurityToken.NotSupported")


def test_a_key_does_no_more_than_its_owner_and_its_scope(signer):
    for who in (signer("viewer"), signer("operator", "viewer")):
        assert who.call(LIST)[0] == 200
        assert who.refused("RestartDBInstance", DBInstanceId="rm-1") == (403, "Forbidden.RAM")
    demoted = signer("operator")
    User.objects.update(role="viewer")
    assert demoted.refused("RestartDBInstance", DBInstanceId="rm-1") == (403, "Forbidden.RAM")


def test_use_is_noted_on_the_key_and_in_the_audit_trail(rpc):
    rpc.done(
        "CreateParameterGroup", Engine="mysql", EngineVersion="5.7", ParameterGroupName="audited_group",
        Parameters='{"long_query_time": "2"}',
    )  # fmt: skip
    assert AccessKey.objects.get().last_used_at is not None
    event = AuditEvent.objects.get(action="template.created")
    assert (event.actor, event.token_prefix) == (User.objects.get().username, rpc.key[0])


# Requests as the official clients send them, with key id AKTEST and secret `sek`.
PYTHON = {
    "host": "127.0.0.1:18089",
    "accept": "application/json",
    "user-agent": "AlibabaCloud (Linux; x86_64) Python/3.11.7 Core/0.4.3 TeaDSL/2",
    "x-acs-version": "2014-08-15",
    "x-acs-action": "ModifyParameter",
    "x-acs-date": "2026-11-20T23:58:49Z",
    "x-acs-signature-nonce": "fa5703772c040d461ccf9090302f7be4",
    "x-acs-content-sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "x-acs-credentials-provider": "static_ak",
    "authorization": "ACS3-HMAC-SHA256 Credential=AKTEST,SignedHeaders=accept;host;user-agent;x-acs-action;"
    "x-acs-content-sha256;x-acs-credentials-provider;x-acs-date;x-acs-signature-nonce;x-acs-version,"
    "Signature=af0ad71a835972bb46e3223df725a0c02a2adc715b985f1621c6ad18ba02578e",
}
PYTHON_QUERY = "DBInstanceId=rm-1+%C3%A9~%2A&Forcerestart=True&Parameters=%7B%22a%22%3A%22%7BX%2A63%2F100%7D%22%7D"
LEGACY_QUERY = (
    "Action=ModifyParameter&Format=json&Version=2014-08-15&Timestamp=2026-11-20T23%3A58%3A49Z"
    "&SignatureNonce=63589b6cd8e6c67123dd04432b6dca07&DBInstanceId=rm-1+%C3%A9~%2A&Forcerestart=True"
    "&Parameters=%7B%22a%22%3A%22%7BX%2A63%2F100%7D%22%7D&SignatureMethod=HMAC-SHA1&SignatureVersion=1.0"
    "&AccessKeyId=AKTEST&Signature=Vot0DXEbUup5Ei3hvOy30SDb4kk%3D"
)
NODE = PYTHON | {
    "user-agent": "AlibabaCloud (linux; x64) Node.js/v20.20.2 Core/1.0.1 TeaDSL/2",
    "x-acs-date": "2026-11-20T23:58:52Z",
    "x-acs-signature-nonce": "0fb2f4f93e08c4af77ec4d25126c8034a1a1be2305398fde20970a2593a2c331",
    "authorization": "ACS3-HMAC-SHA256 Credential=AKTEST,SignedHeaders=host;x-acs-action;x-acs-content-sha256;"
    "x-acs-credentials-provider;x-acs-date;x-acs-signature-nonce;x-acs-version,"
    "Signature=4d51075e702f170a6a6d44a9da65eb0d520285892e59359e7d6247d11d9c9e82",
}
NODE_QUERY = "DBInstanceId=rm-1%20%C3%A9~*&Forcerestart=true&Parameters=%7B%22a%22%3A%22b%22%7D"


@pytest.mark.parametrize(
    ("query", "headers"), [(PYTHON_QUERY, PYTHON), (LEGACY_QUERY, {}), (NODE_QUERY, NODE)],
    ids=["python", "hmac-sha1", "node"],
)  # fmt: skip
def test_recorded_requests_of_official_clients_are_accepted(rpc, client, monkeypatch, query, headers):
    monkeypatch.setattr(freshness, "SKEW", timedelta(days=36500))  # the recorded requests grow old
    key = AccessKey(id="AKTEST", user=User.objects.get(), name="recorded", scope="operator")
    key.secret = "sek"
    key.save()
    answer = client.generic("POST", f"/?{query}", headers=headers)
    assert answer.json()["Code"] == "InvalidDBInstanceId.NotFound", answer.json()
