#!/usr/bin/env python3
"""TPC-H data through `dbbench-driver tpch generate` and through `tpchgen-cli`.

Both write all eight tables as files in dbgen's format, with as many threads, into a folder in
memory; the files are compared byte by byte. Goal: no slower than `tpchgen-cli`, whose own build
from its package `make bench` installs.
"""

from __future__ import annotations

import filecmp
import os
import tempfile
import time
from pathlib import Path

from program import ROOT, run
from ratio import Ratio, parser, ratio, show

GENERATOR = ROOT / ".state" / "tpchgen" / "bin" / "tpchgen-cli"
MEMORY = Path("/dev/shm")  # noqa: S108  a random folder is made in it


def main() -> None:
    options = parser(__doc__, rounds=5)
    options.add_argument("--scale-factor", default="1", help="[%(default)s]")
    options.add_argument(
        "--threads",
        type=int,
        nargs="+",
        default=sorted({1, os.cpu_count() or 1}),
        help="[%(default)s]",
    )
    options.add_argument("--generator", default=str(GENERATOR), help="[%(default)s]")
    asked = options.parse_args()
    if not Path(asked.generator).exists():
        make = "make .state/tpchgen/bin/tpchgen-cli"
        raise SystemExit(f"{asked.generator} is missing: run {make}, or give --generator")
    ratios: list[Ratio] = []
    for threads in asked.threads:
        ratios += compare(asked.driver, asked.generator, asked.scale_factor, threads, asked.rounds)
    show("generate", ratios)


def compare(program: str, generator: str, scale: str, threads: int, rounds: int) -> list[Ratio]:
    commands = (
        f"{program} tpch generate --scale-factor {scale} --threads {threads} --output-dir",
        f"{generator} --scale-factor {scale} --num-threads {threads} --quiet --output-dir",
    )
    seconds: tuple[list[float], list[float]] = ([], [])
    cpu: tuple[list[float], list[float]] = ([], [])
    for number in range(rounds):
        with tempfile.TemporaryDirectory(prefix="dbbench-bench-", dir=MEMORY) as folder:
            folders = (Path(folder, "ours"), Path(folder, "theirs"))
            for which in (0, 1) if number % 2 == 0 else (1, 0):
                folders[which].mkdir()
                began = time.monotonic()
                done = run([*commands[which].split(), str(folders[which])])
                seconds[which].append(time.monotonic() - began)
                if done.code != 0:
                    raise SystemExit(f"{commands[which]}: {done.errors}")
                cpu[which].append(done.cpu_seconds)
            compare_files(*folders)
    case = f"tpch {scale}, {threads} threads"
    return [
        ratio(case, "seconds", *seconds, "<= 1.0"),
        ratio(case, "CPU seconds", *cpu, "<= 1.0"),
    ]


def compare_files(ours: Path, theirs: Path) -> None:
    names = sorted(path.name for path in theirs.iterdir())
    same, different, missing = filecmp.cmpfiles(ours, theirs, names, shallow=False)
    if different or missing or len(same) != 8:
        raise SystemExit(f"the files differ: {different + missing or same}")


if __name__ == "__main__":
    main()
