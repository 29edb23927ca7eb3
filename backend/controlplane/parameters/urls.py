from django.urls import path
from rest_framework.routers import SimpleRouter

from controlplane.parameters.views import ExpressionEvaluate, TemplateViewSet

router = SimpleRouter(trailing_slash=False)
router.register("templates", TemplateViewSet, basename="template")
urlpatterns = [path("expressions/evaluate", ExpressionEvaluate.as_view()), *router.urls]
