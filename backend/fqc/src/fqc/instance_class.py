"""`fqc class`: instance classes, whose numbers, such as memory, the expressions of parameters use."""

from __future__ import annotations

from typing import Any

from fqc.call import Call
from fqc.failure import Exit, Failure
from fqc.noun import Noun
from fqc.output import Cell
from fqc.units import human_bytes

app = Noun("Instance classes: the numbers that expressions use.")
_LIST: dict[str, Cell] = {
    "NAME": "name",
    "CPU": "cpu_count",
    "MEMORY": lambda it: human_bytes(it["memory_bytes"]),
    "RESERVE": lambda it: human_bytes(it["memory_reserve_bytes"]),
    "CONNECTIONS": "max_connections",
    "STORAGE": lambda it: human_bytes(it["storage_bytes"]),
}


@app.read("list")
def list_(call: Call) -> None:
    """List classes."""
    call.show_items(call.api.items("instance-classes"), _LIST)


def find(call: Call, name: str) -> dict[str, Any]:
    for found in call.api.items("instance-classes"):
        if name in (found["name"], found["id"]):
            return found
    raise Failure(f"No instance class named {name}.", Exit.NOT_FOUND, hint="List them with `fqc class list`.")
