"""Asks the server about each document, and judges what it and the operator's core make of it."""

import json
import random
import re
import traceback
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from access.kubectl import Manifest

from fuzz import core
from fuzz.server import TOO_LARGE, Answer, Server, answers, connect

# A field of the object, as the server names it; in a refusal it is the first thing to look for.
_FIELD = re.compile(r"\b(spec|metadata\.name)\b")
# Words of CEL's own tell a user nothing. A rule that spans fields may say them beside the answer of
# the field's own schema, which is in the same refusal.
_OF_SCHEMA = re.compile(r"in body (should|must)|Unsupported value|Required value|Too (long|many)")
_UNREADABLE = re.compile(
    r"no such (key|overload)|type conversion error|evaluation error|cost budget|overflow|rule:"
)
_MANIFESTS = 6


@dataclass(frozen=True)
class Defect:
    """Something that must not be, with the document that shows it."""

    what: str
    document: Manifest


@dataclass
class Report:
    """Counts over all documents, and every defect."""

    accepted: int = 0
    refused: int = 0
    manifests_built: int = 0
    manifests_sent: int = 0
    defects: list[Defect] = field(default_factory=list)

    @property
    def documents(self) -> int:
        return self.accepted + self.refused

    def text(self) -> str:
        """A line of counts, then each kind of defect with how often it was seen."""
        lines = [
            f"{self.documents} documents: {self.accepted} accepted, {self.refused} refused; "
            f"{self.manifests_built} manifests built, {self.manifests_sent} of them sent; "
            f"{len(self.defects)} defects"
        ]
        kinds = Counter(defect.what for defect in self.defects)
        return "\n".join([*lines, *(f"{count:5d}  {what}" for what, count in kinds.most_common())])


async def fuzz(
    kubeconfig: Path, namespace: str, documents: Iterable[Manifest], number: int
) -> Report:
    """All documents in turn. Of an accepted one a few manifests are sent too, chosen by `number`.

    ApiException when the server itself fails.
    """
    report, choice = Report(), random.Random(number)
    async with await connect(kubeconfig) as client:
        server = Server(client, namespace)
        async for answer in answers(server, documents):
            if answer.stored is None:
                report.refused += 1
                found = refusal(answer)
            else:
                report.accepted += 1
                found = await _accepted(server, answer.stored, report, choice)
            report.defects += [Defect(what, answer.document) for what in found]
    return report


def refusal(answer: Answer) -> list[str]:
    """What is wrong with a refusal: it names no field, or nobody can read it, or the core crashes
    on such an object.
    """
    found = []
    if answer.status != TOO_LARGE and _FIELD.search(answer.message) is None:
        found.append(f"a refusal names no field: {answer.message[:300]}")
    if not _OF_SCHEMA.search(answer.message) and (match := _UNREADABLE.search(answer.message)):
        found.append(f"a refusal is in words of CEL: {match[0]}: {answer.message[:300]}")
    try:
        core.refused(answer.document)
    except Exception as error:
        found.append(_crash(error))
    return found


async def _accepted(
    server: Server, stored: Manifest, report: Report, choice: random.Random
) -> list[str]:
    try:
        manifests = core.accepted(stored)
    except Exception as error:
        return [_crash(error)]
    report.manifests_built += len(manifests)
    sent = choice.sample(manifests, min(_MANIFESTS, len(manifests)))
    report.manifests_sent += len(sent)
    refusals = [(manifest["kind"], await server.refusal(manifest)) for manifest in sent]
    return [f"a {kind} would be refused: {said[-300:]}" for kind, said in refusals if said]


def _crash(error: Exception) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{Path(last.filename).name}:{last.lineno}"
    return f"{type(error).__name__} at {place}: {str(error)[:300]}"


def dump(defects: list[Defect], path: Path) -> None:
    """The first document of each kind of defect, to look into."""
    first: dict[str, Manifest] = {}
    for defect in defects:
        first.setdefault(defect.what, defect.document)
    path.write_text(json.dumps(first, indent=1) + "\n")
