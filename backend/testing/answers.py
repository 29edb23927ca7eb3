"""Compares the API's responses with the contract (`openapi.yaml`): their fields, which of them may be null, and
formats."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

import jsonschema
import pytest
import yaml
from rest_framework.test import APIClient

from testing.workers import BACKEND

FORMATS = jsonschema.FormatChecker(formats=())
# RFC 3339 times have an offset.
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
FORMATS.checks("date-time")(lambda value: not isinstance(value, str) or bool(MOMENT.fullmatch(value)))
FORMATS.checks("time")(lambda value: not isinstance(value, str) or bool(MOMENT.fullmatch(f"2000-01-01T{value}")))
FORMATS.checks("email")(lambda value: not isinstance(value, str) or "@" in value)


@cache
def contract() -> dict[str, Any]:
    """Returns the contract in the repository. It is read once per process and must not be altered."""
    return yaml.load((BACKEND / "openapi.yaml").read_text(), Loader=yaml.CSafeLoader)


@cache
def _routes() -> list[tuple[re.Pattern[str], str]]:
    """Returns patterns of addresses with their paths in the contract, those without parameters first, so that
    `export` is not taken for an id."""
    paths = sorted(contract()["paths"], key=lambda path: path.count("{"))
    return [(re.compile("[^/]+".join(map(re.escape, re.split(r"{\w+}", path)))), path) for path in paths]


@cache
def _validator(path: str, method: str, status: int) -> Any:
    answers = contract()["paths"][path].get(method, {}).get("responses", {})
    answer = answers.get(str(status), answers.get("default", {}))
    for kind, media in answer.get("content", {}).items():
        if kind.endswith("json"):
            schema = {**media["schema"], "components": contract()["components"]}
            return jsonschema.Draft202012Validator(schema, format_checker=FORMATS)
    return None


def faults(method: str, address: str, status: int, data: Any) -> list[str]:
    """Returns what the contract does not allow about a response, a line each. Empty also if it does not describe the
    response."""
    path = next((path for pattern, path in _routes() if pattern.fullmatch(address)), None)
    validator = path and _validator(path, method.lower(), status)
    found = validator.iter_errors(data) if validator else ()
    return [f"{method} {path} {status}: {error.json_path}: {error.message}" for error in found]


@pytest.fixture
def answers_keep_the_contract(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes the test fail at the first JSON response of the API that the contract does not allow."""
    ask = APIClient.request

    def request(self: APIClient, **asked: Any) -> Any:
        answer = ask(self, **asked)
        if not answer.streaming and answer.content and "json" in answer.headers.get("Content-Type", ""):
            wrong = faults(asked["REQUEST_METHOD"], asked["PATH_INFO"], answer.status_code, json.loads(answer.content))
            assert not wrong, wrong
        return answer

    monkeypatch.setattr(APIClient, "request", request)
