"""Runs the tools of this system, and writes files that are the same on every machine."""

import gzip
import io
import os
import subprocess
from functools import cache
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def run(*command: str | Path, cwd: Path = ROOT, **environment: str) -> str:
    """Runs a command and returns its standard output. Raises CalledProcessError if it fails. `environment` adds
    variables."""
    done = subprocess.run(command, cwd=cwd, env=os.environ | environment, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout


@cache
def commit_time() -> str:
    """Returns the time of the last commit, in seconds since 1970. Packages contain no other time."""
    return run("git", "log", "-1", "--format=%ct").strip()


def committed_at(form: str) -> str:
    return run("date", "--utc", f"--date=@{commit_time()}", form, LC_ALL="C").strip()


def put(path: Path, content: bytes, mode: int = 0o644) -> None:
    """Writes a file, and missing folders above it, with fixed modes, independent of this machine's umask."""
    for folder in reversed(path.parents):
        if not folder.exists():
            folder.mkdir()
            folder.chmod(0o755)
    path.write_bytes(content)
    path.chmod(mode)


def zipped(content: bytes) -> bytes:
    """Compresses like `gzip --no-name`: without a time, so that equal content gives equal bytes."""
    into = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=into, mtime=0) as file:
        file.write(content)
    return into.getvalue()
