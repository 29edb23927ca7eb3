"""Tasks that run in a lane of their own next to the polls, so that a server that does not answer cannot hold up the
polls.
"""

from __future__ import annotations

from controlplane.fleet.lookout import LOOKOUT
from controlplane.prerequisites.privilege_looks import look_at_privileges_if_due

LOOKOUT.lanes["privileges"].append(look_at_privileges_if_due)
