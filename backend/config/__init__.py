"""How the control plane is put together: settings, routes, Celery, the ASGI entry."""
