"""The cases that the Terraform provider's implementation of the language must pass, too."""

import json
from pathlib import Path
from typing import Any

import pytest

from controlplane.parameters.expressions import (
    EvaluationError,
    ExpressionError,
    ExpressionSyntaxError,
    compile_expression,
    is_expression,
)

FILE = Path(__file__).resolve().parents[4] / "docs" / "reference" / "expressions.json"
CASES = json.loads(FILE.read_text())
KINDS: dict[str, type[ExpressionError]] = {"syntax": ExpressionSyntaxError, "evaluation": EvaluationError}


def named(case: dict[str, Any]) -> str:
    return ascii(case["text"])[:60]


@pytest.mark.parametrize("case", CASES["valid"], ids=named)
def test_a_valid_expression_has_its_value(case: dict[str, Any]) -> None:
    assert is_expression(case["text"])
    expression = compile_expression(case["text"])
    assert expression.evaluate(case["variables"]) == case["value"]


@pytest.mark.parametrize("case", CASES["invalid"], ids=named)
def test_an_invalid_expression_is_refused_at_its_column(case: dict[str, Any]) -> None:
    with pytest.raises(KINDS[case["kind"]]) as refusal:
        compile_expression(case["text"]).evaluate(case["variables"])
    facts = refusal.value.column, refusal.value.found, refusal.value.expected, refusal.value.hint, str(refusal.value)
    assert facts == tuple(case[name] for name in ("column", "found", "expected", "hint", "message"))
