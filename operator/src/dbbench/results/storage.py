"""Records as ConfigMap contents: compressed, and sharded so that none grows too large. No I/O.

A ConfigMap holds at most 1 MiB. A block's records start in `<benchmark>-block-001`; the record
that would pass the limit starts `<benchmark>-block-001-2`, and so on. A stored record never moves,
so that a crash between two writes cannot lose one.
"""

import base64
import binascii
import gzip
import hashlib
import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from dbbench.results.record import LoadRecord, Record, RecordError, TrialRecord, from_document

LIMIT_BYTES = 900 * 1024
"""Largest sum of keys and base64 values of one ConfigMap; the rest of 1 MiB is for metadata."""

_LONGEST_PREFIX = 220

CONTENT_LABEL = "dbbench.io/content"
CONTENT_TRIALS = "trials"
CONTENT_LOADS = "loads"
CONTENT_RESULTS = "results"


class RecordTooLarge(ValueError):  # noqa: N818 - says what is wrong better than ...Error
    """One record that does not fit into a ConfigMap even alone."""


@dataclass(frozen=True)
class StoredRecords:
    """What some ConfigMaps hold. `damaged` maps keys that cannot be read to the reason."""

    trials: tuple[TrialRecord, ...]
    loads: tuple[LoadRecord, ...]
    damaged: Mapping[str, str]


def block_config_map(benchmark: str, block: int) -> str:
    """Name of the first ConfigMap of a block's records."""
    return f"{_shortened(benchmark)}-block-{block:03d}"


def loads_config_map(benchmark: str) -> str:
    """Name of the first ConfigMap of the load records."""
    return f"{_shortened(benchmark)}-loads"


def results_config_map(benchmark: str) -> str:
    """Name of the ConfigMap with summary.json, summary.csv and report.md."""
    return f"{benchmark}-results"


def config_map_of(benchmark: str, record: Record) -> str:
    """Name of the first ConfigMap that the record may be in."""
    if isinstance(record, TrialRecord):
        return block_config_map(benchmark, record.block)
    return loads_config_map(benchmark)


def record_key(record: Record) -> str:
    """The record's key in binaryData: one for each attempt."""
    if isinstance(record, TrialRecord):
        return f"{record.trial}.{record.attempt}.json.gz"
    parts = (record.target, record.deployment, record.workload, str(record.attempt))
    return f"{'.'.join(part for part in parts if part)}.json.gz"


def encode(document: Mapping[str, Any]) -> str:
    """Base64 of gzipped JSON. The same document always gives the same text."""
    text = json.dumps(document, separators=(",", ":"), sort_keys=True)
    return base64.b64encode(gzip.compress(text.encode(), compresslevel=9, mtime=0)).decode()


def decode(text: str) -> dict[str, Any]:
    """The inverse of encode; RecordError for anything that encode did not make."""
    try:
        document = json.loads(gzip.decompress(base64.b64decode(text, validate=True)))
    except (binascii.Error, OSError, EOFError, zlib.error, UnicodeDecodeError, ValueError) as error:
        raise RecordError(f"not base64 of gzipped JSON: {error}") from error
    if not isinstance(document, dict):
        raise RecordError(f"holds a {type(document).__name__}, not an object")
    return document


def place(existing: Mapping[str, Mapping[str, str]], first: str, key: str, text: str) -> str:
    """Name of the ConfigMap that `key` belongs into.

    `existing` maps names of ConfigMaps to their binaryData, at least of `first` and its shards. A
    key that is stored already stays where it is; else it goes into the last shard, or into a new
    one when that would pass the limit. Raises RecordTooLarge when it fits into none.
    """
    size = len(key) + len(text)
    if size > LIMIT_BYTES:
        raise RecordTooLarge(
            f"{key} takes {size} bytes compressed, more than the {LIMIT_BYTES} of a ConfigMap"
        )
    shard = 1
    name = first
    while name in existing:
        if key in existing[name]:
            return name
        last = name
        shard += 1
        name = f"{first}-{shard}"
    if shard > 1 and _size(existing[last]) + size <= LIMIT_BYTES:
        return last
    return name


def shard(benchmark: str, records: Iterable[Record]) -> dict[str, dict[str, str]]:
    """All ConfigMaps of some records, stored in that order: name to binaryData."""
    config_maps: dict[str, dict[str, str]] = {}
    for record in records:
        key, text = record_key(record), encode(record.to_document())
        name = place(config_maps, config_map_of(benchmark, record), key, text)
        config_maps.setdefault(name, {})[key] = text
    return config_maps


def read(config_maps: Iterable[Mapping[str, str]]) -> StoredRecords:
    """All records of the binaryData of some ConfigMaps, ordered by block and key.

    Keys that do not end in `.json.gz` are not ours and are passed over.
    """
    trials: dict[str, TrialRecord] = {}
    loads: dict[str, LoadRecord] = {}
    damaged: dict[str, str] = {}
    for binary_data in config_maps:
        for key, text in binary_data.items():
            if not key.endswith(".json.gz"):
                continue
            try:
                record = _record(text)
            except RecordError as error:
                damaged[key] = str(error)
                continue
            if isinstance(record, TrialRecord):
                trials[key] = record
            else:
                loads[key] = record
    return StoredRecords(
        tuple(sorted(trials.values(), key=lambda record: (record.block, record_key(record)))),
        tuple(sorted(loads.values(), key=record_key)),
        damaged,
    )


@lru_cache(maxsize=4096)
def _record(text: str) -> Record:
    """Decoding is what costs; a stored record never changes."""
    return from_document(decode(text))


def _shortened(benchmark: str) -> str:
    """The name itself, unless the names made of it would pass the 253 characters of an object."""
    if len(benchmark) <= _LONGEST_PREFIX:
        return benchmark
    digest = hashlib.sha256(benchmark.encode()).hexdigest()[:8]
    return f"{benchmark[: _LONGEST_PREFIX - 9].rstrip('-.')}-{digest}"


def _size(binary_data: Mapping[str, str]) -> int:
    return sum(len(key) + len(text) for key, text in binary_data.items())
