"""Which forwarded addresses and schemes the control plane trusts, with real web processes."""

import http.client
import itertools
from urllib.parse import urlsplit

import pytest

from config.forwarded import told
from controlplane.accounts.models import LoginFailure
from controlplane.audit.models import AuditEvent
from testing.web import Browser

pytestmark = pytest.mark.django_db(transaction=True)
CLAIMS = {
    "X-Forwarded-For": "203.0.113.9",
    "X-Forwarded-Proto": "https",
    "X-Forwarded-Host": "elsewhere.example",
    "Forwarded": "for=203.0.113.9;proto=https;host=elsewhere.example",
    "X-Real-IP": "203.0.113.9",
}
TOKENS, TOKEN = "/api/v1/tokens", {"name": "x", "scope": "viewer"}


def noted(url, operator, **headers):
    """Sends a request with these headers to a web process, and returns the caller's address as the audit
    trail has it.
    """
    authorization = operator._credentials["HTTP_AUTHORIZATION"]
    assert Browser(url).ask(TOKENS, TOKEN, Authorization=authorization, **headers)[0] == 201
    return AuditEvent.objects.filter(action="token.created").latest("created_at").address


def test_without_a_trusted_proxy_no_header_moves_the_caller(web, operator):
    url = web()
    for name, value in CLAIMS.items():
        assert noted(url, operator, **{name: value}) == "127.0.0.1", name


def test_a_lock_out_and_the_limit_of_log_ins_stay_whatever_address_is_claimed(web):
    url = web()
    browser = Browser(url)
    token = browser.ask("/api/v1/auth/session")[1]["csrf_token"]
    body = {"username": "somebody", "password": "wrong"}
    codes = []
    for number in range(60):
        claimed = f"203.0.113.{number}"
        headers = {"X-CSRFToken": token, "X-Forwarded-For": claimed, "X-Real-IP": claimed}
        codes.append(browser.ask("/api/v1/auth/session", body, **headers)[1]["code"])
    assert codes[:6] == ["wrong_credentials"] * 5 + ["locked_out"]
    assert "rate_limited" in codes
    assert list(LoginFailure.objects.values_list("address", flat=True)) == ["127.0.0.1"]


def answer_to_plain(url, **headers):
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
    connection.request("GET", "/api/v1/auth/session", headers=headers)
    answer = connection.getresponse()
    return answer.status, answer.headers["Location"], answer.headers["Strict-Transport-Security"]


TLS = {"FQC_PUBLIC_URL": "https://fqc.example", "FQC_ALLOWED_HOSTS": "fqc.example"}
REDIRECT = (301, "https://fqc.example/api/v1/auth/session", None)


def test_without_a_trusted_proxy_nobody_can_claim_to_have_come_over_tls(web):
    url = web(**TLS)
    for claim in ({}, CLAIMS):
        assert answer_to_plain(url, Host="fqc.example", **claim) == REDIRECT


def test_a_trusted_proxy_says_whether_its_caller_came_over_tls(web):
    url = web(FQC_TRUSTED_PROXIES="1", **TLS)
    assert answer_to_plain(url, Host="fqc.example") == REDIRECT
    assert answer_to_plain(url, Host="fqc.example", **{"X-Forwarded-Proto": "http"}) == REDIRECT
    status, _, hsts = answer_to_plain(url, Host="fqc.example", **{"X-Forwarded-Proto": "https"})
    assert (status, hsts) == (200, "max-age=31536000")
    assert answer_to_plain(url, Host="elsewhere.example", **{"X-Forwarded-Proto": "https"})[0] == 400


def test_the_address_left_of_what_trusted_proxies_wrote_is_the_callers(web, operator):
    for proxies, forwarded, expected in [
        ("1", "203.0.113.9", "203.0.113.9"),
        ("1", "198.51.100.1, 203.0.113.9", "203.0.113.9"),  # the first address is only claimed by the caller
        ("2", "198.51.100.1, 203.0.113.9, 10.0.0.1", "203.0.113.9"),
        ("2", "203.0.113.9", "127.0.0.1"),
        ("1", "", "127.0.0.1"),
    ]:
        url = web(FQC_TRUSTED_PROXIES=proxies)
        assert noted(url, operator, **{"X-Forwarded-For": forwarded, "X-Real-IP": "192.0.2.1"}) == expected


@pytest.mark.parametrize(
    ("forwarded", "address"),
    [
        (["203.0.113.9:4711"], "203.0.113.9"),
        (["[2001:db8::7]:4711"], "2001:db8::7"),
        (["2001:db8::7"], "2001:db8::7"),
        (["unknown"], "10.0.0.1"),
        (["x" * 5000], "10.0.0.1"),
        (["198.51.100.1", "203.0.113.9"], "203.0.113.9"),  # a header that occurs twice
    ],
)
def test_what_a_proxy_writes_is_read_as_an_address_or_not_at_all(forwarded, address):
    headers = [(b"host", b"fqc.example"), *((b"x-forwarded-for", each.encode()) for each in forwarded)]
    heard = told({"client": ("10.0.0.1", 5000), "headers": headers}, 1)
    assert (heard["client"][0], heard["headers"]) == (address, headers[:1])


def test_of_several_schemes_the_one_counts_that_the_outermost_trusted_proxy_wrote():
    for text, trusted in itertools.product(["http, https", "https"], [1]):
        headers = [(b"x-forwarded-proto", text.encode())]
        assert told({"scheme": "http", "headers": headers}, trusted)["scheme"] == "https"
    headers = [(b"x-forwarded-proto", b"https, http, http")]
    assert told({"scheme": "http", "headers": headers}, 2)["scheme"] == "http"
