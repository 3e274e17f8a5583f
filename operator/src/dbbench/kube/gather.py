"""Reads everything that a decision about one benchmark needs."""

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime

from kubernetes_asyncio.client import ApiException

from dbbench.api.benchmark import DBBenchmark
from dbbench.api.machine import Runtime
from dbbench.evaluate.connection import Connection, connection_of
from dbbench.evaluate.harvest import recorded_identities, unrecorded_jobs
from dbbench.evaluate.scripts import config_maps_of
from dbbench.evaluate.state import Manifest, Ref, Served, State, labels_of
from dbbench.kube.cluster import Cluster
from dbbench.kube.kinds import (
    CLOUD_NATIVE_PG,
    CONFIG_MAP,
    DATA_VOLUME,
    EVENT,
    JOB,
    KUBEVIRT,
    NETWORK_POLICY,
    OWNED,
    POD,
    SECRET,
    VIRTUAL_MACHINE,
    Kind,
)
from dbbench.kube.offer import Offer
from dbbench.kube.settled import Settled
from dbbench.results.storage import read
from dbbench.targets.context import NO_DEVICES, Devices, Images, TargetRuntime
from dbbench.targets.names import LABEL_BENCHMARK, label_value

_CONTROLLER = "batch.kubernetes.io/controller-uid"


async def gather(
    cluster: Cluster,
    benchmark: DBBenchmark,
    images: Images,
    *,
    privileged_targets: bool,
    network_policies: bool = False,
    devices: Devices = NO_DEVICES,
    offer: Offer | None = None,
    settled: Settled | None = None,
) -> State:
    """The state of one benchmark. ApiException when the API server refuses or fails.

    Before its start a benchmark owns nothing, and a thousand may wait: nothing is looked for.
    `offer`, `settled` None: asked for anew.
    """
    kubevirt_served = _may_use_kubevirt(benchmark) and await cluster.serves(VIRTUAL_MACHINE)
    state = State(
        benchmark=benchmark,
        now=datetime.now(UTC),
        images=images,
        privileged_targets=privileged_targets,
        network_policies=network_policies,
        devices=devices,
        kubevirt=_kubevirt(benchmark, kubevirt_served),
    )
    if benchmark.status.start_time is None:
        _, cloud_native_pg = await _clusters(cluster, benchmark, _selector(benchmark))
        state = replace(state, cloud_native_pg=cloud_native_pg)
    else:
        lists = settled or Settled(cluster)
        state = await _with_objects(cluster, lists, state, kubevirt_served)
    if benchmark.status.completion_time is not None:
        return state
    return await _with_details(cluster, offer or Offer(cluster), state)


def _selector(benchmark: DBBenchmark) -> str:
    return f"{LABEL_BENCHMARK}={label_value(benchmark.metadata.name)}"


async def _with_objects(
    cluster: Cluster, lists: Settled, state: State, kubevirt_served: bool
) -> State:
    """Adds what the benchmark owns, with its pods and records.

    A job that has ended has its pod, until it has its record, until it is deleted; a database has
    its password. Pods, records and password are looked for after what they belong to, so that no
    delay between the answers makes any of them look lost.
    """
    benchmark = state.benchmark
    selector = _selector(benchmark)
    kinds = (*OWNED, VIRTUAL_MACHINE) if kubevirt_served else OWNED
    kinds = (*kinds, NETWORK_POLICY) if state.network_policies else kinds
    owned = await asyncio.gather(*(lists.list(kind, benchmark, selector) for kind in kinds))
    clusters, cloud_native_pg = await _clusters(cluster, benchmark, selector)
    pods, config_maps, secrets = await asyncio.gather(
        *(lists.list(kind, benchmark, selector) for kind in (POD, CONFIG_MAP, SECRET))
    )
    owned += [clusters, config_maps, secrets]
    objects = {
        Ref(item["kind"], item["metadata"]["name"]): item
        for items in owned
        for item in items
        if is_owned(item, benchmark)
    }
    records = read(
        item.get("binaryData") or {}
        for ref, item in sorted(objects.items())
        if ref.kind == "ConfigMap"
    )
    if records.damaged:
        key, reason = next(iter(records.damaged.items()))
        raise ValueError(f"stored record {key} of benchmark {selector} is damaged: {reason}")
    return replace(
        state,
        now=datetime.now(UTC),
        cloud_native_pg=cloud_native_pg,
        objects=objects,
        pods=tuple(pods),
        trials=records.trials,
        loads=records.loads,
    )


async def survey(
    cluster: Cluster, benchmark: DBBenchmark, images: Images, *, privileged_targets: bool
) -> State:
    """The state of a benchmark that does not exist yet: what the cluster offers it."""
    served = await cluster.serves(VIRTUAL_MACHINE)
    state = State(
        benchmark=benchmark,
        now=datetime.now(UTC),
        images=images,
        privileged_targets=privileged_targets,
        kubevirt=served,
        # Whether the operator may make clusters is not to be seen with other rights than its own.
        cloud_native_pg=Served.YES if await cluster.serves(CLOUD_NATIVE_PG) else Served.NO,
    )
    return await _with_details(cluster, Offer(cluster), state)


async def _with_details(cluster: Cluster, offer: Offer, state: State) -> State:
    """Adds what only a benchmark that has not ended needs."""
    benchmark = state.benchmark
    nodes = classes = kubevirts = None
    data_volumes = False
    connections: dict[str, Connection] | None = {}
    version = ""
    if benchmark.status.start_time is None or benchmark.status.environment is None:
        nodes = await offer.nodes()
        classes = await offer.storage_classes()
        version = await offer.version()
        connections = await _connections(cluster, benchmark)
        if state.kubevirt:
            kubevirts = await cluster.readable(KUBEVIRT)
            data_volumes = await cluster.serves(DATA_VOLUME)
    warnings: tuple[Manifest, ...] = ()
    if benchmark.status.start_time is not None and not _all_well(state.pods):
        warnings = tuple(
            await cluster.list(EVENT, benchmark.metadata.namespace, fields="type=Warning")
        )
    logs: dict[str, tuple[str | None, ...]] = {}
    for job in unrecorded_jobs(state.of_kind(JOB.name), recorded_identities(state)):
        name = job["metadata"]["name"]
        try:
            logs[name] = await _job_logs(cluster, state, job)
        except ApiException as error:
            # The kubelet cannot be reached now; the log is read when it can.
            if error.status < 500:
                raise
    return replace(
        state,
        kubernetes_version=version,
        warnings=warnings,
        nodes=nodes,
        storage_classes=classes,
        kubevirts=kubevirts,
        data_volumes=data_volumes,
        connections=connections,
        scripts=await _scripts(cluster, state),
        logs=logs,
    )


async def _clusters(
    cluster: Cluster, benchmark: DBBenchmark, selector: str
) -> tuple[list[Manifest], Served]:
    """Clusters of CloudNativePG, for benchmarks with such targets: the right to them is opt-in."""
    if not any(target.cloud_native_pg is not None for target in benchmark.spec.targets):
        return [], Served.NO
    if not await cluster.serves(CLOUD_NATIVE_PG):
        return [], Served.NO
    namespace = benchmark.metadata.namespace
    try:
        found = await cluster.list(CLOUD_NATIVE_PG, namespace, labels=selector)
    except ApiException as error:
        if error.status == 403 and benchmark.status.start_time is None:
            return [], Served.FORBIDDEN
        raise
    return found, Served.YES


async def _connections(cluster: Cluster, benchmark: DBBenchmark) -> dict[str, Connection] | None:
    """The Secrets of external databases that exist; None without the right to look."""
    names = {
        target.external.connection.secret_ref.name
        for target in benchmark.spec.targets
        if target.external is not None
    }
    found = await _named(cluster, SECRET, benchmark, names)
    if found is None:
        return None
    return {secret["metadata"]["name"]: connection_of(secret) for secret in found}


async def _scripts(cluster: Cluster, state: State) -> dict[str, dict[str, str]] | None:
    """Texts of the user's ConfigMaps that are still to be copied from; None without the right."""
    found = await _named(cluster, CONFIG_MAP, state.benchmark, config_maps_of(state))
    if found is None:
        return None
    return {one["metadata"]["name"]: one.get("data") or {} for one in found}


async def _named(
    cluster: Cluster, kind: Kind, benchmark: DBBenchmark, names: Iterable[str]
) -> list[Manifest] | None:
    """Objects of the user's that exist; None without the right to look.

    Listed one by one: reading them needs no other right than that for the benchmark's own.
    """
    namespace = benchmark.metadata.namespace
    try:
        lists = [
            await cluster.list(kind, namespace, fields=f"metadata.name={name}")
            for name in sorted(names)
        ]
    except ApiException as error:
        if error.status == 403:
            return None
        raise
    return [found for one in lists for found in one]


async def _job_logs(cluster: Cluster, state: State, job: Manifest) -> tuple[str | None, ...]:
    """The log of the driver of each instance; None for one that is gone."""
    namespace = state.benchmark.metadata.namespace
    drivers = [driver["name"] for driver in job["spec"]["template"]["spec"]["containers"]]
    for pod in state.pods:
        if _is_of(pod, job):
            name = pod["metadata"]["name"]
            return tuple([await cluster.log(namespace, name, driver) for driver in drivers])
    return (None,) * len(drivers)


def _is_of(pod: Manifest, job: Manifest) -> bool:
    """Not of an earlier job of the same name, which somebody has deleted by hand."""
    labels, metadata = labels_of(pod), job["metadata"]
    same = labels.get(_CONTROLLER, metadata.get("uid")) == metadata.get("uid")
    return bool(labels.get("job-name") == metadata["name"] and same)


def is_owned(item: Manifest, benchmark: DBBenchmark) -> bool:
    """Labels can be set by anyone, and outlive an object of the same name; owners cannot."""
    owners = item["metadata"].get("ownerReferences") or []
    return any(owner["uid"] == benchmark.metadata.uid for owner in owners)


def _all_well(pods: tuple[Manifest, ...]) -> bool:
    """Whether no pod waits for anything that an event could explain."""
    return bool(pods) and all(
        pod.get("status", {}).get("phase") == "Succeeded"
        or any(
            condition["type"] == "Ready" and condition["status"] == "True"
            for condition in pod.get("status", {}).get("conditions") or []
        )
        for pod in pods
    )


def _may_use_kubevirt(benchmark: DBBenchmark) -> bool:
    """Whether it matters to the benchmark that KubeVirt is there; settled at the start, too."""
    known = benchmark.status.environment
    if known is not None:
        return _kubevirt(benchmark, served=False)
    machines = [target.virtual_machine for target in benchmark.spec.targets]
    return any(one is not None and one.runtime is not Runtime.QEMU for one in machines)


def _kubevirt(benchmark: DBBenchmark, served: bool) -> bool:
    """What Auto means. Settled at the start: KubeVirt may come or go during the run."""
    known = benchmark.status.environment
    if known is None:
        return served
    return any(target.runtime == TargetRuntime.KUBEVIRT for target in known.targets)
