"""The application that `config.web` serves."""

import os
import warnings

from django.core.asgi import get_asgi_application

from config.bodies import BoundedBodies
from config.forwarded import Forwarded
from config.private import keep_private

keep_private()
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

# whitenoise hands files over as synchronous iterators; they are the console's own, and small.
warnings.filterwarnings("ignore", message="StreamingHttpResponse must consume synchronous iterators")

django_application = get_asgi_application()

from django.conf import settings  # noqa: E402 - which are set only now

from controlplane.core.problems import too_large  # noqa: E402

application = Forwarded(
    BoundedBodies(django_application, settings.DATA_UPLOAD_MAX_MEMORY_SIZE, too_large), settings.TRUSTED_PROXIES
)
