"""The application that `config.web` serves."""

import os
import warnings

from django.core.asgi import get_asgi_application

from config.forwarded import Forwarded
from config.private import keep_private

keep_private()
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

# whitenoise hands files over as synchronous iterators; they are the console's own, and small.
warnings.filterwarnings("ignore", message="StreamingHttpResponse must consume synchronous iterators")

django_application = get_asgi_application()

from django.conf import settings  # noqa: E402 - which are set only now

application = Forwarded(django_application, settings.TRUSTED_PROXIES)
