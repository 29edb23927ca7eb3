"""The control plane refuses a sign-in if the identity provider, or a server that poses as it, proves too little."""

from __future__ import annotations

import json
import threading
import time
import urllib.parse
from base64 import urlsafe_b64encode
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey
from rest_framework.test import APIClient

from config.environment import IdentityProvider
from controlplane.accounts.models import Session, User
from controlplane.gateway.identity_provider import LOGGED_OUT

pytestmark = pytest.mark.django_db
KEY = RSAKey.generate_key(2048, {"kid": "known"})
OTHER_KEY = RSAKey.generate_key(2048, {"kid": "known"})
SECRET = "a secret of the client"


class Provider:
    """An identity provider in this process.

    It follows the protocol, but signs whatever `claims` a test sets, with the key and algorithm that the test sets.
    """

    def __init__(self):
        self.claims, self.key, self.algorithm, self.with_id_token = {}, KEY, "RS256", True
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def right_claims(self, nonce):
        now = int(time.time())
        about = {"iss": self.url, "aud": "fqc", "sub": "1", "iat": now, "exp": now + 300, "nonce": nonce}
        return {**about, "groups": ["staff"], "preferred_username": "ann"}

    def token(self, claims):
        if self.algorithm == "none":
            parts = ({"alg": "none", "kid": "known"}, claims)
            return ".".join(_encoded(json.dumps(part).encode()) for part in parts) + "."
        allowed = [self.algorithm]
        return jwt.encode({"alg": self.algorithm, "kid": "known"}, claims, self.key, algorithms=allowed)

    def _answer(self, path):
        if path.endswith("openid-configuration"):
            places = {name: f"{self.url}/{name}" for name in ("authorization_endpoint", "token_endpoint", "jwks_uri")}
            algorithms = {"id_token_signing_alg_values_supported": ["RS256", "HS256", "none"]}
            return {"issuer": self.url, **places, **algorithms}
        if path.endswith("jwks_uri"):
            return {"keys": [KEY.as_dict(private=False)]}
        given = {"access_token": "a", "token_type": "Bearer"}
        return {**given, "id_token": self.token(self.claims)} if self.with_id_token else given

    def _handler(provider):
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                body = json.dumps(provider._answer(self.path)).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                self.do_GET()

            def log_message(self, *_):
                pass

        return Handler


def _encoded(part):
    return urlsafe_b64encode(part).rstrip(b"=").decode()


@pytest.fixture
def provider(settings):
    running = Provider()
    groups = {"admin": ["fqc-admins"], "operator": [], "viewer": ["staff", "f"]}
    settings.IDENTITY_PROVIDER = IdentityProvider(
        running.url, "fqc", SECRET, "the company", ["openid"], "groups", groups, 300, 24
    )
    yield running
    running.stop()


def come_back(provider, change=lambda claims: None):
    """Signs in at the provider, whose right claims `change` may edit in place.

    Returns the address that the browser is redirected to, and the browser.
    """
    browser = APIClient()
    url = browser.post("/api/v1/auth/provider", {}).json()["url"]
    asked = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(url).query))
    assert asked["code_challenge_method"] == "S256" and len(asked["state"]) >= 20
    provider.claims = provider.right_claims(asked["nonce"])
    change(provider.claims)
    return browser.get("/oidc/callback", {"code": "c", "state": asked["state"]}).headers["Location"], browser


def test_what_is_proven_lets_in(provider):
    place, browser = come_back(provider)
    assert place == "/fleet" and browser.get("/api/v1/auth/session").json()["role"] == "viewer"


LIES = {
    "another issuer": {"iss": "https://evil.test"},
    "no issuer": {"iss": None},
    "another audience": {"aud": "another"},
    "another audience by our hand": {"aud": ["another"], "azp": "fqc"},
    "no audience": {"aud": None},
    "another nonce": {"nonce": "n"},
    "no nonce": {"nonce": None},
    "over": {"exp": 1},
    "without an end": {"exp": None},
    "no subject": {"sub": None},
    "an empty subject": {"sub": ""},
    "a subject that is no text": {"sub": 1},
    "an endless subject": {"sub": "s" * 256},
}


@pytest.mark.parametrize("lie", LIES)
def test_a_token_with_a_wrong_claim_lets_nobody_in(provider, lie):
    def change(claims):
        claims.update(LIES[lie])
        for name in [name for name, value in claims.items() if value is None]:
            del claims[name]

    place, browser = come_back(provider, change)
    assert place.startswith("/login?failed=") and not User.objects.exists()
    assert browser.get("/api/v1/auth/session").json()["is_authenticated"] is False


@pytest.mark.parametrize("how", ["another key", "none", "the client's secret", "no token"])
def test_a_token_that_the_providers_key_has_not_signed_lets_nobody_in(provider, how):
    if how == "another key":
        provider.key = OTHER_KEY
    elif how == "the client's secret":
        provider.key, provider.algorithm = OctKey.import_key(SECRET), "HS256"
    elif how == "none":
        provider.algorithm = "none"
    else:
        provider.with_id_token = False
    assert come_back(provider)[0].startswith("/login?failed=provider_") and not User.objects.exists()


@pytest.mark.parametrize("groups", ["fqc-admins", {"fqc-admins": True}, ["staff", {"a": 1}], [["fqc-admins"]], 1, None])
def test_groups_that_are_no_list_of_names_give_no_role(provider, groups):
    assert come_back(provider, lambda claims: claims.update(groups=groups))[0] == "/login?failed=no_role"
    assert not User.objects.exists()


def test_an_address_that_the_provider_has_not_verified_is_not_taken(provider):
    come_back(provider, lambda claims: claims.update(email="ann@company.test", email_verified=False))
    assert User.objects.get().email == ""


LOG_OUTS = {
    "an ID token": lambda claims: claims.update(nonce="n"),
    "no event": lambda claims: claims.pop("events"),
    "another event": lambda claims: claims.update(events={"x": {}}),
    "another audience": lambda claims: claims.update(aud="another"),
    "another issuer": lambda claims: claims.update(iss="https://evil.test"),
    "over": lambda claims: claims.update(exp=1),
    "without an end": lambda claims: claims.pop("exp"),
    "of nobody": lambda claims: claims.pop("sub"),
}


def log_out(provider, change=lambda claims: None):
    claims = {**provider.right_claims(""), "events": {LOGGED_OUT: {}}}
    del claims["nonce"]
    change(claims)
    return APIClient().post("/oidc/logout", {"logout_token": provider.token(claims)}, format="multipart").status_code


def test_a_log_out_by_the_provider_ends_the_sessions_of_its_subject(provider):
    come_back(provider)
    assert log_out(provider, lambda claims: claims.update(sub="2")) == 200 and Session.objects.count() == 1
    assert log_out(provider) == 200 and not Session.objects.exists()


@pytest.mark.parametrize("lie", LOG_OUTS)
def test_a_log_out_that_proves_nothing_ends_nothing(provider, lie):
    come_back(provider)
    assert log_out(provider, LOG_OUTS[lie]) == 400 and Session.objects.count() == 1


def test_a_log_out_that_another_key_has_signed_ends_nothing(provider):
    come_back(provider)
    provider.key = OTHER_KEY
    assert log_out(provider) == 400 and Session.objects.count() == 1


def test_what_the_provider_says_of_a_user_is_not_changed_here(provider, admin):
    come_back(provider)
    path = f"/api/v1/users/{User.objects.get(username='ann').pk}"
    for change in ({"role": "admin"}, {"password": "seven green bicycles"}, {"email": "a@example.com"}):
        etag = admin.get(path).headers["ETag"]
        answer = admin.patch(path, change, HTTP_IF_MATCH=etag)
        assert (answer.status_code, answer.json()["code"]) == (409, "provider_user")
    assert admin.patch(path, {"is_active": False}, HTTP_IF_MATCH=admin.get(path).headers["ETag"]).status_code == 200


def test_an_administrator_by_the_provider_does_not_stand_for_the_last_local_one(provider, admin):
    come_back(provider, lambda claims: claims.update(groups=["fqc-admins"]))
    assert User.objects.filter(role="admin").count() == 2
    answer = admin.delete(f"/api/v1/users/{admin.user.pk}", HTTP_IF_MATCH='"1"')
    assert (answer.status_code, answer.json()["code"]) == (409, "last_admin")


def test_signing_in_takes_a_csrf_token_and_a_provider(provider, settings):
    assert APIClient(enforce_csrf_checks=True).post("/api/v1/auth/provider", {}).json()["code"] == "csrf_failed"
    settings.IDENTITY_PROVIDER = IdentityProvider("", "fqc", "", "x", ["openid"], "groups", {}, 300, 24)
    assert APIClient().post("/api/v1/auth/provider", {}).json()["code"] == "no_provider"
    assert {APIClient().get(f"/oidc/{place}").status_code for place in ("callback", "end")} == {404}
    assert APIClient().post("/oidc/logout").status_code == 404
