"""Periodic tasks of this app. The process that looks at the servers stores the notes itself."""

from __future__ import annotations

from controlplane.fleet.lookout import LOOKOUT
from controlplane.statements.noting import NOTING

LOOKOUT.lanes["living"].append(NOTING.note_if_due)
