"""The process environment, read once and validated.

Every FQC_ variable the control plane understands is declared here with its type, default and meaning.
A bad value stops the start with a sentence that names the variable. Imports no Django.
"""

from __future__ import annotations

import ipaddress
import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

REPOSITORY = Path(__file__).resolve().parents[2]
SERVERS = REPOSITORY / "engine" / "servers.tsv"
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
TRUE, FALSE = {"1", "true", "yes", "on"}, {"0", "false", "no", "off"}


def fetched_mysqld() -> Path | None:
    """Returns the path of the mysqld that `scripts/fetch-server MySQL tested` has brought; None if there is none."""
    rows = (line.split("\t") for line in SERVERS.read_text().splitlines())
    tested = [row[2] for row in rows if row[:2] == ["line", "MySQL"] and row[3] == "tested"]
    program = REPOSITORY / "engine" / "target" / "servers" / f"MySQL-{tested[-1]}" / "sbin" / "mysqld"
    return program if program.exists() else None


class BadEnvironment(ValueError):
    """An environment variable has an invalid value. The message names it and says what to write; the start must end."""


def _text(name: str, default: str) -> str:
    return os.environ.get(name, "").strip() or default


def _flag(name: str, default: bool) -> bool:
    value = _text(name, str(default)).lower()
    if value not in TRUE | FALSE:
        raise BadEnvironment(f"{name}={value!r}: write true or false")
    return value in TRUE


def _number(name: str, default: int, low: int, high: int) -> int:
    value = _text(name, str(default))
    if not value.isascii() or not value.isdigit() or not low <= int(value) <= high:
        raise BadEnvironment(f"{name}={value!r}: write a whole number from {low} to {high}")
    return int(value)


def _level(name: str, default: str) -> str:
    value = _text(name, default).upper()
    if value not in LEVELS:
        raise BadEnvironment(f"{name}={value!r}: write one of {', '.join(LEVELS)}")
    return value


def _address(name: str, default: str) -> str:
    value = _text(name, default)
    if value and not value.startswith(("http://", "https://")):
        raise BadEnvironment(f"{name}={value!r}: write http:// or https:// and the host")
    return value.rstrip("/")


def _issuer(name: str) -> str:
    """Returns the issuer as it is spelled, since tokens must name the same issuer to the last slash; empty if there is
    none.

    Raises BadEnvironment unless it is https, or http on this machine.
    """
    value = _text(name, "")
    parts = urlsplit(value)
    is_here = parts.scheme == "http" and parts.hostname in {"127.0.0.1", "::1", "localhost"}
    if value and not (parts.scheme == "https" and parts.hostname) and not is_here:
        raise BadEnvironment(f"{name}={value!r}: write https:// and the issuer; http:// is for loopback alone")
    return value


def _words(name: str, default: str) -> list[str]:
    return [word.strip() for word in _text(name, default).split(",") if word.strip()]


def _networks(name: str, default: str) -> list[str]:
    words = _words(name, default)
    for word in words:
        try:
            ipaddress.ip_network(word)
        except ValueError as error:
            raise BadEnvironment(f"{name}: {error}; write networks such as 10.0.0.0/8") from error
    return words


def _path(name: str, default: Path) -> Path:
    return Path(_text(name, str(default))).expanduser().resolve()


def database(url: str, run_dir: Path) -> dict[str, object]:
    """Returns Django's description of the database at `url`; an empty one means SQLite in the run directory."""
    parts = urlsplit(url)
    if parts.scheme in {"", "sqlite"}:
        return _sqlite(parts.path or str(run_dir / "db.sqlite3"))
    if parts.scheme not in {"postgresql", "postgres"}:
        raise BadEnvironment(f"FQC_DATABASE_URL: scheme {parts.scheme!r} is unknown; write postgresql:// or sqlite://")
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.lstrip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": unquote(parts.hostname or ""),
        "PORT": str(parts.port or ""),
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {"connect_timeout": 5},
    }


def pool(environment: Environment) -> dict[str, object] | None:
    """Returns the options of a web process's pool of connections to PostgreSQL; None for SQLite, which has none."""
    if urlsplit(environment.database_url).scheme in {"", "sqlite"}:
        return None
    # After a failure the pool retries every two seconds, instead of waiting longer each time.
    return {
        "min_size": 0,
        "max_size": environment.database_connections,
        "timeout": environment.database_wait_seconds,
        "reconnect_timeout": 2,
    }


def _sqlite(path: str) -> dict[str, object]:
    # IMMEDIATE: a transaction that will write waits for its turn at the start instead of failing in the middle.
    pragmas = "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;"
    options = {"timeout": 20, "transaction_mode": "IMMEDIATE", "init_command": pragmas}
    return {"ENGINE": "django.db.backends.sqlite3", "NAME": path, "OPTIONS": options}


@dataclass(frozen=True)
class IdentityProvider:
    """The OpenID Connect provider that users sign in with, in addition to passwords or instead of them."""

    issuer: str  # empty if there is none
    client_id: str
    client_secret: str  # empty for a public client, which only PKCE protects
    name: str
    scopes: list[str]
    groups_claim: str
    groups: dict[str, list[str]]  # by role, the provider's groups that give it
    refresh_seconds: int
    token_hours: int


def _identity_provider() -> IdentityProvider:
    provider = IdentityProvider(
        issuer=_issuer("FQC_OIDC_ISSUER"),
        client_id=_text("FQC_OIDC_CLIENT_ID", "fqc"),
        client_secret=_text("FQC_OIDC_CLIENT_SECRET", ""),
        name=_text("FQC_OIDC_NAME", "single sign-on"),
        scopes=_text("FQC_OIDC_SCOPES", "openid profile email").split(),
        groups_claim=_text("FQC_OIDC_GROUPS_CLAIM", "groups"),
        groups={
            "admin": _words("FQC_OIDC_ADMIN_GROUPS", ""),
            "operator": _words("FQC_OIDC_OPERATOR_GROUPS", ""),
            "viewer": _words("FQC_OIDC_VIEWER_GROUPS", ""),
        },
        refresh_seconds=_number("FQC_OIDC_REFRESH_SECONDS", 300, 10, 1800),
        token_hours=_number("FQC_OIDC_TOKEN_HOURS", 24, 1, 8760),
    )
    if provider.issuer and not any(provider.groups.values()):
        raise BadEnvironment("FQC_OIDC_ISSUER: nobody would get a role; set FQC_OIDC_ADMIN_GROUPS, for instance")
    if "openid" not in provider.scopes:
        raise BadEnvironment("FQC_OIDC_SCOPES: without openid the provider does not say who signs in")
    return provider


@dataclass(frozen=True)
class Environment:
    debug: bool
    run_dir: Path
    secret_key: str  # if empty, a key is made and kept in the run directory
    sealing_keys: list[str]  # newest first; if empty, a key is made and kept in the run directory
    allowed_hosts: list[str]
    public_url: str
    database_url: str
    database_connections: int
    database_wait_seconds: int
    broker_url: str
    endpoint_networks: list[str]
    mail_networks: list[str]
    channel_networks: list[str]
    engine_library: Path
    mysqld: str  # if empty, the machine's own program is used
    frontend_dist: Path
    requests_at_once: int
    hashes_at_once: int
    least_free_mib: int
    token_lifetime_days: int
    token_retention_days: int
    mail_retention_days: int
    incident_retention_days: int  # 0: for ever
    audit_retention_days: int  # 0: for ever
    is_four_eyes: bool
    connect_timeout_seconds: int
    statement_timeout_seconds: int
    local_port_base: int
    change_lease_seconds: int
    log_level: str
    otlp_endpoint: str  # empty: no traces, no metrics
    trusted_proxies: int
    is_hsts_for_subdomains: bool
    is_hsts_preloaded: bool
    identity_provider: IdentityProvider
    has_passwords: bool  # if false, only the local administrator logs in with a password
    local_admin: str

    @property
    def is_tls(self) -> bool:
        return self.public_url.startswith("https://")


def read() -> Environment:
    """Returns the validated environment. Raises BadEnvironment at the first variable that is wrong."""
    is_for_subdomains, is_preloaded = _flag("FQC_HSTS_SUBDOMAINS", False), _flag("FQC_HSTS_PRELOAD", False)
    if is_preloaded and not is_for_subdomains:
        raise BadEnvironment("FQC_HSTS_PRELOAD=true: a list of whole domains; set FQC_HSTS_SUBDOMAINS too")
    provider, has_passwords = _identity_provider(), _flag("FQC_PASSWORD_LOGIN", True)
    if not has_passwords and not provider.issuer:
        raise BadEnvironment("FQC_PASSWORD_LOGIN=false: nobody could log in; set FQC_OIDC_ISSUER too")
    return Environment(
        debug=_flag("FQC_DEBUG", False),
        run_dir=_path("FQC_RUN_DIR", REPOSITORY / ".run"),
        secret_key=_text("FQC_SECRET_KEY", ""),
        sealing_keys=_words("FQC_SEALING_KEYS", ""),
        allowed_hosts=_words("FQC_ALLOWED_HOSTS", "127.0.0.1,localhost,[::1]"),
        public_url=_address("FQC_PUBLIC_URL", "http://127.0.0.1:8000"),
        database_url=_text("FQC_DATABASE_URL", ""),
        database_connections=_number("FQC_DATABASE_CONNECTIONS", 20, 1, 1000),
        database_wait_seconds=_number("FQC_DATABASE_WAIT_SECONDS", 10, 1, 120),
        broker_url=_text("FQC_BROKER_URL", "filesystem://localhost"),
        endpoint_networks=_networks("FQC_ENDPOINT_NETWORKS", "127.0.0.0/8,::1/128"),
        mail_networks=_networks("FQC_MAIL_NETWORKS", ""),
        channel_networks=_networks("FQC_CHANNEL_NETWORKS", ""),
        engine_library=_path("FQC_ENGINE_LIBRARY", REPOSITORY / "engine" / "dist" / "fqc.so"),
        mysqld=_text("FQC_MYSQLD", str(fetched_mysqld() or "")),
        frontend_dist=_path("FQC_FRONTEND_DIST", REPOSITORY / "frontend" / "dist"),
        least_free_mib=_number("FQC_LEAST_FREE_MIB", 64, 0, 1024 * 1024),
        requests_at_once=_number("FQC_REQUESTS_AT_ONCE", 16, 1, 1000),
        hashes_at_once=_number("FQC_HASHES_AT_ONCE", 2, 1, 64),
        token_lifetime_days=_number("FQC_TOKEN_LIFETIME_DAYS", 90, 1, 3650),
        token_retention_days=_number("FQC_TOKEN_RETENTION_DAYS", 30, 1, 36500),
        mail_retention_days=_number("FQC_MAIL_RETENTION_DAYS", 30, 1, 36500),
        incident_retention_days=_number("FQC_INCIDENT_RETENTION_DAYS", 400, 0, 36500),
        audit_retention_days=_number("FQC_AUDIT_RETENTION_DAYS", 400, 0, 36500),
        is_four_eyes=_flag("FQC_FOUR_EYES", False),
        connect_timeout_seconds=_number("FQC_CONNECT_TIMEOUT_SECONDS", 5, 1, 120),
        statement_timeout_seconds=_number("FQC_STATEMENT_TIMEOUT_SECONDS", 30, 1, 3600),
        local_port_base=_number("FQC_LOCAL_PORT_BASE", 13306, 1024, 65000),
        change_lease_seconds=_number("FQC_CHANGE_LEASE_SECONDS", 180, 1, 3600),
        log_level=_level("FQC_LOG_LEVEL", "INFO"),
        otlp_endpoint=_address("FQC_OTLP_ENDPOINT", ""),
        trusted_proxies=_number("FQC_TRUSTED_PROXIES", 0, 0, 10),
        is_hsts_for_subdomains=is_for_subdomains,
        is_hsts_preloaded=is_preloaded,
        identity_provider=provider,
        has_passwords=has_passwords,
        local_admin=_text("FQC_LOCAL_ADMIN", "admin"),
    )
