"""Records in ConfigMaps: nothing is lost, nothing moves, nothing grows too large."""

import base64
import gzip
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbbench.results import storage
from dbbench.results.record import LoadRecord, Outcome, RecordError, TrialRecord

# Half a ConfigMap of noise, which does not compress.
NOISE = base64.b64encode(random.Random(1).randbytes(storage.LIMIT_BYTES // 4)).decode()

DOCUMENTS = st.dictionaries(
    st.text(),
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
)


def trial(block, target, attempt=1, result=None):
    return TrialRecord(
        trial=f"b{block:03d}.{target}.orders",
        block=block,
        target=target,
        workload="orders",
        cell="",
        attempt=attempt,
        outcome=Outcome.MEASURED,
        reason="",
        message="",
        started="",
        finished="",
        result=result,
    )


def load(target, attempt=1):
    return LoadRecord(target, "orders", attempt, Outcome.FAILED, "Why", "because", "", "", None)


@given(DOCUMENTS)
def test_decode_is_the_inverse_of_encode(document):
    assert storage.decode(storage.encode(document)) == document


@given(DOCUMENTS)
def test_a_document_has_one_encoding_whatever_the_order_of_its_keys(document):
    backwards = dict(reversed(document.items()))
    assert storage.encode(document) == storage.encode(backwards)


def test_the_gzip_header_holds_no_time():
    raw = base64.b64decode(storage.encode({"a": 1}))
    assert raw[4:8] == b"\0\0\0\0"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "!",
        "aGVsbG8=",
        base64.b64encode(gzip.compress(b"not json")).decode(),
        base64.b64encode(gzip.compress(b"[1]")).decode(),
        base64.b64encode(gzip.compress(b"\xff")).decode(),
        storage.encode({"a": "b" * 100})[:-12],
    ],
)
def test_what_encode_did_not_make_is_refused(text):
    with pytest.raises(RecordError):
        storage.decode(text)


def test_keys_and_names():
    assert storage.record_key(trial(2, "vm", 3)) == "b002.vm.orders.3.json.gz"
    assert storage.record_key(load("pod", 2)) == "pod.orders.2.json.gz"
    assert storage.config_map_of("bench", trial(2, "vm")) == "bench-block-002"
    assert storage.config_map_of("bench", load("vm")) == "bench-loads"


def test_names_of_a_long_benchmark_stay_names_and_stay_apart():
    names = {storage.block_config_map("a" * 240 + last, 12) for last in "xy"}
    assert len(names) == 2
    assert all(len(name) <= 240 for name in names)


RECORDS = st.lists(
    st.builds(trial, st.integers(1, 3), st.sampled_from(["pod", "vm"]), st.integers(1, 4))
    | st.builds(load, st.sampled_from(["pod", "vm"]), st.integers(1, 4)),
    max_size=20,
)


@given(RECORDS)
def test_what_is_stored_is_read_back(records):
    stored = storage.read(storage.shard("bench", records).values())
    wanted = {storage.record_key(record): record for record in records}
    found = {storage.record_key(record): record for record in (*stored.trials, *stored.loads)}
    assert found == wanted
    assert not stored.damaged


@given(st.lists(st.integers(1, len(NOISE)), min_size=1, max_size=12), st.randoms())
def test_sharding_loses_no_record_and_passes_no_limit(sizes, rng):
    records = [
        trial(1, "vm", attempt, {"noise": NOISE[:size]}) for attempt, size in enumerate(sizes, 1)
    ]
    rng.shuffle(records)
    config_maps = storage.shard("bench", records)
    for binary_data in config_maps.values():
        size = sum(len(key) + len(text) for key, text in binary_data.items())
        assert size <= storage.LIMIT_BYTES
    stored = storage.read(config_maps.values())
    assert sorted(record.attempt for record in stored.trials) == list(range(1, len(sizes) + 1))


def test_shards_follow_one_another_and_a_stored_record_never_moves():
    existing = {}
    for attempt in range(1, 6):
        record = trial(1, "vm", attempt, {"noise": NOISE[attempt:]})
        key, text = storage.record_key(record), storage.encode(record.to_document())
        name = storage.place(existing, "bench-block-001", key, text)
        assert storage.place(existing, "bench-block-001", key, text) == name
        existing.setdefault(name, {})[key] = text
        assert storage.place(existing, "bench-block-001", key, text) == name
    assert (
        list(existing)
        == ["bench-block-001", "bench-block-001-2", "bench-block-001-3"][: len(existing)]
    )
    assert len(existing) > 1


def test_a_record_larger_than_a_config_map_is_refused():
    noise = base64.b64encode(random.Random(2).randbytes(storage.LIMIT_BYTES)).decode()
    with pytest.raises(storage.RecordTooLarge, match="more than"):
        storage.shard("bench", [trial(1, "vm", 1, {"noise": noise})])


def test_a_damaged_record_is_named_and_hides_no_other():
    config_maps = storage.shard("bench", [trial(1, "vm"), trial(1, "pod")])
    config_maps["bench-block-001"]["b001.vm.orders.1.json.gz"] = "AAAA"
    stored = storage.read([*config_maps.values(), {"ca.crt": "not ours"}])
    assert [record.target for record in stored.trials] == ["pod"]
    assert list(stored.damaged) == ["b001.vm.orders.1.json.gz"]
