"""What a suite may see of the checkout, and whether it has passed with exactly that already.

A suite names what it needs. It runs in a mount namespace where everything else of the checkout is empty, so a name that
is missing is a failure, not a guess. All that it sees, its environment and the tools of the machine make one digest;
with the digest of its last pass it need not run again. Where the system grants no namespace, nothing is hidden, and no
pass is kept.

Deliberately outside the digest: caches that their own tools validate (`CACHES`), git's history, variables that a suite
is not given (`OF_A_TERMINAL`), and those that only say who runs it (`OF_A_BUILD_MACHINE`). Installed packages count by
name, size and time of each file. Standard library only.
"""

import hashlib
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KEPT_FOR_SECONDS = 24 * 3600  # the clock, too, is something that tests see
RUNS = ".run"  # data and logs of stacks and suites: hidden from all
GIT = ".git"  # left to all: an empty one is a broken repository to tools that ask it for names of files
CACHES = {
    ".cache", GIT, ".hypothesis", ".import_linter_cache", ".mypy_cache", ".pytest_cache", ".ruff_cache",
    ".terraform", ".vite", ".vite-temp", "__pycache__", "playwright-report", "target", "test-results", RUNS,
}  # fmt: skip
INSTALLED = {".venv", "node_modules"}
# What one terminal or shell has and another has not, and what `make` tells a `make` inside of it.
OF_A_TERMINAL = {
    "_", "COLORTERM", "COLUMNS", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "FRESH", "GPG_TTY", "LINES", "LS_COLORS",
    "MAKEFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "MAKE_TERMERR", "MAKE_TERMOUT", "MFLAGS", "OLDPWD", "PWD", "SHLVL",
    "SSH_AUTH_SOCK", "SSH_CLIENT", "SSH_CONNECTION", "SSH_TTY", "STY", "TERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION",
    "TMPDIR", "TMUX", "TMUX_PANE", "VTE_VERSION", "WAYLAND_DISPLAY", "WINDOW", "WINDOWID", "XDG_SESSION_ID",
}  # fmt: skip
# Suites are given these, and no suite tests less with them: what has passed on a build machine has passed.
OF_A_BUILD_MACHINE = {"CARGO_TERM_COLOR", "CI", "NO_COLOR"}
# Suites start hundreds of Python processes, each of which would compile the same modules anew; and people have output
# that is kept back, whose loss at the end a program has to tell.
IN_THE_WAY = {"PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED"}
TOOLS = (
    "python3 -VV", "node --version", "npm --version", "cargo --version", "rustc --version --verbose", "go version",
    "java -version", "mvn --version", "uname -srm",
)  # fmt: skip
PACKAGES = Path("/var/lib/dpkg/status")  # MariaDB, PostgreSQL, Chromium, compilers, shells, with their versions


@dataclass(frozen=True)
class Pass:
    """The last time that a suite passed, and with what."""

    digest: str
    ended_at: float
    passed: int
    skipped: int

    @property
    def is_recent(self) -> bool:
        return 0 <= time.time() - self.ended_at < KEPT_FOR_SECONDS


def environment() -> dict[str, str]:
    """What suites are given of this process's own."""
    return {name: value for name, value in os.environ.items() if name not in OF_A_TERMINAL | IN_THE_WAY}


def is_within(path: str, folders: tuple[str, ...]) -> bool:
    return any(folder == "." or path == folder or path.startswith(f"{folder}/") for folder in folders)


def hidden(sees: tuple[str, ...], root: Path = ROOT) -> list[Path]:
    """The fewest files and folders without which the checkout is what `sees` names."""
    found: list[Path] = []
    folders = [root]
    while folders:
        for entry in sorted(folders.pop().iterdir()):
            name = str(entry.relative_to(root))
            if name == GIT or (is_within(name, sees) and name != RUNS):
                continue
            if any(seen.startswith(f"{name}/") for seen in sees):
                folders.append(entry)
            else:
                found.append(entry)
    return found


HIDE = """
empty=$1; shift
while [ "$1" != -- ]; do
    if [ -d "$1" ]; then mount -t tmpfs -o mode=755 hidden "$1"; else mount --bind "$empty" "$1"; fi
    shift
done
shift
exec "$@"
"""


def hiding(paths: list[Path], command: list[str], folder: Path) -> list[str]:
    """The command that runs `command` without these paths; `folder` has to be there as long as it runs."""
    empty = folder / "hidden"
    empty.touch()
    words = ["bash", "-euc", HIDE, "hide", str(empty), *map(str, paths), "--"]
    return [*_namespace(), *words, *_as_oneself(), *command]


def _namespace() -> list[str]:
    return ["unshare", *([] if os.geteuid() == 0 else ["--user", "--map-root-user"]), "--mount"]


def _as_oneself() -> list[str]:
    """Who needed to be root to mount becomes himself again: programs behave differently as root."""
    own = [f"--map-user={os.geteuid()}", f"--map-group={os.getegid()}"]
    return [] if os.geteuid() == 0 else ["unshare", "--user", *own]


@cache
def can_hide() -> bool:
    mounts = [*_namespace(), "mount", "-t", "tmpfs", "hidden", str(Path(__file__).parent)]
    try:
        return subprocess.run(mounts, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


class Inputs:
    """All files of the checkout at one moment."""

    def __init__(self, root: Path = ROOT) -> None:
        self.root = root
        self.files = dict(self._files(root, is_installed=False))

    def _files(self, folder: Path, *, is_installed: bool) -> Iterator[tuple[str, tuple[str, int]]]:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name in CACHES:
                    continue
                path = Path(entry.path)
                if entry.is_dir(follow_symlinks=False):
                    yield from self._files(path, is_installed=is_installed or entry.name in INSTALLED)
                else:
                    facts = entry.stat(follow_symlinks=False)
                    digest = f"{facts.st_size} {facts.st_mtime_ns}" if is_installed else content_of(path)
                    yield str(path.relative_to(self.root)), (f"{facts.st_mode:o} {digest}", facts.st_ctime_ns)

    def seen(self, sees: tuple[str, ...]) -> dict[str, tuple[str, int]]:
        return {name: facts for name, facts in self.files.items() if is_within(name, sees)}

    def digest(self, sees: tuple[str, ...]) -> str:
        files = [f"{name} {digest}" for name, (digest, _) in sorted(self.seen(sees).items())]
        given = [f"{name}={value}" for name, value in sorted(environment().items()) if name not in OF_A_BUILD_MACHINE]
        return digest_of([*files, *given, machine(), str(self.root), " ".join(sees)])


def content_of(path: Path) -> str:
    if path.is_symlink():
        return str(path.readlink())
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "special"


def digest_of(words: list[str]) -> str:
    return hashlib.sha256("\0".join(words).encode(errors="surrogateescape")).hexdigest()


@cache
def machine() -> str:
    return digest_of([PACKAGES.read_text() if PACKAGES.exists() else "", *map(answer_of, TOOLS)])


def answer_of(command: str) -> str:
    words = command.split()
    if shutil.which(words[0]) is None:
        return "not there"
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def last_pass(file: Path) -> Pass | None:
    try:
        return Pass(**json.loads(file.read_text()))
    except (OSError, ValueError, TypeError):
        return None


def keep_pass(file: Path, kept: Pass) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(asdict(kept)))
