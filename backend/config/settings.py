"""Django's settings, derived from the validated environment. Nothing here reads os.environ itself."""

from __future__ import annotations

from pathlib import Path

from config import environment, logs, private
from config.secrets_file import kept_secret
from config.version import VERSION

ENV = environment.read()
RUN_DIR = ENV.run_dir
private.private_folder(RUN_DIR)

DEBUG = ENV.debug
SECRET_KEY = ENV.secret_key or kept_secret(RUN_DIR / "secrets" / "django.key")
SEALING_KEYS = ENV.sealing_keys or [kept_secret(RUN_DIR / "secrets" / "sealing.key")]
ALLOWED_HOSTS = ENV.allowed_hosts
PUBLIC_URL = ENV.public_url

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.staticfiles",
    "rest_framework",
    "drf_spectacular",
    "controlplane.core",
    "controlplane.audit",
    "controlplane.accounts",
    "controlplane.settings",
    "controlplane.catalogue",
    "controlplane.parameters",
    "controlplane.fleet",
    "controlplane.near_caches",
    "controlplane.statements",
    "controlplane.prerequisites",
    "controlplane.changes",
    "controlplane.rollouts",
    "controlplane.metrics",
    "controlplane.alerts",
    "controlplane.rpc",
    "config",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "controlplane.rpc.middleware.RpcMiddleware",
    "controlplane.core.request_middleware.RequestContextMiddleware",
    "controlplane.core.content_policy.ContentPolicyMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "config.compression.CompressionMiddleware",
    "controlplane.accounts.session_cookie.SessionCookieMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
]

OTLP_ENDPOINT = ENV.otlp_endpoint
if OTLP_ENDPOINT:
    MIDDLEWARE.insert(0, "config.telemetry.Traced")

ROOT_URLCONF = "config.urls"
ASGI_APPLICATION = "config.asgi.application"
TEMPLATES = [{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True}]
DATABASES = {"default": environment.database(ENV.database_url, RUN_DIR)}
if "sqlite3" in str(DATABASES["default"]["ENGINE"]):
    private.private_database(Path(str(DATABASES["default"]["NAME"])))
DATABASE_POOL = environment.pool(ENV)
# nothing is cached outside of database rows
CACHES = {"default": {"BACKEND": "django.core.cache.backends.dummy.DummyCache"}}

AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = ["controlplane.accounts.backend.AccountBackend"]
IDENTITY_PROVIDER, HAS_PASSWORDS, LOCAL_ADMIN = ENV.identity_provider, ENV.has_passwords, ENV.local_admin
PASSWORD_HASHERS = [
    "controlplane.accounts.hashing.BoundedArgon2PasswordHasher",
    "controlplane.accounts.hashing.BoundedPBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "controlplane.accounts.passwords.LengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "controlplane.accounts.passwords.BlankValidator"},
    {"NAME": "controlplane.accounts.passwords.CommonValidator"},
    {"NAME": "controlplane.accounts.passwords.OwnNamesValidator"},
]

USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en-us"
USE_I18N = False

# The console's files are served at the root; any other path there is a route of the console.
FRONTEND_DIST = ENV.frontend_dist
STATIC_URL = "/static/"
WHITENOISE_ROOT = FRONTEND_DIST if FRONTEND_DIST.is_dir() else None
WHITENOISE_INDEX_FILE = True
# The build puts a hash of the content into the name of each of these files, so browsers may cache them for ever.
WHITENOISE_IMMUTABLE_FILE_TEST = r"^/assets/.+-[A-Za-z0-9_-]{8}\.[a-z0-9]+$"

# TLS ends at the proxy in front, which reports the scheme (config/forwarded.py). Without TLS no cookie can be secure.
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = ENV.is_tls
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SESSION_ENGINE = "controlplane.accounts.session_store"
SESSION_COOKIE_AGE = 12 * 3600
CSRF_TRUSTED_ORIGINS = [PUBLIC_URL]
CSRF_FAILURE_VIEW = "controlplane.core.error_views.csrf_failure"
SECURE_HSTS_SECONDS = 31536000 if ENV.is_tls else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS, SECURE_HSTS_PRELOAD = ENV.is_hsts_for_subdomains, ENV.is_hsts_preloaded
# HSTS for subdomains and preload lists, which only the operator can decide about
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
SECURE_SSL_REDIRECT = ENV.is_tls
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024
TRUSTED_PROXIES = ENV.trusted_proxies

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "controlplane.accounts.authentication.BearerAuthentication",
        "controlplane.accounts.authentication.ConsoleSessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["controlplane.accounts.permissions.ReadViewerWriteOperator"],
    "DEFAULT_PAGINATION_CLASS": "controlplane.core.pagination.CursorPages",
    "DEFAULT_FILTER_BACKENDS": ["django_filters.rest_framework.DjangoFilterBackend"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["controlplane.core.parsers.StrictJSONParser"],
    "DEFAULT_SCHEMA_CLASS": "controlplane.core.contract.ContractSchema",
    "DEFAULT_THROTTLE_CLASSES": ["controlplane.core.throttling.CallerThrottle"],
    "DEFAULT_THROTTLE_RATES": {
        "caller": "6000/min",
        "login": "20/min",
        # An identity provider reports the end of all its sessions from one address.
        "provider_logout": "3000/min",
        "endpoint_check": "30/min",
        # Per token: as many near caches as an instance may have, each reporting at the highest poll rate.
        "near_report": "12000/min",
    },
    "EXCEPTION_HANDLER": "controlplane.core.problems.exception_handler",
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Fast Query Cache control plane",
    "DESCRIPTION": "Instances, parameters, change sets, metrics and alerts of a fleet with the fast query cache.",
    "VERSION": VERSION,
    "OAS_VERSION": "3.1.0",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "COMPONENT_SPLIT_REQUEST": True,
    "ENUM_ADD_EXPLICIT_BLANK_NULL_CHOICE": False,
    "SERVERS": [{"url": "/"}],
    "LICENSE": {"name": "MIT"},
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "controlplane.core.contract.add_problem_responses",
        "controlplane.core.contract.close_bodies",
    ],
    "ENUM_NAME_OVERRIDES": {
        "Role": "controlplane.accounts.roles.Role",
        "TokenScope": "controlplane.accounts.roles.Scope",
        "NearSource": "controlplane.near_caches.models.Source",
        "NearMode": "controlplane.near_caches.models.Mode",
        "NearReportMode": "controlplane.near_caches.serializers.REPORTED_MODES",
        "SeriesResolutionEnum": "controlplane.metrics.serializers.RESOLUTIONS",
        "FindingSeverity": ["blocking", "advice", "notice"],
        "InstanceState": "controlplane.fleet.states.State",
        "Provider": "controlplane.fleet.states.Provider",
        "ParameterAccess": "controlplane.catalogue.access.CLASSES",
        "ChangeState": "controlplane.changes.states.ChangeState",
        "ChangeKind": "controlplane.changes.states.Kind",
        "StepKind": "controlplane.changes.states.StepKind",
        "StepState": "controlplane.changes.states.StepState",
        "FleetApplyKind": "controlplane.rollouts.states.ApplyKind",
        "FleetApplyState": "controlplane.rollouts.states.ApplyState",
        "FleetApplyItemState": "controlplane.rollouts.states.ItemState",
        "When": "controlplane.changes.states.When",
        "CacheType": [(1, "1"), (2, "2")],
        "EstimateVerdict": "controlplane.prerequisites.serializers.ESTIMATE_VERDICTS",
        "VerdictEnum": "controlplane.prerequisites.serializers.RECOMMENDATION_VERDICTS",
        "SizeRule": "controlplane.prerequisites.serializers.SIZE_RULES",
        "AlertSeverity": "controlplane.alerts.vocabulary.Severity",
        "AlertScope": "controlplane.alerts.vocabulary.Scope",
        "StorageGap": "controlplane.metrics.models.StorageGap",
        "DiskSource": "controlplane.metrics.models.DiskSource",
        "ChannelKind": "controlplane.alerts.vocabulary.ChannelKind",
    },
}

ENDPOINT_NETWORKS = ENV.endpoint_networks
MAIL_NETWORKS = ENV.mail_networks
CHANNEL_NETWORKS = ENV.channel_networks
ENGINE_LIBRARY = ENV.engine_library
LOCAL_PROGRAMS = {"MySQL": ENV.mysqld}  # paths of programs by product
LOCAL_ROOT = RUN_DIR / "local"
LOCAL_PORT_BASE = ENV.local_port_base
CONNECT_TIMEOUT_SECONDS = ENV.connect_timeout_seconds
STATEMENT_TIMEOUT_SECONDS = ENV.statement_timeout_seconds
LEAST_FREE_MIB = ENV.least_free_mib
REQUESTS_AT_ONCE = ENV.requests_at_once
HASHES_AT_ONCE = ENV.hashes_at_once
TOKEN_LIFETIME_DAYS = ENV.token_lifetime_days
TOKEN_RETENTION_DAYS = ENV.token_retention_days
MAIL_RETENTION_DAYS = ENV.mail_retention_days
INCIDENT_RETENTION_DAYS = ENV.incident_retention_days
AUDIT_RETENTION_DAYS = ENV.audit_retention_days
CHANGE_LEASE_SECONDS = ENV.change_lease_seconds
FOUR_EYES_DEFAULT = ENV.is_four_eyes
BROKER_URL = ENV.broker_url

LOGGING_CONFIG = None
logs.configure(ENV.log_level, is_json=not DEBUG)
