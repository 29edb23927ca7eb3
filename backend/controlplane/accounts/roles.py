"""The three roles and their order."""

from controlplane.core.choices import TextChoices


class Role(TextChoices):
    VIEWER = "viewer", "viewer"
    OPERATOR = "operator", "operator"
    ADMIN = "admin", "admin"


ORDER = [Role.VIEWER, Role.OPERATOR, Role.ADMIN]


def covers(held: str, wanted: str) -> bool:
    return ORDER.index(Role(held)) >= ORDER.index(Role(wanted))


def lesser(one: str, other: str) -> str:
    return one if covers(other, one) else other
