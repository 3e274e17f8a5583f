"""The record of a cluster: which nodes it has, at which addresses."""

import json

from localcluster.addresses import Addresses
from localcluster.errors import ClusterError
from localcluster.layout import Layout


def write(layout: Layout, addresses: Addresses) -> None:
    """Writes the record whole or not at all; it comes before anything that it describes."""
    layout.state.mkdir(parents=True, exist_ok=True)
    fresh = layout.record.with_suffix(".new")
    fresh.write_text(json.dumps(addresses.to_record(), indent=1) + "\n")
    fresh.rename(layout.record)


def recorded(layout: Layout) -> Addresses | None:
    """The plan of the cluster in ``layout``, if one was started."""
    if not layout.record.is_file():
        return None
    return Addresses.from_record(json.loads(layout.record.read_text()))


def existing(layout: Layout) -> Addresses:
    """The plan of the cluster in ``layout``; an error where there is none."""
    addresses = recorded(layout)
    if addresses is None:
        raise ClusterError("no cluster here; start one with `e2e/cluster/cluster up`")
    return addresses
