"""Fetches the parts of applications, and keeps them in a folder of this user. The system does not change.

Debian's packages are unpacked there. Those that the system has already are not fetched, except those of PHP and of the
applications: what is unpacked is then complete whether or not the system has a PHP of its own. Everything comes from
where the package managers of this machine fetch it.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

CACHE = Path(os.environ.get("FQC_CACHE", Path.home() / ".cache" / "fqc")) / "apps"
STATUS = Path("/var/lib/dpkg/status")
# The names of packages that apt has to take for not installed, so that it fetches them with their dependencies of the
# same kind.
OURS = re.compile(r"(php|wordpress|mediawiki)")
PHP = ("php-cli", "php-fpm", "php-mysql", "php-xml", "php-mbstring", "php-intl", "php-apcu", "php-gd", "php-curl")


class Unavailable(RuntimeError):
    """An application cannot be fetched or built on this machine; the message says why."""


def fetch(names: Sequence[str]) -> Path:
    """Returns the folder below which these Debian packages and their dependencies are unpacked. Raises Unavailable
    if it cannot."""
    _need_apt()
    wanted = " ".join(sorted(names))

    def unpack(root: Path) -> None:
        with tempfile.TemporaryDirectory(dir=CACHE, prefix="archives-") as archives:
            for package in _download(Path(archives), names):
                subprocess.run(["dpkg-deb", "-x", package, root], check=True)
        _keep_links_inside(root)

    return kept(f"debian-{hashlib.sha256(f'{_release()} {wanted}'.encode()).hexdigest()[:12]}", unpack)


def fetch_source(name: str) -> Path:
    """Returns the folder with the source of this Debian package, as its authors published it. Raises Unavailable if
    it cannot."""
    _need_apt()

    def unpack(draft: Path) -> None:
        options = _sources_of(name, draft)
        ran(["apt-get", "-qq", *options, "update"], draft)
        ran(["apt-get", "-qq", *options, "source", "--download-only", name], draft)
        with tarfile.open(next(draft.glob("*.orig.tar.*"))) as content:
            content.extractall(draft / "unpacked", filter="data")
        next((draft / "unpacked").iterdir()).rename(draft / "source")
        shutil.rmtree(draft / "lists")

    return kept(f"source-{name}-{_release()}", unpack) / "source"


def _need_apt() -> None:
    if not STATUS.exists() or not shutil.which("apt-get"):
        raise Unavailable("this system has no apt, and the application comes as Debian's packages")


def _sources_of(name: str, folder: Path) -> list[str]:
    """Returns options of apt-get that add the sources in the repository of this package. They use files in `folder`."""
    known = ran(["apt-cache", "madison", name], folder).partition("\n")[0]
    if not known:
        raise Unavailable(f"apt knows no package {name}")
    address, suite, *_ = known.split(" | ")[2].split()
    keys = next(Path("/usr/share/keyrings").glob("*-archive-keyring.gpg"), None)
    signed = f"[signed-by={keys}] " if keys else ""
    (folder / "repository.list").write_text(f"deb-src {signed}{address} {suite.replace('/', ' ')}\n")
    (folder / "lists" / "partial").mkdir(parents=True)
    settings = [f"Dir::Etc::sourcelist={folder}/repository.list", "Dir::Etc::sourceparts=-", "APT::Sandbox::User="]
    settings += [f"Dir::State::lists={folder}/lists", "Debug::NoLocking=1", "Acquire::Retries=3"]
    settings += [f"Dir::Cache::srcpkgcache={folder}/sources", f"Dir::Cache::pkgcache={folder}/packages"]
    return [word for one in settings for word in ("-o", one)]


def kept(name: str, fill: Callable[[Path], None]) -> Path:
    """Returns the folder of this name. If it does not exist, `fill` gets an empty folder, which becomes it. If
    `fill` fails, there is none."""
    folder = CACHE / name
    if folder.exists():
        return folder
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE, prefix="draft-") as draft:
        root = Path(draft, "root")
        root.mkdir()
        fill(root)
        # Another run may have been first.
        if not folder.exists():
            root.rename(folder)
    return folder


def ran(command: Sequence[str | Path], folder: Path) -> str:
    """Runs a command in this folder and returns what it printed. Raises Unavailable if it fails."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        words = " ".join(map(str, command[:3]))
        raise Unavailable(f"{words} failed: {(done.stderr or done.stdout).strip()[-300:]}")
    return done.stdout


def environment(name: str, lock: Path) -> Path:
    """Returns the folder of a virtual environment with the Python packages of this lock, created once for this user."""
    folder = CACHE / f"{name}-{hashlib.sha256(lock.read_bytes() + sys.version.encode()).hexdigest()[:12]}"
    if (folder / "ready").exists():
        return folder
    CACHE.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
    ran([sys.executable, "-m", "venv", folder], CACHE)
    install = ["-m", "pip", "install", "--quiet", "--require-hashes", "--requirement", lock]
    ran([folder / "bin" / "python", *install], CACHE)
    (folder / "ready").touch()
    return folder


def _release() -> str:
    system = Path("/etc/os-release").read_text()
    return "".join(re.findall(r'^VERSION_CODENAME="?([^"\n]+)', system, re.MULTILINE))


def _download(folder: Path, names: Sequence[str]) -> list[Path]:
    archives, status = folder / "archives", folder / "status"
    (archives / "partial").mkdir(parents=True)
    installed = STATUS.read_text(errors="replace").split("\n\n")
    status.write_text("\n\n".join(one for one in installed if not OURS.match(one.removeprefix("Package: "))))
    settings = [f"Dir::Cache::archives={archives}", f"Dir::State::status={status}", "APT::Install-Recommends=0"]
    settings += ["APT::Sandbox::User=", "Debug::NoLocking=1", "Acquire::Retries=3"]
    command = ["apt-get", "-qq", "-y", "--download-only", *(word for one in settings for word in ("-o", one))]
    done = subprocess.run([*command, "install", *names], capture_output=True, text=True)
    if done.returncode:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise Unavailable(f"apt cannot download {' '.join(names)}: {' '.join(last)}")
    return sorted(archives.glob("*.deb"))


def _keep_links_inside(root: Path) -> None:
    """Makes absolute links relative if their target is among the unpacked files."""
    for link in (path for path in root.rglob("*") if path.is_symlink()):
        target = root / str(link.readlink()).lstrip("/")
        if link.readlink().is_absolute() and target.exists():
            link.unlink()
            link.symlink_to(os.path.relpath(target, link.parent))
