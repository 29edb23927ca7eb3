"""The three roles and their order, and what a token may be for beside them."""

from controlplane.core.choices import TextChoices
from controlplane.core.request_context import caller


class Role(TextChoices):
    VIEWER = "viewer", "viewer"
    OPERATOR = "operator", "operator"
    ADMIN = "admin", "admin"


class Scope(TextChoices):
    """Of a token. A reporter posts the counters of one instance's near caches: that is no role, and lets in nowhere
    else."""

    REPORTER = "reporter", "reporter"
    VIEWER = "viewer", "viewer"
    OPERATOR = "operator", "operator"
    ADMIN = "admin", "admin"


ORDER = [str(scope) for scope in Scope]


def covers(held: str, wanted: str) -> bool:
    return ORDER.index(held) >= ORDER.index(wanted)


def is_by_admin() -> bool:
    """Whether the caller of this request has the role admin in force."""
    return caller().role == Role.ADMIN


def lesser(one: str, other: str) -> str:
    return one if covers(other, one) else other
