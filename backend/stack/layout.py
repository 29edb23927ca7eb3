"""Where everything is: the checkout around this package, and what a stack keeps in its run directory."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

BACKEND = Path(__file__).resolve().parents[1]
REPOSITORY = BACKEND.parent
PYTHON = BACKEND / ".venv" / "bin" / "python"
ENGINE_LIBRARY = REPOSITORY / "engine" / "dist" / "fqc.so"
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
    def logs(self) -> Path:
        return self.root / "logs"

    @property
    def temporary(self) -> Path:
        return self.root / "tmp"

    def log(self, name: str) -> Path:
        return self.logs / f"{name}.log"

    def prepare(self) -> None:
        # Databases, keys and passwords live here: for its owner alone.
        self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.logs.mkdir(exist_ok=True)
        self.temporary.mkdir(exist_ok=True)


def revision() -> str:
    """Changes when a file does that running processes have loaded."""
    digest = hashlib.sha256()
    for path in sorted(_loaded_files()):
        stat = path.stat()
        digest.update(f"{path}\0{stat.st_mtime_ns}\0{stat.st_size}\n".encode())
    return digest.hexdigest()


def _loaded_files() -> Iterator[Path]:
    for package in ("config", "controlplane"):
        yield from (path for path in (BACKEND / package).rglob("*.py") if "tests" not in path.parts)
    yield from (path for path in (CONSOLE_PAGE, BACKEND / "requirements.lock") if path.exists())
