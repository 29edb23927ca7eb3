"""Keycloak's program, fetched from Maven and prepared for one database. Imports nothing but the standard library."""

from __future__ import annotations

import hashlib
import os
import shutil
import zipfile
from pathlib import Path

from lab.packages import Unavailable, kept, ran

VERSION = "26.5.6"
ARTIFACT = f"org.keycloak:keycloak-quarkus-dist:{VERSION}:zip"
SHA256 = "490189d9dff05272432d51f71a069462eeca97f2920a694d539a1e6c26a5a347"
# Options that Keycloak fixes when `kc.sh build` prepares its program for one database.
BUILT = ("--health-enabled=false", "--metrics-enabled=false")
HEAP = "-Xms64m -Xmx384m"


def keycloak_home(database: str) -> Path:
    """Returns the folder of the program for this kind of database, named as `kc.sh --db` does. It is made once for
    this user. Raises Unavailable."""
    return kept(f"keycloak-{VERSION}-{database}", lambda draft: _unpack(draft, database))


def keycloak_environment() -> dict[str, str]:
    names = ("PATH", "HOME", "TMPDIR", "JAVA_HOME")
    return {**{name: os.environ[name] for name in names if name in os.environ}, "JAVA_OPTS_KC_HEAP": HEAP}


def _unpack(draft: Path, database: str) -> None:
    for program in ("java", "mvn"):
        if not shutil.which(program):
            raise Unavailable(f"this system has no {program}")
    ran(["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={ARTIFACT}", f"-DoutputDirectory={draft}"], draft)
    archive = next(draft.glob("*.zip"))
    if hashlib.sha256(archive.read_bytes()).hexdigest() != SHA256:
        raise Unavailable("its archive is another one than the one that is known")
    with zipfile.ZipFile(archive) as content:
        content.extractall(draft)
    archive.unlink()
    home = next(draft.glob("keycloak-*"))
    for part in home.iterdir():
        part.rename(draft / part.name)
    home.rmdir()
    ran(["bash", draft / "bin" / "kc.sh", "build", f"--db={database}", *BUILT], draft)
