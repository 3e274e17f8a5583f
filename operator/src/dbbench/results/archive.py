"""A benchmark with its raw records as one .tar.gz, from which every figure can be computed again.

No I/O: archives are bytes. The same benchmark always gives the same bytes, and what is in an
archive is checked against the digests of its manifest before anything of it is used.
"""

import gzip
import hashlib
import io
import json
import re
import tarfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from dbbench import __version__
from dbbench.api import API_VERSION, KIND
from dbbench.api.benchmark import DBBenchmark
from dbbench.results.documents import SUMMARY_JSON
from dbbench.results.record import LoadRecord, Record, RecordError, TrialRecord, from_document
from dbbench.results.storage import record_key

ARCHIVE_VERSION = 1
SUFFIXES = (".tar.gz", ".tgz")
MANIFEST = "manifest.json"
BENCHMARK = "dbbenchmark.json"
PUBLISHED = "published/"
TRIALS = "trials/"
LOADS = "loads/"

LARGEST_BYTES = 1 << 30
"""Of the unpacked archive; a block of TPC-H takes some 25 KB a trial."""

# A URL with a password, as no part of an archive may hold one.
_PASSWORD = re.compile(rb"\w://[^\s/@:\"]*:[^\s/@\"]+@")
# What of an object's metadata identifies it; annotations may hold anything.
_METADATA = ("name", "namespace", "uid", "generation", "creationTimestamp")

Json = dict[str, Any]


class ArchiveError(ValueError):
    """What is wrong with an archive, or would be with one: a sentence for each problem."""

    def __init__(self, *problems: str) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


@dataclass(frozen=True)
class Archive:
    """A benchmark, its records by storage order, and the documents that the operator published.

    `made_by` is the version of dbbench that wrote the archive. `published` maps the keys of the
    results ConfigMap to their texts.
    """

    body: Json
    trials: tuple[TrialRecord, ...]
    loads: tuple[LoadRecord, ...]
    published: Mapping[str, str]
    made_by: str = __version__

    @property
    def benchmark(self) -> DBBenchmark:
        return DBBenchmark.parse(self.body)

    @property
    def summary(self) -> Json:
        """summary.json as the operator published it."""
        document: Json = json.loads(self.published[SUMMARY_JSON])
        return document


def described(body: Mapping[str, Any]) -> Json:
    """A DBBenchmark as an archive keeps it: without annotations and managed fields."""
    metadata = body["metadata"]
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {key: metadata[key] for key in _METADATA if key in metadata},
        "spec": body["spec"],
        "status": body.get("status") or {},
    }


def pack(archive: Archive) -> bytes:
    """The archive as .tar.gz. ArchiveError when a file would carry a password."""
    files = {BENCHMARK: _json(described(archive.body))}
    for key, text in archive.published.items():
        files[PUBLISHED + key] = text.encode()
    records: tuple[Record, ...] = (*archive.trials, *archive.loads)
    for record in records:
        files[_path(record)] = _json(record.to_document())
    carrying = [name for name, content in sorted(files.items()) if _PASSWORD.search(content)]
    if carrying:
        raise ArchiveError(*(f"{name} holds a URL with a password" for name in carrying))
    manifest = {
        "kind": "Archive",
        "schemaVersion": ARCHIVE_VERSION,
        "dbbench": archive.made_by,
        "files": {
            name: {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
            for name, content in sorted(files.items())
        },
    }
    unpacked = io.BytesIO()
    with tarfile.open(fileobj=unpacked, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, content in [(MANIFEST, _json(manifest)), *sorted(files.items())]:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return gzip.compress(unpacked.getvalue(), mtime=0)


def unpack(content: bytes) -> Archive:
    """The inverse of `pack`; ArchiveError names everything that is wrong with the archive."""
    files = _files(content)
    manifest = _object(files, MANIFEST)
    if manifest.get("kind") != "Archive":
        raise ArchiveError(f"{MANIFEST}: kind is {manifest.get('kind')!r}, not 'Archive'")
    if manifest.get("schemaVersion") != ARCHIVE_VERSION:
        raise ArchiveError(
            f"{MANIFEST}: schemaVersion is {manifest.get('schemaVersion')!r}; "
            f"this version of dbbench reads {ARCHIVE_VERSION}"
        )
    problems = _damaged(files, manifest.get("files"))
    if problems:
        raise ArchiveError(*problems)
    records = _records(files)
    archive = Archive(
        body=_object(files, BENCHMARK),
        trials=tuple(one for one in records if isinstance(one, TrialRecord)),
        loads=tuple(one for one in records if isinstance(one, LoadRecord)),
        published={
            name.removeprefix(PUBLISHED): _text(name, text)
            for name, text in files.items()
            if name.startswith(PUBLISHED)
        },
        made_by=str(manifest.get("dbbench", "")),
    )
    if SUMMARY_JSON not in archive.published:
        raise ArchiveError(f"{PUBLISHED}{SUMMARY_JSON} is missing")
    _object(files, PUBLISHED + SUMMARY_JSON)
    try:
        _ = archive.benchmark
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise ArchiveError(f"{BENCHMARK}: {field}: {first['msg']}") from error
    return archive


def _path(record: Record) -> str:
    folder = TRIALS if isinstance(record, TrialRecord) else LOADS
    return folder + record_key(record).removesuffix(".gz")


def _json(document: Mapping[str, Any]) -> bytes:
    text = json.dumps(document, ensure_ascii=False, indent=1, sort_keys=True)
    return f"{text}\n".encode()


def _files(content: bytes) -> dict[str, bytes]:
    """Regular files of a .tar.gz; nothing is ever written to a disk."""
    try:
        # Bounded: a few bytes can unpack to more than any memory holds.
        unpacked = zlib.decompressobj(wbits=31)
        data = unpacked.decompress(content, LARGEST_BYTES)
        if unpacked.unconsumed_tail:
            raise ArchiveError(f"unpacks to more than {LARGEST_BYTES >> 20} MiB")
        if not unpacked.eof:
            raise ArchiveError("ends early: copy the whole file again")
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as tar:
            found: dict[str, bytes] = {}
            for member in tar:
                stream = tar.extractfile(member) if member.isreg() else None
                if stream is None:
                    raise ArchiveError(f"{member.name} is no regular file")
                if member.name in found:
                    raise ArchiveError(f"{member.name} is there twice")
                found[member.name] = stream.read()
            return found
    except zlib.error as error:
        raise ArchiveError(f"is no undamaged gzip file ({error}): copy it again") from error
    except tarfile.TarError as error:
        raise ArchiveError(f"holds no undamaged tar archive ({error})") from error


def _damaged(files: Mapping[str, bytes], listed: object) -> list[str]:
    """What differs from the manifest."""
    if not isinstance(listed, Mapping):
        return [f"{MANIFEST}: files is no object"]
    problems = [f"{name} is missing" for name in sorted(listed.keys() - files.keys())]
    problems += [
        f"{name} is not listed in {MANIFEST}"
        for name in sorted(files.keys() - listed.keys() - {MANIFEST})
    ]
    for name in sorted(listed.keys() & files.keys()):
        digest = hashlib.sha256(files[name]).hexdigest()
        wanted = listed[name].get("sha256") if isinstance(listed[name], Mapping) else None
        if digest != wanted:
            problems.append(f"{name} has been changed: its sha256 is not the one in {MANIFEST}")
    return problems


def _records(files: Mapping[str, bytes]) -> Sequence[Record]:
    """In the order of `storage.read`, which is that of blocks and keys."""
    found: list[Record] = []
    for name in sorted(files):
        if name.startswith((TRIALS, LOADS)):
            try:
                record = from_document(_object(files, name))
            except RecordError as error:
                raise ArchiveError(f"{name}: {error}") from error
            if _path(record) != name:
                raise ArchiveError(f"{name} holds the record that belongs into {_path(record)}")
            found.append(record)
    return sorted(found, key=lambda one: (getattr(one, "block", 0), record_key(one)))


def _object(files: Mapping[str, bytes], name: str) -> Json:
    if name not in files:
        raise ArchiveError(f"{name} is missing: this is no archive of dbbench export")
    try:
        document = json.loads(_text(name, files[name]))
    except ValueError as error:
        raise ArchiveError(f"{name} is no JSON: {error}") from error
    if not isinstance(document, dict):
        raise ArchiveError(f"{name} holds a {type(document).__name__}, not an object")
    return document


def _text(name: str, content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise ArchiveError(f"{name} is no UTF-8 text") from error
