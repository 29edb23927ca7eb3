"""A signed request is valid for some minutes and once only: its date must be near, its nonce new.

Nonces are rows, shared by all web processes. They are kept as long as a date may be accepted on either side of now, so
that after a nonce is deleted the date alone makes a repeat fail.
"""

from __future__ import annotations

from datetime import timedelta

from django.db import IntegrityError, transaction
from django.utils import timezone

from controlplane.core.purging import purge
from controlplane.rpc.arguments import moment
from controlplane.rpc.errors import RpcError
from controlplane.rpc.models import UsedNonce

SKEW = timedelta(minutes=15)
KEEP_NONCES = 2 * SKEW + timedelta(minutes=1)
LONGEST_NONCE = 128


def check_fresh(signer: str, date: str, nonce: str) -> None:
    """Raises RpcError unless the date of a signed request is at most SKEW from now and its nonce is new for this
    signer; stores the nonce.

    Call it after the signature was verified, so that other callers cannot use up a signer's nonces.
    """
    _check_date(date)
    if not 0 < len(nonce) <= LONGEST_NONCE:
        raise RpcError("InvalidSignatureNonce", f"Send a nonce of 1 to {LONGEST_NONCE} characters.")
    try:
        with transaction.atomic():
            UsedNonce.objects.create(signer=signer, nonce=nonce)
    except IntegrityError as error:
        raise RpcError("SignatureNonceUsed", "This nonce was used before: sign every request again.") from error


def _check_date(date: str) -> None:
    try:
        at = moment(date)
    except ValueError as error:
        raise RpcError("InvalidTimeStamp.Format", f"The date {date!r} cannot be read: {error}.") from error
    if abs(timezone.now() - at) > SKEW:
        minutes = SKEW.seconds // 60
        raise RpcError(
            "InvalidTimeStamp.Expired",
            f"The request is dated {date}, more than {minutes} minutes from now: look at the clock of your machine.",
        )


def forget_nonces() -> None:
    purge(UsedNonce.objects.filter(created_at__lt=timezone.now() - KEEP_NONCES), "created_at")
