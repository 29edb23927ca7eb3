"""Packages the engine for Debian: one package of the plugin, and one of `fqc-near`."""

import json
import os
import re
import tomllib
from pathlib import Path

import deb
from bill import Part, part
from commands import HERE, ROOT, commit_time, run, zipped

ENGINE = ROOT / "engine"
TARGET = ENGINE / "target" / "packages"
UNIT = ENGINE / "crates" / "near" / "fqc-near.service"
IN_PROCESS = ENGINE / "crates" / "in-process"


def package_plugin(out: Path) -> None:
    library = built("fqc-plugin", "libfqc.so")
    # Function names stay, because the server's crash report shows them.
    run("strip", "--strip-debug", "--remove-section=.comment", library)
    files = {
        "usr/lib/mysql/plugin/fqc.so": deb.File(library.read_bytes()),
        "etc/mysql/mariadb.conf.d/fqc.cnf": deb.File((HERE / "plugin/fqc.cnf").read_bytes()),
    }
    facts = {"version": version(), "glibc": glibc_of(library)}
    deb.build(out, "mariadb-plugin-fqc", "plugin", facts, files, crates("fqc-plugin"))


def package_near(out: Path) -> None:
    program = built("fqc-near", "fqc-near")
    library = built("fqc-in-process", "libfqc_in_process.so")
    for binary in (program, library):
        run("strip", "--strip-unneeded", "--remove-section=.comment", binary)
    files = {
        "usr/bin/fqc-near": deb.File(program.read_bytes(), 0o755),
        "usr/bin/fqc-run": deb.File((IN_PROCESS / "fqc-run").read_bytes(), 0o755),
        "usr/lib/fqc-near/libfqc.so": deb.File(library.read_bytes()),
        "usr/share/man/man1/fqc-run.1.gz": deb.File(zipped((IN_PROCESS / "fqc-run.1").read_bytes())),
        "usr/lib/systemd/system/fqc-near.service": deb.File(UNIT.read_bytes()),
        "usr/share/man/man8/fqc-near.8.gz": deb.File(zipped(run(program, "--man").encode())),
        "usr/share/doc/fqc-near/examples/fqc-near.toml": deb.File((HERE / "near/fqc-near.toml").read_bytes()),
    }
    facts = {"version": version(), "glibc": glibc_of(program, library)}
    deb.build(out, "fqc-near", "near", facts, files, crates("fqc-near", "fqc-in-process"))


def version() -> str:
    return str(tomllib.loads((ENGINE / "Cargo.toml").read_text())["workspace"]["package"]["version"])


def built(crate: str, name: str) -> Path:
    """Builds a crate apart from developers' builds, so that no path of this machine is in the result. Returns the
    path of a copy of the file `name`."""
    cargo_home = os.environ.get("CARGO_HOME", str(Path.home() / ".cargo"))
    toolchain = run("rustc", "--print", "sysroot", cwd=ENGINE).strip()
    moved = {f"{cargo_home}/registry/src": "registry", toolchain: "rust", str(ENGINE): "engine"}
    flags = " ".join(f"--remap-path-prefix={old}={new}" for old, new in moved.items())
    run(
        *("cargo", "build", "--release", "--locked", "--quiet", "-p", crate),
        cwd=ENGINE, RUSTFLAGS=flags, CARGO_TARGET_DIR=str(TARGET), SOURCE_DATE_EPOCH=commit_time(),
    )  # fmt: skip
    copy = TARGET / name
    copy.write_bytes((TARGET / "release" / name).read_bytes())
    copy.chmod(0o755)
    return copy


def glibc_of(*files: Path) -> str:
    """Returns the oldest glibc version that has all symbols that these files import."""
    found = [pair for file in files for pair in re.findall(r"GLIBC_(\d+)\.(\d+)", run("objdump", "-T", file))]
    return "{}.{}".format(*max((int(major), int(minor)) for major, minor in found))


def crates(*names: str) -> list[Part]:
    """Returns the foreign libraries that are linked into these crates, without those of tests and build scripts."""
    told = run("cargo", "metadata", "--locked", "--format-version=1", "--filter-platform=" + host_triple(), cwd=ENGINE)
    found = json.loads(told)
    nodes = {node["id"]: node for node in found["resolve"]["nodes"]}
    packages = {package["id"]: package for package in found["packages"]}
    waiting = [id for id, package in packages.items() if package["name"] in names]
    seen: set[str] = set()
    while waiting:
        id = waiting.pop()
        if id in seen:
            continue
        seen.add(id)
        for each in nodes[id]["deps"]:
            if any(kind["kind"] is None for kind in each["dep_kinds"]):
                waiting.append(each["pkg"])
    foreign = [packages[id] for id in seen if packages[id]["source"]]
    parts = (part("cargo", each["name"], each["version"], each["license"]) for each in foreign)
    return sorted(parts, key=lambda each: each["purl"])


def host_triple() -> str:
    return re.findall(r"^host: (.+)$", run("rustc", "-vV", cwd=ENGINE), re.MULTILINE)[0]
