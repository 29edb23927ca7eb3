"""Argon2 at its least cost: tests are about what is kept, not about how long it takes to guess."""

from __future__ import annotations

from controlplane.accounts.hashing import BoundedArgon2PasswordHasher


class QuickArgon2PasswordHasher(BoundedArgon2PasswordHasher):
    time_cost = 1
    memory_cost = 8
    parallelism = 1
