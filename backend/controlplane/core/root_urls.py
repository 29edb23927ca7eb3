from django.urls import path

from controlplane.core import health

urlpatterns = [
    path("healthz", health.live),
    path("readyz", health.ready),
]
