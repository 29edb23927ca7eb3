from django.urls import path

from controlplane.accounts import provider_views

urlpatterns = [
    path("oidc/callback", provider_views.callback),
    path("oidc/end", provider_views.end),
    path("oidc/logout", provider_views.logout),
]
