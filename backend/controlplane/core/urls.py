from django.urls import path
from drf_spectacular.views import SpectacularAPIView

urlpatterns = [path("openapi.yaml", SpectacularAPIView.as_view(throttle_classes=[]))]
