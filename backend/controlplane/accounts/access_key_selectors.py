from __future__ import annotations

from django.db.models import QuerySet

from controlplane.accounts.models import AccessKey, User


def access_key_find(access_key_id: str) -> AccessKey | None:
    """Returns the key of that id with its owner, disabled or not; None if there is none."""
    return AccessKey.objects.select_related("user").filter(pk=access_key_id).first()


def access_key_list(user: User, *, everyones: bool) -> QuerySet[AccessKey]:
    keys = AccessKey.objects.select_related("user")
    return keys if everyones else keys.filter(user=user)
