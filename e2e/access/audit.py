"""The API server's audit log: what was asked for, and what was refused. Pure but for `read`."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from access.kubectl import Manifest

CREATED = 201
FORBIDDEN = 403
_STAGE = "ResponseComplete"
# A watch is answered when it begins; its end may come after that of the log.
_BEGUN = "ResponseStarted"


class Right(NamedTuple):
    """What one request needs of RBAC. `resource` with its subresource: `pods/log`."""

    group: str
    resource: str
    verb: str

    def __str__(self) -> str:
        return f"{self.verb} {self.resource}" + (f".{self.group}" if self.group else "")


@dataclass(frozen=True)
class Request:
    """One request that was answered. `sent` and `answer` are bodies, where the policy keeps them.

    `right` None: a path that is no object's, such as discovery.
    """

    at: datetime
    user: str
    right: Right | None
    uri: str
    code: int
    message: str = ""
    sent: Manifest | None = None
    answer: Manifest | None = None

    @property
    def rights(self) -> set[Right]:
        """All that it needed: what server-side apply makes anew must be allowed to be created."""
        if self.right is None:
            return set()
        made = self.right.verb == "patch" and self.code == CREATED
        return {self.right} | ({self.right._replace(verb="create")} if made else set())

    @property
    def refused(self) -> bool:
        """For want of rights; what a namespace that is being deleted refuses is none."""
        return self.code == FORBIDDEN and "is being terminated" not in self.message


def policy(user: str, *, with_bodies: Sequence[tuple[str, str]] = ()) -> Manifest:
    """An audit policy that keeps the requests of one user, and nothing of anybody else's.

    `with_bodies`: group and resource (with subresource) whose bodies are kept as well.
    """
    whole = [
        {
            "level": "RequestResponse",
            "users": [user],
            "resources": [{"group": group, "resources": [resource]}],
        }
        for group, resource in with_bodies
    ]
    return {
        "apiVersion": "audit.k8s.io/v1",
        "kind": "Policy",
        "omitStages": ["RequestReceived"],
        "omitManagedFields": True,
        "rules": [*whole, {"level": "Metadata", "users": [user]}, {"level": "None"}],
    }


def read(log: Path) -> Iterator[Request]:
    """All requests of a log file, in order."""
    with log.open() as lines:
        yield from requests(lines)


def requests(lines: Iterable[str]) -> Iterator[Request]:
    """Each answered request once; a line that the server is still writing is passed over."""
    for line in lines:
        if not line.endswith("\n"):
            return
        event = json.loads(line)
        watch = event["verb"] == "watch"
        if event["stage"] != (_BEGUN if watch else _STAGE) and not _failed_early(event):
            continue
        status = event.get("responseStatus") or {}
        yield Request(
            at=datetime.fromisoformat(event["stageTimestamp"]),
            user=event["user"]["username"],
            right=_right(event),
            uri=event["requestURI"],
            code=int(status.get("code", 0)),
            message=str(status.get("message", "")),
            sent=event.get("requestObject"),
            answer=event.get("responseObject"),
        )


def _failed_early(event: Manifest) -> bool:
    """A watch that is refused never begins."""
    code = (event.get("responseStatus") or {}).get("code", 0)
    return bool(event["stage"] == _STAGE and event["verb"] == "watch" and code >= 400)


def _right(event: Manifest) -> Right | None:
    place = event.get("objectRef")
    if place is None:
        return None
    resource, part = place["resource"], place.get("subresource")
    return Right(
        place.get("apiGroup", ""), f"{resource}/{part}" if part else resource, event["verb"]
    )


def granted(manifests: Iterable[Manifest], account: str) -> set[Right]:
    """Rights of a service account, by the roles that bindings among the manifests give it."""
    found = list(manifests)
    roles = {
        binding["roleRef"]["name"]
        for binding in found
        if binding["kind"] in ("ClusterRoleBinding", "RoleBinding")
        and any(subject["name"] == account for subject in binding["subjects"])
    }
    return {
        Right(group, resource, verb)
        for role in found
        if role["kind"] in ("ClusterRole", "Role") and role["metadata"]["name"] in roles
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }
