"""The states of a change set and of its steps.

previewed -> approved -> applying -> verifying -> applied | rolled_back | failed; before applying it may be aborted.
"""

from controlplane.core.choices import TextChoices


class ChangeState(TextChoices):
    PREVIEWED = "previewed", "previewed"
    APPROVED = "approved", "approved"
    APPLYING = "applying", "applying"
    VERIFYING = "verifying", "verifying"
    APPLIED = "applied", "applied"
    ROLLED_BACK = "rolled_back", "rolled_back"
    FAILED = "failed", "failed"
    ABORTED = "aborted", "aborted"


AT_WORK = (ChangeState.APPLYING, ChangeState.VERIFYING)
WAITING = (ChangeState.PREVIEWED, ChangeState.APPROVED)
ENDED = (ChangeState.APPLIED, ChangeState.ROLLED_BACK, ChangeState.FAILED, ChangeState.ABORTED)


class StepState(TextChoices):
    PENDING = "pending", "pending"
    RUNNING = "running", "running"
    DONE = "done", "done"
    FAILED = "failed", "failed"
    UNDONE = "undone", "undone"


class Kind(TextChoices):
    PARAMETERS = "parameters", "parameters"
    ENABLE = "enable", "enable"
    DISABLE = "disable", "disable"
    REVERT = "revert", "revert"
    REPUSH = "repush", "repush"
    RESTART = "restart", "restart"
    RESIZE = "resize", "resize"
    UPGRADE = "upgrade", "upgrade"
    PROXY = "proxy", "proxy"
    CREATE = "create", "create"
    DELETE = "delete", "delete"


class StepKind(TextChoices):
    SET_GLOBAL = "set_global", "set_global"
    PERSIST = "persist", "persist"
    WRITE_CONFIGURATION = "write_configuration", "write_configuration"
    RESTART = "restart", "restart"
    SET_CLASS = "set_class", "set_class"
    INSTALL_ENGINE = "install_engine", "install_engine"
    SET_PROXY = "set_proxy", "set_proxy"
    PROVISION = "provision", "provision"
    CONNECT = "connect", "connect"
    DEPROVISION = "deprovision", "deprovision"


class When(TextChoices):
    NOW = "now", "now"
    WINDOW = "window", "window"
    AT = "at", "at"
