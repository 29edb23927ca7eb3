"""An expression ready to use: its text as submitted, its canonical form, and its value.

Compiling is cached by text, so a template of 100 parameters previewed for 1000 instances
parses 100 times at most.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from .canonical import canonical
from .errors import EvaluationError
from .evaluate import Program, Values, build
from .names import FUNCTIONS, VARIABLES
from .parser import parse
from .syntax import Call, Chain, Node, Variable

# A value is an expression if it opens as one, or contains a name that only expressions may contain; all else is
# literal.
_EXPRESSION = re.compile(rf"\s*([{{<]|({'|'.join(FUNCTIONS)})\s*\(|({'|'.join(VARIABLES)})\b)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Expression:
    text: str
    canonical: str
    variables: frozenset[str]
    _program: Program

    def evaluate(self, values: Values) -> int:
        try:
            return self._program(values)
        except KeyError as missing:
            name = str(missing.args[0])
            column = self.text.index(name) + 1
            raise EvaluationError(column, f"{name} without a value", "a value for it") from None


def is_expression(value: str) -> bool:
    return _EXPRESSION.match(value) is not None


@lru_cache(maxsize=8192)
def compile_expression(text: str) -> Expression:
    tree = parse(text)
    return Expression(text, canonical(tree), frozenset(_variables(tree)), build(tree))


def _variables(node: Node) -> set[str]:
    match node:
        case Variable(name):
            return {name}
        case Call(_, arguments):
            return set().union(*map(_variables, arguments))
        case Chain(first, rest):
            return _variables(first).union(*(_variables(step.factor) for step in rest))
    return set()
