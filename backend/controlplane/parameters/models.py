"""Templates: named sets of parameter values. Every change adds a version; no version is ever altered."""

from __future__ import annotations

from functools import partial

from django.db import models

from controlplane.core.ids import ID_LENGTH, new_id


class Template(models.Model):
    id = models.CharField(primary_key=True, max_length=ID_LENGTH, default=partial(new_id, "tpl"), editable=False)
    name = models.CharField(max_length=64, unique=True)
    description = models.CharField(max_length=200, blank=True)
    engine_line = models.CharField(max_length=32)
    is_system = models.BooleanField(default=False, help_text="Ships with the product; clone it to change it.")
    version = models.PositiveIntegerField(default=1, help_text="The newest version, and the ETag.")
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ("name", "id")
        indexes = [models.Index(fields=["-created_at", "-id"], name="template_newest")]


class TemplateVersion(models.Model):
    template = models.ForeignKey(Template, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    values = models.JSONField(help_text="Name to submitted text, byte for byte.")
    note = models.CharField(max_length=200, blank=True)
    actor = models.CharField(max_length=150)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-number",)
        constraints = [models.UniqueConstraint(fields=["template", "number"], name="one_row_per_template_version")]
