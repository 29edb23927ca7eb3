"""Sign-in by a real identity provider, through real web processes: who is let in as whom, and for how long."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from config.environment import IdentityProvider
from controlplane.accounts.models import Session, SignIn, Token, User
from controlplane.accounts.services import user_create
from controlplane.accounts.sign_ins import sign_ins_confirm
from controlplane.audit.models import AuditEvent
from controlplane.core.ids import new_id
from controlplane.core.request_context import acting_as
from testing.clients import PASSWORD
from testing.keycloak import SECRET, Visitor
from testing.ports import free_port
from testing.workers import until

pytestmark = pytest.mark.django_db(transaction=True)
GROUPS = {"admin": ["fqc-admins"], "operator": ["dba"], "viewer": ["staff"]}


class Console:
    """A web process that signs users in by the identity provider.

    This process gets the same settings, so that it can confirm the sign-ins.
    """

    def __init__(self, web, keycloak, settings, *, scopes="openid profile email", is_told=True, **more):
        client_id = new_id("fqc")
        self.url = web(
            FQC_PUBLIC_URL="http://127.0.0.1:{port}",
            FQC_OIDC_ISSUER=keycloak.issuer,
            FQC_OIDC_CLIENT_ID=client_id,
            FQC_OIDC_CLIENT_SECRET=SECRET,
            FQC_OIDC_SCOPES=scopes,
            **{f"FQC_OIDC_{role.upper()}_GROUPS": ",".join(groups) for role, groups in GROUPS.items()},
            **more,
        )
        keycloak.client(client_id, self.url, is_told=is_told)
        settings.IDENTITY_PROVIDER = IdentityProvider(
            keycloak.issuer, client_id, SECRET, "the company", scopes.split(), "groups", GROUPS, 300, 24
        )


@pytest.fixture
def console(web, keycloak, settings):
    return lambda **facts: Console(web, keycloak, settings, **facts)


def ask_the_provider():
    """Makes every sign-in due and confirms them with the identity provider, as the scheduler does later."""
    SignIn.objects.update(due_at=timezone.now())
    sign_ins_confirm()


def token_of(visitor, url):
    csrf = visitor.session(url)["csrf_token"]
    made = visitor.api(f"{url}/api/v1/tokens", {"name": "ci", "scope": "viewer"}, **{"X-CSRFToken": csrf})
    return made.json["token"]


def lets_in(url, token):
    return Visitor().api(f"{url}/api/v1/instances", Authorization=f"Bearer {token}").status == 200


def is_in(visitor, url):
    return visitor.session(url)["is_authenticated"]


def test_who_signs_in_is_a_user_by_subject_with_the_highest_role_of_the_groups(console, keycloak):
    here, visitor = console(), Visitor()
    name = new_id("ann")
    subject = keycloak.person(name, "staff", "dba")
    assert visitor.sign_in(here.url, name, "/alerts?state=open").url == f"{here.url}/alerts?state=open"
    session = visitor.session(here.url)
    assert (session["user"]["username"], session["role"]) == (name, "operator")
    assert (session["user"]["issuer"], session["user"]["subject"]) == (keycloak.issuer, subject)
    made, let_in = AuditEvent.objects.get(action="user.created"), AuditEvent.objects.get(action="login.succeeded")
    assert made.after["subject"] == let_in.after["subject"] == subject
    assert (made.actor, let_in.actor) == ("identity provider", name)
    again = Visitor()
    again.sign_in(here.url, name)
    assert User.objects.filter(subject=subject).count() == 1 and is_in(again, here.url)


def test_a_local_user_of_the_same_name_and_address_is_not_taken_over(console, keycloak):
    name = new_id("root")
    with acting_as("test"):
        local = user_create(username=name, password=PASSWORD, role="admin", email=f"{name}@company.test")
    here, visitor = console(), Visitor()
    keycloak.person(name, "staff")
    visitor.sign_in(here.url, name)
    user = visitor.session(here.url)["user"]
    assert user["id"] != local.pk and user["role"] == "viewer"
    assert user["username"].startswith(f"{name}.")


def test_who_is_in_no_group_with_a_role_is_refused_and_leaves_no_user(console, keycloak):
    here, visitor = console(), Visitor()
    subject = keycloak.person(name := new_id("sam"), "sales")
    assert visitor.sign_in(here.url, name).url == f"{here.url}/login?failed=no_role"
    assert not is_in(visitor, here.url) and not User.objects.exists()
    refused = AuditEvent.objects.get(action="login.refused")
    assert refused.after == {"issuer": keycloak.issuer, "subject": subject, "reason": "no_role"}


def test_a_user_who_is_disabled_here_is_not_let_in_by_the_provider(console, keycloak):
    here, visitor = console(), Visitor()
    subject = keycloak.person(name := new_id("dan"), "staff")
    visitor.sign_in(here.url, name)
    User.objects.filter(subject=subject).update(is_active=False)
    assert not is_in(visitor, here.url)
    assert Visitor().sign_in(here.url, name).url == f"{here.url}/login?failed=user_disabled"


def test_the_role_follows_the_groups_and_without_any_nothing_lets_in(console, keycloak):
    here, visitor = console(), Visitor()
    subject = keycloak.person(name := new_id("eve"), "staff", "fqc-admins")
    visitor.sign_in(here.url, name)
    token = token_of(visitor, here.url)
    keycloak.leave(subject, "fqc-admins")
    ask_the_provider()
    assert visitor.session(here.url)["role"] == "viewer" and lets_in(here.url, token)
    keycloak.leave(subject, "staff")
    ask_the_provider()
    assert not is_in(visitor, here.url) and not lets_in(here.url, token)
    assert AuditEvent.objects.get(action="user.access_ended").after["subject"] == subject
    keycloak.join(subject, "staff")
    Visitor().sign_in(here.url, name)
    assert lets_in(here.url, token)


def test_a_log_out_at_the_provider_ends_the_session_at_once(console, keycloak):
    here, visitor, other = console(), Visitor(), Visitor()
    subject = keycloak.person(name := new_id("flo"), "staff")
    keycloak.person(another := new_id("gus"), "staff")
    visitor.sign_in(here.url, name)
    other.sign_in(here.url, another)
    keycloak.log_out(subject)
    until(lambda: not is_in(visitor, here.url), "the session has ended")
    assert is_in(other, here.url)
    assert AuditEvent.objects.get(action="user.session_ended").after["reason"] == "logged out there"


@pytest.mark.parametrize("how", ["log_out", "disable"])
def test_what_the_provider_has_ended_ends_here_when_it_is_asked_next(console, keycloak, how):
    here, visitor = console(is_told=False), Visitor()
    subject = keycloak.person(name := new_id("hal"), "staff")
    visitor.sign_in(here.url, name)
    ask_the_provider()
    assert is_in(visitor, here.url)
    getattr(keycloak, how)(subject)
    ask_the_provider()
    assert not is_in(visitor, here.url) and not Session.objects.filter(user__subject=subject).exists()


def test_a_token_ends_with_its_user_at_the_provider_who_may_be_away(console, keycloak):
    here, visitor = console(scopes="openid offline_access"), Visitor()
    subject = keycloak.person(name := new_id("ida"), "staff")
    visitor.sign_in(here.url, name)
    token = token_of(visitor, here.url)
    csrf = visitor.session(here.url)["csrf_token"]
    assert visitor.api(f"{here.url}/api/v1/auth/session", None, "DELETE", **{"X-CSRFToken": csrf}).status == 204
    User.objects.update(confirmed_until=timezone.now() + timedelta(seconds=1))
    ask_the_provider()
    assert User.objects.get().confirmed_until > timezone.now() + timedelta(hours=23) and lets_in(here.url, token)
    keycloak.disable(subject)
    ask_the_provider()
    assert not lets_in(here.url, token)


def test_a_token_of_a_user_whom_the_provider_has_not_confirmed_lets_nobody_in(console, keycloak):
    here, visitor = console(), Visitor()
    keycloak.person(name := new_id("jim"), "staff")
    visitor.sign_in(here.url, name)
    token = token_of(visitor, here.url)
    User.objects.update(confirmed_until=timezone.now())
    assert not lets_in(here.url, token) and not is_in(visitor, here.url)
    assert Token.objects.get().revoked_at is None


def test_a_session_that_the_provider_has_not_confirmed_in_time_lets_nobody_in(console, keycloak):
    here, visitor = console(), Visitor()
    keycloak.person(name := new_id("kim"), "staff")
    visitor.sign_in(here.url, name)
    kept = SignIn.objects.get()
    assert timezone.now() < kept.due_at < kept.expires_at <= timezone.now() + timedelta(minutes=30)
    SignIn.objects.update(expires_at=timezone.now())
    assert not is_in(visitor, here.url)


def test_a_provider_that_cannot_be_reached_lets_nobody_in_and_throws_nobody_out(console, keycloak, settings):
    here, visitor = console(), Visitor()
    keycloak.person(name := new_id("lea"), "staff")
    visitor.sign_in(here.url, name)
    nobody = f"http://127.0.0.1:{free_port()}"
    settings.IDENTITY_PROVIDER = replace(settings.IDENTITY_PROVIDER, issuer=nobody)
    ask_the_provider()
    assert is_in(visitor, here.url)


def test_an_outage_of_the_provider_is_told_by_its_name(web):
    nobody = f"http://127.0.0.1:{free_port()}"
    url = web(FQC_OIDC_ISSUER=nobody, FQC_OIDC_ADMIN_GROUPS="a", FQC_PUBLIC_URL="http://127.0.0.1:{port}")
    answer = Visitor().begin(url)
    assert (answer.status, answer.json["code"]) == (503, "provider_unavailable")


def test_new_keys_of_the_provider_are_taken_and_old_ones_are_not_needed(console, keycloak):
    here, visitor = console(), Visitor()
    keycloak.person(name := new_id("mia"), "staff")
    visitor.sign_in(here.url, name)
    keycloak.take_new_keys()
    again = Visitor()
    again.sign_in(here.url, name)
    assert is_in(again, here.url)


def test_only_the_browser_that_began_a_sign_in_can_end_it_and_once(console, keycloak):
    here, visitor, victim = console(), Visitor(), Visitor()
    keycloak.person(name := new_id("ned"), "staff")
    back = visitor.sign_in(here.url, name, stops_before="/oidc/callback").url
    victim.begin(here.url)
    assert victim.ask(back).url == f"{here.url}/login?failed=sign_in_expired"
    assert not is_in(victim, here.url)
    visitor.ask(back)
    assert is_in(visitor, here.url)
    assert visitor.ask(back).url == f"{here.url}/login?failed=sign_in_expired"


@pytest.mark.parametrize("place", ["https://evil.test/", "//evil.test", "/\\evil.test", "evil", "/\t/evil.test"])
def test_nobody_is_led_away_after_a_sign_in(console, keycloak, place):
    here = console()
    keycloak.person(name := new_id("pia"), "staff")
    assert Visitor().sign_in(here.url, name, place).url == f"{here.url}/fleet"


def test_a_log_out_leads_to_the_providers_and_back(console, keycloak):
    here, visitor = console(), Visitor()
    keycloak.person(name := new_id("quin"), "staff")
    visitor.sign_in(here.url, name)
    page = visitor.ask(f"{here.url}/oidc/end")
    assert page.status == 200 and page.url.startswith(f"{keycloak.issuer}/protocol/openid-connect/logout")


def test_with_passwords_off_only_the_local_administrator_logs_in_with_one(console, keycloak):
    with acting_as("test"):
        user_create(username="admin", password=PASSWORD, role="admin")
        user_create(username="olga", password=PASSWORD, role="admin")
    here = console(FQC_PASSWORD_LOGIN="false")
    answers = {}
    for name in ("admin", "olga"):
        visitor = Visitor()
        csrf = visitor.session(here.url)["csrf_token"]
        given = {"username": name, "password": PASSWORD}
        answers[name] = visitor.api(f"{here.url}/api/v1/auth/session", given, **{"X-CSRFToken": csrf})
    assert answers["admin"].status == 200
    assert (answers["olga"].status, answers["olga"].json["code"]) == (403, "passwords_off")
