"""DBBenchmarks made from the CRD's own schema: well-formed ones, and ones with something wrong.

The schema alone says what a field may hold. What spans fields (the kind of a target, the names that
others refer to) is put in order afterwards, so that a good share is accepted; then a part of the
documents is broken in one or two places.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from random import Random
from typing import Any, TypeVar

import yaml
from access.kubectl import Manifest
from access.paths import PROJECT
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

T = TypeVar("T")

_CRD = PROJECT / "crds" / "dbbench.io_dbbenchmarks.yaml"

# Text that means something to a shell, SQL, YAML, a template, an option parser, a path, or a
# reader of lines; and text that is long, empty, invisible or no ASCII.
HOSTILE = (
    "'", '"', "'; DROP TABLE orders; --", "$(HOSTNAME)", "$(touch /tmp/x)", "`id`", "${IFS}",
    "a\nport = 1", "a\r\nb", "\x00", "\x7f", "\x1b[2J", "\t", " ", "", "--privileged", "-c",
    "../../etc/passwd", "a;b", "a b", "a,b=c", "a|b&c", "{{ .Values }}", "%s%n", "#", "\\", "\\'",
    "\u2028", "\u202e", "\u00e9", "\U0001f600", "\ufeff", "NaN", "1e400", "-0", "0x10", "1_000",
    "99999999999999999999", "9999999999999999999h", "0.00000000000000001", "a" * 64, "a" * 300,
    "a" * 10_000, "null", "true", "[]", "localhost/dbbench/postgres:15 --rm",
)  # fmt: skip
_WRONG: tuple[Any, ...] = (
    None, True, 0, -1, 1, 2**31, 2**53, 2**63 - 1, 2**63, 10**30, 1.5, -0.0, 1e300, "", "x", [],
    {}, [[]], [{}], {"": ""}, {"a": {"b": []}}, ["a", 1],
)  # fmt: skip

# What such fields mostly hold; the schema's patterns alone would make nothing that fits together.
_LIKELY: dict[str, tuple[Any, ...]] = {
    "size": ("1Gi", "2Gi", "20G", "1.5Gi", "256Mi"),
    "memory": ("1Gi", "2Gi", "4Gi", "64Gi", "1.5G"),
    "tableSize": ("4Ki", "1M", "32M"),
    "rootDiskSize": ("2Gi", "4Gi"),
    "readAhead": ("0", "128Ki", "1Gi"),
    "scaleFactor": ("0.01", "1", "100"),
    "image": ("postgres:17", "mysql:8.4", "localhost:5000/a/b@sha256:" + "0" * 64),
    "cpu": (1, 2, 4, 8),
    "instances": (1, 1, 2, 3),
    "workProcesses": (1, 2, 8),
    "key": ("bench", "example.com/bench", "node.kubernetes.io/unreachable"),
    "value": ("yes", "a"),
    "operator": ("Exists", "Equal"),
    "effect": ("NoSchedule", "NoExecute", "PreferNoSchedule"),
    "storageClassName": ("standard", "fast.local"),
    "runtimeClassName": ("kata", "gvisor"),
    "nodeSelector": ("a", "bench-1"),
    "config": (
        "64MB",
        "it's",
        'a "b"',
        "\\",
        "\\'",
        '\\"',
        "$(x)",
        "'; DROP TABLE x; --",
        "# a",
        " ",
    ),
    "binaries": ("/usr/lib/postgresql/17/bin",),
    "user": ("postgres", "pg"),
    "runtime": ("KubeVirt", "KubeVirt", "QEMU", "Auto"),
    "engine": ("PostgreSQL", "PostgreSQL", "MySQL", "Hyper"),
    **dict.fromkeys(("ready", "load", "trial", "disk", "queryTimeout", "duration"), ("5m", "1h2s")),
    **dict.fromkeys(("warmup", "ttlAfterFinished"), ("0s", "30s")),
}
_MAP_KEYS = {
    "nodeSelector": ("kubernetes.io/hostname", "zone", "example.com/role"),
    "config": ("max_connections", "sort_buffer", "auto_explain.log_min_duration", "innodb_x"),
}


@cache
def fields() -> Manifest:
    """Every schema of the CRD below `spec`, by path: `[]` is an item, `{}` a value of a map."""
    crd = yaml.safe_load(_CRD.read_text())
    (version,) = crd["spec"]["versions"]
    return dict(_below("spec", version["schema"]["openAPIV3Schema"]["properties"]["spec"]))


def _below(path: str, schema: Manifest) -> Iterator[tuple[str, Manifest]]:
    yield path, schema
    for name, field in schema.get("properties", {}).items():
        yield from _below(f"{path}.{name}", field)
    for key, suffix in (("items", "[]"), ("additionalProperties", "{}")):
        if key in schema:
            yield from _below(path + suffix, schema[key])


def documents(count: int, number: int) -> list[Manifest]:
    """So many of them, the same ones for the same seed `number`."""
    dice = Dice(Random(number), number, size=10 + min(count // 20, 100))
    return [_document(dice) for _ in range(count)]


class Dice:
    """Makes the choices. Texts come from Hypothesis, which is good at odd ones but takes its time:
    `size` of each pattern, which then serve all documents.
    """

    def __init__(self, random: Random, number: int, size: int) -> None:
        self.random = random
        self._number = number
        self._size = size
        self._texts: dict[str, list[str]] = {}

    def one(self, values: Sequence[T]) -> T:
        return self.random.choice(values)

    def hit(self, share: float) -> bool:
        return self.random.random() < share

    def text(self, name: str, strategy: st.SearchStrategy[str]) -> str:
        if name not in self._texts:
            self._texts[name] = self._drawn(strategy)
        return self.one(self._texts[name])

    def _drawn(self, strategy: st.SearchStrategy[str]) -> list[str]:
        found: list[str] = []

        @seed(self._number)
        @settings(
            max_examples=self._size,
            phases=[Phase.generate],
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(strategy)
        def collect(text: str) -> None:
            found.append(text)

        collect()
        return found


def _document(dice: Dice) -> Manifest:
    spec = _value(dice, "spec")
    _put_in_order(dice, spec)
    document = {
        "apiVersion": "dbbench.io/v1alpha1",
        "kind": "DBBenchmark",
        "metadata": {"name": _name(dice)},
        "spec": spec,
    }
    for _ in range(dice.one((0, 0, 0, 1, 1, 2))):
        _break(dice, document)
    return document


_NAMES = st.from_regex(r"[a-z0-9]([-a-z0-9.]{0,30}[a-z0-9])?", fullmatch=True)


def _name(dice: Dice) -> str:
    """Mostly one that Kubernetes takes; also with dots, or longer than 40 characters."""
    if dice.hit(0.5):
        return "fuzzed"
    return dice.text("", _NAMES) if dice.hit(0.9) else dice.one(("a" * 41, "1", "a.b.c", *HOSTILE))


# ---- what the schema allows --------------------------------------------------------------------


def _value(dice: Dice, path: str) -> Any:  # noqa: ANN401 (JSON)
    """What the schema at the path allows."""
    schema, name = fields()[path], path.rpartition(".")[2].rstrip("[]{}")
    if "enum" in schema:
        return dice.one(schema["enum"])
    match schema["type"]:
        case "object":
            return _map(dice, path) if "additionalProperties" in schema else _object(dice, path)
        case "array":
            return _list(dice, path)
        case "boolean":
            return dice.hit(0.5)
    if name in _LIKELY and dice.hit(0.85):
        return dice.one(_LIKELY[name])
    if schema["type"] == "integer":
        least, most = schema.get("minimum", -(2**63)), schema.get("maximum", 2**63 - 1)
        middle = dice.random.randint(least, most)
        return dice.one((least, least + 1, min(least + 4, most), most, middle))
    bounds = (schema.get("pattern"), schema.get("minLength"), schema["maxLength"])
    return dice.text(str(bounds), _strings(schema))


def _strings(schema: Manifest) -> st.SearchStrategy[str]:
    least, most = schema.get("minLength", 0), schema["maxLength"]
    if "pattern" in schema:
        text = st.from_regex(re.sub(r"\$$", r"\\Z", schema["pattern"]))
        return text.filter(lambda text: least <= len(text) <= most)
    characters = st.characters(exclude_categories=["Cs"])
    hostile = [text for text in HOSTILE if least <= len(text) <= most]
    return st.text(characters, min_size=least, max_size=min(most, 30)) | st.sampled_from(hostile)


def _list(dice: Dice, path: str) -> list[Any]:
    """Few items; longer lists come of breaking one."""
    schema = fields()[path]
    least = schema.get("minItems", 0)
    found = [_value(dice, f"{path}[]") for _ in range(least + dice.one((0, 0, 1, 2)))]
    if schema.get("x-kubernetes-list-type") == "set":
        return list(dict.fromkeys(found))
    return found


def _map(dice: Dice, path: str) -> Manifest:
    least = fields()[path].get("minProperties", 0)
    known = _MAP_KEYS[path.rpartition(".")[2]]
    keys = [
        dice.one(known) if dice.hit(0.95) else dice.one(HOSTILE)
        for _ in range(least + dice.one((0, 1)))
    ]
    return {key: _value(dice, path + "{}") for key in keys}


def _object(dice: Dice, path: str) -> Manifest:
    """What is required, and some of the rest: with all of it, some rule would always be broken."""
    schema = fields()[path]
    return {
        name: _value(dice, f"{path}.{name}")
        for name in schema.get("properties", ())
        if name in schema.get("required", ()) or dice.hit(0.25)
    }


# ---- what spans fields -------------------------------------------------------------------------

_TARGETS = ("pod", "pod", "virtualMachine", "virtualMachine", "host", "cloudNativePG", "external")
_WORKLOADS = ("tpch", "tpcc", "tatp", "sql", "zachmann")
_OF_KUBEVIRT = (
    "ioThreadsPolicy", "ioThreads", "blockMultiQueue", "networkInterfaceMultiqueue",
    "containerDisk",
)  # fmt: skip
_NETWORKS = {"KubeVirt": ("Masquerade", "Bridge"), "QEMU": ("User", "Tap")}


def _put_in_order(dice: Dice, spec: Manifest) -> None:
    """Exactly one kind in each, and names that are there; mostly also what other rules want."""
    for kinds, ones, path in (
        (_TARGETS, spec["targets"], "spec.targets[]"),
        (_WORKLOADS, spec["workloads"], "spec.workloads[]"),
    ):
        for index, one in enumerate(ones):
            for kind in kinds:
                one.pop(kind, None)
            kind = dice.one(kinds)
            one[kind] = _value(dice, f"{path}.{kind}")
            one["name"] = f"{one['name'][:17].rstrip('-')}{index}"
    names = [target["name"] for target in spec["targets"]]
    spec["baseline"] = dice.one(names)
    if dice.hit(0.9):
        _keep_the_rules(dice, spec)


def _keep_the_rules(dice: Dice, spec: Manifest) -> None:
    """Takes out what contradicts the rest."""
    if all("external" in target for target in spec["targets"]):
        del spec["targets"][0]["external"]
        spec["targets"][0]["pod"] = {}
    used = {kind for target in spec["targets"] for kind in target}
    for workload in spec["workloads"]:
        _keep_one_place(dice, workload.get("sql", {}))
    for target in spec["targets"]:
        if used & {"host", "external"}:
            target.pop("instances", None)
        _keep_to_the_runtime(target.get("virtualMachine", {}))
    _keep_to_the_targets(dice, spec, used)
    selector = spec["placement"]["driver"].get("nodeSelector") or {"kubernetes.io/hostname": "b"}
    spec["placement"]["driver"] = {"nodeSelector": selector}
    others = [target["name"] for target in spec["targets"] if target["name"] != spec["baseline"]]
    if "gates" in spec:
        workload = dice.one(spec["workloads"])["name"]
        spec["gates"] = [
            {"workload": workload, "target": other, "maxSlowdown": "10%"} for other in others
        ]
    for name in ("max", "targetHalfWidth", "mode"):
        spec.get("trials", {}).pop(name, None)
    if spec["database"].get("engine") != "PostgreSQL" or "hugepages" in spec.get("resources", {}):
        for target in spec["targets"]:
            target.get("virtualMachine", {}).pop("containerDisk", None)
    if "hugepages" in spec.get("resources", {}):
        spec["resources"] |= {"memory": "4Gi", "hugepages": {"pageSize": "2Mi", "size": "256Mi"}}


def _keep_one_place(dice: Dice, sql: Manifest) -> None:
    """Each script is either written there or a ConfigMap's, and has a name of its own."""
    scripts = sql.get("scripts", [])
    for script in [*scripts, *([sql["setup"]] if "setup" in sql else [])]:
        reference = script.pop("configMapKeyRef", {"name": "orders", "key": "order.sql"})
        text = script.pop("text", "SELECT 1")
        script |= {"text": text} if dice.hit(0.5) else {"configMapKeyRef": reference}
    for index, script in enumerate(scripts):
        script["name"] = f"{script['name'][:17].rstrip('-')}{index}"


def _keep_to_the_targets(dice: Dice, spec: Manifest, used: set[str]) -> None:
    """Nothing that one kind of target has not, for all have the same."""
    database = spec["database"]
    if "cloudNativePG" in used:
        database |= {"engine": "PostgreSQL", "image": "postgres:17"}
    if "virtualMachine" in used:
        database.get("storage", {}).pop("medium", None)
    else:
        database.get("storage", {}).pop("volumeMode", None)
    if used & {"cloudNativePG", "external"}:
        database.get("storage", {}).pop("medium", None)
        for workload in spec["workloads"]:
            workload.get("tpch", {}).pop("cache", None)
            if workload.pop("zachmann", None) is not None:
                workload["tatp"] = {"subscribers": 1000}
    if "external" in used:
        spec.get("trials", {}).pop("redeploy", None)
    if database.get("storage", {}).get("medium") == "Memory":
        database["storage"]["size"] = "256Mi"
    kinds = {kind for workload in spec["workloads"] for kind in workload}
    sweep = spec.pop("sweep", None)
    if sweep is not None:
        axes = [*(["clients"] if kinds & {"tpcc", "tatp", "sql"} else [])]
        axes += ["workProcesses"] if "zachmann" in kinds else []
        axes += ["cpu"] if "external" not in used else []
        axes += ["instances"] if not used & {"external", "host", "instances"} else []
        chosen = {axis: [1, dice.one((2, 4))] for axis in axes if dice.hit(0.7)}
        spec |= {"sweep": {"design": sweep.get("design", "Full"), **chosen}} if chosen else {}


def _keep_to_the_runtime(machine: Manifest) -> None:
    cpu, disk = machine.get("cpu", {}), machine.get("dataDisk", {})
    if machine.get("runtime") != "KubeVirt":
        for name in _OF_KUBEVIRT:
            machine.pop(name, None)
        disk.pop("volume", None)
        for name in ("maxSockets", "isolateEmulatorThread"):
            cpu.pop(name, None)
    else:
        machine.pop("machine", None)
    if "containerDisk" in machine:
        machine.pop("rootDiskSize", None)
    if machine.get("network") not in _NETWORKS.get(machine.get("runtime", ""), ()):
        machine.pop("network", None)
    for name in ("sockets", "cores", "threads", "numa"):
        cpu.pop(name, None)
    for name in ("io", "dedicatedIOThread"):
        disk.pop(name, None)
    if machine.get("ioThreadsPolicy") == "supplementalPool":
        machine["ioThreads"] = {"supplementalPoolThreadCount": 2}
    else:
        machine.pop("ioThreads", None)


# ---- what is wrong -----------------------------------------------------------------------------


def _break(dice: Dice, document: Manifest) -> None:
    """One place gets what does not belong there."""
    holder, key = dice.one(list(_places(document["spec"])))
    dice.one(_WAYS)(dice, holder, key)


def _places(value: Any) -> Iterator[tuple[Any, Any]]:  # noqa: ANN401 (JSON)
    """Every list and map, with each of its indices or keys."""
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from _places(value[key])


def _set_wrong(dice: Dice, holder: Any, key: Any) -> None:  # noqa: ANN401
    holder[key] = dice.one(_WRONG)


def _set_hostile(dice: Dice, holder: Any, key: Any) -> None:  # noqa: ANN401
    holder[key] = dice.one(HOSTILE)


def _append_hostile(dice: Dice, holder: Any, key: Any) -> None:  # noqa: ANN401
    if isinstance(holder[key], str):
        holder[key] += dice.one(HOSTILE)
    else:
        _set_hostile(dice, holder, key)


def _remove(_: Dice, holder: Any, key: Any) -> None:  # noqa: ANN401
    del holder[key]


def _add_unknown(dice: Dice, holder: Any, key: Any) -> None:  # noqa: ANN401
    place = holder[key] if isinstance(holder[key], dict) else holder
    if isinstance(place, dict):
        place[dice.one(("extra", "Name", "$patch", "__proto__", *HOSTILE))] = dice.one(_WRONG)
    else:
        place.append(dice.one(_WRONG))


def _repeat(dice: Dice, holder: Any, key: Any) -> None:  # noqa: ANN401
    """A list many times over: too long, and with names that are there already."""
    if isinstance(holder[key], list) and holder[key]:
        holder[key] = holder[key] * dice.one((2, 20, 400))
    else:
        _set_wrong(dice, holder, key)


_WAYS = (_set_wrong, _set_hostile, _append_hostile, _remove, _add_unknown, _repeat)
