"""A signed request is accepted once, even if it is repeated at another web process."""

from urllib.parse import urlencode

import pytest

from controlplane.rpc.tests.signing import sha1_arguments
from testing.web import Browser

pytestmark = pytest.mark.django_db(transaction=True)


def test_what_one_process_has_accepted_the_other_refuses(web, rpc):
    first, second = Browser(web()), Browser(web())
    path = "/?" + urlencode(sha1_arguments(rpc.key, "DescribeDBInstances", "GET"))
    assert first.ask(path)[0] == 200
    status, body, _ = second.ask(path)
    assert (status, body["Code"]) == (400, "SignatureNonceUsed")
    assert second.ask("/?" + urlencode(sha1_arguments(rpc.key, "DescribeDBInstances", "GET")))[0] == 200
