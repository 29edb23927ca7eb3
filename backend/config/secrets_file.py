"""Secrets that an installation makes for itself once and keeps in its run directory, readable by its owner alone."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path

from config.private import private_folder


def kept_secret(path: Path) -> str:
    """Returns the secret that the file `path` contains; a random one is made on first use.

    Two processes that start at the same time get the same secret.
    """
    private_folder(path.parent)
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    if not path.exists():
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_urlsafe(48))
        with suppress(FileExistsError):  # another process was first, so its secret counts
            os.link(draft, path)
        draft.unlink()
    return path.read_text().strip()
