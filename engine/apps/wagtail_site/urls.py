from articles import views
from django.urls import include, path
from wagtail import urls as wagtail_urls
from wagtail.admin import urls as admin_urls
from wagtail.documents import urls as document_urls

urlpatterns = [
    path("admin/", include(admin_urls)),
    path("documents/", include(document_urls)),
    path("search/", views.search),
    path("tag/<slug:tag>/", views.tagged),
    path("comment/<int:article>/", views.comment),
    path("edit/<int:article>/", views.edit),
    path("add/", views.add),
    path("", include(wagtail_urls)),
]
