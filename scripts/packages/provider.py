"""Packages the Terraform provider, as a registry or a filesystem mirror takes it: one zip for each platform."""

import zipfile
from pathlib import Path

from bill import made_of, part
from commands import ROOT, committed_at, put, run

PROVIDER = ROOT / "infra" / "terraform" / "provider"
PLATFORMS = ("linux_amd64", "linux_arm64", "darwin_amd64", "darwin_arm64", "windows_amd64")
NAME = "terraform-provider-fqc"


def package(out: Path, version: str) -> None:
    for platform in PLATFORMS:
        program = build(out / "provider", platform)
        name = f"{NAME}_v{version}" + (".exe" if platform.startswith("windows") else "")
        with zipfile.ZipFile(out / f"{NAME}_{version}_{platform}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(entry(name, 0o755), program)
            archive.writestr(entry("LICENSE", 0o644), (ROOT / "LICENSE").read_bytes())
    put(out / f"{NAME}_{version}.cdx.json", made_of(part("golang", module(), f"v{version}", "MIT"), modules()))


def build(target: Path, platform: str) -> bytes:
    """Builds the provider for a platform, and returns the program. It needs no C library, and has no paths of this
    machine. `target` is removed."""
    system, processor = platform.split("_")
    command = ("go", "build", "-buildvcs=false", "-trimpath", "-ldflags=-s -w", "-o", target, ".")
    run(*command, cwd=PROVIDER, GOOS=system, GOARCH=processor, CGO_ENABLED="0")
    program = target.read_bytes()
    target.unlink()
    return program


def entry(name: str, mode: int) -> zipfile.ZipInfo:
    year, month, day, hour, minute, second = (int(each) for each in committed_at("+%Y %m %d %H %M %S").split())
    made = zipfile.ZipInfo(name, (year, month, day, hour, minute, second))
    made.compress_type, made.external_attr = zipfile.ZIP_DEFLATED, (0o100000 | mode) << 16
    return made


def module() -> str:
    return run("go", "list", "-m", cwd=PROVIDER).strip()


def modules() -> list[dict[str, str]]:
    """Returns the modules that are linked into the provider, without those that only its tests and tools need."""
    form = "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}"
    told = run("go", "list", "-deps", "-f", form, ".", cwd=PROVIDER, CGO_ENABLED="0")
    found = sorted({tuple(line.split()) for line in told.splitlines() if line})
    return [part("golang", path, version, None) for path, version in found]
