"""If twenty writers use the same ETag, one succeeds: for every operation of the contract that takes If-Match."""

from functools import partial

import pytest

from controlplane.alerts.models import AlertRule, Channel
from controlplane.core.request_context import acting_as
from controlplane.metrics.tests.fleet import instance_make
from controlplane.parameters.services import template_create
from controlplane.settings.selectors import settings_get
from testing.answers import contract
from testing.clients import APIClient, client_as
from testing.races import at_once
from testing.servers import row_for

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("shipped_classes")]
CONTRACT = contract()
WRITERS = 20


def operations():
    """Returns path and method, by operation id, of the operations of the contract that take If-Match."""
    return {
        operation["operationId"]: (path, method)
        for path, methods in CONTRACT["paths"].items()
        for method, operation in methods.items()
        for parameter in operation.get("parameters", [])
        if parameter["name"] == "If-Match"
    }


def template():
    with acting_as("test"):
        return template_create(name="raced", engine_line="5.7", values={"long_query_time": "2"})


def rule():
    return AlertRule.objects.create(name="raced", metric="questions_per_second", comparison="gt", threshold=1)


def channel():
    return Channel.objects.create(name="raced", kind="mail", recipients=["dba@example.com"])


MAIL = {"name": "raced", "kind": "mail"}
RULE = {"name": "raced", "metric": "questions_per_second", "comparison": "gt"}
# The row to write, and the body of one writer. `row_for` is used if the request plans on what a server reports.
CASES = {
    "alert_rules_update": (lambda _: rule(), lambda number: {**RULE, "threshold": number}),
    "alert_rules_destroy": (lambda _: rule(), None),
    "channels_update": (lambda _: channel(), lambda number: {**MAIL, "recipients": [f"{number}@example.com"]}),
    "channels_destroy": (lambda _: channel(), None),
    "instances_partial_update": (lambda _: instance_make(), lambda number: {"name": f"raced-{number}"}),
    "instances_destroy": (lambda _: instance_make(), None),
    "instances_cache_enable": (row_for, lambda _: {}),
    "instances_cache_disable": (row_for, lambda _: {}),
    "instances_changes_create": (
        row_for,
        lambda number: {"parameters": {"long_query_time": str(number + 2)}, "apply": True},
    ),
    "instances_proxy": (lambda _: instance_make(), lambda _: {"enabled": True}),
    "instances_resize": (row_for, lambda _: {"instance_class": "local.small"}),
    "instances_restart": (row_for, lambda _: {}),
    "instances_upgrade": (row_for, lambda _: {}),
    "settings_partial_update": (lambda _: settings_get(), lambda number: {"poll_interval_seconds": number + 10}),
    "templates_partial_update": (lambda _: template(), lambda number: {"description": f"by {number}"}),
    "templates_destroy": (lambda _: template(), None),
    "users_partial_update": (lambda _: client_as("viewer").user, lambda number: {"email": f"{number}@example.com"}),
    "users_destroy": (lambda _: client_as("viewer").user, None),
}  # fmt: skip


def test_every_operation_that_takes_if_match_has_a_case():
    assert sorted(CASES) == sorted(operations())


@pytest.mark.parametrize("operation", sorted(operations()))
def test_of_twenty_writers_with_one_etag_one_writes(operation, request):
    path, method = operations()[operation]
    make, body_of = CASES[operation]
    row = make(request.getfixturevalue("shared_server") if make is row_for else None)
    token = client_as("admin")._credentials
    path = path.format(id=row.pk)

    def write(number):
        client = APIClient()
        client.credentials(**token)
        body = body_of(number) if body_of else None
        return getattr(client, method)(path, body, format="json", headers={"If-Match": f'"{row.version}"'})

    answers = at_once(*(partial(write, number) for number in range(WRITERS)))
    won = [answer for answer in answers if answer.status_code < 300]
    refused = [answer.status_code for answer in answers if answer.status_code >= 300]
    assert len(won) == 1, [answer.content for answer in answers]
    # A request that makes a change set does not alter the instance; the others get a conflict with the change at work.
    makes_change = won[0].status_code in (201, 202)
    expected = {409} if makes_change else {412, 404} if method == "delete" else {412}
    assert set(refused) <= expected, refused
    if not makes_change and method != "delete":
        row.refresh_from_db()
        assert row.version == int(won[0]["ETag"].strip('"'))
