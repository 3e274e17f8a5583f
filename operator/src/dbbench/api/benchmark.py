"""A whole DBBenchmark object as the API server returns it. No I/O."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from dbbench.api.spec import DBBenchmarkSpec
from dbbench.api.status import DBBenchmarkStatus


class Metadata(BaseModel):
    """The part of an object's metadata that dbbench reads."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    name: str
    namespace: str
    uid: str
    generation: int = 0
    creation_timestamp: str = Field("", alias="creationTimestamp")
    resource_version: str = Field("", alias="resourceVersion")
    deletion_timestamp: str | None = Field(None, alias="deletionTimestamp")


class DBBenchmark(BaseModel):
    """Spec and status with the metadata that dbbench reads."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    metadata: Metadata
    spec: DBBenchmarkSpec
    status: DBBenchmarkStatus = Field(default_factory=DBBenchmarkStatus)

    @classmethod
    def parse(cls, body: dict[str, Any]) -> "DBBenchmark":
        """From the API server's JSON; pydantic.ValidationError when the CRD is older or newer."""
        return cls.model_validate(body)
