"""Packages the control plane for Debian: its code, the console, and the Python packages that it needs.

These are the locked wheels, laid upon each other. Those of one version differ, between the Pythons of Debian and
Ubuntu, only in the names of their libraries. So one package serves all of them.
"""

import hashlib
import json
import platform
import re
import sys
import tomllib
import zipfile
from email import message_from_bytes
from importlib.metadata import Distribution, distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import deb
from bill import Part, part
from commands import HERE, ROOT, run, zipped
from deb import File

BACKEND, CONSOLE = ROOT / "backend", ROOT / "frontend"
SPECIAL = HERE / "control-plane" / "files"
HOME = "usr/lib/fqc-control-plane"
PYTHONS = ("3.11", "3.12", "3.13")  # of Debian 12, Ubuntu 24.04, Debian 13
GLIBC = "2.36"  # of the oldest of them
UNITS = ("database", "web", "worker", "scheduler")
LOCKED = re.compile(r"^([A-Za-z0-9_.-]+)==([^\s;\\]+)[^\\\n]*\\\n((?: +--hash=\S+(?: \\)?\n)+)", re.MULTILINE)


def package(out: Path) -> None:
    project = tomllib.loads((BACKEND / "pyproject.toml").read_text())["project"]
    wheels = wheels_of(needed(project["dependencies"], known()), out.with_suffix(".wheels"))
    files = placed() | code() | console() | laid(wheels)
    parts = [*{each["purl"]: each for each in map(python_part, wheels)}.values(), *console_parts()]
    facts = {"version": project["version"], "glibc": GLIBC}
    deb.build(out, "fqc-control-plane", "control-plane", facts, files, parts)


def placed() -> dict[str, File]:
    """Returns files that only exist in the package, by their paths there: service units, settings and scripts."""
    files = {f"usr/lib/systemd/system/fqc-{name}.service": (f"fqc-{name}.service", 0o644) for name in UNITS}
    files |= {
        f"{HOME}/environment": ("environment", 0o644),
        f"{HOME}/launch": ("launch", 0o755),
        "usr/sbin/fqc-admin": ("fqc-admin", 0o755),
        "etc/fqc/control-plane.env": ("control-plane.env", 0o640),  # passwords may be in it
    }
    placed = {path: File((SPECIAL / name).read_bytes(), mode) for path, (name, mode) in files.items()}
    placed["usr/share/man/man8/fqc-admin.8.gz"] = File(zipped((SPECIAL / "fqc-admin.8").read_bytes()))
    return placed


def code() -> dict[str, File]:
    listed = run("git", "ls-files", "backend/config", "backend/controlplane", "backend/manage.py", "engine/servers.tsv")
    names = [name for name in listed.splitlines() if "/tests/" not in name]
    return {f"{HOME}/{name}": File((ROOT / name).read_bytes()) for name in names}


def console() -> dict[str, File]:
    built = CONSOLE / "dist"
    files = sorted(path for path in built.rglob("*") if path.is_file())
    return {f"{HOME}/frontend/dist/{path.relative_to(built)}": File(path.read_bytes()) for path in files}


def known() -> dict[str, Distribution]:
    """Returns the Python packages that `make backend` has installed, by their normalized names."""
    folder = next((BACKEND / ".venv" / "lib").glob("python*/site-packages"))
    return {canonicalize_name(each.metadata["Name"]): each for each in distributions(path=[str(folder)])}


def needed(wanted: list[str], known: dict[str, Distribution]) -> set[str]:
    """Returns the names of all packages that these requirements need at run time. The oldest Python needs the most."""
    oldest = {"python_version": "3.11", "python_full_version": "3.11.2"}
    waiting, seen = [Requirement(each) for each in wanted], set()
    while waiting:
        each = waiting.pop()
        for extra in {"", *each.extras}:
            key = canonicalize_name(each.name), extra
            if key in seen:
                continue
            seen.add(key)
            for text in known[key[0]].requires or [] if key[0] in known else []:
                inner = Requirement(text)
                if inner.marker is None or inner.marker.evaluate(oldest | {"extra": extra}):
                    waiting.append(inner)
    return {name for name, _ in seen}


def wheels_of(names: set[str], kept: Path) -> list[Path]:
    """Returns the wheels of these packages for each Python. Downloads them, checked by hash, unless `kept` has those
    of the same lock."""
    lock = LOCKED.findall((BACKEND / "requirements.lock").read_text())
    lines = [f"{name}=={version} \\\n{hashes}" for name, version, hashes in lock if canonicalize_name(name) in names]
    folder = kept / hashlib.sha256("".join(lines).encode()).hexdigest()[:16]
    if (folder / "complete").exists():
        return sorted(folder.glob("*.whl"))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "lock").write_text("".join(lines))
    systems = [f"--platform=manylinux{line}_{platform.machine()}" for line in ("2014", "_2_17", "_2_28", "_2_34")]
    for version in PYTHONS:
        words = ["--quiet", "--require-hashes", "--no-deps", "--only-binary=:all:", "--implementation=cp", *systems]
        words += [f"--dest={folder}", f"--python-version={version}", f"--requirement={folder / 'lock'}"]
        run(sys.executable, "-m", "pip", "download", *words)
    (folder / "complete").touch()
    return sorted(folder.glob("*.whl"))


def laid(wheels: list[Path]) -> dict[str, File]:
    files: dict[str, File] = {}
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                if name.endswith("/") or ".data/" in name or "/tests/" in name:
                    continue
                # Only a wheel's metadata in dist-info differs between Pythons, and no program reads it.
                path, content = f"{HOME}/python/{name}", archive.read(name)
                if path in files and files[path].content != content and ".dist-info/" not in name:
                    raise SystemExit(f"{wheel.name}: {name} differs from that of another wheel")
                files.setdefault(path, File(content))
    return files


def python_part(wheel: Path) -> Part:
    with zipfile.ZipFile(wheel) as archive:
        told = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        facts = message_from_bytes(archive.read(told))
    licence = facts["License-Expression"] or facts["License"] or ""
    # Some packages have the whole text of the licence there.
    return part("pypi", facts["Name"], facts["Version"], licence if len(licence.splitlines()) == 1 else None)


def console_parts() -> list[Part]:
    """Returns the libraries that the console's build may include."""
    lock = json.loads((CONSOLE / "package-lock.json").read_text())["packages"]
    found = {
        path.rpartition("node_modules/")[2]: facts for path, facts in lock.items() if path and not facts.get("dev")
    }
    return [part("npm", name, facts["version"], facts.get("license")) for name, facts in sorted(found.items())]
