import pytest

from controlplane.core.sealing import CannotOpen, key_name, open_sealed, rewrap, seal

OLD, NEW = "the-old-sealing-key", "the-new-sealing-key"


def test_what_was_sealed_opens_again_and_shows_nothing():
    sealed = seal("s3cret", [OLD], "instance rm-1")
    assert "s3cret" not in sealed
    assert open_sealed(sealed, [OLD], "instance rm-1") == "s3cret"


def test_two_sealings_of_one_secret_differ():
    assert seal("x", [OLD], "c") != seal("x", [OLD], "c")


def test_a_sealed_secret_does_not_open_elsewhere():
    with pytest.raises(CannotOpen):
        open_sealed(seal("x", [OLD], "instance rm-1"), [OLD], "instance rm-2")


def test_rotation_rewraps_under_the_newest_key_and_the_old_one_may_go():
    sealed = seal("x", [OLD], "c")
    assert open_sealed(sealed, [NEW, OLD], "c") == "x"
    rotated = rewrap(sealed, [NEW, OLD], "c")
    assert open_sealed(rotated, [NEW], "c") == "x"
    with pytest.raises(CannotOpen, match="FQC_SEALING_KEYS"):
        open_sealed(sealed, [NEW], "c")


@pytest.mark.parametrize("damaged", ["", "v1", "v1.{name}.b.c", "v1.{name}.YWJj.c", "v2.{name}.b.c"])
def test_damaged_text_says_so(damaged):
    with pytest.raises(CannotOpen, match="c cannot be decrypted: it is damaged"):
        open_sealed(damaged.format(name=key_name(OLD)), [OLD], "c")
