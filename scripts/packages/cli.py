"""Packages the command line `fqc`, as wheel and sdist."""

import re
import sys
import tomllib
from pathlib import Path

from bill import made_of, part
from commands import ROOT, commit_time, put, run

CLI = ROOT / "backend" / "fqc"


def package(out: Path) -> None:
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, CLI, SOURCE_DATE_EPOCH=commit_time())
    made = sorted(str(path) for path in (*out.glob("fqc-*.whl"), *out.glob("fqc-*.tar.gz")))
    print(run(sys.executable, "-m", "twine", "check", "--strict", *made), end="")
    project = tomllib.loads((CLI / "pyproject.toml").read_text())["project"]
    locked = re.findall(r"^([A-Za-z0-9_.-]+)==([^\s;\\]+)", (CLI / "requirements.lock").read_text(), re.MULTILINE)
    whole = part("pypi", project["name"], project["version"], project["license"])
    parts = [part("pypi", name, version, None) for name, version in locked]
    put(out / f"fqc-{project['version']}.cdx.json", made_of(whole, parts))
