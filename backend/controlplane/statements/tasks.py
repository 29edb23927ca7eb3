"""What is counted for each statement is noted by whoever looks at the servers."""

from __future__ import annotations

from controlplane.fleet.lookout import LOOKOUT
from controlplane.statements.noting import NOTING

LOOKOUT.lanes["living"].append(NOTING.note_if_due)
