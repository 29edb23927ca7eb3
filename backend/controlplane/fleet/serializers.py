from __future__ import annotations

from typing import Any

from django.core.validators import RegexValidator
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from controlplane.catalogue.access import CLASSES
from controlplane.fleet.cache_state import CACHE_STATES, cache_state
from controlplane.fleet.models import Instance, InstanceClass, TemplateUse
from controlplane.fleet.selectors import answers_unusable
from controlplane.fleet.states import Provider
from controlplane.fleet.template_uses import use_differences
from controlplane.gateway.endpoint import HOST_SYNTAX
from controlplane.gateway.product import DEFAULT_PRODUCT, LOCAL_PRODUCTS
from controlplane.gateway.server import authorities, public_key_check
from controlplane.parameters.difference import Difference

NAME = RegexValidator(r"\A[A-Za-z][A-Za-z0-9_.-]{1,63}\Z", "a letter, then 1 to 63 letters, digits or _ . -")
TAG = RegexValidator(r"\A[A-Za-z][A-Za-z0-9_-]{0,62}\Z", "a letter, then up to 62 letters, digits or _ -")
HOST = RegexValidator(HOST_SYNTAX, "a host name or an address")
GIB = 1024**3
TRIAL_ACCOUNT = "Who runs trials: an account that may only SELECT. Empty: none of its own."

PUBLIC_KEY = (
    "The server's own RSA key in PEM: with it, an account of caching_sha2_password or sha256_password logs in without "
    "TLS. Copy it from the server's machine (public_key.pem)."
)

SOURCE = (
    "Whether definitions of variables may be read from this server: a local one, or one that an admin registered or "
    "approved as it is reached now."
)
UNTESTED_HELP = (
    "Product and version of the server, if the engine runs there although it has not been tested with them; else empty."
)
OBSTACLE_HELP = "Why the engine serves nothing on this server, in its own words; empty if nothing is in the way."
PRODUCT_NAMES = " or ".join(each.name for each in LOCAL_PRODUCTS)

STORAGE_HELP = "null: not known. Expressions that name AllocatedStorage have no value then."

MAX_BYTES = 2**53 - 1  # the largest integer that every JSON reader keeps exact


def rsa_key(pem: str) -> None:
    if not pem:
        return
    try:
        public_key_check(pem)
    except ValueError as error:
        raise serializers.ValidationError(f"not an RSA public key in PEM format: {error}") from error


def certificates(pem: str) -> None:
    try:
        authorities(pem)
    except OSError as error:
        raise serializers.ValidationError(f"not certificates in PEM format: {error}") from error


class InstanceClassSerializer(serializers.ModelSerializer[InstanceClass]):
    variables = serializers.DictField(child=serializers.IntegerField(), read_only=True)

    class Meta:
        model = InstanceClass
        fields = (
            "id", "name", "cpu_count", "memory_bytes", "memory_reserve_bytes", "max_connections", "storage_bytes",
            "variables", "version", "created_at",
        )  # fmt: skip
        read_only_fields = fields


class InstanceClassWriteSerializer(serializers.Serializer[InstanceClass]):
    name = serializers.CharField(max_length=64, validators=[NAME])
    cpu_count = serializers.IntegerField(min_value=1, max_value=1024)
    memory_bytes = serializers.IntegerField(min_value=128 * 1024**2, max_value=MAX_BYTES)
    memory_reserve_bytes = serializers.IntegerField(min_value=0, max_value=MAX_BYTES, default=0)
    max_connections = serializers.IntegerField(min_value=1, max_value=100000)
    storage_bytes = serializers.IntegerField(
        min_value=GIB, max_value=MAX_BYTES, allow_null=True, help_text=STORAGE_HELP
    )

    def validate(self, given: dict[str, Any]) -> dict[str, Any]:
        if given["memory_reserve_bytes"] >= given["memory_bytes"]:
            raise serializers.ValidationError({"memory_reserve_bytes": "must be less than memory_bytes"})
        return given


class CustomSizeSerializer(serializers.Serializer[InstanceClass]):
    """The size of a machine. How much of it the database may use is decided by expressions in parameter values."""

    cpu_count = serializers.IntegerField(min_value=1, max_value=1024)
    memory_bytes = serializers.IntegerField(min_value=128 * 1024**2, max_value=MAX_BYTES)
    max_connections = serializers.IntegerField(min_value=1, max_value=100000)
    storage_bytes = serializers.IntegerField(
        min_value=GIB, max_value=MAX_BYTES, default=None, allow_null=True, help_text=STORAGE_HELP
    )


# Without seconds and offset, which the contract's format `time` would require.
@extend_schema_field({"type": "string", "pattern": r"^([01][0-9]|2[0-3]):[0-5][0-9]$"})
class MinuteField(serializers.TimeField):
    pass


class WindowSerializer(serializers.Serializer[Instance]):
    weekday = serializers.IntegerField(
        source="window_weekday",
        min_value=0,
        max_value=6,
        allow_null=True,
        help_text="The day of the week: 0 is Monday; null means every day.",
    )
    start = MinuteField(
        source="window_start", format="%H:%M", help_text="The time of day in UTC at which the window opens."
    )
    minutes = serializers.IntegerField(source="window_minutes", min_value=15, max_value=1440)


class EndpointSerializer(serializers.Serializer[Instance]):
    host = serializers.CharField()
    port = serializers.IntegerField()
    username = serializers.CharField()
    trial_username = serializers.CharField(
        allow_blank=True,
        help_text="The account that runs trials. If empty, the account of the instance runs them, if it may only "
        "SELECT.",
    )
    is_tls_required = serializers.BooleanField()


class CacheStateSerializer(serializers.Serializer[Any]):
    """The state of the instance's cache when its server was last read."""

    state = serializers.ChoiceField(choices=CACHE_STATES)
    size_bytes = serializers.IntegerField(allow_null=True)
    used_bytes = serializers.IntegerField(
        allow_null=True, help_text="The memory that the cache uses, by the newest sample."
    )


class InstanceSerializer(serializers.ModelSerializer[Instance]):
    instance_class = serializers.CharField(source="instance_class.name")
    endpoint = EndpointSerializer(source="*")
    maintenance_window = WindowSerializer(source="*")
    tags = serializers.DictField(child=serializers.CharField())
    product = serializers.CharField(help_text=f"{PRODUCT_NAMES}; empty until it was reached.")
    edition = serializers.CharField(
        help_text="The server's builder or provider, such as Debian or Amazon RDS, if it is known."
    )
    has_engine = serializers.SerializerMethodField()
    fqc_version = serializers.CharField(
        help_text="The version of the engine (@@fqc_version); empty without the engine."
    )
    minor_version = serializers.IntegerField(
        allow_null=True, help_text="The minor version of the engine (@@fqc_minor_version); null without the engine."
    )
    engine_obstacle = serializers.CharField(allow_blank=True, help_text=OBSTACLE_HELP)
    untested_server = serializers.CharField(allow_blank=True, help_text=UNTESTED_HELP)
    cache = serializers.SerializerMethodField()
    state_reason = serializers.SerializerMethodField(
        help_text="Why the instance is in this state. For one that answers: which of its answers cannot be used."
    )
    is_catalogue_source = serializers.BooleanField(source="describes_line", help_text=SOURCE)
    drifted_count = serializers.IntegerField(default=0)
    pending_restart_count = serializers.IntegerField(default=0)

    class Meta:
        model = Instance
        fields = (
            "id", "name", "provider", "endpoint", "instance_class", "engine_line", "product", "edition",
            "engine_version", "compatibility", "fqc_version", "minor_version", "has_engine", "engine_obstacle",
            "untested_server", "cache",
            "proxy_enabled", "tags", "state", "state_reason", "maintenance_window", "drifted_count",
            "pending_restart_count", "is_catalogue_source", "version",
            "server_started_at", "last_seen_at", "created_at", "updated_at",
        )  # fmt: skip
        read_only_fields = fields

    @extend_schema_field(CacheStateSerializer)
    def get_cache(self, instance: Instance) -> dict[str, Any]:
        return cache_state(instance)

    def get_state_reason(self, instance: Instance) -> str:
        return instance.state_reason or answers_unusable(instance)

    def get_has_engine(self, instance: Instance) -> bool:
        return instance.minor_version is not None


class TagsField(serializers.DictField):
    child = serializers.CharField(max_length=200, allow_blank=True)

    def to_internal_value(self, data: Any) -> Any:
        tags = super().to_internal_value(data)
        if len(tags) > 50:
            raise serializers.ValidationError("an instance has at most 50 tags")
        for name in tags:
            TAG(name)
        return tags


class EndpointCheckSerializer(serializers.Serializer[Any]):
    host = serializers.CharField(max_length=253, validators=[HOST])
    port = serializers.IntegerField(min_value=1, max_value=65535)
    username = serializers.CharField(max_length=80)
    password = serializers.CharField(max_length=256, write_only=True, allow_blank=True, trim_whitespace=False)
    is_tls_required = serializers.BooleanField(default=False)
    tls_ca = serializers.CharField(max_length=100_000, allow_blank=True, validators=[certificates], default="")
    public_key = serializers.CharField(
        max_length=20_000, allow_blank=True, validators=[rsa_key], default="", help_text=PUBLIC_KEY
    )


class EndpointSeenSerializer(serializers.Serializer[Any]):
    product = serializers.CharField()
    edition = serializers.CharField()
    engine_version = serializers.CharField()
    fqc_version = serializers.CharField(help_text="The version of the engine; empty without the engine.")
    minor_version = serializers.IntegerField(
        allow_null=True, help_text="The minor version of the engine (@@fqc_minor_version); null without the engine."
    )
    cpu_count = serializers.IntegerField(
        allow_null=True,
        help_text="The number of processors of the server's machine; null if the server does not report it.",
    )
    max_connections = serializers.IntegerField(allow_null=True)
    buffer_pool_bytes = serializers.IntegerField(
        allow_null=True, help_text="The size of the server's buffer pool; its machine has more memory than this."
    )
    same_endpoint = serializers.ListField(
        child=serializers.CharField(),
        help_text="The names of instances that are already registered with this host and port.",
    )


class InstanceCreateSerializer(serializers.Serializer[Instance]):
    """A new instance. A `local` one needs a name and a class; an `external` one also needs the server's address and the
    account to connect with.
    """

    name = serializers.CharField(max_length=64, validators=[NAME])
    provider = serializers.ChoiceField(choices=Provider.choices)
    instance_class = serializers.CharField(max_length=64)
    host = serializers.CharField(max_length=253, required=False, validators=[HOST])
    port = serializers.IntegerField(min_value=1, max_value=65535, required=False)
    username = serializers.CharField(max_length=80, required=False)
    password = serializers.CharField(
        max_length=256, required=False, write_only=True, allow_blank=True, trim_whitespace=False
    )
    trial_username = serializers.CharField(max_length=80, required=False, allow_blank=True, help_text=TRIAL_ACCOUNT)
    trial_password = serializers.CharField(
        max_length=256, required=False, write_only=True, allow_blank=True, trim_whitespace=False
    )
    is_tls_required = serializers.BooleanField(default=False)
    tls_ca = serializers.CharField(
        max_length=100_000, required=False, allow_blank=True, validators=[certificates], default=""
    )
    public_key = serializers.CharField(
        max_length=20_000, required=False, allow_blank=True, validators=[rsa_key], default="", help_text=PUBLIC_KEY
    )
    product = serializers.ChoiceField(
        choices=[each.name for each in LOCAL_PRODUCTS],
        required=False,
        help_text=f"Of a local instance; {DEFAULT_PRODUCT.name} if not given.",
    )
    engine_line = serializers.CharField(max_length=16, default="5.7")
    proxy_enabled = serializers.BooleanField(default=False)
    tags = TagsField(default=dict)
    maintenance_window = WindowSerializer(required=False)

    def validate(self, given: dict[str, Any]) -> dict[str, Any]:
        endpoint = ("host", "port", "username", "password")
        if given["provider"] == Provider.EXTERNAL:
            missing = {name: "an external instance needs it" for name in endpoint if name not in given}
            missing |= (
                {"product": "only for a local instance; an external server reports its own"}
                if "product" in given
                else {}
            )
        else:
            own = (*endpoint, "trial_username", "trial_password")
            missing = {name: "a local instance gets its own" for name in own if name in given}
        if missing:
            raise serializers.ValidationError(missing)
        if given["provider"] == Provider.LOCAL:
            given.setdefault("product", DEFAULT_PRODUCT.name)
        return given


class InstanceUpdateSerializer(serializers.Serializer[Instance]):
    """Changes of what the control plane records about an instance; the server itself is not changed. A change of host,
    port, username, is_tls_required, tls_ca or public_key must contain the password again, and is otherwise refused as
    `password_required`.
    """

    name = serializers.CharField(max_length=64, validators=[NAME], required=False)
    host = serializers.CharField(max_length=253, required=False, validators=[HOST])
    port = serializers.IntegerField(min_value=1, max_value=65535, required=False)
    username = serializers.CharField(max_length=80, required=False)
    password = serializers.CharField(
        max_length=256, required=False, write_only=True, allow_blank=True, trim_whitespace=False
    )
    trial_username = serializers.CharField(max_length=80, required=False, allow_blank=True, help_text=TRIAL_ACCOUNT)
    trial_password = serializers.CharField(
        max_length=256, required=False, write_only=True, allow_blank=True, trim_whitespace=False
    )
    is_tls_required = serializers.BooleanField(required=False)
    tls_ca = serializers.CharField(max_length=100_000, required=False, allow_blank=True, validators=[certificates])
    public_key = serializers.CharField(
        max_length=20_000, required=False, allow_blank=True, validators=[rsa_key], help_text=PUBLIC_KEY
    )
    is_catalogue_source = serializers.BooleanField(required=False, help_text=f"{SOURCE} Only an admin alters it.")
    tags = TagsField(required=False)
    maintenance_window = WindowSerializer(required=False)


class InstanceParameterSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    type = serializers.CharField()
    unit = serializers.CharField(allow_blank=True)
    description = serializers.CharField(allow_blank=True)
    default = serializers.CharField(allow_null=True)
    allowed = serializers.CharField(
        allow_blank=True,
        help_text="The allowed values, as a range `[a-b]`, choices `[x|y]` or a regular expression `~pattern`. "
        "Empty if any value is allowed.",
    )
    divisor = serializers.IntegerField()
    is_modifiable = serializers.BooleanField(help_text="Whether any role may set the parameter through this product.")
    access = serializers.ChoiceField(choices=CLASSES, help_text="Who may set the parameter.")
    access_code = serializers.CharField(help_text="The stable code of `access_reason`.")
    access_reason = serializers.CharField(
        allow_blank=True, help_text="Why operators may not set the parameter; empty if they may."
    )
    needs_restart = serializers.BooleanField()
    configured = serializers.CharField(
        allow_null=True, help_text="The configured value, byte for byte as it was submitted."
    )
    resolved = serializers.CharField(
        allow_null=True,
        help_text="The value that the server is sent: an expression is computed for the instance's class.",
    )
    running = serializers.CharField(
        allow_null=True, help_text="The value that the server runs now; null if it does not answer."
    )
    is_pending_restart = serializers.BooleanField()
    is_drifted = serializers.BooleanField()
    updated_at = serializers.DateTimeField(allow_null=True)


class InstanceParametersSerializer(serializers.Serializer[Any]):
    is_live = serializers.BooleanField(
        help_text="Whether the running values were read from the running server just now."
    )
    items = InstanceParameterSerializer(many=True)


class FleetSummarySerializer(serializers.Serializer[Any]):
    instance_count = serializers.IntegerField()
    engine_line = serializers.CharField(help_text="The engine line of most instances, which a new template gets.")
    by_state = serializers.DictField(child=serializers.IntegerField())
    without_engine_count = serializers.IntegerField(
        help_text="The number of instances whose servers could load the engine, and have not."
    )
    drifted_count = serializers.IntegerField()
    pending_restart_count = serializers.IntegerField()


class TemplateUseDifferenceSerializer(serializers.Serializer[Difference]):
    name = serializers.CharField()
    configured = serializers.CharField(
        source="before", allow_null=True, help_text="The value that is configured on the instance; null if none is."
    )
    wanted = serializers.CharField(source="after", help_text="The value in the newest version of the template.")


class TemplateUseSerializer(serializers.ModelSerializer[TemplateUse]):
    """An instance that uses a template, and how its configuration differs from the template's newest version."""

    instance = serializers.CharField(source="instance_id")
    instance_name = serializers.CharField(source="instance.name")
    version = serializers.IntegerField(help_text="The version of the template that was last applied to the instance.")
    is_in_step = serializers.SerializerMethodField(
        help_text="Whether the instance is configured as the template's newest version says."
    )
    differing_count = serializers.SerializerMethodField()
    differences = TemplateUseDifferenceSerializer(many=True)

    class Meta:
        model = TemplateUse
        fields = (
            "instance", "instance_name", "version", "applied_at", "applied_by", "is_in_step", "differing_count",
            "differences",
        )  # fmt: skip
        read_only_fields = fields

    def to_representation(self, use: TemplateUse) -> Any:
        use.differences = use_differences(use, self.context["values"])
        return super().to_representation(use)

    def get_is_in_step(self, use: Any) -> bool:
        return not use.differences

    def get_differing_count(self, use: Any) -> int:
        return len(use.differences)
