from __future__ import annotations

from django.conf import settings as process_settings

from controlplane.core.sealing import open_sealed
from controlplane.gateway.mail import MailServer
from controlplane.settings.models import Settings

ONLY_ROW = 1
SMTP_CONTEXT = "settings.smtp_password"


def settings_get() -> Settings:
    return Settings.objects.get_or_create(pk=ONLY_ROW)[0]


def smtp_password(row: Settings) -> str:
    if not row.smtp_password_sealed:
        return ""
    return open_sealed(row.smtp_password_sealed, process_settings.SEALING_KEYS, SMTP_CONTEXT)


def mail_server(row: Settings) -> MailServer:
    """Returns the mail server that the settings name, without its password; the caller adds that to send mail."""
    networks = (*row.endpoint_networks, *process_settings.MAIL_NETWORKS)
    return MailServer(row.smtp_host, row.smtp_port, row.smtp_security, row.smtp_username, networks=networks)
