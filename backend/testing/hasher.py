"""Argon2 at its lowest cost, since tests do not depend on how long guessing a password takes."""

from __future__ import annotations

from controlplane.accounts.hashing import BoundedArgon2PasswordHasher


class QuickArgon2PasswordHasher(BoundedArgon2PasswordHasher):
    time_cost = 1
    memory_cost = 8
    parallelism = 1
