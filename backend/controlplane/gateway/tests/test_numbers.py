import pytest

from controlplane.gateway.numbers import decimal, whole

NONE = ["", " 7", "-1", "+1", "1e3", "inf", "nan", "1_0", "0x10", "\N{SUPERSCRIPT TWO}", "9" * 400, "9" * 5000, None]


@pytest.mark.parametrize("text", NONE)
def test_what_is_no_plain_number_is_none(text):
    assert whole(text) is None
    assert decimal(text) is None


def test_plain_numbers_are_read_as_they_are_written():
    assert (whole("42"), decimal("42"), decimal("0.25")) == (42, 42.0, 0.25)
    assert whole(str(2**63)) is None
    assert whole(str(2**63), 2**64) == 2**63
