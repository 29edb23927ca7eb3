"""The states of a fleet apply and of its items."""

from controlplane.core.choices import TextChoices


class ApplyKind(TextChoices):
    PARAMETERS = "parameters", "parameters"  # of a template
    UPGRADE = "upgrade", "upgrade"  # the engine, in waves that are checked by gates


class ApplyState(TextChoices):
    PREVIEWED = "previewed", "previewed"
    RUNNING = "running", "running"
    PAUSED = "paused", "paused"
    DONE = "done", "done"  # every item has ended, and few enough have failed
    STOPPED = "stopped", "stopped"  # too many failures: the remaining items were skipped
    ABORTED = "aborted", "aborted"


class ItemState(TextChoices):
    PENDING = "pending", "pending"
    BLOCKED = "blocked", "blocked"  # the preview found a reason against it
    DISPATCHED = "dispatched", "dispatched"  # sent to a worker
    RUNNING = "running", "running"
    APPLIED = "applied", "applied"
    UNCHANGED = "unchanged", "unchanged"
    FAILED = "failed", "failed"
    SKIPPED = "skipped", "skipped"


OVER = (ApplyState.DONE, ApplyState.STOPPED, ApplyState.ABORTED)
AT_WORK = (ItemState.DISPATCHED, ItemState.RUNNING)
NOT_BEGUN = (ItemState.PENDING, ItemState.DISPATCHED)
