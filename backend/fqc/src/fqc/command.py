"""How a command reads its arguments and shows its help, where typer's own way is slow or hard to read.

Typer checks every value with pydantic, whose import alone takes as long as the rest of a short command; texts, flags,
choices and defaults need no such check. The other values still get it. Rests on names of typer that are not public:
its version is pinned, and tests/test_start.py fails when they move.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, get_origin

from typer._coercion import RuntimeParam, TypeDescriptor, build_runtime_param
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from fqc.options import READ

# Placeholders of option values in the help, if neither the option's type nor its name says it.
_VALUES = {
    "set": "NAME=VALUE", "tag": "NAME=VALUE", "unset": "PARAMETER", "search": "TEXT", "note": "TEXT",
    "description": "TEXT", "at": "TIME", "since": "TIME", "until": "TIME", "for": "SPAN", "when": "CONDITION",
    "mail": "ADDRESS", "timeout": "SECONDS", "interval": "SECONDS", "result-sets": "SIZE",
}  # fmt: skip


@dataclass(frozen=True)
class Direct(RuntimeParam):
    descriptor: TypeDescriptor

    def _coerce_value(self, value: Any, param: Any, ctx: Any) -> Any:
        kind = self.annotation
        if kind == list[str]:
            return list(value)
        if get_origin(kind) is None and (kind is str or isinstance(value, kind)):
            return value
        if issubclass(kind, Enum) and value in [each.value for each in kind]:
            return kind(value)
        return build_runtime_param(self.descriptor)._coerce_value(value, param=param, ctx=ctx)


class _Reading:
    def get_params(self, ctx: Any) -> list[Any]:
        found: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for param in found:
            kind = param.type_descriptor
            if not (kind.is_file or kind.is_path):
                param._runtime_param = Direct(kind.parameter_info, kind.annotation, kind)
        return found


class Group(_Reading, TyperGroup):
    def format_options(self, ctx: Any, formatter: Any) -> None:
        if self.invoke_without_command:  # it has an action of its own
            _sections(self.get_params(ctx), formatter)
            self.format_commands(ctx, formatter)
        else:
            super().format_options(ctx, formatter)


class Command(_Reading, TyperCommand):
    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        arguments = [each for each in self.params if isinstance(each, TyperArgument)]
        return [_name(each) if each.required else f"[{_name(each)}]" for each in arguments] + ["[OPTIONS]"]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        _sections(self.get_params(ctx), formatter)


def _sections(params: list[Any], formatter: Any) -> None:
    arguments = [each for each in params if isinstance(each, TyperArgument)]
    options = [each for each in params if isinstance(each, TyperOption)]
    sections = {
        "Arguments": [(_name(each), each.help or "") for each in arguments],
        "Options": [_record(each) for each in options if each.name not in READ],
        "Global options": [_record(each) for each in options if each.name in READ],
    }
    for title, records in sections.items():
        if records:
            with formatter.section(title):
                formatter.write_dl(records)


def _name(argument: TyperArgument) -> str:
    return argument.metavar or str(argument.name).upper()


def _record(option: TyperOption) -> tuple[str, str]:
    names = " / ".join(", ".join(each) for each in (option.opts, option.secondary_opts) if each)
    value = "" if option.is_flag else f" {_value(option)}"
    default = "" if option.is_flag or option.default in (None, "") else f" [default: {_default(option.default)}]"
    return names + value, (option.help or "") + (" [required]" if option.required else default)


def _value(option: TyperOption) -> str:
    kind, name = option.type_descriptor, option.opts[0].lstrip("-")
    if kind.choices:
        return "|".join(each.value for each in kind.choices)
    if name in _VALUES:
        return _VALUES[name]
    return "N" if kind.annotation in (int, float) else "FILE" if kind.is_path else name.upper()


def _default(value: Any) -> str:
    return str(value.value) if isinstance(value, Enum) else f"{value:g}" if isinstance(value, float) else str(value)
