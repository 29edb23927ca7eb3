"""Names that the contract does not have are refused and named in the answer, for every operation: parameters, their
choices, fields.

The operations are read from the contract, so a new one is tested without a change here.
"""

import json
import re

import pytest
from django.urls import get_resolver

from testing.answers import contract
from testing.clients import reporter_of

pytestmark = pytest.mark.django_db
DOCUMENT = contract()
OPERATIONS = [
    (method, path, operation) for path, methods in DOCUMENT["paths"].items() for method, operation in methods.items()
]
WITHOUT_OPERATION = {"api/v1/openapi.yaml", "api/"}  # the contract itself, and the answer for unknown paths


def address(path):
    return re.sub(r"{[^}]*}", "some-id", path)


def allowed(admin, path):
    """Returns a client that may call the path: a near cache's reporter for reports, else the administrator."""
    return reporter_of("some-id") if path.endswith("/near-caches/reports") else admin


def named(operation, place):
    return [each["name"] for each in operation.get("parameters", []) if each["in"] == place]


def errors(answer):
    assert answer.status_code == 400, answer.content
    return {each["field"]: each["code"] for each in answer.json()["errors"]}


def resolved(schema):
    """Returns a schema of the contract with its references followed and its alternatives merged into it."""
    if "$ref" in schema:
        return resolved(DOCUMENT["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]])
    parts = [resolved(each) for kind in ("allOf", "oneOf", "anyOf") for each in schema.get(kind, [])]
    return {**schema, **{key: value for part in parts for key, value in part.items()}}


def with_an_unknown_one(schema):
    """Yields bodies with one unknown field each, at every depth of the schema, with the path of that field."""
    schema = resolved(schema)
    if "items" in schema:
        yield from (([body], f"0.{path}") for body, path in with_an_unknown_one(schema["items"]))
    if "properties" in schema:
        yield {"not_a_field": 1}, "not_a_field"
        for name, inner in schema["properties"].items():
            yield from (({name: body}, f"{name}.{path}") for body, path in with_an_unknown_one(inner))


def bodies():
    for method, path, operation in OPERATIONS:
        if "requestBody" in operation:
            schema = operation["requestBody"]["content"]["application/json"]["schema"]
            yield from ((method, path, body, field) for body, field in with_an_unknown_one(schema))
        else:
            yield method, path, {"not_a_field": 1}, "not_a_field"


BODIES = list(bodies())


def test_the_walk_finds_the_api_and_bodies_inside_bodies():
    assert len(OPERATIONS) > 90
    assert {"overrides.0.not_a_field", "maintenance_window.not_a_field"} <= {field for *_, field in BODIES}


def routes(patterns, prefix=""):
    for pattern in patterns:
        path = prefix + str(pattern.pattern).removeprefix("^").removesuffix("$")
        yield from routes(pattern.url_patterns, path) if hasattr(pattern, "url_patterns") else [path]


def test_every_route_of_the_api_is_in_the_contract():
    placeholder = r"\(\?P<\w+>\[[^\]]*\][^)]*\)|<[^>]+>|{[^}]*}"
    served = {route for route in routes(get_resolver().url_patterns) if route.startswith("api/")} - WITHOUT_OPERATION
    told = {re.sub(placeholder, "?", path.removeprefix("/")) for path in DOCUMENT["paths"]}
    assert {re.sub(placeholder, "?", route) for route in served} == told


@pytest.mark.parametrize(("method", "path", "operation"), OPERATIONS)
def test_an_unknown_query_parameter_is_refused_and_named(admin, method, path, operation):
    answer = allowed(admin, path).generic(method.upper(), address(path) + "?not_a_parameter=1")
    assert errors(answer) == {"not_a_parameter": "unknown_parameter"}


@pytest.mark.parametrize(("method", "path", "body", "field"), BODIES)
def test_an_unknown_field_is_refused_and_named(admin, method, path, body, field):
    answer = allowed(admin, path).generic(method.upper(), address(path), json.dumps(body), "application/json")
    assert errors(answer) == {field: "unknown_field"}


@pytest.mark.parametrize(("method", "path", "operation"), [each for each in OPERATIONS if named(each[2], "query")])
def test_what_the_contract_names_is_known(admin, method, path, operation):
    query = "&".join(f"{name}=1" for name in named(operation, "query"))
    for asked in (method.upper(), "HEAD"):
        answer = admin.generic(asked, f"{address(path)}?{query}")
        assert b"unknown_parameter" not in getattr(answer, "content", b"")


def choices(operation):
    for each in operation.get("parameters", []):
        schema = resolved(each["schema"])
        schema = resolved(schema.get("items", schema))
        if each["in"] == "query" and ("boolean" in schema.get("type", "") or "enum" in schema):
            yield each["name"], schema.get("enum", ["true", "False"])


CHOICES = [
    (path, name, known)
    for method, path, operation in OPERATIONS
    if method == "get"
    for name, known in choices(operation)
]


def test_the_walk_finds_choices_of_each_kind():
    assert {name for _, name, _ in CHOICES} >= {"is_drifted", "is_modifiable", "state", "topic", "role"}


@pytest.mark.parametrize(("path", "name", "known"), CHOICES)
def test_what_is_no_choice_is_refused_and_a_choice_is_not(admin, path, name, known):
    for value in ("perhaps", ""):
        assert errors(admin.get(address(path), {name: value})) == {name: "invalid_choice"}
    for value in known:
        assert b"invalid_choice" not in getattr(admin.get(address(path), {name: value}), "content", b"")


def test_a_nul_character_is_refused_by_its_parameter(viewer):
    refused = errors(viewer.get("/api/v1/instances?search=a%00b"))
    assert refused == {"search": "null_characters_not_allowed"}
    assert viewer.get("/api/v1/instances/a%00b").status_code == 400


def test_everything_unknown_is_named_at_once_and_nothing_is_done(admin):
    answer = admin.post("/api/v1/tokens?dry=1", {"name": "x", "scope": "viewer", "days": 3, "hours": 1}, format="json")
    assert errors(answer) == {"dry": "unknown_parameter", "days": "unknown_field", "hours": "unknown_field"}
    assert "there are " in answer.json()["detail"] or "there is none" in answer.json()["detail"]
    assert [each["name"] for each in admin.get("/api/v1/tokens").json()["items"]] == ["test"]


def test_who_may_not_is_told_that_before_what_is_unknown(outsider, viewer):
    assert outsider.get("/api/v1/instances?colour=red").status_code == 401
    assert viewer.post("/api/v1/instances", {"colour": "red"}, format="json").status_code == 403


def test_names_that_a_caller_chooses_are_free(operator):
    made = operator.post("/api/v1/templates", {"name": "t", "engine_line": "5.7", "values": {"any_name": "1"}})
    assert "unknown_field" not in made.content.decode()
