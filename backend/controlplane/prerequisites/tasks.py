"""Beside the polls, in a lane of its own: a server that says nothing must not hold them up."""

from __future__ import annotations

from controlplane.fleet.lookout import LOOKOUT
from controlplane.prerequisites.privilege_looks import look_if_due

LOOKOUT.lanes["privileges"].append(look_if_due)
