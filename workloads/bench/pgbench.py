#!/usr/bin/env python3
"""The same script through `dbbench-driver sql` and through `pgbench -M prepared`.

Measures, side by side on a temporary PostgreSQL, the CPU time of the client process for each
transaction (user and system, by wait4) and the throughput. Goals: CPU at most pgbench's,
throughput at least pgbench's. The clients have one half of the CPUs and the server the other:
where the scheduler puts the two otherwise decides more than what they do. Many short rounds:
how fast the machine is changes within seconds.
"""

from __future__ import annotations

import os
import re

from program import driver, run
from ratio import Ratio, parser, ratio, show
from server import Server

SCRIPTS = {"select-only": "select-only", "tpcb-like": "tpcb-like"}


def main() -> None:
    options = parser(__doc__, rounds=21)
    options.add_argument(
        "--seconds", type=int, default=2, help="length of one measurement [%(default)s]"
    )
    options.add_argument(
        "--scale", type=int, default=10, help="scale of pgbench's tables [%(default)s]"
    )
    options.add_argument("--clients", type=int, nargs="+", default=[1, 8, 64], help="[%(default)s]")
    options.add_argument(
        "--scripts", nargs="+", default=list(SCRIPTS), choices=SCRIPTS, help="[%(default)s]"
    )
    asked = options.parse_args()
    ratios: list[Ratio] = []
    cpus = sorted(os.sched_getaffinity(0))
    half = len(cpus) // 2
    # Programs run where the one that starts them does.
    os.sched_setaffinity(0, cpus[half:])
    with Server() as server:
        os.sched_setaffinity(0, cpus[:half] or cpus)
        driver(asked.driver, f"sql load --scale {asked.scale}", server.url("postgres"))
        for script in asked.scripts:
            for clients in asked.clients:
                ratios += compare(
                    server, asked.driver, script, clients, asked.seconds, asked.rounds
                )
    show("pgbench", ratios)


def compare(
    server: Server, program: str, script: str, clients: int, seconds: int, rounds: int
) -> list[Ratio]:
    cpu: tuple[list[float], list[float]] = ([], [])
    rate: tuple[list[float], list[float]] = ([], [])
    for number in range(rounds):
        # Who begins alternates, because what runs second finds warmer caches and a longer history.
        for which in (0, 1) if number % 2 == 0 else (1, 0):
            measure = ours if which == 0 else theirs
            spent, count, throughput = measure(server, program, script, clients, seconds)
            cpu[which].append(spent / count * 1e6)
            rate[which].append(throughput)
    case = f"{script}, {clients} clients"
    return [
        ratio(case, "CPU microseconds/transaction", *cpu, "<= 1.0"),
        ratio(case, "transactions/second", *rate, ">= 1.0"),
    ]


def ours(
    server: Server, program: str, script: str, clients: int, seconds: int
) -> tuple[float, int, float]:
    line = f"sql run --builtin {script} --clients {clients} --warmup 0s --duration {seconds}s"
    measured = driver(program, line, server.url("postgres"))
    return measured.run.cpu_seconds, measured.transactions(), measured.metric("throughput")


def theirs(
    server: Server, _: str, script: str, clients: int, seconds: int
) -> tuple[float, int, float]:
    threads = min(clients, len(os.sched_getaffinity(0)))
    line = f"-n -M prepared -b {script} -c {clients} -j {threads} -T {seconds}".split()
    # pgbench takes the database without -d.
    command = [part for part in server.client("pgbench", "postgres") if part != "-d"]
    done = run([*command[:-1], *line, command[-1]])
    count = re.search(r"number of transactions actually processed: (\d+)", done.output)
    rate = re.search(r"tps = ([0-9.]+) \(without", done.output)
    if done.code != 0 or not count or not rate:
        raise SystemExit(f"pgbench: {done.output}{done.errors}")
    return done.cpu_seconds, int(count[1]), float(rate[1])


if __name__ == "__main__":
    main()
