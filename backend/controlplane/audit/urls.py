from rest_framework.routers import SimpleRouter

from controlplane.audit.views import AuditEventViewSet

router = SimpleRouter(trailing_slash=False)
router.register("audit-events", AuditEventViewSet)
urlpatterns = router.urls
