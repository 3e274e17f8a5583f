"""Entry point: `python -m fuzz` in e2e/, which `make fuzz` calls."""

import argparse
import asyncio
import secrets
import sys
import time

from access import cluster
from access.kubectl import Kubectl, wait
from access.namespaces import new_namespace
from access.paths import PROJECT, STATE

from fuzz.documents import documents
from fuzz.run import dump, fuzz

_DEFECTS = STATE / "fuzz.json"


def main() -> int:
    """Exit code 0 only without a defect."""
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=10_000, help="documents to send")
    parser.add_argument("--seed", type=int, help="of the documents; drawn when absent")
    options = parser.parse_args()
    number = secrets.randbelow(2**32) if options.seed is None else options.seed
    print(f"{options.count} documents, seed {number}", flush=True)
    kubectl = prepare()
    began = time.monotonic()
    with new_namespace(kubectl, "fuzz") as inside:
        report = asyncio.run(
            fuzz(kubectl.kubeconfig, inside.namespace, documents(options.count, number), number)
        )
    print(f"{report.text()}\n{time.monotonic() - began:.0f} s, seed {number}")
    if report.defects:
        dump(report.defects, _DEFECTS)
        print(f"the first document of each: {_DEFECTS.relative_to(PROJECT)}")
    return 1 if report.defects else 0


def prepare() -> Kubectl:
    """The cluster that KUBECONFIG names, else the local one, with the CRD in it."""
    if cluster.user_kubeconfig() is None:
        cluster.start_local()
    kubectl = cluster.client()
    wait("the API server answers", lambda: cluster.answers(kubectl), limit=60)
    cluster.install_crd(kubectl)
    return kubectl


if __name__ == "__main__":
    sys.exit(main())
