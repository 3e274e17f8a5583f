"""Golden manifests, and the benchmark that they are made from."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from dbbench.api.benchmark import DBBenchmark
from dbbench.targets import Context, Images, Manifest

GOLDEN = Path(__file__).parent / "golden"

IMAGES = Images(
    driver="localhost/dbbench/driver:0.1.0",
    launcher="localhost/dbbench/launcher:0.1.0",
    guest_kernel="localhost/dbbench/guest-kernel:0.1.0",
)

BENCHMARK: dict[str, Any] = {
    "metadata": {
        "name": "quickstart",
        "namespace": "bench",
        "uid": "3c1f0b6e-5d51-4c6b-9f0a-6f6f2c8f9d10",
    },
    "spec": {
        "database": {
            "engine": "PostgreSQL",
            "image": "localhost/dbbench/postgres:15",
            "config": {"shared_buffers": "128MB"},
            "storage": {"size": "2Gi"},
        },
        "resources": {"cpu": 1, "memory": "1Gi", "dedicatedCPUs": True},
        "placement": {
            "database": {"nodeSelector": {"kubernetes.io/hostname": "bench-db"}},
            "driver": {"nodeSelector": {"kubernetes.io/hostname": "bench-driver"}},
        },
        "baseline": "pod",
        "targets": [
            {"name": "pod", "pod": {}},
            {"name": "vm", "virtualMachine": {"runtime": "Auto"}},
        ],
        "workloads": [
            {"name": "analytics", "tpch": {"scaleFactor": "0.01"}},
            {
                "name": "connections",
                "tpch": {
                    "scaleFactor": "0.01",
                    "connection": ["Shared", "PerQuery"],
                    "queries": [6, 1],
                },
            },
            {"name": "orders", "tpcc": {"warehouses": 1, "clients": 2}},
            {"name": "telecom", "tatp": {"subscribers": 1000, "distribution": "Uniform"}},
        ],
        "trials": {"seed": 7},
    },
}


class PlainDumper(yaml.SafeDumper):
    """YAML without anchors: every manifest is written out."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


Change = Callable[[dict[str, Any]], None]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the golden manifests anew")


def context(change: Change | None = None, *, kubevirt: bool = False) -> Context:
    """The benchmark above, changed by `change`."""
    body = copy.deepcopy(BENCHMARK)
    if change is not None:
        change(body)
    return Context(DBBenchmark.parse(body), IMAGES, kubevirt)


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, list[Manifest]], None]:
    """Compares manifests with golden/<case>/, a file each; `--update-golden` writes them."""
    update: bool = request.config.getoption("--update-golden", default=False)

    def check(case: str, manifests: list[Manifest]) -> None:
        folder = GOLDEN / case
        texts = {
            f"{manifest['kind'].lower()}-{manifest['metadata']['name']}.yaml": yaml.dump(
                manifest, Dumper=PlainDumper, sort_keys=False, width=100
            )
            for manifest in manifests
        }
        assert len(texts) == len(manifests), "two manifests of one kind have the same name"
        if update:
            folder.mkdir(parents=True, exist_ok=True)
            for stale in folder.glob("*.yaml"):
                stale.unlink()
            for name, text in texts.items():
                (folder / name).write_text(text)
        found = {path.name: path.read_text() for path in sorted(folder.glob("*.yaml"))}
        assert sorted(found) == sorted(texts)
        for name, text in texts.items():
            assert yaml.safe_load(found[name]) == yaml.safe_load(text), f"{case}/{name}"
            assert found[name] == text, f"{case}/{name} differs in layout alone"

    return check
