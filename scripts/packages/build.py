#!/usr/bin/env python3
"""Builds what others install, into one folder.

    scripts/packages/build.py FOLDER

The plugin as a Debian package, the command line as wheel and sdist, a list of what each is made of (CycloneDX), and the
checksums of all. The same commit gives the same bytes: times are the commit's, and no path of this machine is kept.
`make packages` brings the tools; the rest is the standard library.
"""

import gzip
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
ENGINE, CLI = ROOT / "engine", ROOT / "backend" / "fqc"

CONTROL = """\
Package: mariadb-plugin-fqc
Version: {version}
Architecture: {architecture}
Maintainer: The Fast Query Cache authors <fqc@localhost>
Installed-Size: {kilobytes}
Depends: mariadb-server-core (>= 1:10.11~), libc6 (>= {glibc}), libgcc-s1
Section: database
Priority: optional
Description: query cache for MariaDB that is never stale
 A plugin that loads into a running MariaDB server and answers repeated reads
 several times faster. It is loaded switched off; SET GLOBAL query_cache_size
 and query_cache_type switch it on.
"""
COPYRIGHT = """\
Fast Query Cache, {year} The Fast Query Cache authors

{licence}
The plugin contains these libraries, each under the licence named beside it, and parts of Rust's own library
(MIT OR Apache-2.0):

{parts}
"""


def run(*command: str | Path, cwd: Path = ROOT, **environment: str) -> str:
    """What the command printed."""
    done = subprocess.run(command, cwd=cwd, env=os.environ | environment, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout


# The engine


def built_plugin(commit_time: str) -> Path:
    """Built apart from what developers build: no path of this machine is in it, wherever it is built."""
    cargo_home = os.environ.get("CARGO_HOME", str(Path.home() / ".cargo"))
    toolchain = run("rustc", "--print", "sysroot", cwd=ENGINE).strip()
    moved = {f"{cargo_home}/registry/src": "registry", toolchain: "rust", str(ENGINE): "engine"}
    flags = " ".join(f"--remap-path-prefix={old}={new}" for old, new in moved.items())
    target = ENGINE / "target" / "packages"
    run(
        *("cargo", "build", "--release", "--locked", "--quiet", "-p", "fqc-plugin"),
        cwd=ENGINE, RUSTFLAGS=flags, CARGO_TARGET_DIR=str(target), SOURCE_DATE_EPOCH=commit_time,
    )  # fmt: skip
    return target / "release" / "libfqc.so"


def glibc_of(plugin: Path) -> str:
    """The oldest C library that has all that the plugin takes from it."""
    found = re.findall(r"GLIBC_(\d+)\.(\d+)", run("objdump", "-T", plugin))
    return "{}.{}".format(*max((int(major), int(minor)) for major, minor in found))


def crates() -> list[dict[str, str]]:
    """What is linked into the plugin: what it depends on, tests and build scripts apart."""
    told = run("cargo", "metadata", "--locked", "--format-version=1", "--filter-platform=" + host_triple(), cwd=ENGINE)
    found = json.loads(told)
    nodes = {node["id"]: node for node in found["resolve"]["nodes"]}
    packages = {package["id"]: package for package in found["packages"]}
    waiting = [id for id, package in packages.items() if package["name"] == "fqc-plugin"]
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
    return [part("cargo", each["name"], each["version"], each["license"]) for each in foreign]


def host_triple() -> str:
    return re.findall(r"host: (\S+)", run("rustc", "-vV", cwd=ENGINE))[0]


def plugin_package(out: Path, plugin: Path, parts: list[dict[str, str]], commit_time: str) -> None:
    version = tomllib.loads((ENGINE / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    architecture = run("dpkg", "--print-architecture").strip()
    tree = out / "tree"
    installed = tree / "usr/lib/mysql/plugin/fqc.so"
    put(installed, plugin.read_bytes())
    # The names of functions stay: the server's crash report shows them.
    run("strip", "--strip-debug", "--remove-section=.comment", installed)
    put(tree / "etc/mysql/mariadb.conf.d/fqc.cnf", (HERE / "plugin/fqc.cnf").read_bytes())
    papers = tree / "usr/share/doc/mariadb-plugin-fqc"
    lines = "\n".join(f"  {each['name']} {each['version']}: {each['licence']}" for each in parts)
    year = run("date", "--utc", f"--date=@{commit_time}", "+%Y").strip()
    licence = (ROOT / "LICENSE").read_text()
    put(papers / "copyright", COPYRIGHT.format(year=year, licence=licence, parts=lines).encode())
    put(papers / "changelog.gz", zipped((ROOT / "CHANGELOG.md").read_bytes()))
    files = sorted(path for path in tree.rglob("*") if path.is_file())
    kilobytes = sum(-(-path.stat().st_size // 1024) for path in files)
    facts = {"version": version, "architecture": architecture, "glibc": glibc_of(plugin), "kilobytes": kilobytes}
    # MD5 is what a Debian package lists, against damaged files; what was built is told by SHA256SUMS.
    sums = "".join(f"{hashlib.md5(path.read_bytes()).hexdigest()}  {path.relative_to(tree)}\n" for path in files)  # noqa: S324
    put(tree / "DEBIAN/control", CONTROL.format(**facts).encode())
    put(tree / "DEBIAN/md5sums", sums.encode())
    put(tree / "DEBIAN/conffiles", b"/etc/mysql/mariadb.conf.d/fqc.cnf\n")
    for script in ("postinst", "postrm"):
        put(tree / "DEBIAN" / script, (HERE / "plugin" / script).read_bytes(), mode=0o755)
    target = out / f"mariadb-plugin-fqc_{version}_{architecture}.deb"
    run("dpkg-deb", "--root-owner-group", "-Zxz", "--build", tree, target, SOURCE_DATE_EPOCH=commit_time)
    shutil.rmtree(tree)
    component = part("deb/debian", "mariadb-plugin-fqc", version, "MIT")
    put(out / (target.stem + ".cdx.json"), made_of(component, parts, commit_time))


def put(path: Path, content: bytes, mode: int = 0o644) -> None:
    """The same modes whatever this machine's umask says."""
    for folder in reversed(path.parents):
        if not folder.exists():
            folder.mkdir()
            folder.chmod(0o755)
    path.write_bytes(content)
    path.chmod(mode)


def zipped(content: bytes) -> bytes:
    """As gzip --no-name does: without a time."""
    into = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=into, mtime=0) as file:
        file.write(content)
    return into.getvalue()


# The command line


def cli_packages(out: Path, python: str, commit_time: str) -> None:
    run(python, "-m", "build", "--no-isolation", "--outdir", out, CLI, SOURCE_DATE_EPOCH=commit_time)
    made = sorted(str(path) for path in (*out.glob("fqc-*.whl"), *out.glob("fqc-*.tar.gz")))
    print(run(python, "-m", "twine", "check", "--strict", *made), end="")
    project = tomllib.loads((CLI / "pyproject.toml").read_text())["project"]
    locked = re.findall(r"^([A-Za-z0-9_.-]+)==([^\s;\\]+)", (CLI / "requirements.lock").read_text(), re.MULTILINE)
    component = part("pypi", project["name"], project["version"], project["license"])
    parts = [part("pypi", name, version, None) for name, version in locked]
    put(out / f"fqc-{project['version']}.cdx.json", made_of(component, parts, commit_time))


# What it is made of


def part(kind: str, name: str, version: str, licence: str | None) -> dict[str, str]:
    known = {"licence": licence.replace("/", " OR ")} if licence else {}
    return {"name": name, "version": version, "purl": f"pkg:{kind}/{name}@{version}", **known}


def made_of(whole: dict[str, str], parts: list[dict[str, str]], commit_time: str) -> bytes:
    """A bill of materials as CycloneDX 1.6 has it."""
    when = run("date", "--utc", f"--date=@{commit_time}", "+%Y-%m-%dT%H:%M:%SZ").strip()
    components = [component(each, "library") for each in parts]
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"timestamp": when, "component": component(whole, "application")},
        "components": components,
        "dependencies": [{"ref": whole["purl"], "dependsOn": [each["bom-ref"] for each in components]}],
    }
    return (json.dumps(bill, indent=2) + "\n").encode()


def component(each: dict[str, str], kind: str) -> dict[str, object]:
    licences = {"licenses": [{"expression": each["licence"]}]} if "licence" in each else {}
    named = {"name": each["name"], "version": each["version"], "purl": each["purl"]}
    return {"type": kind, "bom-ref": each["purl"], **named, **licences}


def checksums(out: Path) -> None:
    names = sorted(path for path in out.iterdir() if path.is_file())
    text = "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in names)
    put(out / "SHA256SUMS", text.encode())


def main(folder: str) -> int:
    out = Path(folder).resolve()
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    commit_time = run("git", "log", "-1", "--format=%ct").strip()
    parts = sorted(crates(), key=lambda each: each["purl"])
    plugin_package(out, built_plugin(commit_time), parts, commit_time)
    cli_packages(out, sys.executable, commit_time)
    checksums(out)
    print((out / "SHA256SUMS").read_text(), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
