"""The template with a managed service's defaults has its present name, also where it was shipped under another name."""

from __future__ import annotations

from importlib import import_module

import pytest
from django.apps import apps

from controlplane.parameters.models import Template

migration = import_module("controlplane.parameters.migrations.0003_defaults_by_their_name")


@pytest.mark.django_db
def test_it_gets_its_name_unless_somebody_has_taken_it() -> None:
    Template.objects.filter(id=migration.ID).update(name=migration.BEFORE)
    migration.rename(apps, None)
    assert Template.objects.get(id=migration.ID).name == "managed-defaults"
    Template.objects.filter(id=migration.ID).update(name=migration.BEFORE)
    own = Template.objects.create(name="managed-defaults", engine_line="5.7")
    migration.rename(apps, None)
    kept = Template.objects.get(id=migration.ID)
    assert (kept.name, "5.7" in kept.description) == (migration.BEFORE, False)
    own.delete()
