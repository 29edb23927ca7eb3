"""Parameter expressions such as ``{DBInstanceClassMemory*63/100}``.

    value  := literal | expr
    expr   := '{' term '}' | call
    term   := factor (('*'|'/') factor)*      left to right; every division truncates
    factor := INT | VAR | call | '{' term '}'
    call   := ('LEAST'|'GREATEST'|'SUM') '(' term (',' term)* ')'

``<`` and ``>`` may stand for ``{`` and ``}``. Variables are case-sensitive, functions are not.
Numbers are integers of any size; none can be written negative, but the value of a variable may be.
Deliberately absent: decimals, ``+``, ``-``, comparisons, Python's ``eval``. No Django here.
Terraform's provider has the same language; docs/reference/expressions.json holds both to the same answers.
"""

from .compiled import Expression, compile_expression, is_expression
from .errors import EvaluationError, ExpressionError, ExpressionSyntaxError
from .names import FUNCTIONS, VARIABLES

__all__ = [
    "FUNCTIONS",
    "VARIABLES",
    "EvaluationError",
    "Expression",
    "ExpressionError",
    "ExpressionSyntaxError",
    "compile_expression",
    "is_expression",
]
