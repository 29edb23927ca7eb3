"""The providers of instances and the states that they are in."""

from controlplane.core.choices import TextChoices


class Provider(TextChoices):
    EXTERNAL = "external", "external"  # an endpoint that exists
    LOCAL = "local", "local"  # a process of this control plane's machine


class State(TextChoices):
    CREATING = "creating", "creating"
    RUNNING = "running", "running"
    CHANGING = "changing", "changing"  # a change set is at work on it
    STOPPED = "stopped", "stopped"
    UNREACHABLE = "unreachable", "unreachable"
    FAILED = "failed", "failed"
    DELETING = "deleting", "deleting"


class Duty(TextChoices):
    """The kinds of work that the control plane repeats on many instances."""

    POLL = "poll", "poll"
    NEAR_CACHES = "near_caches", "near caches"
    WATCH = "watch", "watch"
    STATEMENTS = "statements", "statements"
    PRIVILEGES = "privileges", "privileges"
    OBSERVATIONS = "observations", "observations"
    STORAGE = "storage", "storage"
