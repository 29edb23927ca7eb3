#!/usr/bin/env python3
"""Builds what others install, into one folder.

    scripts/packages/build.py FOLDER

Debian packages, the command line as wheel and sdist, a list of what each is made of (CycloneDX), and the checksums
of all. The same commit gives the same bytes: times are the commit's, and no path of this machine is kept. `make
packages` brings the tools; the rest is the standard library.
"""

import hashlib
import shutil
import sys
from pathlib import Path

import cli
import control_plane
import engine
from commands import put


def checksums(out: Path) -> None:
    names = sorted(path for path in out.iterdir() if path.is_file())
    text = "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in names)
    put(out / "SHA256SUMS", text.encode())
    print(text, end="")


def build_all(out: Path) -> None:
    """Empties this folder, and builds every package into it, without the checksums."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    engine.package_plugin(out)
    engine.package_near(out)
    control_plane.package(out)
    cli.package(out)


def main(folder: str) -> int:
    out = Path(folder).resolve()
    build_all(out)
    checksums(out)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
