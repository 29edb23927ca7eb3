"""A user's own sessions of the console: address, browser, start, and ending them.

The session key is the browser's credential, so it is never shown: sessions are identified by a hash of it.
"""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from controlplane.accounts.models import Session, User
from controlplane.accounts.selectors import secret_hash
from controlplane.audit.services import audit_record
from controlplane.core.errors import NotFound

ID_LENGTH = 32
LONGEST_BROWSER = 200
NOTED = ("logged_in_at", "address", "browser")


def session_note(session: Any, address: str, browser: str) -> None:
    """Stores in a new session the time of the log-in, the user's address and the browser."""
    session.update(
        {"logged_in_at": timezone.now().isoformat(), "address": address, "browser": browser[:LONGEST_BROWSER]}
    )


def session_list(user: User) -> QuerySet[Session]:
    return user.sessions.filter(expire_date__gt=timezone.now())


def session_id(session_key: str) -> str:
    return secret_hash(session_key)[:ID_LENGTH]


def session_facts(session: Session) -> dict[str, Any]:
    """Returns the time of the log-in, the user's address and the browser.

    The values are None in sessions from before they were stored.
    """
    kept = session.get_decoded()
    return {name: kept.get(name) for name in NOTED}


@transaction.atomic
def session_end(user: User, id: str) -> None:
    found = next((each for each in session_list(user) if session_id(each.session_key) == id), None)
    if found is None:
        raise NotFound(f"You have no session {id}.")
    audit_record("user.session_ended", user, before={"session": id, **session_facts(found)})
    found.delete()


@transaction.atomic
def sessions_end_others(user: User, current_key: str | None) -> int:
    """Ends the user's sessions except the one with this key, and returns how many.

    `current_key` None, for a request with a token, ends all.
    """
    others = session_list(user).exclude(session_key=current_key or "")
    found = [{"session": session_id(each.session_key), **session_facts(each)} for each in others]
    if found:
        others.delete()
        audit_record("user.sessions_ended", user, before={"sessions": found})
    return len(found)
