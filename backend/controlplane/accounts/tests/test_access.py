"""Every route refuses an outsider, and every write refuses a viewer, unless it is named here with its reason."""

import re

import pytest
from django.urls import get_resolver

pytestmark = pytest.mark.django_db

OPEN = {"api/v1/auth/session", "api/v1/openapi.yaml"}  # logging in; the contract
VIEWERS_MAY_POST = {  # they change nothing
    "api/v1/changes/preview",
    "api/v1/instances/<str:pk>/cache/preview",
    "api/v1/fleet-applies/preview",
    "api/v1/expressions/evaluate",
    "api/v1/templates/(?P<pk>[A-Za-z0-9_.-]{1,64})/resolve",
    "api/v1/alert-rules/preview",
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
        elif path.startswith("api/v1/"):
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


@pytest.mark.parametrize("path", ["/api/v1/users", "/api/v1/settings"])
def test_administration_is_for_admins(operator, admin, path):
    assert operator.get(path).status_code == 403
    assert admin.get(path).status_code == 200
