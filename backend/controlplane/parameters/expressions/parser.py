"""Parses tokens into a tree by recursive descent: one method per rule of the grammar.

Redundant braces leave no trace in the tree, so ``LEAST({a/2},8)`` and ``{LEAST(a/2, 8)}`` are the same expression.
"""

from .errors import ExpressionSyntaxError
from .lexer import END, INTEGER, NAME, Token, tokenize
from .names import FUNCTIONS, MAX_DEPTH, VARIABLES
from .syntax import Call, Chain, Integer, Node, Step, Variable

_CLOSING = {"{": "}", "<": ">"}
_FACTOR = "an integer, a variable, a function or '{'"


def parse(text: str) -> Node:
    return _Parser(tokenize(text)).expression()


class _Parser:
    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._position = 0
        self._depth = 0

    def expression(self) -> Node:
        token = self._peek()
        if token.kind in _CLOSING:
            node = self._braced()
        elif token.kind == NAME and token.text.upper() in FUNCTIONS:
            node = self._call()
        else:
            raise _unexpected(token, "'{' or a function", _braces_hint(token))
        self._expect(END, "the end of the expression")
        return node

    def _braced(self) -> Node:
        opening = self._next()
        closing = _CLOSING[opening.kind]
        self._enter(opening)
        node = self._term()
        self._expect(closing, f"'*', '/' or '{closing}'")
        self._depth -= 1
        return node

    def _term(self) -> Node:
        first = self._factor()
        steps: list[Step] = []
        while self._peek().kind in ("*", "/"):
            operator = self._next().kind
            column = self._peek().column
            steps.append(Step(operator, self._factor(), column))
        return _chain(first, steps)

    def _factor(self) -> Node:
        token = self._peek()
        if token.kind == INTEGER:
            return Integer(int(self._next().text))
        if token.kind in _CLOSING:
            return self._braced()
        if token.kind != NAME:
            raise _unexpected(token, _FACTOR)
        if token.text.upper() in FUNCTIONS:
            return self._call()
        return self._variable()

    def _variable(self) -> Node:
        token = self._next()
        if token.text not in VARIABLES:
            raise _unexpected(token, _FACTOR, _name_hint(token.text))
        return Variable(token.text)

    def _call(self) -> Node:
        function = self._next()
        self._enter(function)
        self._expect("(", "'('")
        arguments = [self._term()]
        while self._peek().kind == ",":
            self._next()
            arguments.append(self._term())
        self._expect(")", "'*', '/', ',' or ')'")
        self._depth -= 1
        return Call(function.text.upper(), tuple(arguments))

    def _enter(self, token: Token) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise _unexpected(token, f"at most {MAX_DEPTH} levels of nesting")

    def _peek(self) -> Token:
        return self._tokens[self._position]

    def _next(self) -> Token:
        token = self._peek()
        self._position += 1
        return token

    def _expect(self, kind: str, expected: str) -> None:
        token = self._peek()
        if token.kind != kind:
            raise _unexpected(token, expected)
        # END is not consumed, since the parser may peek again at the end.
        if kind != END:
            self._position += 1


def _chain(first: Node, steps: list[Step]) -> Node:
    """Returns the node for a factor and the steps after it; without steps, the factor itself.

    ``{a*b}/c`` equals ``a*b/c``: if the first factor is a chain in braces, it is merged.
    """
    if not steps:
        return first
    if isinstance(first, Chain):
        return Chain(first.first, first.rest + tuple(steps))
    return Chain(first, tuple(steps))


def _unexpected(token: Token, expected: str, hint: str = "") -> ExpressionSyntaxError:
    return ExpressionSyntaxError(token.column, token.shown, expected, hint)


def _braces_hint(token: Token) -> str:
    return "put the expression in braces" if token.text in VARIABLES else ""


def _name_hint(text: str) -> str:
    for name in VARIABLES:
        if name.lower() == text.lower():
            return f"variables are case-sensitive: {name}"
    return "variables: " + ", ".join(VARIABLES)
