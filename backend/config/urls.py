"""Every route: the API under /api/v1, each app with its own urls, and the console for everything else."""

from importlib.util import find_spec

from django.urls import include, path, re_path

from controlplane.accounts.permissions import AdminOnly
from controlplane.audit.views import AuditExport
from controlplane.core import console, error_views

APPS = [
    "core", "audit", "accounts", "settings", "catalogue", "parameters", "fleet",
    "near_caches", "prerequisites", "changes", "rollouts", "metrics", "alerts",
]  # fmt: skip

urlpatterns = [
    path("api/v1/audit-events/export", AuditExport.as_view(permission_classes=(AdminOnly,))),
    *(path("api/v1/", include(f"controlplane.{app}.urls")) for app in APPS if find_spec(f"controlplane.{app}.urls")),
    *(path("", include(f"controlplane.{app}.root_urls")) for app in APPS if find_spec(f"controlplane.{app}.root_urls")),
    re_path(r"^api/", error_views.not_found),
    re_path(r"^(?!static/).*$", console.page),
]
handler400 = error_views.bad_request
handler403 = error_views.forbidden
handler404 = error_views.not_found
handler500 = error_views.server_error
