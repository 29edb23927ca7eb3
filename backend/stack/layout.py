"""Paths: the checkout around this package, and the files that a stack keeps in its run directory."""

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from stack.problem import Problem

BACKEND = Path(__file__).resolve().parents[1]
REPOSITORY = BACKEND.parent
PYTHON = BACKEND / ".venv" / "bin" / "python"
# The path of a socket has at most 107 characters, and a server's takes 40 of them below the run directory.
_LONGEST_PATH = 67
# The engine's library, which local servers load.
ENGINE_LIBRARY = REPOSITORY / "engine" / "dist" / "fqc.so"
# Tests set another path, of a program that is not built yet.
NEAR_PROGRAM = Path(os.environ.get("FQC_NEAR_PROGRAM") or REPOSITORY / "engine" / "dist" / "fqc-near")
CONSOLE_PAGE = REPOSITORY / "frontend" / "dist" / "index.html"


@dataclass(frozen=True)
class RunDir:
    root: Path

    @property
    def record(self) -> Path:
        return self.root / "stack.json"

    @property
    def lock(self) -> Path:
        return self.root / "stack.lock"

    @property
    def near_build(self) -> Path:
        """The state of the background build of `fqc-near` (`near_build.py`)."""
        return self.root / "near-build.json"

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    @property
    def temporary(self) -> Path:
        return self.root / "tmp"

    def log(self, name: str) -> Path:
        return self.logs / f"{name}.log"

    def prepare(self) -> None:
        if len(str(self.root)) > _LONGEST_PATH:
            raise Problem(
                f"{self.root} is longer than {_LONGEST_PATH} characters, too long for the sockets of MariaDB servers "
                "below it; choose a shorter one, for example: RUN_DIR=/tmp/fqc make up"
            )
        # Databases, keys and passwords are stored here, so only the owner may read it, even if others can read its
        # parent.
        os.umask(0o077)
        self.root.mkdir(parents=True, exist_ok=True)
        self.logs.mkdir(exist_ok=True)
        self.temporary.mkdir(exist_ok=True)
        self._close()

    def _close(self) -> None:
        """Takes access from other users of the machine where earlier versions gave it."""
        mode = self.root.stat().st_mode
        if mode & 0o077:
            self.root.chmod(0o700)
        for path in (*self.root.iterdir(), *self.logs.iterdir()):
            if path.stat().st_mode & 0o077 and path.name != "test":
                path.chmod(stat.S_IMODE(path.stat().st_mode) & ~0o077)


def revision() -> str:
    """Returns a value that changes with any file that web, worker or scheduler have loaded."""
    return _digest(sorted(_loaded_files()))


def near_revision() -> str:
    """Returns a value that changes when `fqc-near` does."""
    return _digest([NEAR_PROGRAM])


def _digest(paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        stat = path.stat()
        digest.update(f"{path}\0{stat.st_mtime_ns}\0{stat.st_size}\n".encode())
    return digest.hexdigest()


def _loaded_files() -> Iterator[Path]:
    for package in ("config", "controlplane"):
        yield from (path for path in (BACKEND / package).rglob("*.py") if "tests" not in path.parts)
    yield from (path for path in (CONSOLE_PAGE, BACKEND / "requirements.lock") if path.exists())
