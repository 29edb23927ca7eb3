"""What lower apps call of higher ones is named in the settings: a wrong name must not wait for the call."""

import pytest
from django.conf import settings

from controlplane.core.hooks import hooks


@pytest.mark.parametrize("place", settings.HOOKS)
def test_whatever_a_hook_names_is_there_to_be_called(place: str) -> None:
    assert hooks(place) and all(map(callable, hooks(place).values()))
