"""The command line: `python -m odd --lane polls --seconds N --seed S --database sqlite|postgresql`."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

BACKEND = Path(__file__).parents[1]
# The lane that keeps to the clock comes first, since the others run with longer time limits from then on.
LANES = ("living", "polls", "near caches", "watch", "statements", "privileges", "observations", "storage")
SLOWEST_SECONDS = 0.3
# Longer than the time limit for answers, in the one lane that keeps to the clock.
LATE_SECONDS = 12.0


def main() -> int:
    options = _options()
    with _control_plane(options.database):
        lost = sum(_run(name, options) for name in options.lane or LANES)
    return 1 if lost else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m odd", description=sys.modules["odd"].__doc__)
    parser.add_argument("--lane", action="append", choices=LANES, help="one or more; without it, all")
    parser.add_argument("--seconds", type=float, default=60, help="of each lane")
    parser.add_argument("--database", choices=["sqlite", "postgresql"], default="sqlite")
    parser.add_argument("--servers", type=int, default=6, help="odd ones")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


@contextmanager
def _control_plane(database: str) -> Iterator[None]:
    """Sets up the control plane's settings, and its database with all tables."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="fqc-odd-", ignore_cleanup_errors=True))
        os.environ |= {"DJANGO_SETTINGS_MODULE": "config.settings", "FQC_RUN_DIR": folder}
        os.environ.setdefault("FQC_LOG_LEVEL", "CRITICAL")
        if database == "postgresql":
            from testing import postgres

            os.environ["FQC_DATABASE_URL"] = stack.enter_context(postgres.cluster()).url
        subprocess.run([sys.executable, "manage.py", "migrate", "-v", "0"], cwd=BACKEND, check=True)
        import django

        django.setup()
        yield


def _run(name: str, options: argparse.Namespace) -> int:
    """Runs one lane and prints its figures. Returns how much the healthy server lost."""
    from odd.lanes import AT_ITS_PACE, LANES, Figures, be_patient, register
    from odd.server import OddServer
    from testing.servers import servers

    lane_class = next(each for each in (*LANES, *AT_ITS_PACE) if each.name == name)
    is_at_its_pace = lane_class in AT_ITS_PACE
    slowest = LATE_SECONDS if is_at_its_pace else SLOWEST_SECONDS
    if not is_at_its_pace:
        be_patient()
    figures = Figures()
    with ExitStack() as stack:
        make = stack.enter_context(servers())
        healthy, victim = make(has_engine=True), make()
        odd = [OddServer(options.seed * 1000 + number, slowest) for number in range(options.servers)]
        for each in odd:
            stack.callback(each.close)
        fleet = register(healthy, odd, victim)
        stack.callback(fleet.forget)
        lane = lane_class(fleet, options.seed)
        stack.callback(lane.close)
        lane.begin()
        until = time.monotonic() + options.seconds
        while time.monotonic() < until:
            lane.step(figures)
    told = {
        "lane": name,
        "seed": options.seed,
        "database": options.database,
        "rounds": figures.rounds,
        "slowest_round_seconds": round(figures.slowest_seconds, 2),
        "odd_answers": sum(each.answered for each in odd),
        "losses": len(figures.losses),
        "first_losses": figures.losses[:10],
        "faults_noted": sorted({f"{duty}: {said}" for duty, said in figures.faults_noted})[:10],
    }
    print(json.dumps(told, indent=2), flush=True)
    return len(figures.losses)


if __name__ == "__main__":
    sys.exit(main())
