"""Idempotency-Key: a POST that is sent twice acts once and gets the same answer both times.

The answer is status, body, content type and headers. The key belongs to one token, session or access key and its role:
with another one of the same user it is a new key. The same key with another request is refused, and so is a second
request while the first is at work. A server error frees the key, since repeating is then right, unless the request has
acted before it failed. That is recorded in the transaction of the act, and a repeat is told what was made. A secret is
only in the first answer and is not kept: a repeat is told what was made, too. Answers are kept for a day. Of requests
that changed nothing, such as previews, only the newest are kept, and no large answers: a repeat may then be executed
again, and nobody can fill the database with them.
"""

from __future__ import annotations

import hashlib
import json
import re
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from controlplane.core.errors import Conflict, FieldError, Invalid, Refused
from controlplane.core.models import KeptAnswer
from controlplane.core.request_context import Caller, caller, caller_holds
from controlplane.core.sealing import open_sealed, seal

# Services and tasks import this module. At run time only a process that answers requests loads the REST framework,
# which takes longer than everything else that a worker or a command starts with.
if TYPE_CHECKING:
    from rest_framework.request import Request
    from rest_framework.response import Response

KEEP = timedelta(days=1)
STUCK_AFTER = timedelta(minutes=10)  # then the process has died while it handled the request
ANSWER_LOST = 500
# How many answers to requests that changed nothing are kept per actor, and the longest one that is kept.
MOST_IDLE, MOST_IDLE_CHARACTERS = 1000, 64 * 1024
KEY = re.compile(r"[\x21-\x7e]{1,128}")


class Replay(Exception):
    """Raised instead of running a request again: `response` is the kept answer to the first request with this
    Idempotency-Key.

    Creating it raises Conflict if that answer was lost, or contained a secret.
    """

    def __init__(self, kept: KeptAnswer) -> None:
        from rest_framework.response import Response

        if kept.status == ANSWER_LOST:
            raise Conflict(
                f"The first request with this Idempotency-Key acted on {kept.made}, but its response was lost. Check "
                "what it changed; for another change, use a new key.",
                code="answer_lost",
            )
        answer = _opened(kept)
        if made := answer.get("made"):
            raise Conflict(
                f"The first request with this Idempotency-Key created {made}, whose secret was only in that response. "
                "If it was lost, delete what was created, and create another with a new key.",
                code="secret_shown_once",
            )
        headers = {**answer["headers"], "Idempotency-Replayed": "true"}
        self.response = Response(answer["data"], kept.status, headers=headers, content_type=answer["content_type"])


def _fingerprint(request: Request) -> str:
    said = json.dumps([request.method, request.path, request.data], sort_keys=True, default=str)
    return hashlib.sha256(said.encode()).hexdigest()


def begin(request: Request) -> KeptAnswer | None:
    key = request.headers.get("Idempotency-Key")
    if key is None or request.method != "POST" or not caller().actor_id:  # a log-in is never answered from kept answers
        return None
    if not KEY.fullmatch(key):
        raise Invalid.field("Idempotency-Key", "write 1 to 128 visible ASCII characters")
    return claim(caller(), key, _fingerprint(request))


def claim(who: Caller, key: str, fingerprint: str) -> KeptAnswer:
    kept = _claimed(who, key, fingerprint)
    caller_holds(kept.pk)
    return kept


def _claimed(who: Caller, key: str, fingerprint: str) -> KeptAnswer:
    mine = {"actor_id": who.actor_id, "authority": who.authority, "key": key}
    KeptAnswer.objects.filter(**mine, created_at__lt=timezone.now() - KEEP).delete()
    try:
        with transaction.atomic():
            return KeptAnswer.objects.create(**mine, fingerprint=fingerprint)
    except IntegrityError:
        kept = KeptAnswer.objects.filter(**mine).first()
        # None: the first request has failed in the meantime and freed the key.
        return _claimed(who, key, fingerprint) if kept is None else _take_up(kept, fingerprint)


def _take_up(kept: KeptAnswer, fingerprint: str) -> KeptAnswer:
    if kept.fingerprint != fingerprint:
        told = "This Idempotency-Key was used for another request: choose a new one."
        raise Refused(told, code="key_reused", errors=[FieldError("Idempotency-Key", "key_reused", told)])
    if kept.status is not None:
        raise Replay(kept)
    now = timezone.now()
    is_stuck = abs(now - kept.created_at) > STUCK_AFTER  # in either direction, since the clock may have been set back
    # If two requests find it stuck, only one of the updates succeeds.
    mine = KeptAnswer.objects.filter(pk=kept.pk, created_at=kept.created_at, status=None)
    if is_stuck and kept.made:
        mine.update(status=ANSWER_LOST)
        kept.status = ANSWER_LOST
        raise Replay(kept)
    if is_stuck and mine.update(created_at=now):
        return kept
    raise Conflict(
        "The first request with this Idempotency-Key is still being processed: wait, then repeat.", code="in_progress"
    )


def act(made: str) -> None:
    """Records what the present request made, such as `token tok-1`, in the transaction of the act, so that a repeat
    with the same Idempotency-Key does not act again even if the answer is lost.

    Only the first call of a request counts.
    """
    if (kept := caller().kept_answer) is not None:
        KeptAnswer.objects.filter(pk=kept, made="").update(made=made)


def finish(kept: KeptAnswer, response: Response) -> None:
    from rest_framework.utils.encoders import JSONEncoder

    if response.status_code >= 500:
        fail(kept)
        return
    kept.status = response.status_code
    told = json.dumps(_to_keep(response), cls=JSONEncoder)
    if _is_idle(kept) and not _keep_idle(kept, told):
        return
    kept.answer_sealed = seal(told, settings.SEALING_KEYS, kept.secret_context)
    kept.save(update_fields=["status", "answer_sealed"])


def _is_idle(kept: KeptAnswer) -> bool:
    return KeptAnswer.objects.filter(pk=kept.pk, made="").exists()


def _keep_idle(kept: KeptAnswer, told: str) -> bool:
    """Decides whether the answer `told` to a request that changed nothing is kept; older answers of the same actor are
    deleted to make room.

    False if it is too long: the key is then free again.
    """
    mine = KeptAnswer.objects.filter(actor_id=kept.actor_id, made="")
    older = mine.exclude(pk=kept.pk).exclude(status=None).order_by("-pk").values_list("pk", flat=True)
    KeptAnswer.objects.filter(pk__in=list(older[MOST_IDLE - 1 :])).delete()
    if len(told) > MOST_IDLE_CHARACTERS:
        kept.delete()
        return False
    return True


def fail(kept: KeptAnswer) -> None:
    """Frees the key of a request that failed, so that it may be repeated.

    If something was made before the failure, a repeat is told that the answer was lost instead.
    """
    mine = KeptAnswer.objects.filter(pk=kept.pk)
    mine.filter(made="").delete()
    mine.update(status=ANSWER_LOST)


def _to_keep(response: Response) -> dict[str, Any]:
    from controlplane.core.shown_once import ShownOnce

    if isinstance(response, ShownOnce):
        return {"made": response.made}
    headers = {name: value for name, value in response.headers.items() if name != "Content-Type"}
    return {"data": response.data, "headers": headers, "content_type": response.content_type}


def _opened(kept: KeptAnswer) -> Any:
    return json.loads(open_sealed(kept.answer_sealed, settings.SEALING_KEYS, kept.secret_context))
