"""The contract between an engine and the targets that run it. No I/O."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from dbbench.api.database import Database
from dbbench.api.resources import Resources

# Paths inside the database's container and inside the guest; the same in both.
BINARIES = "/dbbench/bin"
CONFIG = "/dbbench/config"
SECRET = "/dbbench/secret"  # noqa: S105 (a path)
DATA = "/dbbench/data"
PASSWORD_FILE = f"{SECRET}/password"

# Created in the fresh database of each target.
DATABASE_NAME = "dbbench"
DATABASE_USER = "dbbench"


@dataclass(frozen=True)
class Readiness:
    """What the agent asks the database, on 127.0.0.1, before it reports it ready."""

    protocol: str
    port: int


class Engine(Protocol):
    """One database engine."""

    @property
    def port(self) -> int:
        """TCP port that clients connect to."""

    @property
    def executables(self) -> tuple[str, ...]:
        """Names of the server's executable, by image: its file is hashed."""

    @property
    def readiness(self) -> Readiness:
        """How the agent tells that the database answers."""

    @property
    def stop_signal(self) -> str:
        """Signal that stops the server in order, such as SIGINT."""

    @property
    def stop_grace_seconds(self) -> int:
        """How long it may take to stop before it is killed."""

    @property
    def writable_directories(self) -> tuple[str, ...]:
        """Directories outside the data directory that the server writes to."""

    def config_file(self, database: Database, resources: Resources) -> tuple[str, str]:
        """Name and text of the server's configuration file; ValueError names a bad setting.

        `resources` are those that every target has; the file is the same in all of them.
        """

    def command(self, database: Database) -> Sequence[str]:
        """The image's entrypoint with the server's arguments."""

    def environment(self, database: Database) -> Mapping[str, str]:
        """Environment variables added to the image's own. They hold no secrets."""

    @property
    def driver_name(self) -> str:
        """The driver's word for the engine, where it has no URL."""

    def driver_url(self, host: str) -> str:
        """URL for the driver, without a password."""

    def unequal_settings(self, resources: Resources) -> frozenset[str]:
        """Reported settings that follow from what a target is, or that change by themselves."""
