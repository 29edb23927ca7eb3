"""Instances, their classes, and the parameters configured on them.

`Instance.version` counts configured state and is the ETag: what a poll observes does not move it.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from controlplane.core.ids import ID_LENGTH, new_id
from controlplane.core.sealing import open_sealed, seal
from controlplane.fleet.states import Duty, Provider, State
from controlplane.gateway.engine import is_loaded_by
from controlplane.gateway.known_servers import is_refused
from controlplane.gateway.product import local_product
from controlplane.parameters.models import Template

OBSTACLE_LENGTH = 200
UNTESTED_SERVER_LENGTH = 120
FQC_VERSION_LENGTH = 32
DETAIL_LENGTH = 500


class InstanceClass(models.Model):
    id = models.CharField(primary_key=True, max_length=ID_LENGTH, default=partial(new_id, "cls"), editable=False)
    name = models.CharField(max_length=64, unique=True)
    cpu_count = models.PositiveIntegerField(validators=[MinValueValidator(1), MaxValueValidator(1024)])
    memory_bytes = models.PositiveBigIntegerField()
    memory_reserve_bytes = models.PositiveBigIntegerField(
        help_text="Kept from parameters: DBInstanceClassMemory is memory_bytes less this."
    )
    max_connections = models.PositiveIntegerField(validators=[MinValueValidator(1), MaxValueValidator(100000)])
    storage_bytes = models.PositiveBigIntegerField(null=True, help_text="null: not known.")
    version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(auto_now_add=True)

    @property
    def variables(self) -> dict[str, int]:
        """The values of the variables of expressions, by name.

        AllocatedStorage is missing while the storage is unknown.
        """
        storage = {} if self.storage_bytes is None else {"AllocatedStorage": self.storage_bytes}
        return {
            **storage,
            "DBInstanceClassMemory": self.memory_bytes - self.memory_reserve_bytes,
            "DBInstanceClassCPU": self.cpu_count,
            "DBInstanceClassConnections": self.max_connections,
        }


class Instance(models.Model):
    id = models.CharField(primary_key=True, max_length=ID_LENGTH, default=partial(new_id, "rm"), editable=False)
    name = models.CharField(max_length=64, unique=True)
    provider = models.CharField(max_length=8, choices=Provider.choices)
    host = models.CharField(max_length=253)
    port = models.PositiveIntegerField(validators=[MinValueValidator(1), MaxValueValidator(65535)])
    username = models.CharField(max_length=80)
    password_sealed = models.TextField(blank=True)
    trial_username = models.CharField(max_length=80, blank=True, help_text="Who runs trials; empty: the account above.")
    trial_password_sealed = models.TextField(blank=True)
    is_tls_required = models.BooleanField(default=False, help_text="Connect with TLS and verify the server.")
    tls_ca = models.TextField(blank=True, help_text="PEM; empty means the system's authorities.")
    public_key = models.TextField(
        blank=True, help_text="PEM; of the server, to encrypt the password with, without TLS."
    )
    instance_class = models.ForeignKey(InstanceClass, on_delete=models.PROTECT, related_name="instances")
    engine_line = models.CharField(max_length=16, default="5.7")  # the catalogue line to check values against
    # from the server's version; for a local server, the product to make
    product = models.CharField(max_length=16, blank=True)
    edition = models.CharField(max_length=32, blank=True)  # empty if unknown
    engine_version = models.CharField(max_length=100, blank=True)  # the server's own version string
    compatibility = models.CharField(max_length=16, blank=True)  # @@fqc_compatibility; empty without the engine
    fqc_version = models.CharField(max_length=FQC_VERSION_LENGTH, blank=True)  # @@fqc_version; empty without the engine
    minor_version = models.PositiveIntegerField(null=True)  # @@fqc_minor_version; none without the engine
    cache_type = models.CharField(max_length=8, blank=True)  # @@fqc_type: OFF, ON or DEMAND
    cache_size_bytes = models.PositiveBigIntegerField(null=True)  # @@fqc_size
    engine_obstacle = models.CharField(  # @@Fqc_obstacle; empty if nothing is in the way, and without the engine
        max_length=OBSTACLE_LENGTH, blank=True
    )
    untested_server = models.CharField(  # @@Fqc_untested_server; empty of a tested one, and without the engine
        max_length=UNTESTED_SERVER_LENGTH, blank=True
    )
    # when the server, which had the engine before, first answered without it
    engine_lost_at = models.DateTimeField(null=True)
    # an administrator registered or approved this server at its present address
    is_catalogue_source = models.BooleanField(default=False)
    proxy_enabled = models.BooleanField(default=False)
    tags = models.JSONField(default=dict, blank=True)
    state = models.CharField(max_length=12, choices=State.choices, default=State.CREATING)
    state_reason = models.CharField(max_length=500, blank=True)
    state_since = models.DateTimeField(null=True)  # when the state began; none if it began before this was noted
    # when the server of an unreachable instance missed a second probe; none until then, and in other states
    missed_again_at = models.DateTimeField(null=True)
    window_weekday = models.PositiveSmallIntegerField(
        null=True, validators=[MaxValueValidator(6)], help_text="0 is Monday; none means every day."
    )
    window_start = models.TimeField(default="02:00", help_text="UTC")
    window_minutes = models.PositiveIntegerField(
        default=60, validators=[MinValueValidator(15), MaxValueValidator(1440)]
    )
    version = models.PositiveIntegerField(default=1)
    server_started_at = models.DateTimeField(null=True)
    last_seen_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ("name", "id")
        indexes = [
            models.Index(fields=["state"], name="instance_state"),
            models.Index(fields=["-created_at", "-id"], name="instance_newest"),
        ]

    @property
    def describes_line(self) -> bool:
        """Whether the catalogue may read variable definitions from this server: a local one, or one that an
        administrator registered or approved.

        What an operator registered may not be a real server.
        """
        return self.provider == Provider.LOCAL or self.is_catalogue_source

    @property
    def takes_engine(self) -> bool:
        """Whether the engine's library on this machine can be loaded into this server, by its product and version."""
        product = local_product(self.product)
        return is_loaded_by(product, settings.ENGINE_LIBRARY) and not is_refused(product, self.engine_version)

    @property
    def secret_context(self) -> str:
        return f"instance {self.pk}"

    @property
    def password(self) -> str:
        return open_sealed(self.password_sealed, settings.SEALING_KEYS, self.secret_context)

    @password.setter
    def password(self, plain: str) -> None:
        self.password_sealed = seal(plain, settings.SEALING_KEYS, self.secret_context)

    @property
    def trial_secret_context(self) -> str:
        return f"trial account of {self.secret_context}"

    @property
    def trial_password(self) -> str:
        if not self.trial_password_sealed:
            return ""
        return open_sealed(self.trial_password_sealed, settings.SEALING_KEYS, self.trial_secret_context)

    @trial_password.setter
    def trial_password(self, plain: str) -> None:
        sealed = seal(plain, settings.SEALING_KEYS, self.trial_secret_context) if plain else ""
        self.trial_password_sealed = sealed


class LookFault(models.Model):
    """A failure of periodic work on one instance: its server's answer could not be used.

    There is one row for each instance and each duty (a kind of periodic work, such as polling) that fails there. It is
    deleted once the duty succeeds (see `isolation`).
    """

    RENEWED, LASTS = timedelta(hours=1), timedelta(days=1)

    # No constraint: an instance that is deleted during a round must not make the round fail.
    instance = models.ForeignKey(Instance, on_delete=models.CASCADE, related_name="look_faults", db_constraint=False)
    duty = models.CharField(max_length=16, choices=Duty.choices)
    detail = models.CharField(max_length=DETAIL_LENGTH)
    at = models.DateTimeField(db_index=True, help_text="When it failed last, give or take an hour.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["instance", "duty"], name="one_fault_per_instance_and_duty")]

    def is_to_be_noted(self, detail: str, now: datetime) -> bool:
        return detail != self.detail or now - self.at > self.RENEWED

    @property
    def told(self) -> str:
        return f"{self.get_duty_display()}: {self.detail}"


class Observation(models.Model):
    """The most recent period in which the engine counted, with the cache switched off, what the cache would have done
    on this instance.
    """

    instance = models.OneToOneField(Instance, on_delete=models.CASCADE, primary_key=True, related_name="observation")
    started_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    is_running = models.BooleanField(default=True, db_index=True)
    size_before = models.TextField(null=True, help_text="What query_cache_size was configured as; null: not at all.")
    size_set = models.TextField(blank=True, help_text="Nothing is observed at 0; empty: as it was.")
    counted_before = models.JSONField(help_text="The engine's counters when it began.")
    result = models.JSONField(null=True, help_text="What was seen in all, once it has ended.")


class PrivilegeLook(models.Model):
    """The variables that the account of an instance may not set, as last read from its server."""

    instance = models.OneToOneField(Instance, on_delete=models.CASCADE, primary_key=True, related_name="privilege_look")
    tried_at = models.DateTimeField(db_index=True)
    at = models.DateTimeField(null=True, help_text="Of the last answer; null: there was none.")
    place = models.CharField(max_length=400, blank=True, help_text="Whom it was asked about, and where.")
    account = models.CharField(max_length=400, blank=True, help_text="As a GRANT names it.")
    asked = models.JSONField(default=list, help_text="Names of parameters.")
    missing = models.JSONField(default=dict, help_text="By parameter, the privilege that setting it takes.")


class InstanceParameter(models.Model):
    """A parameter that a user configured. Parameters without a row run with the server's own value."""

    instance = models.ForeignKey(Instance, on_delete=models.CASCADE, related_name="parameters")
    name = models.CharField(max_length=64)
    submitted = models.TextField(help_text="Byte for byte as it was given: a literal or an expression.")
    resolved = models.TextField(help_text="The value that the instance's class makes of it.")
    running = models.TextField(null=True, help_text="As last read from the server.")
    is_pending_restart = models.BooleanField(default=False)
    is_drifted = models.BooleanField(default=False)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ("name",)
        constraints = [models.UniqueConstraint(fields=["instance", "name"], name="one_row_per_instance_parameter")]
        indexes = [
            models.Index(fields=["is_drifted", "instance"], name="parameter_drifted"),
            models.Index(fields=["is_pending_restart", "instance"], name="parameter_pending"),
        ]


class TemplateUse(models.Model):
    """The template version that was last applied to an instance. An instance may use several templates."""

    template = models.ForeignKey(Template, on_delete=models.CASCADE, related_name="uses")
    instance = models.ForeignKey(Instance, on_delete=models.CASCADE, related_name="template_uses")
    version = models.PositiveIntegerField()
    applied_at = models.DateTimeField()
    applied_by = models.CharField(max_length=150)

    class Meta:
        ordering = ("-applied_at", "-id")
        indexes = [models.Index(fields=["template", "-applied_at", "-id"], name="template_use_newest")]
        constraints = [
            models.UniqueConstraint(fields=["template", "instance"], name="one_use_per_template_and_instance")
        ]
