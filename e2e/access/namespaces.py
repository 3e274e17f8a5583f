"""Namespaces that tests work in."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager

from access.kubectl import Kubectl, wait

PODS_GONE_SECONDS = 180
_session = f"{int(time.time()) % 100000:05d}"


def namespace_name(label: str) -> str:
    """A namespace's name for a test module or function, new in each session."""
    text = re.sub(r"[^a-z0-9]+", "-", label.lower().removeprefix("test_")).strip("-")
    return f"{text[:40].rstrip('-')}-{_session}"


@contextmanager
def new_namespace(kubectl: Kubectl, label: str) -> Iterator[Kubectl]:
    """A namespace, deleted afterwards; returns when its pods are gone.

    It enforces Pod Security `baseline`: the job that writes a guest's disk needs no more.
    """
    name = namespace_name(label)
    kubectl.apply(
        {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {
                "name": name,
                "labels": {
                    "pod-security.kubernetes.io/enforce": "baseline",
                    "pod-security.kubernetes.io/warn": "restricted",
                },
            },
        }
    )
    inside = kubectl.within(name)
    try:
        yield inside
    finally:
        kubectl("delete", "namespace", name, "--wait=false")
        # The next test needs the CPUs of what still runs here.
        wait(f"pods of {name} are gone", lambda: not inside.list("pods"), limit=PODS_GONE_SECONDS)
