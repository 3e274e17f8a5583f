"""Prints the tables of docs/methodology.md: `make calibrate`."""

import argparse

import numpy as np

from calibration import methods
from calibration.checks import (
    calibrate,
    controlled_false_verdicts,
    covered,
    family_false_verdicts,
    half_width,
    stopping,
)
from calibration.experiments import SETTINGS, SKEWED, by_deployment, deployed, simulate
from calibration.history import alarms_by_night, false_alarms, planted

SEED = 20261121
BLOCKS = (3, 4, 5, 6, 8, 10, 15, 20, 30)
PROMISED = (0.93, 0.97)


def main() -> None:
    """Everything, in a few minutes on one core."""
    parser = argparse.ArgumentParser(prog="calibration", description=__doc__)
    parser.add_argument("--runs", type=int, default=2000, help="simulated runs in each setting")
    runs = parser.parse_args().runs
    print(f"{runs} runs in each setting, seed {SEED}; one trial has 1 % of noise.\n")
    _intervals(runs)
    _sequential(runs)
    _alternatives(runs)
    _stopping(runs)
    _families(runs)
    _controlled(runs)
    _deployments(runs)
    # A test of a thousand orders each: fewer runs tell as much as is shown.
    _history(max(runs // 4, 1))


def _intervals(runs: int) -> None:
    print("## Coverage of 95 % intervals, A/A false verdicts, half-width against sequential runs\n")
    print("| setting |" + "".join(f" {count} blocks |" for count in BLOCKS))
    print("|:--|" + "--:|" * len(BLOCKS))
    low, high = PROMISED
    outside = []
    for setting in SETTINGS:
        cells = []
        for count in BLOCKS:
            random = np.random.default_rng([SEED, count])
            found = calibrate(setting, count, runs, random)
            ratio = found.half_width / found.sequential_half_width
            cells.append(f"{found.coverage:.1%}, {found.false_verdicts:.1%}, {ratio:.2f}")
            if not low <= found.coverage <= high:
                outside.append(f"{setting.name}, {count} blocks: {found.coverage:.1%}")
        print(f"| {setting.name} | " + " | ".join(cells) + " |", flush=True)
    print(f"\nOutside {low:.0%} to {high:.0%}: {'; '.join(outside) or 'none'}.\n")


def _sequential(runs: int) -> None:
    print("## Runs that measure one target after the other: coverage, median half-width\n")
    print("| setting |" + "".join(f" {count} blocks |" for count in (5, 10, 30)))
    print("|:--|--:|--:|--:|")
    for setting in (*SETTINGS[:5], SETTINGS[8]):
        cells = []
        for count in (5, 10, 30):
            random = np.random.default_rng([SEED, count, 4])
            bounds = methods.sequential(simulate(setting, count, runs, 0.0, random))
            cells.append(f"{covered(bounds, 0.0):.1%}, {half_width(bounds):.2%}")
        print(f"| {setting.name} | " + " | ".join(cells) + " |", flush=True)
    print()


def _alternatives(runs: int) -> None:
    print("## Coverage and median half-width of the alternatives\n")
    names = ("dbbench", "Student", "percentile", "BCa", "bootstrap-t")
    print("| setting | blocks | " + " | ".join(names) + " |")
    print("|:--|--:|" + "--:|" * len(names))
    for setting in (*SETTINGS[:3], *SETTINGS[5:7], SETTINGS[9], SKEWED):
        for count in (3, 5, 10, 30):
            random = np.random.default_rng([SEED, count, 2])
            measured = simulate(setting, count, runs, 0.0, random)
            found = (
                methods.product(measured),
                methods.plain_student(measured.ratios),
                methods.percentile(measured.ratios, random),
                methods.bias_corrected(measured.ratios, random),
                methods.studentised(measured.ratios, random),
            )
            cells = [f"{covered(one, 0.0):.1%}, {_width(half_width(one))}" for one in found]
            print(f"| {setting.name} | {count} | " + " | ".join(cells) + " |", flush=True)
    print()


def _width(half: float) -> str:
    return f"{half:.2%}" if half < 1 else "unbounded"


def _stopping(runs: int) -> None:
    targets = (0.005, 0.0075, 0.01, 0.015, 0.02)
    print("## Runs that stop at targetHalfWidth (min 3, max 30): coverage, A/A, mean blocks\n")
    print("| setting |" + "".join(f" {target:g} |" for target in targets))
    print("|:--|" + "--:|" * len(targets))
    for setting in (SETTINGS[0], SETTINGS[5], SETTINGS[8]):
        cells = []
        for target in targets:
            random = np.random.default_rng([SEED, int(target * 1e4), 3])
            found = stopping(setting, (3, 30), target, runs, random)
            cells.append(f"{found.coverage:.1%}, {found.false_verdicts:.1%}, {found.blocks:.1f}")
        print(f"| {setting.name} | " + " | ".join(cells) + " |", flush=True)
    print()


def _families(runs: int) -> None:
    print("## A/A runs with any false verdict among dependent comparisons (Holm)\n")
    print("| comparisons | 3 blocks | 10 blocks |\n|--:|--:|--:|")
    for cells in (1, 5, 22):
        shares = [
            family_false_verdicts(cells, blocks, runs, np.random.default_rng([SEED, cells, blocks]))
            for blocks in (3, 10)
        ]
        print(f"| {cells} | " + " | ".join(f"{share:.1%}" for share in shares) + " |", flush=True)


def _controlled(runs: int) -> None:
    print("\n## A/A runs with a false verdict where a control gives the noise floor\n")
    print("| setting | 3 blocks | 10 blocks | 30 blocks |\n|:--|--:|--:|--:|")
    for setting in (SETTINGS[0], SETTINGS[3], SETTINGS[5]):
        shares = [
            controlled_false_verdicts(
                setting, blocks, runs, np.random.default_rng([SEED, blocks, 5])
            )
            for blocks in (3, 10, 30)
        ]
        cells = " | ".join(f"{share:.1%}" for share in shares)
        print(f"| {setting.name} | {cells} |", flush=True)


def _deployments(runs: int) -> None:
    counts = (6, 10, 30)
    print("\n## Deployments that differ: coverage, median half-width\n")
    print("| a deployment's luck | deployed |" + "".join(f" {count} blocks |" for count in counts))
    print("|:--|:--|" + "--:|" * len(counts))
    for luck in (0.0, 0.005, 0.01, 0.02):
        for each, word in ((0, "once"), (1, "for each block"), (2, "for two blocks")):
            cells = []
            for count in counts:
                random = np.random.default_rng([SEED, count, 9])
                measured = simulate(SETTINGS[0], count, runs, 0.0, random)
                found = deployed(measured, luck, random, each=each)
                bounds = methods.product(by_deployment(found, each) if each else found)
                cells.append(f"{covered(bounds, 0.0):.1%}, {half_width(bounds):.2%}")
            print(f"| {luck:.1%} | {word} | " + " | ".join(cells) + " |", flush=True)


def _history(runs: int) -> None:
    print(f"\n## Histories without a change, {runs} of each: false alarms\n")
    print("| noise | 10 nights | 20 nights | 30 nights | on any of nights 10 to 30 |")
    print("|:--|--:|--:|--:|--:|")
    for kind in ("normal", "t3", "lognormal"):
        shares = [
            false_alarms(kind, nights, runs, np.random.default_rng([SEED, nights, 6]))
            for nights in (10, 20, 30)
        ]
        nightly = np.random.default_rng([SEED, 7])
        shares.append(alarms_by_night(kind, 30, runs, nightly))
        print(f"| {kind} | " + " | ".join(f"{share:.1%}" for share in shares) + " |", flush=True)
    print("\n## Histories with a step: found as Regressed, interval holds it, first night exact\n")
    steps = (0.02, 0.03, 0.05)
    print("| nights before, after | noise |" + "".join(f" {step:.0%} |" for step in steps))
    print("|:--|:--|" + "--:|" * len(steps))
    for before, after in ((9, 3), (12, 4)):
        for kind in ("normal", "t3"):
            cells = []
            for step in steps:
                random = np.random.default_rng([SEED, before, after, 8])
                one = planted(kind, (before, after), step, runs, random)
                cells.append(f"{one.found:.0%}, {one.held:.0%}, {one.exact:.0%}")
            print(f"| {before}, {after} | {kind} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
