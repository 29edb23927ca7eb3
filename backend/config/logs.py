"""Structured logs on standard error: one JSON object per line, or coloured text while debugging."""

from __future__ import annotations

import logging.config
import sys

# structlog imports rich if it is installed, which takes a tenth of the start. Rich would only draw tracebacks, but here
# `format_exc_info` turns them into text first.
if is_rich_absent := "rich" not in sys.modules:
    sys.modules["rich"] = None  # type: ignore[assignment]
import structlog

if is_rich_absent:
    del sys.modules["rich"]

SHARED: list[structlog.typing.Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.format_exc_info,
]


def configure(level: str, *, is_json: bool) -> None:
    renderer = structlog.processors.JSONRenderer() if is_json else structlog.dev.ConsoleRenderer()
    formatter = {"()": structlog.stdlib.ProcessorFormatter, "processor": renderer, "foreign_pre_chain": SHARED}
    # Tasks run every second and would flood the log, so a successful task is only logged at DEBUG.
    routine = "WARNING" if level == "INFO" else level
    logging.config.dictConfig(
        {
            "version": 1,
            "disable_existing_loggers": False,
            "formatters": {"line": formatter},
            "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
            "root": {"handlers": ["stderr"], "level": level},
            "loggers": {
                "django.db.backends": {"level": "INFO"},
                # These log that a task was received and that it succeeded.
                "celery.app.trace": {"level": routine},
                "celery.worker.strategy": {"level": routine},
                "uvicorn.access": {"level": "WARNING"},
                # a worker's process pool, whose logger does not propagate to the root logger
                "multiprocessing": {"handlers": ["stderr"], "level": "ERROR", "propagate": False},
            },
        }
    )
    logging.captureWarnings(True)
    structlog.configure(
        processors=[*SHARED, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
