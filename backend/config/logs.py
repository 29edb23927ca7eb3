"""Structured logs on standard error: one JSON object per line, or coloured text while debugging."""

from __future__ import annotations

import logging.config
import sys

# structlog loads rich where it is installed, which takes a tenth of a start. Rich would draw tracebacks, but here
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
    # Tasks come every second, and would bury all else: one that goes well is told of at DEBUG alone.
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
                # That a task was received, and that it succeeded.
                "celery.app.trace": {"level": routine},
                "celery.worker.strategy": {"level": routine},
                "uvicorn.access": {"level": "WARNING"},
                # a worker's pool of processes, which hands nothing on to the root
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
