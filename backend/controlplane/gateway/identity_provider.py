"""The client of the identity provider, by OpenID Connect.

Authlib implements what the protocol requires of a client: PKCE, state and nonce, the token's signature, issuer and
audience, and the provider's keys, also new ones. This module returns the facts that the control plane needs, as values.
The type of every claim is checked.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

import requests
import structlog
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.base_client.errors import MismatchingStateError
from authlib.integrations.django_client import DjangoOAuth2App, OAuth
from authlib.integrations.requests_client import OAuth2Session
from authlib.oauth2.claims import JWTClaims
from django.conf import settings
from django.http import HttpRequest
from joserfc.errors import JoseError

from controlplane.core.connections import connection_give_back
from controlplane.core.errors import Problem

log = structlog.get_logger(__name__)
KEPT_SECONDS = 600  # then addresses and keys are read again, so that a revoked key is no longer trusted
LEEWAY_SECONDS = 60
LONGEST_SUBJECT = 255  # by the standard
# Only algorithms with a private key of the provider. The library accepts what the provider lists, which may be `none`.
SIGNED_BY_ITS_KEY = {f"{kind}{bits}" for kind in ("RS", "PS", "ES") for bits in (256, 384, 512)} | {"EdDSA", "Ed25519"}
LOGGED_OUT = "http://schemas.openid.net/event/backchannel-logout"


class ProviderUnavailable(Problem):
    status, code, title = 503, "provider_unavailable", "The identity provider is not available"


class ProviderRefused(Problem):
    status, code, title = 403, "provider_refused", "The identity provider did not confirm the user's identity"


class SignInExpired(Problem):
    status, code, title = 403, "sign_in_expired", "The sign-in was started too long ago, or in another browser"


class ProviderSessionEnded(Problem):
    """The identity provider refuses to renew the tokens: the person's session there has ended, or the account has."""

    status, code, title = 403, "provider_ended", "The identity provider has ended the session"


@dataclass(frozen=True)
class IdentityProof:
    subject: str
    session_id: str  # the provider's session; empty if it sent none
    username: str
    email: str
    groups: frozenset[str]
    refresh_token: str  # empty if the provider sent none
    is_offline: bool  # whether the token outlives the provider's session
    # Until when the proof can be renewed, or is valid if it cannot be renewed; None if the provider sent no time.
    good_until: datetime | None


@dataclass(frozen=True)
class LoggedOut:
    subject: str
    session_id: str


class _LogoutToken(JWTClaims):
    pass


def sign_in_url(request: HttpRequest, back: str) -> str:
    """Returns the address of the identity provider to redirect the browser to; it comes back to `back`.

    State, nonce and PKCE verifier are stored in the browser's session, where `signed_in` finds them.
    """
    with _asking():
        app = _app()
        begun = app.create_authorization_url(back)
        app.save_authorize_data(request, redirect_uri=back, **begun)
        return str(begun["url"])


def signed_in(request: HttpRequest) -> IdentityProof:
    """Exchanges the code that the browser brought back for tokens, and returns the verified facts about the person.

    Raises SignInExpired if this browser did not begin the sign-in, else ProviderRefused or ProviderUnavailable.
    """
    with _asking():
        token = _app().authorize_access_token(request, claims_options=_required(), leeway=LEEWAY_SECONDS)
        if "userinfo" not in token:
            raise ProviderRefused("The identity provider sent no ID token.")
        return _proof(token, token["userinfo"])


def confirmed(refresh_token: str) -> IdentityProof:
    """Renews the tokens and returns the facts about the person with the present groups, and the refresh token to use
    next.

    Raises ProviderSessionEnded if the provider has ended the session, ProviderUnavailable if it cannot be asked.
    """
    with _asking():
        app = _app()
        token = dict(_session().refresh_token(app.load_server_metadata()["token_endpoint"], refresh_token))
        if "id_token" not in token:
            raise ProviderUnavailable("The identity provider renewed a session without an ID token.")
        claims = app.parse_id_token(token, None, _required(), leeway=LEEWAY_SECONDS)
        return _proof({"refresh_token": refresh_token, **token}, claims)


def logged_out(logout_token: str) -> LoggedOut:
    """Verifies a logout token, with which the provider reports that a session has ended, and returns which.

    An empty `session_id` means all sessions of that subject. Raises ProviderRefused if the token is not valid.
    """
    required = {**_required(), "exp": {"essential": True}, "events": {"essential": True, "validate": _tells_log_out}}
    with _asking():
        claims = _app().parse_id_token({"id_token": logout_token}, None, required, _LogoutToken, LEEWAY_SECONDS)
    told = LoggedOut(_text(claims, "sub", LONGEST_SUBJECT), _text(claims, "sid", LONGEST_SUBJECT))
    if "nonce" in claims or not (told.subject or told.session_id):
        raise ProviderRefused("This is not a logout token.")
    return told


def log_out_url(back: str) -> str:
    """Returns the provider's address where the browser ends its session there, after asking the person, and comes back
    to `back`; `back` itself if the provider has no such address.
    """
    with _asking():
        app = _app()
        if "end_session_endpoint" not in app.load_server_metadata():
            return back
        return str(app.create_logout_url(back, client_id=settings.IDENTITY_PROVIDER.client_id)["url"])


def _tells_log_out(_: Any, events: Any) -> bool:
    return isinstance(events, dict) and LOGGED_OUT in events


def _required() -> dict[str, Any]:
    """Returns the claims that every token must have, in Authlib's form.

    Each call returns a new value, since Authlib removes the functions from it.
    """
    provider = settings.IDENTITY_PROVIDER
    return {
        "iss": {"essential": True, "value": provider.issuer},
        "aud": {"essential": True, "value": provider.client_id},
    }


def _app() -> DjangoOAuth2App:
    provider = settings.IDENTITY_PROVIDER
    app = _made(provider.issuer, provider.client_id, provider.client_secret, int(time.time() / KEPT_SECONDS))
    metadata = app.load_server_metadata()
    listed = metadata.get("id_token_signing_alg_values_supported", ["RS256"])
    metadata["id_token_signing_alg_values_supported"] = [each for each in listed if each in SIGNED_BY_ITS_KEY]
    return app


@lru_cache(maxsize=1)
def _made(issuer: str, client_id: str, client_secret: str, _: int) -> DjangoOAuth2App:
    return OAuth().register(
        "provider",
        client_id=client_id,
        client_secret=client_secret or None,
        server_metadata_url=f"{issuer.rstrip('/')}/.well-known/openid-configuration",
        client_kwargs=_client_options(),
    )


def _client_options() -> dict[str, Any]:
    provider = settings.IDENTITY_PROVIDER
    return {
        "scope": " ".join(provider.scopes),
        "code_challenge_method": "S256",
        "default_timeout": settings.CONNECT_TIMEOUT_SECONDS,
        "token_endpoint_auth_method": "client_secret_basic" if provider.client_secret else "none",
    }


def _session() -> OAuth2Session:
    provider = settings.IDENTITY_PROVIDER
    return OAuth2Session(provider.client_id, provider.client_secret or None, **_client_options())


@contextmanager
def _asking() -> Iterator[None]:
    """Turns every failure in the block into a Problem whose message may be shown to the person.

    The provider's own text is only logged.
    """
    connection_give_back()
    try:
        yield
    except MismatchingStateError as error:
        raise SignInExpired("This sign-in was started too long ago, or in another browser: start again.") from error
    except AuthlibBaseError as error:
        log.warning("provider_refused", error=str(error)[:500])
        if error.error == "invalid_grant":
            raise ProviderSessionEnded("The identity provider has ended the session: sign in again.") from error
        if error.error in {"invalid_client", "unauthorized_client", "temporarily_unavailable", "server_error"}:
            raise ProviderUnavailable(
                "The identity provider rejects this control plane: see the control plane's log."
            ) from error
        raise ProviderRefused(
            "The identity provider rejected the sign-in: see the control plane's log for the reason."
        ) from error
    except JoseError as error:
        log.warning("provider_token_refused", error=str(error)[:500])
        raise ProviderRefused("The response of the identity provider does not confirm the user's identity.") from error
    except (requests.RequestException, RuntimeError, ValueError, KeyError, TypeError) as error:
        log.warning("provider_unavailable", error=f"{type(error).__name__}: {error}"[:500])
        raise ProviderUnavailable("The identity provider cannot be reached, or its response cannot be used.") from error


def _proof(token: dict[str, Any], claims: dict[str, Any]) -> IdentityProof:
    subject = _text(claims, "sub", LONGEST_SUBJECT)
    if not subject:
        raise ProviderRefused("The identity provider sent no subject.")
    refresh_token = _text(token, "refresh_token", 64 * 1024)
    return IdentityProof(
        subject=subject,
        session_id=_text(claims, "sid", LONGEST_SUBJECT),
        username=_text(claims, "preferred_username", 255),
        email=_text(claims, "email", 254) if claims.get("email_verified") is True else "",
        groups=_groups(claims),
        refresh_token=refresh_token,
        is_offline="offline_access" in _text(token, "scope", 4096).split(),
        good_until=_renewable_until(token) if refresh_token else datetime.fromtimestamp(claims["exp"], UTC),
    )


def _renewable_until(token: dict[str, Any]) -> datetime | None:
    seconds = token.get("refresh_expires_in")
    return datetime.now(UTC) + timedelta(seconds=seconds) if type(seconds) is int and seconds > 0 else None


def _groups(claims: dict[str, Any]) -> frozenset[str]:
    """Returns the person's groups if the claim is a list of texts, else no group: a single text would be searched for
    parts of group names.
    """
    claim = settings.IDENTITY_PROVIDER.groups_claim
    groups = claims.get(claim, [])
    if not isinstance(groups, list) or not all(isinstance(group, str) for group in groups):
        log.warning("provider_groups_refused", claim=claim, type=type(groups).__name__)
        return frozenset()
    return frozenset(groups)


def _text(source: dict[str, Any], name: str, longest: int) -> str:
    value = source.get(name)
    return value if isinstance(value, str) and len(value) <= longest else ""
