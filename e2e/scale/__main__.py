"""Entry point: `python -m scale` in e2e/, which `make scale` calls."""

import argparse
import asyncio
import sys
import time
from collections.abc import Sequence

from access.audit import granted, policy, read
from access.paths import PROJECT

from scale.control_plane import Server, control_plane
from scale.figures import STATUS, Figure, by_right, status_writes, table
from scale.operator_process import ACCOUNT, USER, install, operator, rendered
from scale.planning import planning_seconds
from scale.run import Run, measure

_MEMORY_MIB = 200
_TARGETS = _CELLS = 100


def main() -> int:
    """Exit code 0 only when every goal is met."""
    parser = argparse.ArgumentParser(prog="make scale", description=__doc__)
    parser.add_argument("--benchmarks", type=int, default=1000, help="DBBenchmarks in the cluster")
    parser.add_argument("--active", type=int, default=50, help="that run at once: nodes")
    parser.add_argument("--minutes", type=float, default=5.0, help="how long to measure")
    parser.add_argument("--job-seconds", type=float, default=30.0, help="of each load and trial")
    options = parser.parse_args()
    trials, seconds = planning_seconds(_TARGETS, _CELLS)
    chart = rendered()
    kept = policy(USER, with_bodies=[(STATUS.group, STATUS.resource)])
    with control_plane(kept) as server:
        install(server.kubectl, chart)
        with operator(server.kubectl, chart, server.layout.state) as process:
            run = asyncio.run(
                measure(
                    server, process,
                    benchmarks=options.benchmarks, active=options.active,
                    window=options.minutes * 60, job=options.job_seconds,
                )
            )  # fmt: skip
            memory = process.memory_peak() / 2**20
    figures = [
        Figure("DBBenchmarks", f"{options.benchmarks}"),
        Figure("active, least and most in the window", f"{run.least_active} to {run.most_active}",
               f"{options.active}", run.least_active >= options.active - _changing(options.active)),
        Figure("ended in the window", f"{run.ended}"),
        *_figures(run, memory),
        Figure(f"plan of {_TARGETS} targets x {_CELLS} cells ({trials} trials)",
               f"{seconds:.2f} s", "< 1 s", seconds < 1),
        *_audited(server, run, chart, options.benchmarks),
    ]  # fmt: skip
    print(f"\n{table(figures)}")
    print(f"\nlogs: {server.layout.state.relative_to(PROJECT)}")
    missed = [figure.name for figure in figures if figure.good is False]
    print(f"{len(missed)} goals missed" + (f": {', '.join(missed)}" if missed else ""))
    return 1 if missed else 0


def _changing(active: int) -> int:
    """So many may be between two benchmarks at any instant."""
    return max(1, active // 10)


def _figures(run: Run, memory: float) -> list[Figure]:
    looks, waits = run.durations, run.waits
    p99, window = looks.bound_of(0.99), (run.finished - run.began).total_seconds()
    return [
        Figure("all were seen by the operator after", f"{run.seen_after:.0f} s"),
        Figure("reconciles in the window", f"{looks.count:.0f}"),
        Figure("reconcile, median at most", f"{looks.bound_of(0.5):g} s"),
        Figure("reconcile, p99 at most", f"{p99:g} s", "< 1 s", p99 <= 1),
        Figure("wait for a worker, p99 at most", f"{waits.bound_of(0.99):g} s"),
        Figure("reconciles that failed", f"{run.errors:.0f}", "0", run.errors == 0),
        Figure("CPU per reconcile", f"{1000 * run.cpu_seconds / looks.count:.0f} ms"),
        Figure("CPU of the operator", f"{100 * run.cpu_seconds / window:.0f} % of one"),
        Figure("memory of the operator, peak", f"{memory:.0f} MiB", f"< {_MEMORY_MIB} MiB",
               memory < _MEMORY_MIB),
    ]  # fmt: skip


def _audited(
    server: Server, run: Run, chart: Sequence[dict[str, object]], benchmarks: int
) -> list[Figure]:
    everything = list(read(server.layout.audit_log))
    window = [request for request in everything if run.began <= request.at < run.finished]
    minutes = (run.finished - run.began).total_seconds() / 60
    rate = len(window) / benchmarks / minutes
    print(f"\nrequests of the operator, per minute: {len(window) / minutes:.0f}")
    for right, count in by_right(window).most_common():
        print(f"{count / minutes:9.1f}  {right}")
    writes = status_writes(everything)
    print(f"\nstatus writes, by the fields that changed: {writes.written}")
    for part, count in writes.parts.most_common():
        print(f"{count:9d}  {part}")
    refused = [request for request in everything if request.refused]
    for request in refused[:5]:
        print(f"refused: {request.right} {request.uri}: {request.message}")
    used = {right for request in everything for right in request.rights}
    unused = sorted(granted(chart, ACCOUNT) - used)
    print("\nrights of the chart that this load did not use:")
    print("\n".join(f"           {right}" for right in unused))
    return [
        Figure("requests per benchmark and minute", f"{rate:.1f}", "measured, bounded"),
        Figure("status writes", f"{writes.written}"),
        Figure("status writes that changed nothing", f"{writes.unchanged}", "0",
               writes.unchanged == 0),
        Figure("requests that were refused (403)", f"{len(refused)}", "0", not refused),
    ]  # fmt: skip


if __name__ == "__main__":
    began = time.monotonic()
    code = main()
    print(f"{time.monotonic() - began:.0f} s")
    sys.exit(code)
