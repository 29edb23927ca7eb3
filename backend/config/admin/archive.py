"""The file of a backup: a tar archive of `about.json`, which describes it, and `database`.

The database is a dump of pg_dump or an SQLite file. `about.json` holds a row count and a digest of each table, so that
a restored database can be compared. It has the names of the sealing keys, but not the keys.
"""

from __future__ import annotations

import json
import os
import shutil
import tarfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

FORM = 1
ABOUT, DATABASE = "about.json", "database"
Contents = dict[str, list[str]]  # by table: its number of rows and their digest, which does not depend on their order


class ActionNeeded(Exception):
    """The command cannot be carried out until the operator does something.

    The message, one or more sentences, says what.
    """


@dataclass(frozen=True)
class ArchiveInfo:
    form: int
    made_at: str
    vendor: str  # postgresql or sqlite
    migrations: list[str]  # the migrations applied to the database
    sealing_keys: list[str]  # the names of the keys that its secrets need
    contents: Contents


def pack(file: Path, about: ArchiveInfo, database: Path) -> None:
    """Writes the archive `file` with `about` and the database file `database`, readable by its owner only. Raises
    ActionNeeded if `file` exists.

    The archive is first written next to `database`, in a folder that others cannot read, and then linked to the name
    `file`, so that this is never an incomplete archive.
    """
    draft, described = database.with_name("archive"), database.with_name(ABOUT)
    described.write_text(json.dumps(asdict(about), indent=1) + "\n")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as raw:
        with tarfile.open(fileobj=raw, mode="w") as archive:
            archive.add(described, ABOUT)
            archive.add(database, DATABASE)
        raw.flush()
        os.fsync(raw.fileno())
    try:
        os.link(draft, file)  # fails if the file exists, so that no other backup is overwritten
    except FileExistsError as error:
        raise ActionNeeded(f"{file} already exists: choose another file.") from error


def unpack(file: Path, folder: Path) -> tuple[ArchiveInfo, Path]:
    """Extracts the description and the database of a backup into `folder` and ignores anything else.

    Neither can be larger than the archive. Raises ActionNeeded if it is not a backup that this version can read.
    """
    try:
        with tarfile.open(file, "r:") as archive:
            for name in (ABOUT, DATABASE):
                _take(archive, name, folder, file.stat().st_size)
        facts = json.loads((folder / ABOUT).read_text())
        if facts.get("form") != FORM:
            raise ActionNeeded(
                f"{file} has a format unknown to this version. Restore it with the version that made it."
            )
        return _about(facts), folder / DATABASE
    except (tarfile.TarError, AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
        raise ActionNeeded(f"{file} is not a backup, or it is damaged: {error}.") from error


def _take(archive: tarfile.TarFile, name: str, folder: Path, most_bytes: int) -> None:
    member = archive.getmember(name)
    content = archive.extractfile(member) if member.isreg() and member.size <= most_bytes else None
    if content is None:
        raise ValueError(f"{name} in it is not a regular file")
    with content, (folder / name).open("xb") as file_there:
        shutil.copyfileobj(content, file_there)


def _about(facts: dict[str, Any]) -> ArchiveInfo:
    about = ArchiveInfo(**facts)
    texts = [about.made_at, about.vendor, *about.migrations, *about.sealing_keys, *about.contents]
    if not all(isinstance(text, str) for text in texts):
        raise ValueError(f"{ABOUT} is not the description of a backup")
    for count, _ in about.contents.values():
        int(count)
    return about
