"""Packages the Helm chart, as `helm install` takes it: one archive, which is the same on every machine."""

import io
import tarfile
from pathlib import Path

from commands import ROOT, commit_time, put, run, zipped

CHARTS = ROOT / "infra" / "helm"
NAME = "fqc-control-plane"


def package(out: Path, version: str) -> None:
    into = io.BytesIO()
    with tarfile.open(fileobj=into, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name in run("git", "ls-files", NAME, cwd=CHARTS).splitlines():
            content = (CHARTS / name).read_bytes()
            facts = tarfile.TarInfo(name)
            facts.size, facts.mtime, facts.mode = len(content), int(commit_time()), 0o644
            archive.addfile(facts, io.BytesIO(content))
    put(out / f"{NAME}-{version}.tgz", zipped(into.getvalue()))
