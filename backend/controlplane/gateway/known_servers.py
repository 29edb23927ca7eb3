"""The list of servers that this product shares with the engine, its tests and the documents. Pure once read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from controlplane.gateway.product import Product

LIST = Path(__file__).resolve().parents[3] / "engine" / "servers.tsv"


@dataclass(frozen=True)
class KnownServer:
    product: str
    line: str
    is_tested: bool  # with the engine
    is_refused: bool  # by the engine


def _read() -> tuple[KnownServer, ...]:
    rows = (line.split("\t") for line in LIST.read_text().splitlines() if not line.startswith("#"))
    return tuple(KnownServer(product, line, engine == "yes", engine == "refused") for product, line, engine, *_ in rows)


KNOWN = _read()


def tested_lines(product: Product) -> list[str]:
    """On which the engine is tested."""
    return [known.line for known in KNOWN if known.product == product.name and known.is_tested]


def is_tested(product: Product, version: str) -> bool:
    return any(version.startswith(f"{line}.") for line in tested_lines(product))


def is_refused(product: Product, version: str) -> bool:
    """The engine does not load into a server of this version; no version: nobody knows which it is."""
    if not version or not product.engine_loads_into_known_lines_only:
        return False
    lines = [known.line for known in KNOWN if known.product == product.name and not known.is_refused]
    return not any(version.startswith(f"{line}.") for line in lines)
