"""What is built of the engine: the plugin and `fqc-near`, each as a Debian package."""

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


def package_plugin(out: Path) -> None:
    library = built("fqc-plugin", "libfqc.so")
    # The names of functions stay: the server's crash report shows them.
    run("strip", "--strip-debug", "--remove-section=.comment", library)
    files = {
        "usr/lib/mysql/plugin/fqc.so": deb.File(library.read_bytes()),
        "etc/mysql/mariadb.conf.d/fqc.cnf": deb.File((HERE / "plugin/fqc.cnf").read_bytes()),
    }
    facts = {"version": version(), "glibc": glibc_of(library)}
    deb.build(out, "mariadb-plugin-fqc", "plugin", facts, files, crates("fqc-plugin"))


def package_near(out: Path) -> None:
    program = built("fqc-near", "fqc-near")
    run("strip", "--strip-all", "--remove-section=.comment", program)
    files = {
        "usr/bin/fqc-near": deb.File(program.read_bytes(), 0o755),
        "usr/lib/systemd/system/fqc-near.service": deb.File(UNIT.read_bytes()),
        "usr/share/man/man8/fqc-near.8.gz": deb.File(zipped(run(program, "--man").encode())),
        "usr/share/doc/fqc-near/examples/fqc-near.toml": deb.File((HERE / "near/fqc-near.toml").read_bytes()),
    }
    facts = {"version": version(), "glibc": glibc_of(program)}
    deb.build(out, "fqc-near", "near", facts, files, crates("fqc-near"))


def version() -> str:
    return str(tomllib.loads((ENGINE / "Cargo.toml").read_text())["workspace"]["package"]["version"])


def built(crate: str, name: str) -> Path:
    """Built apart from what developers build: no path of this machine is in it, wherever it is built."""
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


def glibc_of(built: Path) -> str:
    """The oldest C library that has all that it takes from it."""
    found = re.findall(r"GLIBC_(\d+)\.(\d+)", run("objdump", "-T", built))
    return "{}.{}".format(*max((int(major), int(minor)) for major, minor in found))


def crates(crate: str) -> list[Part]:
    """What is linked into it: what it depends on, tests and build scripts apart."""
    told = run("cargo", "metadata", "--locked", "--format-version=1", "--filter-platform=" + host_triple(), cwd=ENGINE)
    found = json.loads(told)
    nodes = {node["id"]: node for node in found["resolve"]["nodes"]}
    packages = {package["id"]: package for package in found["packages"]}
    waiting = [id for id, package in packages.items() if package["name"] == crate]
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
