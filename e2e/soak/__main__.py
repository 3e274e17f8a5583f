"""Entry point: `python -m soak` in e2e/, which `make soak` calls."""

import argparse
import random
import secrets
import sys
import time

from access import cluster
from access.kubectl import Kubectl, wait
from access.namespaces import new_namespace
from access.operator import Helm

from soak.faults import LEFT_OUT, Kind, Plan, Shape, plans
from soak.run import disturbed
from soak.verdict import Ended, Totals, judge

USUAL_SECONDS = 120.0
"""Taken for the time of a run where an undisturbed one did not tell."""


def main() -> int:
    """Exit code 0 only when nothing was lost, doubled, left behind, or failed without a reason."""
    parser = argparse.ArgumentParser(prog="make soak", description=__doc__)
    parser.add_argument("--faults", type=int, default=30, help="to inject")
    parser.add_argument("--most", type=int, default=2, help="in one run")
    parser.add_argument("--minutes", type=float, help="begin no run after so many")
    parser.add_argument("--seed", type=int, help="of kinds and instants; drawn when absent")
    parser.add_argument(
        "--only", action="append", choices=[kind.value for kind in Kind], metavar="KIND",
        help=f"this kind; can be given several times. One of {', '.join(Kind)}",
    )  # fmt: skip
    options = parser.parse_args()
    if cluster.user_kubeconfig() is not None:
        parser.error("faults are injected into the local cluster alone: unset KUBECONFIG")
    seed = secrets.randbelow(2**32) if options.seed is None else options.seed
    kinds = [Kind(name) for name in options.only or Kind]
    print(f"{options.faults} faults, seed {seed}", flush=True)
    kubectl, operator = _prepare()
    began = time.monotonic()
    soak = _Soak(kubectl, operator, seed)
    try:
        for plan in plans(seed, options.faults, kinds, options.most):
            if options.minutes and time.monotonic() - began > options.minutes * 60:
                print(f"{options.minutes:g} minutes have passed", flush=True)
                break
            soak.run(plan)
    finally:
        operator.uninstall()
        print(f"\n{soak.totals.text(LEFT_OUT.items())}")
        print(f"{time.monotonic() - began:.0f} s, seed {seed}")
    return 0 if soak.totals.good and soak.totals.faults else 1


def _prepare() -> tuple[Kubectl, Helm]:
    cluster.start_local()
    kubectl = cluster.client()
    wait("the API server answers", lambda: cluster.answers(kubectl), limit=60)
    operator = Helm(kubectl)
    operator.install("logLevel=DEBUG", "crds.enabled=true")
    return kubectl, operator


class _Soak:
    """All runs, one after the other. An undisturbed one of each shape says how long it takes."""

    def __init__(self, kubectl: Kubectl, operator: Helm, seed: int) -> None:
        self.totals = Totals()
        self._kubectl = kubectl
        self._operator = operator
        self._seed = seed
        self._usual: dict[Shape, float] = {}
        self._runs = 0

    def run(self, plan: Plan) -> None:
        """One run with its faults, before it one without if none of its shape was yet."""
        if plan.shape not in self._usual:
            ended = self._one(Plan(plan.shape, ()), usual=0.0)
            self._usual[plan.shape] = ended.seconds if ended else USUAL_SECONDS
        self._one(plan, usual=self._usual[plan.shape])

    def _one(self, plan: Plan, *, usual: float) -> Ended | None:
        """How it ended; None where that could not be told."""
        self._runs += 1
        names = ", ".join(f"{fault.kind} at {fault.instant:.2f}" for fault in plan.faults)
        print(f"run {self._runs}, {plan.shape}: {names or 'undisturbed'}", flush=True)
        try:
            with new_namespace(self._kubectl, f"soak-{self._runs}") as inside:
                ended, left = disturbed(
                    plan, self._operator, inside,
                    usual=usual, chance=random.Random(f"{self._seed}/{self._runs}"),
                    say=lambda text: print(f"  {text}", flush=True), injected=self._count,
                )  # fmt: skip
        except (TimeoutError, AssertionError) as error:
            self.totals.wrong += 1
            print(f"  WRONG: {error}", flush=True)
            return None
        verdict = judge(plan, ended)
        self.totals.add(plan, ended, verdict, left)
        how = "succeeded" if ended.succeeded else f"failed: {ended.reason}: {ended.message}"
        print(f"  {ended.seconds:5.0f} s  {how}", flush=True)
        for text in (*verdict.wrong, *(f"left: {one}" for one in sorted(left))):
            print(f"  WRONG: {text}", flush=True)
        return ended

    def _count(self, kind: Kind, done: bool) -> None:
        (self.totals.faults if done else self.totals.missed)[kind] += 1


if __name__ == "__main__":
    sys.exit(main())
