from django.urls import path
from rest_framework.routers import SimpleRouter

from controlplane.fleet.views import (
    EndpointCheckView,
    FleetSummaryView,
    InstanceClassViewSet,
    InstanceParametersView,
    TemplateInstances,
)

router = SimpleRouter(trailing_slash=False)
router.register("instance-classes", InstanceClassViewSet)
urlpatterns = [
    path("endpoints/check", EndpointCheckView.as_view()),
    path("fleet/summary", FleetSummaryView.as_view()),
    path("instances/<str:pk>/parameters", InstanceParametersView.as_view()),
    path("templates/<str:pk>/instances", TemplateInstances.as_view()),
    *router.urls,
]
