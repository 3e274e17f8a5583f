"""Entry point of the operator: `dbbench-operator`."""

import asyncio
import logging
import sys

import kopf
import structlog
from kubernetes_asyncio.client import ApiClient
from kubernetes_asyncio.config import ConfigException

from dbbench.handlers import register
from dbbench.kube.access import load_configuration
from dbbench.settings import Settings, from_environment


def main() -> None:
    """Run until SIGTERM. Exit code 2 when the configuration is wrong."""
    try:
        settings = from_environment()
    except ValueError as error:
        sys.exit(f"dbbench-operator: {error}")
    _configure_logging(settings.log_level)
    try:
        asyncio.run(_run(settings))
    except ConfigException as error:
        sys.exit(f"dbbench-operator: no access to a cluster: {error}")


async def _run(settings: Settings) -> None:
    configuration = await load_configuration()
    async with ApiClient(configuration) as client:
        registry = kopf.OperatorRegistry()
        register(registry, settings, client)
        await kopf.operator(
            registry=registry,
            clusterwide=not settings.namespaces,
            namespaces=settings.namespaces,
            standalone=True,
        )


def _configure_logging(level: int) -> None:
    """One JSON object a line for our own log; the libraries only say what is wrong."""
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(),
    )
    logging.basicConfig(level=max(level, logging.WARNING), stream=sys.stdout)


if __name__ == "__main__":
    main()
