"""The canonical spelling of a tree: outer braces, no spaces, upper-case functions, no needless braces.

Two texts are the same expression exactly if their canonical forms are equal. Factors are not reordered, so ``{2*M}``
and ``{M*2}`` differ. This is harmless, since drift is decided by comparing values.
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
