"""The files in which a run's measurements are stored, small enough for the repository.

They have what summary and plots are made from. The distributions of latency are nearly all of what is measured; only
those at the middle of the axis are kept. The rest of a run fits into a few kilobytes once it is compressed.
"""

from __future__ import annotations

import json
import lzma
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from driver.workload import axis_value

SUFFIX = ".json.xz"


def write(path: Path, document: Any) -> None:
    """Writes a document as compressed JSON. Equal documents result in equal bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(document, separators=(",", ":")).encode()
    path.write_bytes(lzma.compress(text, check=lzma.CHECK_CRC32, preset=9 | lzma.PRESET_EXTREME))


def read(path: Path) -> Any:
    return json.loads(lzma.decompress(path.read_bytes()))


def middle(values: Sequence[Any]) -> Any:
    """Returns the middle one of the values of a workload's axis, which is the condition that it varies. For this value
    the distribution of latency is kept and plotted."""
    return values[len(values) // 2]


def kept(axis: str, runs: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Returns the runs as they are stored, in their order. Only those with the middle value of `axis`, the condition
    that the workload varies, keep their distribution of latency."""
    every = list(runs)
    values = list(dict.fromkeys(axis_value(run["conditions"], axis) for run in every))
    return [_kept(run, axis_value(run["conditions"], axis) == middle(values)) for run in every]


def _kept(run: Mapping[str, Any], is_middle: bool) -> dict[str, Any]:
    results = dict(run["results"])
    histogram = results.pop("histogram", None)
    if histogram and is_middle:
        results["histogram"] = _summed(histogram)
    return {**run, "results": results}


def _summed(histogram: Iterable[tuple[float, int]]) -> list[list[float | int]]:
    """Returns the buckets of a histogram, sorted; buckets with the same limit are added up."""
    counts: Counter[float] = Counter()
    for bucket, count in histogram:
        counts[bucket] += count
    return [[bucket, counts[bucket]] for bucket in sorted(counts)]
