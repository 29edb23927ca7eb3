"""The three roles and their order, and the scopes of tokens."""

from controlplane.core.choices import TextChoices
from controlplane.core.request_context import caller


class Role(TextChoices):
    VIEWER = "viewer", "viewer"
    OPERATOR = "operator", "operator"
    ADMIN = "admin", "admin"


class Scope(TextChoices):
    """The most that a token may do: act with a role, or, as a reporter's token, only post the counters of one
    instance's near caches, which is not a role.
    """

    REPORTER = "reporter", "reporter"
    VIEWER = "viewer", "viewer"
    OPERATOR = "operator", "operator"
    ADMIN = "admin", "admin"


ORDER = [str(scope) for scope in Scope]


def covers(held: str, wanted: str) -> bool:
    return ORDER.index(held) >= ORDER.index(wanted)


def is_by_admin() -> bool:
    """Returns whether the present request or task acts with the role admin."""
    return caller().role == Role.ADMIN


def lesser(one: str, other: str) -> str:
    return one if covers(other, one) else other
