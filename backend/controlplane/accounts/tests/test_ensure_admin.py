import json

import pytest
from django.contrib.auth import authenticate
from django.core.management import call_command

from controlplane.accounts.models import User

pytestmark = pytest.mark.django_db


@pytest.fixture
def password_file(settings, tmp_path):
    settings.RUN_DIR = tmp_path
    return tmp_path / "admin-password"


def test_the_first_admin_is_made_once_with_a_password_that_works(password_file, capsys):
    for _ in range(2):
        call_command("ensure_admin", "--json")
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert first == second
    assert authenticate(username="admin", password=first["password"]).role == "admin"
    assert password_file.stat().st_mode & 0o777 == 0o600
    assert User.objects.count() == 1
