"""Spellings: what is kept byte for byte, and what counts as the same expression."""

import pytest

from controlplane.parameters.expressions import compile_expression, is_expression


@pytest.mark.parametrize("text", ["{ DBInstanceClassMemory * 63 /100 }", "<8*2>", "least({8/2},\t3)"])
def test_the_submitted_text_is_kept(text: str) -> None:
    assert compile_expression(text).text == text


@pytest.mark.parametrize(
    ("canonical", "spellings"),
    [
        (
            "{DBInstanceClassMemory*63/100}",
            [
                "{ DBInstanceClassMemory * 63/100 }",
                "<DBInstanceClassMemory*63/100>",
                "{{DBInstanceClassMemory*63}/100}",
                "{{DBInstanceClassMemory}*063/{100}}",
            ],
        ),
        (
            "{LEAST(DBInstanceClassMemory/256,10485760)}",
            [
                "LEAST({DBInstanceClassMemory/256},10485760)",
                "{least(DBInstanceClassMemory/256, 10485760)}",
                "Least(<DBInstanceClassMemory/256>, {10485760})",
            ],
        ),
        ("{8/{4/2}}", ["{8/<4/2>}"]),
        ("{8/4/2}", ["{{8/4}/2}"]),
    ],
)
def test_equal_expressions_share_a_canonical_form(canonical: str, spellings: list[str]) -> None:
    assert {compile_expression(text).canonical for text in spellings} == {canonical}
    assert compile_expression(canonical).canonical == canonical


def test_variables_in_use_are_listed() -> None:
    expression = compile_expression("{LEAST(DBInstanceClassMemory/DBInstanceClassCPU,{8*2})}")
    assert expression.variables == {"DBInstanceClassMemory", "DBInstanceClassCPU"}


@pytest.mark.parametrize("value", ["{8}", " <8>", "LEAST(1,2)", "sum (1)", "DBInstanceClassCPU*2"])
def test_values_taken_for_expressions(value: str) -> None:
    assert is_expression(value)


@pytest.mark.parametrize("value", ["", "8", "utf8mb4", "LEAST", "ON", "SUMMARY(1)", "8*{2}"])
def test_values_taken_for_literals(value: str) -> None:
    assert not is_expression(value)
