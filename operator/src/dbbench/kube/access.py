"""How to reach the API server: from a kubeconfig, or from inside a pod."""

import os
from dataclasses import dataclass
from pathlib import Path

import yaml
from kubernetes_asyncio import config
from kubernetes_asyncio.client import Configuration
from kubernetes_asyncio.config import ConfigException

DEFAULT_KUBECONFIG = Path("~/.kube/config")
DEFAULT_NAMESPACE = "default"
_SERVICE_HOST = "KUBERNETES_SERVICE_HOST"
_POD_NAMESPACE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")


@dataclass(frozen=True)
class Access:
    """What requests are sent with, and the namespace that is meant when none is named."""

    configuration: Configuration
    namespace: str


async def load_access(kubeconfig: str | None = None, context: str | None = None) -> Access:
    """Access as kubectl finds it: the file given, else $KUBECONFIG, else ~/.kube/config.

    `kubeconfig` may be several paths, as in the variable. Where there is no such file, and neither
    argument is given, the service account of the pod that this runs in. Raises ConfigException,
    with a sentence that says what to do, when none of them leads anywhere.
    """
    files = kubeconfig or os.environ.get("KUBECONFIG") or str(DEFAULT_KUBECONFIG)
    if not _any_exists(files):
        if kubeconfig is None and context is None and os.environ.get(_SERVICE_HOST):
            return _from_pod()
        raise ConfigException(
            f"there is no kubeconfig at {files}: name one by --kubeconfig or KUBECONFIG"
        )
    configuration = Configuration()
    try:
        loader = await config.load_kube_config(
            files, context, client_configuration=configuration, persist_config=False
        )
        current = loader.current_context or {"context": {}}
        namespace = current["context"].get("namespace") or DEFAULT_NAMESPACE
    except ConfigException as error:
        raise ConfigException(f"kubeconfig {files}: {error}") from error
    except (OSError, yaml.YAMLError, LookupError, TypeError, ValueError,
            AttributeError, AssertionError) as error:  # fmt: skip
        # The library meets a file of the wrong shape with whatever its code runs into.
        raise ConfigException(f"{files} is not a readable kubeconfig: {error}") from error
    return Access(configuration, namespace)


async def load_configuration(
    kubeconfig: str | None = None, context: str | None = None
) -> Configuration:
    """As load_access, without the namespace."""
    return (await load_access(kubeconfig, context)).configuration


def _any_exists(files: str) -> bool:
    return any(Path(path).expanduser().exists() for path in files.split(os.pathsep) if path)


def _from_pod() -> Access:
    configuration = Configuration()
    config.load_incluster_config(client_configuration=configuration)  # type: ignore[no-untyped-call]
    namespace = _POD_NAMESPACE.read_text().strip() if _POD_NAMESPACE.exists() else ""
    return Access(configuration, namespace or DEFAULT_NAMESPACE)
