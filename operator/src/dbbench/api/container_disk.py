"""A disk of the user's own that a virtual machine boots. Types only, no I/O."""

from pydantic import Field

from dbbench.api.base import ApiModel, rule, rules
from dbbench.api.database import ImagePullPolicy


class ContainerDisk(ApiModel):
    """An image that holds a disk with a kernel, an init and the database, as KubeVirt boots it."""

    image: str = Field(
        min_length=1,
        max_length=512,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._/:@-]*$",
        description=(
            "Image with the disk, raw or QCOW2, as the one file in its directory /disk. On it are "
            "systemd, cloud-init and the server's programs; docs/targets.md lists what it must "
            "hold."
        ),
    )
    image_pull_policy: ImagePullPolicy = Field(
        ImagePullPolicy.IF_NOT_PRESENT, description="Pull policy of that image."
    )
    user: str = Field(
        "postgres",
        max_length=32,
        pattern=r"^[a-z_][a-z0-9_-]*$",
        json_schema_extra=rules(
            rule("self != 'root'", "no database runs as root; write the user of its package")
        ),
        description="User of the disk as whom the database runs; not root.",
    )
    binaries: str | None = Field(
        None,
        max_length=256,
        pattern=r"^(/[A-Za-z0-9_.+-]+)+$",
        description=(
            "Directory of the disk with the server's programs, where they are in no directory "
            "that every program is found in: /usr/lib/postgresql/17/bin on Debian, "
            "/usr/pgsql-17/bin with the packages of postgresql.org for Red Hat's systems."
        ),
    )
