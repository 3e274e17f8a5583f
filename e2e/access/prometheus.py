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
            targets = self.targets()
        except OSError:
            return False
        return bool(targets) and all(target["health"] == "up" for target in targets)

    def targets(self) -> list[dict[str, Any]]:
        """What it scrapes: entries with `health`, `labels` and `scrapePool`."""
        found: list[dict[str, Any]] = self._get("targets")["data"]["activeTargets"]
        return found

    def rule_groups(self) -> list[dict[str, Any]]:
        """Groups of rules that it has loaded: entries with `name` and `rules`."""
        found: list[dict[str, Any]] = self._get("rules")["data"]["groups"]
        return found

    def alerts(self) -> list[dict[str, Any]]:
        """Alerts that wait or fire: entries with `labels`, `annotations` and `state`."""
        found: list[dict[str, Any]] = self._get("alerts")["data"]["alerts"]
        return found

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
    job = {"job_name": "dbbench", "static_configs": [{"targets": [target]}]}
    interval = {"scrape_interval": "1s", "scrape_timeout": "1s"}
    with running({"global": interval, "scrape_configs": [job]}, {}) as server:
        yield server


@contextmanager
def running(configuration: dict[str, Any], rules: dict[str, str]) -> Iterator[Prometheus]:
    """Prometheus with that configuration and these files of rules, until the block ends.

    Returns when every target has been scraped well.
    """
    with tempfile.TemporaryDirectory(prefix="dbbench-prometheus-") as folder:
        config = Path(folder) / "prometheus.yml"
        for name, text in rules.items():
            (Path(folder) / name).write_text(text)
        files = {"rule_files": [f"{folder}/{name}" for name in rules]}
        # JSON is YAML.
        config.write_text(json.dumps({**configuration, **files}))
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
