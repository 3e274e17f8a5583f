"""A real Prometheus on this machine that scrapes the operator."""

import json
import subprocess
import tempfile
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from access.kubectl import wait

PORT = 19290
START_SECONDS = 60


@dataclass(frozen=True)
class Prometheus:
    """Answers PromQL."""

    address: str

    def query(self, expression: str) -> list[dict[str, Any]]:
        """The instant vector: entries with `metric` and `value`."""
        answer = self._get("query", query=expression)
        vector: list[dict[str, Any]] = answer["data"]["result"]
        return vector

    def up(self) -> bool:
        """Whether the last scrape of every target succeeded."""
        try:
            targets = self._get("targets")["data"]["activeTargets"]
        except OSError:
            return False
        return bool(targets) and all(target["health"] == "up" for target in targets)

    def metadata(self) -> dict[str, list[dict[str, str]]]:
        """Type and help of each metric."""
        found: dict[str, list[dict[str, str]]] = self._get("metadata")["data"]
        return found

    def _get(self, what: str, **parameters: str) -> dict[str, Any]:
        url = f"http://{self.address}/api/v1/{what}?{urllib.parse.urlencode(parameters)}"
        with urllib.request.urlopen(url, timeout=30) as answer:
            document: dict[str, Any] = json.load(answer)
            return document


@contextmanager
def scraping(target: str) -> Iterator[Prometheus]:
    """Prometheus that scrapes `host:port` each second, until the block ends."""
    with tempfile.TemporaryDirectory(prefix="dbbench-prometheus-") as folder:
        config = Path(folder) / "prometheus.yml"
        job = {"job_name": "dbbench", "static_configs": [{"targets": [target]}]}
        interval = {"scrape_interval": "1s", "scrape_timeout": "1s"}
        # JSON is YAML.
        config.write_text(json.dumps({"global": interval, "scrape_configs": [job]}))
        address = f"127.0.0.1:{PORT}"
        log = Path(folder) / "log"
        with log.open("w") as output:
            process = subprocess.Popen(
                [
                    "prometheus",
                    f"--config.file={config}",
                    f"--storage.tsdb.path={folder}/data",
                    f"--web.listen-address={address}",
                ],
                stdout=output,
                stderr=subprocess.STDOUT,
            )
            try:
                server = Prometheus(address)

                def scrapes() -> bool:
                    # Another one that has the port would answer in its place.
                    if process.poll() is not None:
                        raise RuntimeError(f"Prometheus has ended: {log.read_text()}")
                    return server.up()

                wait("Prometheus scrapes the operator", scrapes, limit=START_SECONDS)
                yield server
            finally:
                process.terminate()
                process.wait(timeout=30)
