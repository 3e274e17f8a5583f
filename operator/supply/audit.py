"""Asks the databases of advisories about everything that is locked: `make audit`.

What could not be asked is told apart from what is clean, and with --strict ends with 1, too.
"""

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

PROJECT = Path(__file__).parents[2]
LIMIT_S = 600.0


@dataclass(frozen=True)
class Answer:
    """What one database says: identifiers of advisories, and why (part of) it was not asked."""

    subject: str
    found: tuple[str, ...] = ()
    unasked: str = ""

    @property
    def line(self) -> str:
        word = "FOUND" if self.found else "NOT CHECKED" if self.unasked else "clean"
        said = "; ".join(filter(None, [", ".join(self.found), self.unasked]))
        return f"{word:11}  {self.subject}  {said}".rstrip()


def main() -> int:
    """0: nothing is known of what could be asked; 1: something is."""
    parser = argparse.ArgumentParser(prog="make audit", description=__doc__)
    parser.add_argument("--strict", action="store_true", help="what was not checked fails, too")
    strict = parser.parse_args().strict
    answers = [
        python("operator/requirements.txt"),
        python("operator/requirements-dev.txt"),
        rust(),
        go(),
    ]
    for answer in answers:
        print(answer.line)
    if any(answer.unasked for answer in answers):
        print("Not everything was checked: take the lines above to a machine that reaches more.")
    return int(any(answer.found or (strict and answer.unasked) for answer in answers))


def python(requirements: str) -> Answer:
    """By pip-audit, from the advisories that the package index itself publishes."""
    program = Path(sys.executable).with_name("pip-audit")
    options = ["--require-hashes", "--disable-pip", "--format=json", "--progress-spinner=off"]
    said = _run([str(program), *options, "--requirement", requirements], PROJECT)
    answer = _answer(requirements, said, of_pip_audit)
    return answer if answer.unasked else replace(answer, unasked=passed_over(said.stdout))


def rust() -> Answer:
    """By cargo-audit, from RustSec's database, which it fetches with git."""
    if shutil.which("cargo-audit") is None:
        return Answer("workloads/Cargo.lock", unasked="cargo-audit is not installed")
    said = _run(["cargo", "audit", "--json"], PROJECT / "workloads")
    return _answer("workloads/Cargo.lock", said, of_cargo_audit)


def go() -> Answer:
    """By govulncheck, from Go's own database, for the programs of the test bed."""
    subject = "Go programs of the test bed"
    if shutil.which("govulncheck") is None:
        return Answer(subject, unasked="govulncheck is not installed")
    found: set[str] = set()
    for program in ("kube", "etcd", "helm", "coredns"):
        path = PROJECT / ".state" / "bin" / program
        if not path.exists():
            return Answer(subject, unasked=f"{program} is not built; make go-binaries")
        said = _run(["govulncheck", "-mode=binary", "-format=json", str(path)], PROJECT)
        answer = _answer(subject, said, of_govulncheck)
        if answer.unasked:
            return answer
        found |= set(answer.found)
    return Answer(subject, tuple(sorted(found)))


def of_pip_audit(output: str) -> list[str]:
    """Advisories as PACKAGE ID."""
    packages = json.loads(output)["dependencies"]
    return [f"{one['name']} {vuln['id']}" for one in packages for vuln in one.get("vulns", [])]


def passed_over(output: str) -> str:
    """What pip-audit says of packages that it could not look up: it ends well all the same."""
    packages = json.loads(output)["dependencies"]
    reasons = [one["skip_reason"] for one in packages if "skip_reason" in one]
    if not reasons:
        return ""
    return f"{len(reasons)} of {len(packages)} packages were not looked up: {reasons[0]}"


def of_cargo_audit(output: str) -> list[str]:
    """Advisories as CRATE ID."""
    listed = json.loads(output)["vulnerabilities"]["list"]
    return [f"{one['package']['name']} {one['advisory']['id']}" for one in listed]


def of_govulncheck(output: str) -> list[str]:
    """Identifiers of findings; the output is one JSON document after the other."""
    decoder, rest = json.JSONDecoder(), output.lstrip()
    found: set[str] = set()
    if not rest:
        raise ValueError("no answer")
    while rest:
        message, end = decoder.raw_decode(rest)
        rest = rest[end:].lstrip()
        if "finding" in message:
            found.add(message["finding"]["osv"])
    return sorted(found)


def _run(command: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 (commands of this module, without a shell)
        command, cwd=folder, capture_output=True, text=True, check=False, timeout=LIMIT_S
    )


def _answer(
    subject: str, said: subprocess.CompletedProcess[str], read: Callable[[str], list[str]]
) -> Answer:
    """What the program found; where its output cannot be read, the end of its complaint."""
    try:
        return Answer(subject, tuple(read(said.stdout)))
    except (ValueError, KeyError):
        lines = said.stderr.strip().splitlines() or [f"ended with {said.returncode}"]
        return Answer(subject, unasked=lines[-1][:200])


if __name__ == "__main__":
    sys.exit(main())
