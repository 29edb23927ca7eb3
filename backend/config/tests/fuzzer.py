"""Fuzzes one operation of the contract with Schemathesis: its examples, its edge cases, and random ones.

The cases of an operation are made when it is fuzzed. Schemathesis' own parametrization makes those of all operations at
collection, in every worker.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import cache
from typing import Any

import schemathesis
from django.core.wsgi import get_wsgi_application
from hypothesis import HealthCheck, settings
from schemathesis.checks import load_all_checks, not_a_server_error
from schemathesis.generation.feedback import FeedbackSources
from schemathesis.generation.hypothesis import builder
from schemathesis.pytest._test_builder import build_operation_test
from schemathesis.python._constants.orchestrator import make_constants_value_source
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from testing.answers import contract

# What Schemathesis notes at a test some of whose cases it could not make.
FLAWS = (
    builder.UnsatisfiableExampleMark,
    builder.NonSerializableMark,
    builder.InvalidRegexMark,
    builder.InvalidHeadersExampleMark,
    builder.MissingPathParameters,
)


def what_is_refused_is_named(context: Any, response: Any, case: Any) -> None:
    """Checks an answer of the fuzzer: a 400 must name the field at fault.

    The field "" is the body as a whole; a body that is not JSON has no field to name.
    """
    problem = response.json() if response.status_code == 400 else {}
    if problem and not problem["detail"].startswith("The body "):
        assert problem.get("errors"), problem


def no_server_error(context: Any, response: Any, case: Any) -> None:
    """Checks an answer of the fuzzer: a status of 500 or more is only allowed as a 503 of the endpoint check, whose
    server cannot be reached.
    """
    is_told = case.path == "/api/v1/endpoints/check" and response.status_code == 503
    if not is_told:
        not_a_server_error(context, response, case)


CHECKS = [
    what_is_refused_is_named,
    no_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


def fuzz(label: str, test: Callable[[Any], None], examples: int) -> None:
    """Runs the test with every case of the operation, which is named like `GET /api/v1/users`."""
    schema, operations, feedback = _fuzzed()
    kept = settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )(test)
    built = build_operation_test(
        config=schema.config, operation=operations[label], test_func=kept, given_kwargs={}, feedback=feedback
    )
    built()
    assert not [flaw for flaw in FLAWS if flaw.is_set(built)], "cases are missing"


@cache
def _fuzzed() -> tuple[Any, dict[str, Any], FeedbackSources]:
    load_all_checks()
    schema = schemathesis.openapi.from_dict(deepcopy(contract()))
    schema.app = get_wsgi_application()
    operations = {each.ok().label: each.ok() for each in schema.get_all_operations()}
    return schema, operations, FeedbackSources(constants_value_source=make_constants_value_source(schema))
