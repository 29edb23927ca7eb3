"""Lets a new checkout build the engine from what another checkout of this user has built.

    cargo_seed.py take      into engine/target, if there is nothing yet and this machine has a seed
    cargo_seed.py leave     engine/target becomes the seed, unless the seed was made from the same sources

A seed is a copy of cargo's folder with a list of the sources that it was built from. cargo takes a source that is
newer than what was built from it for changed, and in a new checkout every file is new: where the content is that of
the list, the file gets the time that it had then. Sources that differ keep their new time, so that cargo builds what
depends on them. No program may have the path of its checkout compiled into it: it would read the older one's files.

Seeds are kept by lock file, profiles and compiler. A seed is copied and put in its place at once, so two checkouts
never share a file.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ENGINE = Path(__file__).resolve().parents[1] / "engine"
TARGET = ENGINE / "target"
CACHE = Path(os.environ.get("FQC_CACHE", Path.home() / ".cache" / "fqc"))
LIST = "sources.json"
# Folders below `engine/target` that the suites build into. Servers and the like are kept elsewhere.
PARTS = ("debug", "lint", "loom")


def place() -> Path:
    compiler = subprocess.run(["rustc", "-vV"], capture_output=True, check=True).stdout
    words = [compiler, (ENGINE / "Cargo.lock").read_bytes(), (ENGINE / "Cargo.toml").read_bytes()]
    return CACHE / f"engine-{hashlib.sha256(b''.join(words)).hexdigest()[:16]}"


def sources() -> dict[str, str]:
    """Returns the hash of each file below the engine's folder that git does not ignore, by its path there."""
    words = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(words, cwd=ENGINE, capture_output=True, check=True).stdout.decode().split("\0")
    files = ((name, ENGINE / name) for name in names if name)
    return {name: hashlib.sha256(file.read_bytes()).hexdigest() for name, file in files if file.is_file()}


def take() -> None:
    seed = place()
    if "CARGO_TARGET_DIR" in os.environ or (TARGET / PARTS[0]).exists() or not (seed / LIST).exists():
        return
    TARGET.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=TARGET, prefix="draft-") as draft:
        _copy(seed, Path(draft, "seed"))
        for part in Path(draft, "seed").iterdir():
            part.rename(TARGET / part.name)
    before = json.loads((TARGET / LIST).read_text())
    unchanged = [name for name, digest in sources().items() if before.get(name, {}).get("hash") == digest]
    for name in unchanged:
        os.utime(ENGINE / name, ns=(before[name]["time"], before[name]["time"]))
    print(f"engine: {len(unchanged)} of its files are as they were in an earlier build, which is used again")


def leave() -> None:
    seed, now = place(), sources()
    if "CARGO_TARGET_DIR" in os.environ or not (TARGET / PARTS[0]).exists() or _hashes(seed) == now:
        return
    kept = {name: {"hash": digest, "time": (ENGINE / name).stat().st_mtime_ns} for name, digest in now.items()}
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE, prefix="draft-") as draft:
        new, old = Path(draft, "new"), Path(draft, "old")
        new.mkdir()
        for part in PARTS:
            if (TARGET / part).exists():
                _copy(TARGET / part, new / part)
        (new / LIST).write_text(json.dumps(kept))
        if seed.exists():
            seed.rename(old)
        new.rename(seed)
    for other in CACHE.glob("engine-*"):
        if other != seed:
            shutil.rmtree(other, ignore_errors=True)


def _hashes(seed: Path) -> dict[str, str]:
    try:
        return {name: each["hash"] for name, each in json.loads((seed / LIST).read_text()).items()}
    except (OSError, ValueError):
        return {}


def _copy(source: Path, target: Path) -> None:
    """Copies a folder with the times of its files, which cargo compares."""
    subprocess.run(["cp", "-a", "--reflink=auto", source, target], check=True)


if __name__ == "__main__":
    {"take": take, "leave": leave}[sys.argv[1]]()
