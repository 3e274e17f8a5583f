"""Certificates, made by the real openssl and checked by it."""

import base64
import json
import subprocess
from ipaddress import IPv4Network
from pathlib import Path

import pytest
from localcluster.addresses import plan
from localcluster.pki import CLUSTER_CA, ETCD_CA, Pki, certificates

ADDRESSES = plan(IPv4Network("10.213.0.0/16"), ["bench-db"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("pki")
    Pki(made).ensure(ADDRESSES)
    return made


def _openssl(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(["openssl", *arguments], capture_output=True, text=True, check=False)


def test_every_certificate_is_signed_by_its_own_authority_and_no_other(folder: Path) -> None:
    for certificate in certificates(ADDRESSES):
        path = str(folder / f"{certificate.name}.crt")
        for authority in (CLUSTER_CA, ETCD_CA):
            verdict = _openssl("verify", "-CAfile", str(folder / f"{authority}.crt"), path)
            assert (verdict.returncode == 0) == (authority == certificate.authority), path


def test_api_server_is_valid_for_the_bridge_and_for_its_service(folder: Path) -> None:
    text = _openssl("x509", "-noout", "-text", "-in", str(folder / "apiserver.crt")).stdout
    assert "IP Address:10.213.0.1" in text
    assert "IP Address:10.213.128.1" in text
    assert "DNS:kubernetes.default.svc.cluster.local" in text


def test_kubelet_is_a_member_of_the_nodes_group(folder: Path) -> None:
    subject = _openssl("x509", "-noout", "-subject", "-in", str(folder / "node-bench-db.crt"))
    assert "O = system:nodes" in subject.stdout
    assert "CN = system:node:bench-db" in subject.stdout


def test_keys_are_readable_by_their_owner_only(folder: Path) -> None:
    assert all(key.stat().st_mode & 0o077 == 0 for key in folder.glob("*.key"))


def test_second_call_keeps_what_there_is(folder: Path) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    Pki(folder).ensure(ADDRESSES)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_kubeconfig_holds_everything_and_is_private(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"
    Pki(folder).write_kubeconfig(path, ADDRESSES.api_url, "admin")
    document = json.loads(path.read_text())
    assert document["clusters"][0]["cluster"]["server"] == "https://10.213.0.1:6443"
    data = document["users"][0]["user"]["client-certificate-data"]
    assert base64.b64decode(data) == (folder / "admin.crt").read_bytes()
    assert path.stat().st_mode & 0o077 == 0
