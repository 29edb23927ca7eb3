from django.urls import path
from rest_framework.routers import SimpleRouter

from controlplane.rollouts import views

router = SimpleRouter(trailing_slash=False)
router.register("fleet-applies", views.FleetApplyViewSet)
urlpatterns = [
    path("fleet-applies/preview", views.FleetPreview.as_view()),
    path("fleet-applies/<str:pk>/items", views.FleetApplyItems.as_view()),
    *router.urls,
]
