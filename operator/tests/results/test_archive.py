"""Archives: the same bytes each time, whole or refused by name, and never with a password."""

import contextlib
import gzip
import hashlib
import io
import json
import tarfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbbench.plan import block
from dbbench.results.archive import MANIFEST, Archive, ArchiveError, described, pack, unpack
from dbbench.results.record import LoadRecord, Outcome, TrialRecord

PUBLISHED = {"summary.json": '{"kind": "Summary"}\n', "report.md": "# quick\n"}
SPEC = {
    "database": {"engine": "PostgreSQL", "image": "postgres:17"},
    "placement": {
        "database": {"nodeSelector": {"kubernetes.io/hostname": "a"}},
        "driver": {"nodeSelector": {"kubernetes.io/hostname": "b"}},
    },
    "baseline": "pod",
    "targets": [{"name": "pod", "pod": {}}, {"name": "vm", "virtualMachine": {}}],
    "workloads": [{"name": "orders", "tpcc": {"warehouses": 5}}],
}


def body(**metadata):
    return {
        "metadata": {"name": "quick", "namespace": "db", "uid": "u", "generation": 1} | metadata,
        "spec": SPEC,
    }


def trial(number, *, block=1, result=None):
    return TrialRecord(
        trial=f"b{block:03d}.vm.orders", block=block, target="vm", workload="orders", cell="",
        attempt=number, outcome=Outcome.MEASURED, reason="", message="",
        started="2026-11-21T08:00:00Z", finished="2026-11-21T08:01:00Z",
        result={"valid": True} if result is None else result,
    )  # fmt: skip


LOAD = LoadRecord(
    target="vm", workload="orders", attempt=1, outcome=Outcome.MEASURED, reason="", message="",
    started="2026-11-21T08:00:00Z", finished="2026-11-21T08:01:00Z", result=None,
)  # fmt: skip


def archive(*trials):
    return Archive(described(body()), trials or (trial(1),), (LOAD,), PUBLISHED)


def rewritten(content, change):
    """The archive after `change` has had its files."""
    with tarfile.open(fileobj=io.BytesIO(content)) as tar:
        files = {member.name: tar.extractfile(member).read() for member in tar}
    files = change(files) or files
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz") as tar:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text))
    return target.getvalue()


def test_an_archive_reads_as_what_was_packed():
    packed = archive(trial(1), trial(2), trial(1, block=2))
    assert unpack(pack(packed)) == packed


@settings(max_examples=25, deadline=None)
@given(
    st.dictionaries(
        st.text(max_size=5),
        st.floats(allow_nan=False, allow_infinity=False) | st.text() | st.integers(),
    )
)
def test_every_number_and_text_of_a_result_survives(result):
    text = pack_or_none(archive(trial(1, result={"metrics": result})))
    if text is not None:
        assert unpack(text).trials[0].result == {"metrics": result}


def pack_or_none(found):
    try:
        return pack(found)
    except ArchiveError:
        return None


def test_the_same_benchmark_gives_the_same_bytes():
    assert pack(archive(trial(1), trial(2))) == pack(archive(trial(1), trial(2)))


def test_records_are_in_the_order_of_blocks_wherever_their_names_sort(benchmark, make_record):
    first, *_, last = block(benchmark.spec, 7, 999).trials
    later = block(benchmark.spec, 7, 1000).trials[0]
    records = tuple(make_record(one, {}) for one in (first, last, later))
    found = unpack(pack(Archive(described(body()), records, (), PUBLISHED)))
    assert [one.block for one in found.trials] == [999, 999, 1000]


def test_annotations_and_managed_fields_are_left_out():
    secret = body(annotations={"note": "hunter2"}, managedFields=[{"x": 1}])
    assert set(described(secret)["metadata"]) == {"name", "namespace", "uid", "generation"}


def test_what_holds_a_password_is_not_packed():
    leaking = trial(1, result={"parameters": {"url": "postgres://dbbench:hunter2@vm:5432/db"}})
    with pytest.raises(ArchiveError, match=r"trials/b001\.vm\.orders\.1\.json holds a URL"):
        pack(archive(leaking))
    pack(archive(trial(1, result={"parameters": {"url": "postgres://dbbench@vm:5432/db"}})))


def test_a_changed_file_is_named():
    def change(files):
        name = "trials/b001.vm.orders.1.json"
        files[name] = files[name].replace(b"true", b"null")

    with pytest.raises(ArchiveError) as caught:
        unpack(rewritten(pack(archive()), change))
    assert caught.value.problems == (
        f"trials/b001.vm.orders.1.json has been changed: its sha256 is not the one in {MANIFEST}",
    )


def test_missing_and_added_files_are_named_together():
    def change(files):
        del files["loads/vm.orders.1.json"]
        files["trials/b009.vm.orders.1.json"] = b"{}"

    with pytest.raises(ArchiveError) as caught:
        unpack(rewritten(pack(archive()), change))
    assert caught.value.problems == (
        "loads/vm.orders.1.json is missing",
        f"trials/b009.vm.orders.1.json is not listed in {MANIFEST}",
    )


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda files: {"x": b""}, "manifest.json is missing: this is no archive"),
        (lambda files: files | {MANIFEST: b"{"}, "manifest.json is no JSON"),
        (lambda files: files | {MANIFEST: b"[]"}, "manifest.json holds a list, not an object"),
        (lambda files: files | {MANIFEST: b"{}"}, "kind is None, not 'Archive'"),
        (
            lambda files: files | {MANIFEST: b'{"kind": "Archive", "schemaVersion": 9}'},
            "schemaVersion is 9; this version of dbbench reads 1",
        ),
        (
            lambda files: files | {MANIFEST: b'{"kind": "Archive", "schemaVersion": 1}'},
            "files is no object",
        ),
    ],
)
def test_an_archive_of_something_else_is_refused(change, says):
    with pytest.raises(ArchiveError, match=says.replace("(", "\\(")):
        unpack(rewritten(pack(archive()), change))


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_no_damage_goes_unnoticed_or_ends_in_another_error(data):
    """A flipped byte is refused, or was in a place without meaning, such as gzip's header."""
    whole = pack(archive())
    place = data.draw(st.integers(0, len(whole) - 1))
    damaged = bytearray(whole)
    damaged[place] ^= data.draw(st.integers(1, 255))
    with contextlib.suppress(ArchiveError):
        assert unpack(bytes(damaged)) == archive()


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_a_part_of_an_archive_is_refused(data):
    whole = pack(archive())
    with pytest.raises(ArchiveError):
        unpack(whole[: data.draw(st.integers(0, len(whole) - 1))])


def test_links_and_folders_are_refused():
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz") as tar:
        link = tarfile.TarInfo("trials/x.json")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    with pytest.raises(ArchiveError, match=r"trials/x\.json is no regular file"):
        unpack(target.getvalue())


def test_what_unpacks_to_more_than_the_limit_is_refused(monkeypatch):
    monkeypatch.setattr("dbbench.results.archive.LARGEST_BYTES", 1 << 20)
    with pytest.raises(ArchiveError, match="unpacks to more than 1 MiB"):
        unpack(gzip.compress(bytes(4 << 20)))


def test_a_record_under_another_name_is_refused():
    def change(files):
        moved = files.pop("trials/b001.vm.orders.1.json")
        files["trials/b001.vm.orders.2.json"] = moved
        manifest = json.loads(files[MANIFEST])
        manifest["files"]["trials/b001.vm.orders.2.json"] = {
            "sha256": hashlib.sha256(moved).hexdigest()
        }
        del manifest["files"]["trials/b001.vm.orders.1.json"]
        files[MANIFEST] = json.dumps(manifest).encode()

    with pytest.raises(ArchiveError, match=r"belongs into trials/b001\.vm\.orders\.1\.json"):
        unpack(rewritten(pack(archive()), change))
