from django.urls import path

from controlplane.metrics.views import Exposition

urlpatterns = [path("metrics", Exposition.as_view())]
