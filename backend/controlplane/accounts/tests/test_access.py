"""Access is checked for every route: without credentials, for writes by viewers, and for administration by operators.
Exceptions are listed with the reason.

The routes are read from the URLs, so a new one is tested without a change here.
"""

import re

import pytest
from django.urls import get_resolver

from testing.clients import reporter_of

pytestmark = pytest.mark.django_db

OPEN = {
    "api/v1/auth/session",  # logging in
    "api/v1/auth/provider",  # signing in
    "api/v1/openapi.yaml",  # the contract
    "healthz", "readyz",  # whether this process works
    "(?!static/).*",  # the console's page, which contains no data
    "api/",  # the answer for unknown paths, which is the same for everybody
}  # fmt: skip
ADMINISTRATION = {
    "api/v1/users",
    "api/v1/users/(?P<pk>[A-Za-z0-9_.-]{1,64})",
    "api/v1/settings",
    "api/v1/audit-events/export",
    "api/v1/alerts/test-mail",
    "api/v1/channels",  # a Slack channel's address is its secret
    "api/v1/channels/(?P<pk>[A-Za-z0-9_.-]{1,64})",
    "api/v1/channels/(?P<pk>[A-Za-z0-9_.-]{1,64})/test",
    "api/v1/instance-classes",  # everybody may read them
    "api/v1/instance-classes/(?P<pk>[A-Za-z0-9_.-]{1,64})",
    "api/v1/engine-lines/<str:id>",  # everybody may read them
}
REPORTERS_ALONE = {"api/v1/near-caches/reports"}  # no role has access
VIEWERS_MAY_POST = {  # they change nothing
    "api/v1/changes/preview",
    "api/v1/instances/<str:pk>/cache/preview",
    "api/v1/instances/<str:pk>/cache/rules/preview",
    "api/v1/fleet-applies/preview",
    "api/v1/expressions/evaluate",
    "api/v1/templates/(?P<pk>[A-Za-z0-9_.-]{1,64})/resolve",
    "api/v1/alert-rules/preview",
    "api/v1/auth/password",  # one's own
    "api/v1/sessions",  # one's own
    "api/v1/sessions/(?P<id>[A-Za-z0-9_.-]{1,64})",
    "api/v1/sessions/others",
    "api/v1/tokens",  # one's own, never stronger than oneself
    "api/v1/tokens/(?P<pk>[A-Za-z0-9_.-]{1,64})",
    "api/v1/access-keys",  # likewise
    "api/v1/access-keys/(?P<pk>[A-Za-z0-9_.-]{1,64})",
}
METHODS = ("get", "post", "put", "patch", "delete")


def _routes(patterns, prefix=""):
    for pattern in patterns:
        path = prefix + str(pattern.pattern).removeprefix("^")
        if hasattr(pattern, "url_patterns"):
            yield from _routes(pattern.url_patterns, path)
        else:
            yield path.removesuffix("$"), pattern.callback


def _methods(callback):
    actions = getattr(callback, "actions", None)
    if actions:
        return [method for method in METHODS if method in actions]
    return [method for method in METHODS if hasattr(getattr(callback, "cls", None), method)]


def _cases():
    found = [(path, method) for path, callback in _routes(get_resolver().url_patterns) for method in _methods(callback)]
    return sorted(set(found))


CASES = _cases()


def _address(path):
    concrete = re.sub(r"\(\?P<\w+>\[[^\]]*\][^)]*\)", "some-id", path)
    return "/" + re.sub(r"<[^>]+>", "some-id", concrete)


def test_the_walk_over_the_routes_finds_the_api():
    assert len(CASES) > 80


@pytest.mark.parametrize(("path", "method"), [case for case in CASES if case[0] not in OPEN])
def test_an_outsider_is_refused(outsider, path, method):
    answer = getattr(outsider, method)(_address(path))
    assert answer.status_code == 401
    assert answer.json()["code"] == "not_authenticated"
    assert answer.headers["WWW-Authenticate"] == "Bearer"


WRITES = [case for case in CASES if case[1] != "get" and case[0] not in OPEN | VIEWERS_MAY_POST]


def test_a_viewer_may_write_nothing(viewer):
    allowed = []
    for path, method in WRITES:
        answer = getattr(viewer, method)(_address(path), {}, format="json")
        if answer.status_code != 403 or answer.json()["code"] != "denied":
            allowed.append((method, path, answer.status_code))
    assert allowed == []


def test_a_reporter_is_let_in_nowhere_but_to_report():
    reporter = reporter_of("some-id")
    told = {case: getattr(reporter, case[1])(_address(case[0]), {}, format="json").status_code for case in CASES}
    assert {case for case, status in told.items() if case[0] not in OPEN | REPORTERS_ALONE and status != 401} == set()
    assert {told[case] for case in CASES if case[0] in REPORTERS_ALONE} == {404}  # there is no such instance
    assert reporter.get("/api/v1/auth/session").status_code == 401


def test_administration_is_for_admins_and_nothing_else_is(operator, admin):
    refused = set()
    for path, method in [case for case in CASES if case[0] not in OPEN]:
        answer = getattr(operator, method)(_address(path), {}, format="json")
        if answer.status_code == 403:
            refused.add(path)
    assert refused == ADMINISTRATION | REPORTERS_ALONE
    for path in ("/api/v1/users", "/api/v1/settings", "/api/v1/instance-classes"):
        assert admin.get(path).status_code == 200
