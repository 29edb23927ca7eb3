"""Lines and parameters over HTTP."""

from __future__ import annotations

import pytest
from rest_framework.test import APIClient

pytestmark = pytest.mark.django_db


def test_the_shipped_line_is_listed(viewer: APIClient) -> None:
    [line] = viewer.get("/api/v1/engine-lines").json()["items"]
    assert (line["id"], line["product"], line["source"]) == ("5.7", "MySQL", "shipped")
    assert line["parameter_count"] == len(viewer.get("/api/v1/parameters").json()["items"])
    assert viewer.get("/api/v1/engine-lines/5.7").json() == line


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ({"search": "query_cache"}, {"query_cache_type", "query_cache_size", "query_cache_limit",
                                     "query_cache_min_res_unit", "query_cache_wlock_invalidate"}),
        ({"search": "memory cached results"}, {"query_cache_size"}),
        ({"search": "query_cache", "needs_restart": "true"}, {"query_cache_type"}),
        ({"search": "binlog_format", "is_modifiable": "false"}, {"binlog_format"}),
        ({"search": "no such thing"}, set()),
    ],
)  # fmt: skip
def test_parameters_are_searched(viewer: APIClient, query: dict[str, str], names: set[str]) -> None:
    found = viewer.get("/api/v1/parameters", query).json()["items"]
    assert {each["name"] for each in found} == names


def test_a_parameter_tells_all_there_is_to_know(viewer: APIClient) -> None:
    found = viewer.get("/api/v1/engine-lines/5.7/parameters/query_cache_size").json()
    assert found.pop("description").startswith("Memory for cached results")
    assert found == {
        "name": "query_cache_size",
        "type": "integer",
        "unit": "bytes",
        "default": "0",
        "allowed": {
            "notation": "[0-10485760000]", "minimum": "0", "maximum": "10485760000", "choices": [], "pattern": None,
        },
        "divisor": 1024,
        "is_modifiable": True,
        "access": "operator",
        "access_code": "tuning",
        "access_reason": "",
        "needs_restart": False,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("engine-lines/8.0", "engine_line_not_found"),
        ("parameters?engine_line=8.0", "engine_line_not_found"),
        ("engine-lines/5.7/parameters/none", "parameter_not_found"),
    ],
)
def test_what_is_unknown_is_not_found(viewer: APIClient, path: str, code: str) -> None:
    answer = viewer.get(f"/api/v1/{path}")
    assert (answer.status_code, answer.json()["code"]) == (404, code)


def test_bad_queries_name_the_field(viewer: APIClient) -> None:
    answer = viewer.get("/api/v1/parameters?is_modifiable=perhaps")
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "is_modifiable")


def test_outsiders_see_nothing(outsider: APIClient) -> None:
    for path in ("engine-lines", "engine-lines/5.7", "parameters", "engine-lines/5.7/parameters/port"):
        assert outsider.get(f"/api/v1/{path}").status_code == 401, path


@pytest.mark.parametrize(
    ("name", "access", "is_modifiable"), [("port", "never", False), ("general_log", "admin", True)]
)
def test_who_may_set_a_parameter_and_why_is_told(
    viewer: APIClient, name: str, access: str, is_modifiable: bool
) -> None:
    found = viewer.get(f"/api/v1/engine-lines/5.7/parameters/{name}").json()
    assert (found["access"], found["is_modifiable"]) == (access, is_modifiable)
    assert found["access_reason"].startswith("It ")
