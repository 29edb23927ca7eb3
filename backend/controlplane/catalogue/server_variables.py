"""Rows of `gateway.variables` to a line's definitions. Pure.

The server itself states type, bounds, block size, choices, default and whether a variable is read-only, so no variable
is missing. Units it does not state: they come from the shipped definition of the same name, or stay empty. MySQL does
not state choices and steps: they come from `mysql.yaml`. Without choices any text is taken; the server may refuse it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from controlplane.gateway.numbers import whole
from controlplane.gateway.product import product_of

from .line import shipped_lines

MYSQL = Path(__file__).with_name("mysql.yaml")
_TYPES = {
    "BOOLEAN": "boolean",
    "ENUM": "enum",
    "SET": "set",
    "FLAGSET": "flags",
    "DOUBLE": "decimal",
    "VARCHAR": "string",
}
# A setting of the engine has the unit of the server's variable that it replaces. These replace none.
_ENGINE_UNITS = {"fqc_verify_ppm": "parts per million"}
# Read-only facts about the engine. The server would accept options of these names, as for any variable of a plugin.
_ENGINE_FACTS = {"fqc_version", "fqc_minor_version", "fqc_compatibility"}
# A variable that the engine accepts in single sessions only, which the server's list of variables cannot express.
_OF_SESSIONS = {"fqc_trial"}
# Servers refuse an empty text for these, although some report it as the default. They must be reset with DEFAULT.
_NOT_EMPTY = {
    "default_storage_engine", "default_tmp_storage_engine", "enforce_storage_engine", "ft_boolean_syntax",
    "innodb_ft_aux_table", "innodb_ft_server_stopword_table", "innodb_ft_user_stopword_table",
    "innodb_monitor_disable", "innodb_monitor_enable", "system_versioning_asof", "time_zone",
}  # fmt: skip
_OF_MACHINES = {"hostname", "wsrep_node_name"}
_RELEASE = re.compile(r"(\d+\.\d+)\.\d+")


def line_id(version_text: str) -> tuple[str, str, str]:
    """Returns id, product and release of the line that a server's version belongs to: ``10.11.19-MariaDB-log`` gives
    mariadb-10.11, MariaDB, 10.11.

    Raises ValueError if the text does not start with a release.
    """
    match = _RELEASE.match(version_text)
    if match is None:
        raise ValueError(f"server version {version_text!r} does not start with a release such as 10.11.19")
    product = product_of(version_text).name
    return f"{product.lower()}-{match[1]}", product, match[1]


def entries_from(rows: Iterable[tuple[Any, ...]]) -> list[dict[str, Any]]:
    return [_entry(*row) for row in rows]


def _entry(
    name: str, kind: str, default: str | None, scope: str, comment: str, minimum: str | None, maximum: str | None,
    block: str | None, choices: str | None, read_only: str, argument: str | None,
) -> dict[str, Any]:  # fmt: skip
    type_ = _TYPES.get(kind, "integer")
    if choices is None and name in _choices():
        type_, choices = _choices()[name]
    is_static = read_only == "YES"
    return {
        "name": name,
        "type": type_,
        "unit": _unit(name),
        "default": default or None if name in _NOT_EMPTY else default,
        "allowed": "~.+" if name in _NOT_EMPTY else _allowed(type_, minimum, maximum, choices),
        "rounds_to": _steps(name, block),
        "restart": is_static,
        # No template can set it: it is static without an option, exists in sessions only, or is not a setting.
        "readonly": scope == "SESSION ONLY" or (is_static and argument is None) or name in _ENGINE_FACTS | _OF_SESSIONS,
        "about": comment,
    }


def own_default_left_out(entry: dict[str, Any]) -> dict[str, Any]:
    """Returns the entry without its default if that is a folder or a host name, since it only applies to the server
    that was read.
    """
    default = entry["default"] or ""
    return {**entry, "default": None} if default.startswith("/") or entry["name"] in _OF_MACHINES else entry


@cache
def _choices() -> Mapping[str, tuple[str, str]]:
    """Returns type and choices by name for variables of MySQL whose choices the server does not state: it calls them an
    enumeration, a set or just a text.
    """
    return {name: (type_, choices) for type_ in ("enum", "set") for name, choices in _of_mysql()[type_].items()}


@cache
def _of_mysql() -> Mapping[str, Any]:
    found: Mapping[str, Any] = yaml.safe_load(MYSQL.read_text(encoding="utf-8"))
    return found


def _steps(name: str, block: str | None) -> list[int | str]:
    """Returns the factors of the number to whose multiples the server rounds a value; empty if it does not round.

    `block` is the block size that the server states; some servers round without stating one.
    """
    size = whole(block)
    if size is not None:
        return [size] if size > 1 else []
    if name in _of_mysql()["rounds_to"]:
        return [_of_mysql()["rounds_to"][name]]
    shipped = shipped_lines()["5.7"].get(name)
    return list(shipped.rounds_to) if shipped else []


def _unit(name: str) -> str:
    shipped = shipped_lines()["5.7"]
    definition = shipped.get(name) or shipped.get(name.replace("fqc_", "query_cache_", 1))
    return definition.unit if definition else _ENGINE_UNITS.get(name, "")


def _allowed(type_: str, minimum: str | None, maximum: str | None, choices: str | None) -> str:
    if type_ in ("integer", "decimal") and minimum is not None and maximum is not None:
        return f"[{minimum}-{maximum}]"
    if type_ != "flags" and choices and "," in choices:
        return "[" + choices.replace(",", "|") + "]"
    return ""
