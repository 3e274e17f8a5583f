"""A database that exists already, beside a pod: the Secret is all that leads to it."""

import json
from pathlib import Path

import pytest
from access.benchmarks import Benchmark
from access.documents import DRIVER_NODE, LOCAL_IMAGE, benchmark, on_node
from access.kubectl import Kubectl, Manifest, run, wait
from access.operator import Helm

RUN_SECONDS = 400
HOST, USER, PASSWORD, DATABASE = "existing", "proprietor", "correct-horse-42", "warehouse"
SECRET = {"host": HOST, "port": "5432", "username": USER, "password": PASSWORD, "dbname": DATABASE}
LABELS = {"app": HOST}
FOLDER, KEYS = "/data", "/tls"


def certify(folder: Path, name: str, *options: str) -> tuple[str, str]:
    """A certificate and its key, in PEM; also left in the folder."""
    certificate, key = folder / f"{name}.crt", folder / f"{name}.key"
    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    made = ("-keyout", key, "-out", certificate)
    common = ("-days", "2", "-config", "/dev/null", "-subj", f"/CN={name}")
    run(["openssl", "req", "-x509", *curve, *common, *options, *made])
    return certificate.read_text(), key.read_text()


def certificates(folder: Path) -> tuple[str, Manifest]:
    """Of an authority, and those that the server has of it."""
    authority, _ = certify(folder, "authority", "-addext", "basicConstraints=critical,CA:TRUE")
    by = ("-CA", str(folder / "authority.crt"), "-CAkey", str(folder / "authority.key"))
    name = ("-addext", "basicConstraints=CA:FALSE", "-addext", f"subjectAltName=DNS:{HOST}")
    certificate, key = certify(folder, "server", *by, *name)
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "server-tls"}}
    return authority, secret | {"stringData": {"tls.crt": certificate, "tls.key": key}}


def server() -> list[Manifest]:
    """PostgreSQL as somebody else runs it."""
    settings = {
        "listen_addresses": "*",
        "unix_socket_directories": FOLDER,
        "ssl": "on",
        "ssl_cert_file": f"{KEYS}/tls.crt",
        "ssl_key_file": f"{KEYS}/tls.key",
    }
    environment = {
        "POSTGRES_USER": USER,
        "POSTGRES_PASSWORD": PASSWORD,
        "POSTGRES_DB": DATABASE,
        "PGDATA": f"{FOLDER}/pgdata",
    }
    container = {
        "name": "postgres",
        "image": LOCAL_IMAGE,
        "args": [word for name, value in settings.items() for word in ("-c", f"{name}={value}")],
        "env": [{"name": name, "value": value} for name, value in environment.items()],
        "readinessProbe": {"exec": {"command": ["pg_isready", "-h", "127.0.0.1", "-U", USER]}},
        "volumeMounts": [
            {"name": "data", "mountPath": FOLDER},
            {"name": "tls", "mountPath": KEYS, "readOnly": True},
        ],
    }
    pod = {
        "securityContext": {"runAsUser": 999, "runAsGroup": 999, "fsGroup": 999},
        "containers": [container],
        "volumes": [
            {"name": "data", "emptyDir": {}},
            # A key that others may read is none to the server.
            {"name": "tls", "secret": {"secretName": "server-tls", "defaultMode": 0o440}},
        ],
        **on_node(DRIVER_NODE),
    }
    port = {"port": 5432, "targetPort": 5432}
    return [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": HOST, "labels": LABELS},
            "spec": pod,
        },
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": HOST},
            "spec": {"selector": LABELS, "ports": [port]},
        },
    ]


def rows(kubectl: Kubectl, sql: str) -> list[str]:
    """What the server answers."""
    psql = ["psql", "-h", FOLDER, "-U", USER, "-d", DATABASE, "-Atc", sql]
    return kubectl("exec", HOST, "--", *psql).splitlines()


@pytest.fixture(scope="module")
def measured(
    operator: Helm, module_namespace: Kubectl, tmp_path_factory: pytest.TempPathFactory
) -> Benchmark:
    """The benchmark after its success; at first it has no Secret."""
    kubectl = module_namespace
    authority, keys = certificates(tmp_path_factory.mktemp("certificates"))
    kubectl.apply(keys, *server())
    external = {"connection": {"secretRef": {"name": "existing"}}}
    targets = [{"name": "pod", "pod": {}}, {"name": "mine", "external": external}]
    # What disturbs the pod on a busy machine would be told of the whole, too.
    trials = {"min": 1, "contamination": {"maxSteal": "100%"}}
    kubectl.apply(benchmark("external", targets=targets, trials=trials))
    found = Benchmark(kubectl, "external")
    stalled = found.wait_until_stalled(limit=60)
    assert stalled["reason"] == "SecretNotFound"
    assert "spec.targets[1].external.connection.secretRef" in stalled["message"]
    kubectl("wait", "--for=condition=Ready", f"pod/{HOST}", "--timeout=100s")
    rows(kubectl, "CREATE TABLE subscriber (mine int); INSERT INTO subscriber VALUES (7)")
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "existing"}}
    tls = {"sslmode": "verify-full", "ca.crt": authority}
    kubectl.apply(secret | {"stringData": SECRET | tls})

    def succeeded() -> bool:
        return found.condition("Succeeded").get("status") == "True"

    # It stays Stalled until the operator looks again, and is not given up for that.
    wait("the benchmark succeeds", succeeded, limit=RUN_SECONDS, pause=1)
    return found


def test_it_is_compared_with_the_pod(measured: Benchmark) -> None:
    (comparison,) = [c for c in measured.status["comparisons"] if c["metric"] == "throughput"]
    assert comparison["target"] == "mine"
    assert float(comparison["targetValue"]) > 0


def test_what_is_not_known_of_it_is_said(measured: Benchmark) -> None:
    fairness = measured.condition("FairnessVerified")
    assert fairness["status"] == "False"
    assert "Not comparable" in fairness["message"]
    assert measured.condition("Representative")["status"] == "Unknown"
    (target,) = [t for t in measured.status["environment"]["targets"] if t["name"] == "mine"]
    assert target["runtime"] == "External"
    assert "PostgreSQL 15" in target["serverVersion"]


def test_the_way_to_it_is_encrypted_and_that_is_told(measured: Benchmark) -> None:
    found = {
        target["name"]: target["properties"]["TLS"]
        for target in measured.status["environment"]["targets"]
    }
    assert found == {"pod": "none", "mine": "TLSv1.3 TLS_AES_256_GCM_SHA384"}
    fairness = measured.condition("FairnessVerified")
    assert "TLS: none / mine TLSv1.3" in fairness["message"]


def test_its_own_tables_are_untouched_and_the_data_are_in_a_schema_apart(
    measured: Benchmark,
) -> None:
    assert rows(measured.kubectl, "SELECT mine FROM public.subscriber") == ["7"]
    (schema,) = rows(
        measured.kubectl, "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'dbbench_%'"
    )
    assert schema.endswith("_mine_telecom")
    assert rows(measured.kubectl, f'SELECT count(*) FROM "{schema}".subscriber') == ["100"]


def test_no_value_of_the_secret_is_in_what_the_benchmark_leaves(measured: Benchmark) -> None:
    left = json.dumps(
        [measured.body(), measured.records(), measured.records("loads"), measured.results()]
    )
    assert not [value for value in (USER, PASSWORD, DATABASE) if value in left]
