"""Errors of expressions, each with its column (from 1)."""


class ExpressionError(ValueError):
    """The base of all errors of an expression: the ``column`` (from 1), what was ``found`` there, what was ``expected``
    instead, and a ``hint``, empty if there is none.
    """

    code = "expression_invalid"

    def __init__(self, column: int, found: str, expected: str, hint: str = "") -> None:
        self.column = column
        self.found = found
        self.expected = expected
        self.hint = hint
        super().__init__(self._sentence())

    def _sentence(self) -> str:
        sentence = f"column {self.column}: found {self.found}, expected {self.expected}"
        return f"{sentence} ({self.hint})" if self.hint else sentence


class ExpressionSyntaxError(ExpressionError):
    """The text does not follow the grammar."""


class EvaluationError(ExpressionError):
    """The text is an expression, but has no value for these variables, for example because it divides by zero."""

    code = "expression_has_no_value"
