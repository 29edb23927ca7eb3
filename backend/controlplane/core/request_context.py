"""The context of a request: request id, actor and address, available to logs and audit without being passed along."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace

from controlplane.core.ids import new_id


@dataclass(frozen=True)
class Caller:
    request_id: str = ""
    actor: str = "system"
    actor_id: str = ""
    role: str = ""  # the effective role; empty if none
    token_prefix: str = ""
    authority: str = ""  # the token, key or session that acts for the actor, with its role
    address: str = ""
    kept_answer: int | None = None  # id of the row for the request's Idempotency-Key


NOBODY = Caller()
_caller: ContextVar[Caller] = ContextVar("caller", default=NOBODY)


def caller() -> Caller:
    return _caller.get()


def caller_is(actor: str, actor_id: str, role: str, token_prefix: str = "", authority: str = "") -> None:
    """Sets who the present request acts for, once it has been authenticated. Its id and address stay as they are."""
    now = _caller.get()
    _caller.set(replace(now, actor=actor, actor_id=actor_id, role=role, token_prefix=token_prefix, authority=authority))


def caller_holds(kept_answer: int) -> None:
    _caller.set(replace(_caller.get(), kept_answer=kept_answer))


@contextmanager
def called_by(who: Caller) -> Iterator[None]:
    token = _caller.set(who)
    try:
        yield
    finally:
        _caller.reset(token)


@contextmanager
def acting_as(actor: str, actor_id: str = "", request_id: str = "", *, role: str = "") -> Iterator[None]:
    """Sets the caller for the block, for work on behalf of someone in tasks and commands; afterwards the previous
    caller is set again.

    `role` is the effective role, if decisions depend on it.
    """
    with called_by(Caller(request_id=request_id or new_id("req"), actor=actor, actor_id=actor_id, role=role)):
        yield
