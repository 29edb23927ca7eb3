"""Builds a Debian package from files, and from a folder next to this module that has what is special about the
package.

That folder has `control` with places for the facts, and, as needed, `lintian-overrides` beyond those of all packages,
and the scripts that dpkg runs. A line `#UNITS name...` in such a script stands for the part of `units/` that starts
and stops these units.
"""

import hashlib
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from bill import Part, made_of, part
from commands import HERE, ROOT, commit_time, committed_at, put, run, zipped

# The contact of a package, who is its publisher. The authors have no address: SECURITY.md says how to reach them.
MAINTAINER = os.environ.get("FQC_MAINTAINER", "The Fast Query Cache authors <fqc@localhost>")
SCRIPTS = ("preinst", "postinst", "prerm", "postrm")
COPYRIGHT = """\
Fast Query Cache, {year} The Fast Query Cache authors

{licence}
The package contains these libraries, each under the licence named beside it{also}:

{parts}

On Debian, the text of Apache-2.0 is in /usr/share/common-licenses/Apache-2.0.
"""
CHANGELOG = """\
{name} ({version}) unstable; urgency=medium

  * What is new is told in CHANGELOG.md.gz beside this file.

 -- {maintainer}  {date}
"""


@dataclass(frozen=True)
class File:
    content: bytes
    mode: int = 0o644


def build(out: Path, name: str, special: str, facts: dict[str, str], files: dict[str, File], parts: list[Part]) -> None:
    """Builds a package into the folder `out`. `special` is the folder next to this module; `files` are by their paths
    on a system.

    `facts` has the version, and all other values that `control` refers to. `parts` are the libraries that it contains.
    """
    architecture, folder = run("dpkg", "--print-architecture").strip(), HERE / special
    tree = out / "tree"
    for path, file in (files | papers(name, facts["version"], folder, parts)).items():
        put(tree / path, file.content, file.mode)
    every = sorted(path for path in tree.rglob("*") if path.is_file())
    kilobytes = str(sum(-(-path.stat().st_size // 1024) for path in every))
    facts = facts | {"architecture": architecture, "kilobytes": kilobytes, "maintainer": MAINTAINER}
    put(tree / "DEBIAN/control", (folder / "control").read_text().format(**facts).encode())
    # A Debian package lists MD5 sums, which only detect damaged files. SHA256SUMS identifies what was built.
    sums = (f"{hashlib.md5(path.read_bytes()).hexdigest()}  {path.relative_to(tree)}\n" for path in every)  # noqa: S324
    put(tree / "DEBIAN/md5sums", "".join(sums).encode())
    kept = sorted(f"/{path}\n" for path in files if path.startswith("etc/"))
    if kept:
        put(tree / "DEBIAN/conffiles", "".join(kept).encode())
    for script in SCRIPTS:
        if (folder / script).exists():
            put(tree / "DEBIAN" / script, with_units(folder / script).encode(), mode=0o755)
    target = out / f"{name}_{facts['version']}_{architecture}.deb"
    run("dpkg-deb", "--root-owner-group", "-Zxz", "--build", tree, target, SOURCE_DATE_EPOCH=commit_time())
    shutil.rmtree(tree)
    put(out / (target.stem + ".cdx.json"), made_of(part("deb/debian", name, facts["version"], "MIT"), parts))


def papers(name: str, version: str, folder: Path, parts: list[Part]) -> dict[str, File]:
    """Returns the files that Debian expects in each package, by their paths: copyright, changelogs and lintian
    overrides."""
    lines = (f"  {each['name']} {each['version']}: {each.get('licence', 'see its metadata')}" for each in parts)
    is_rust = any(each["purl"].startswith("pkg:cargo") for each in parts)
    also = ", and parts of Rust's own library (MIT OR Apache-2.0)" if is_rust else ""
    facts = {
        "year": committed_at("+%Y"),
        "licence": (ROOT / "LICENSE").read_text(),
        "also": also,
        "parts": "\n".join(lines),
    }
    date = committed_at("+%a, %d %b %Y %H:%M:%S +0000")
    changes = CHANGELOG.format(name=name, version=version, maintainer=MAINTAINER, date=date)
    made = {
        f"usr/share/doc/{name}/copyright": File(COPYRIGHT.format(**facts).encode()),
        f"usr/share/doc/{name}/changelog.gz": File(zipped(changes.encode())),
        f"usr/share/doc/{name}/CHANGELOG.md.gz": File(zipped((ROOT / "CHANGELOG.md").read_bytes())),
    }
    overrides = [path for path in (HERE / "lintian-overrides", folder / "lintian-overrides") if path.exists()]
    made[f"usr/share/lintian/overrides/{name}"] = File(b"".join(path.read_bytes() for path in overrides))
    return made


def with_units(script: Path) -> str:
    def told(names: re.Match[str]) -> str:
        return f'UNITS="{names[1]}"\n' + (HERE / "units" / script.name).read_text().rstrip()

    return re.sub(r"^#UNITS (.+)$", told, script.read_text(), flags=re.MULTILINE)
