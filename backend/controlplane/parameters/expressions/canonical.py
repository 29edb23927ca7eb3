"""The one spelling of a tree: outer braces, no spaces, upper-case functions, no needless braces.

Two texts mean the same expression exactly when their canonical forms are equal. Values are
not reordered: ``{2*M}`` and ``{M*2}`` differ, which is harmless: comparing values decides.
"""

from .syntax import Call, Chain, Integer, Node, Variable


def canonical(node: Node) -> str:
    return "{" + _term(node) + "}"


def _term(node: Node) -> str:
    match node:
        case Integer(value):
            return str(value)
        case Variable(name):
            return name
        case Call(function, arguments):
            return f"{function}({','.join(_term(argument) for argument in arguments)})"
        case Chain(first, rest):
            return _term(first) + "".join(step.operator + _factor(step.factor) for step in rest)


def _factor(node: Node) -> str:
    return canonical(node) if isinstance(node, Chain) else _term(node)
