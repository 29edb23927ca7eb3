"""The three roles and their order, and what a token may be for beside them."""

from controlplane.core.choices import TextChoices


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


def lesser(one: str, other: str) -> str:
    return one if covers(other, one) else other
