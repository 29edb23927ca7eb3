"""The release series of servers (such as MariaDB 10.11) that `engine/servers.tsv` lists, and whether the engine loads
into them.

The file is read once, on import.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from controlplane.gateway.product import Product

TABLE = Path(__file__).resolve().parents[3] / "engine" / "servers.tsv"
OTHER = "other"  # stands for every series of a product that has no row


class Admission(StrEnum):
    """Whether the engine loads into the servers of a release series."""

    TESTED = "tested"
    WARNS = "warns"  # it loads with a warning in the server's error log
    ON_REQUEST = "asked"  # it loads where the server was started with fqc_allow_untested_server
    NEVER = "never"


@dataclass(frozen=True)
class KnownLine:
    product: str
    series: str
    engine: Admission

    def fits(self, version: str) -> int:
        """Returns how well this row fits a server's version, so that the best row can be chosen: the length of its
        series if the version belongs to that, 0 for the row that stands for all unlisted series, -1 if the version
        belongs to another series.
        """
        if self.series == OTHER:
            return 0
        return len(self.series) if version.startswith(f"{self.series}.") else -1


def _read() -> tuple[KnownLine, ...]:
    rows = (line.split("\t") for line in TABLE.read_text().splitlines())
    return tuple(KnownLine(row[1], row[2], Admission(row[3])) for row in rows if row[0] == "line")


KNOWN = _read()


def admission(product: Product, version: str) -> Admission:
    lines = [known for known in KNOWN if known.product == product.name]
    return max(lines, key=lambda known: known.fits(version)).engine


def tested_lines(product: Product) -> list[str]:
    """Returns the release series of a product, such as 10.11, that the engine is tested with."""
    return [known.series for known in KNOWN if known.product == product.name and known.engine is Admission.TESTED]


def is_tested(product: Product, version: str) -> bool:
    return admission(product, version) is Admission.TESTED


def is_refused(product: Product, version: str) -> bool:
    """Returns whether the engine does not load into a server of this version, or only if the server was started with
    fqc_allow_untested_server.

    False if the version is unknown (empty).
    """
    return bool(version) and admission(product, version) in (Admission.ON_REQUEST, Admission.NEVER)
