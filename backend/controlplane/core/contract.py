"""Additions to the API contract that serializers cannot express: problem details, Idempotency-Key, If-Match, closed
bodies.
"""

from __future__ import annotations

from typing import Any

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter

TEXT = {"type": "string"}
PROBLEM = {
    "type": "object",
    "description": "Problem details (RFC 9457). `code` is stable, the sentences are not.",
    "required": ["type", "title", "status", "code", "detail", "request_id"],
    "properties": {
        "type": TEXT,
        "title": TEXT,
        "status": {"type": "integer"},
        "code": TEXT,
        "detail": TEXT,
        "request_id": TEXT,
        "statements": {"type": "array", "items": TEXT, "description": "For a person to run on the server."},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["field", "code", "detail"],
                "properties": {"field": TEXT, "code": TEXT, "detail": TEXT},
            },
        },
    },
}
PROBLEM_ANSWER = {
    "description": "The request failed; the body says what, on what, and what to do next.",
    "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
}
IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    OpenApiTypes.STR,
    OpenApiParameter.HEADER,
    description="A request with the same key within a day is not carried out again; it gets the first answer "
    "again. If that answer contained a secret, it gets 409 `secret_shown_once`, which names what was"
    " made. A key is valid for the token or session that sent it.",
)
IF_MATCH = OpenApiParameter(
    "If-Match",
    OpenApiTypes.STR,
    OpenApiParameter.HEADER,
    description="The ETag of the version that was read, or `*` for any. The answer is 428 without this header, "
    "and 412 if the resource has changed since.",
)

IF_MATCH_WELCOME = OpenApiParameter(
    "If-Match",
    OpenApiTypes.STR,
    OpenApiParameter.HEADER,
    description="The ETag of the version that the request was planned on. The answer is 412 if the resource has "
    "changed since.",
)


class ContractSchema(AutoSchema):
    """Adds the headers Idempotency-Key and If-Match to the operations of the API contract.

    A view lists the methods that require If-Match in `if_match_methods`, and those where it is optional in
    `if_match_welcome_methods`.
    """

    def get_override_parameters(self) -> list[Any]:
        parameters = list(super().get_override_parameters())
        if self.method == "POST":
            parameters.append(IDEMPOTENCY_KEY)
        if self.method in getattr(self.view, "if_match_methods", ()):
            parameters.append(IF_MATCH)
        if self.method in getattr(self.view, "if_match_welcome_methods", ()):
            parameters.append(IF_MATCH_WELCOME)
        return parameters


def add_problem_responses(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    result["components"]["schemas"]["Problem"] = PROBLEM
    for methods in result["paths"].values():
        for operation in methods.values():
            operation["responses"].setdefault("default", PROBLEM_ANSWER)
    return result


def close_bodies(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Marks bodies as closed: they have the named fields and no others, at any depth. `known_names` enforces this."""
    components = result["components"]["schemas"]
    to_do: list[Any] = [
        operation["requestBody"]
        for methods in result["paths"].values()
        for operation in methods.values()
        if "requestBody" in operation
    ]
    done = set()
    while to_do:
        part = to_do.pop()
        if isinstance(part, list):
            to_do += part
        elif isinstance(part, dict):
            name = str(part.get("$ref", "")).rsplit("/", 1)[-1]
            if name and name not in done:
                done.add(name)
                to_do.append(components[name])
            if "properties" in part:
                part.setdefault("additionalProperties", False)
            to_do += part.values()
    return result
