"""Envelope encryption of secrets at rest: AES-256-GCM under a data key of its own, which a sealing key wraps.

Sealing keys come newest first. A secret sealed under any of them opens; new ones use the newest. Rotation rewraps the
data key alone. `context` (which row, which column) is authenticated, so a sealed value cannot be moved to another row.
Pure: the keys are arguments.
"""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Sequence

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from controlplane.core.errors import Problem

VERSION = "v1"
NONCE_BYTES = 12


class CannotOpen(Problem):
    """A sealed secret cannot be decrypted: it is damaged, belongs to another row, or its sealing key is not given."""

    code, title = "secret_not_opened", "A stored secret cannot be decrypted"


def _key(secret: str) -> bytes:
    return hashlib.sha256(b"fqc sealing " + secret.encode()).digest()


def key_name(secret: str) -> str:
    """Returns the short public name of a sealing key, which is stored with every secret that it sealed."""
    return hashlib.sha256(b"fqc key name " + secret.encode()).hexdigest()[:8]


def _encrypt(key: bytes, plain: bytes, context: str) -> str:
    nonce = os.urandom(NONCE_BYTES)
    return base64.b64encode(nonce + AESGCM(key).encrypt(nonce, plain, context.encode())).decode()


def _decrypt(key: bytes, sealed: str, context: str) -> bytes:
    try:
        raw = base64.b64decode(sealed)
        return AESGCM(key).decrypt(raw[:NONCE_BYTES], raw[NONCE_BYTES:], context.encode())
    except (InvalidTag, ValueError) as error:
        raise _damaged(context) from error


def _damaged(context: str) -> CannotOpen:
    return CannotOpen(
        f"The secret of {context} cannot be decrypted: it is damaged or from another installation. Set it again."
    )


def seal(plain: str, keys: Sequence[str], context: str) -> str:
    data_key = AESGCM.generate_key(bit_length=256)
    wrapped = _encrypt(_key(keys[0]), data_key, context)
    return ".".join([VERSION, key_name(keys[0]), wrapped, _encrypt(data_key, plain.encode(), context)])


def _unwrap(sealed: str, keys: Sequence[str], context: str) -> tuple[bytes, str]:
    version, _, rest = sealed.partition(".")
    if version != VERSION or rest.count(".") != 2:
        raise _damaged(context)
    name, wrapped, body = rest.split(".")
    known = {key_name(key): key for key in keys}
    if name not in known:
        why = f"it was encrypted with key {name}, which is not among FQC_SEALING_KEYS: add it after the newest"
        raise CannotOpen(f"The secret of {context} cannot be decrypted: {why}.")
    return _decrypt(_key(known[name]), wrapped, context), body


def open_sealed(sealed: str, keys: Sequence[str], context: str) -> str:
    data_key, body = _unwrap(sealed, keys, context)
    return _decrypt(data_key, body, context).decode()


def rewrap(sealed: str, keys: Sequence[str], context: str) -> str:
    """Returns the sealed text of the same secret under the newest sealing key, the first of `keys`.

    Raises CannotOpen if the old key is not among them.
    """
    data_key, body = _unwrap(sealed, keys, context)
    return ".".join([VERSION, key_name(keys[0]), _encrypt(_key(keys[0]), data_key, context), body])
