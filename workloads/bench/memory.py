#!/usr/bin/env python3
"""The largest resident set of `dbbench-driver` with 64 clients, for two durations and two scales.

Goals: below 64 MiB; what four times the duration or four times the data adds is at most a tenth.
The workloads run side by side: that costs them speed, which is not measured here.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from statistics import median

from program import driver
from ratio import Ratio, parser, ratio, show
from server import Server

MIB = 1 << 20


@dataclass(frozen=True)
class Case:
    load: str
    run: str
    scales: tuple[str, str]


CASES = {
    "tpcc": Case("tpcc load --warehouses {}", "tpcc run", ("1", "4")),
    "tatp": Case("tatp load --subscribers {}", "tatp run", ("25000", "100000")),
    "sql": Case("sql load --scale {}", "sql run --builtin tpcb-like", ("1", "4")),
}


def main() -> None:
    options = parser(__doc__, rounds=3)
    options.add_argument(
        "--seconds", type=int, default=5, help="the shorter duration [%(default)s]"
    )
    options.add_argument("--clients", type=int, default=64, help="[%(default)s]")
    options.add_argument(
        "--workloads", nargs="+", default=list(CASES), choices=CASES, help="[%(default)s]"
    )
    asked = options.parse_args()
    connections = asked.clients * len(asked.workloads) + 10
    with (
        Server({"max_connections": str(connections)}) as server,
        ThreadPoolExecutor(len(asked.workloads)) as side_by_side,
    ):

        def of(name: str) -> list[Ratio]:
            return compare(server, asked.driver, name, asked.clients, asked.seconds, asked.rounds)

        ratios = [one for ratios in side_by_side.map(of, asked.workloads) for one in ratios]
    show("memory", ratios)


def compare(
    server: Server, program: str, name: str, clients: int, seconds: int, rounds: int
) -> list[Ratio]:
    case = CASES[name]
    url = server.url("postgres")

    def mib(line: str) -> float:
        return driver(program, line, url, memory=True).run.memory_bytes / MIB

    def run(seconds: int) -> float:
        return mib(f"{case.run} --clients {clients} --warmup 0s --duration {seconds}s")

    small, large = case.scales
    load_small = [mib(case.load.format(small) + " --replace")]
    short, long = [], []
    for _ in range(rounds):
        short.append(run(seconds))
        long.append(run(4 * seconds))
    load_large = [mib(case.load.format(large) + " --replace")]
    scaled = [run(seconds) for _ in range(rounds)]
    limit = [64.0] * rounds
    return [
        ratio(
            name,
            f"MiB, {clients} clients / limit",
            [max(pair) for pair in zip(long, scaled, strict=True)],
            limit,
            "<= 1.0",
        ),
        ratio(
            name, f"MiB, {4 * seconds} s / {seconds} s", long, [median(short)] * rounds, "<= 1.1"
        ),
        ratio(name, f"MiB, scale {large} / {small}", scaled, [median(short)] * rounds, "<= 1.1"),
        ratio(name, f"MiB of load, {large} / {small}", load_large, load_small, "<= 1.1"),
    ]


if __name__ == "__main__":
    main()
