"""Refuses names that the contract does not have: query parameters, their choices, and fields of the body at any depth.

A misspelt limit or filter must not be ignored. The known names are read from the contract that is generated from the
code, for all views alike: serializers and views need no code for this and cannot forget it. Paths that the contract
leaves out on purpose (`/metrics`) are not checked.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from drf_spectacular.generators import EndpointEnumerator, SchemaGenerator
from rest_framework.request import Request

from controlplane.core.errors import FieldError, Invalid

_making = threading.Lock()  # the generator is not thread-safe, and the first requests of a process may come at once


def _contract() -> tuple[dict[tuple[str, str], Any], dict[str, Any]]:
    """Returns the contract's operations by method and path, and its components by name.

    The first call in a process takes half a second.
    """
    with _making:
        return _contract_made()


@cache
def _contract_made() -> tuple[dict[tuple[str, str], Any], dict[str, Any]]:
    """Generates the contract, which takes half a second, once in a process."""
    made = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    operations = {
        (method.upper(), _nameless(path)): operation
        for path, methods in made["paths"].items()
        for method, operation in methods.items()
    }
    return operations, made["components"]["schemas"]


def _nameless(path: str) -> str:
    """Replaces the names of a path's parameters by nothing, since a view may call `pk` what the contract calls `id`."""
    return re.sub(r"{[^}]*}", "{}", path)


@cache
def _path(route: str) -> str:
    return _nameless(EndpointEnumerator().get_path_from_regex(route))  # type: ignore[no-untyped-call]


def _operation(request: Request) -> Any:
    match = request._request.resolver_match
    method = "GET" if request.method == "HEAD" else request.method
    return _contract()[0].get((method or "", _path(match.route))) if match else None


def check_names(request: Request) -> None:
    """Raises Invalid if the request has query parameters, choices or fields of the body that its operation in the
    contract does not know.

    Operations that the contract leaves out are not checked.
    """
    operation = _operation(request)
    if operation is None:
        return
    known = {each["name"]: each["schema"] for each in operation.get("parameters", ()) if each["in"] == "query"}
    unknown = list(_errors(sorted(set(request.query_params) - set(known)), known, "unknown_parameter"))
    for name, schema in known.items():
        unknown += _unstorable(name, request.query_params.getlist(name))
        unknown += _unknown_choices(name, request.query_params.getlist(name), schema)
    unknown += _unknown_fields(request.data, _body(operation))
    if unknown:
        raise Invalid(f"{unknown[0].field}: {unknown[0].detail}", errors=unknown)


def _errors(names: Iterable[str], known: Iterable[str], code: str, path: str = "") -> Iterator[FieldError]:
    what = code.removeprefix("unknown_")
    there_are = f"there are {', '.join(sorted(known))}" if known else "there is none here"
    for name in names:
        yield FieldError(path + name, code, f"there is no such {what}; {there_are}")


def _unstorable(name: str, values: list[str]) -> Iterator[FieldError]:
    """Yields an error if a query parameter's value contains NUL, which PostgreSQL cannot store in text.

    It is refused here once instead of in every filter.
    """
    if any("\x00" in value for value in values):
        yield FieldError(name, "null_characters_not_allowed", "leave out the NUL character")


def _unknown_choices(name: str, values: list[str], schema: dict[str, Any]) -> Iterator[FieldError]:
    """Yields an error if a query parameter has a value that is not among its choices: a filter would ignore
    `is_drifted=yes`.
    """
    schema = _resolved(schema)
    schema = _resolved(schema.get("items", schema))
    choices = (
        ["true", "false"] if "boolean" in schema.get("type", ()) else [str(each) for each in schema.get("enum", ())]
    )
    if choices and not {value.lower() if "true" in choices else value for value in values} <= set(choices):
        yield FieldError(name, "invalid_choice", f"write one of {', '.join(choices)}")


def _body(operation: Any) -> dict[str, Any]:
    content = operation.get("requestBody", {}).get("content", {})
    closed = {"type": "object", "properties": {}, "additionalProperties": False}
    return content["application/json"]["schema"] if content else closed


def _unknown_fields(value: Any, schema: dict[str, Any], path: str = "") -> Iterator[FieldError]:
    """Yields an error for each field in a body, at any depth, that its schema does not know.

    A value of another type than the schema's is left to the serializer to refuse.
    """
    schema = _resolved(schema)
    if isinstance(value, list):
        for position, each in enumerate(value):
            yield from _unknown_fields(each, schema.get("items", {}), f"{path}{position}.")
    elif isinstance(value, dict):
        known, others = schema.get("properties", {}), schema.get("additionalProperties", {})
        if others is False:
            yield from _errors(sorted(set(value) - set(known)), known, "unknown_field", path)
        for name, each in value.items():
            inner = known.get(name, others or {})
            yield from _unknown_fields(each, inner if isinstance(inner, dict) else {}, f"{path}{name}.")


def _resolved(schema: dict[str, Any]) -> dict[str, Any]:
    """Returns the schema that a reference stands for, also one that is the only alternative apart from null or a
    default; any other schema unchanged.
    """
    for several in ("allOf", "oneOf", "anyOf"):
        objects = [each for each in schema.get(several, ()) if "$ref" in each]
        if len(objects) == 1:
            schema = objects[0]
    while "$ref" in schema:
        schema = _contract()[1][schema["$ref"].rsplit("/", 1)[1]]
    return schema
