from django.urls import path
from drf_spectacular.views import SpectacularAPIView

from controlplane.core.event_stream import EventStream

urlpatterns = [
    path("events", EventStream.as_view()),
    path("openapi.yaml", SpectacularAPIView.as_view(throttle_classes=[])),
]
