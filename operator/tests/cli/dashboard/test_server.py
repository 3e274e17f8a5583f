"""The dashboard over HTTP: what it serves, whom it refuses, and what it asks the cluster for."""

import asyncio
import signal
import subprocess
import sys

import pytest
from aiohttp import ClientSession
from click.testing import CliRunner

from dbbench.cli.dashboard.connection import Connection
from dbbench.cli.dashboard.server import Server, is_own_name
from dbbench.cli.main import cli
from dbbench.cli.where import Where

GROUP = "/apis/dbbench.io/v1alpha1"
LIST = f"{GROUP}/namespaces/db/dbbenchmarks"


@pytest.fixture
async def client():
    async with ClientSession() as session:
        yield session


async def get(client, url, **headers):
    async with client.get(url, headers=headers, allow_redirects=False) as answer:
        return answer.status, await answer.text(), answer.headers


async def test_the_first_page_has_all_benchmarks_by_how_they_stand(
    client, dashboard, put, every_state
):
    put(*every_state)
    status, text, _ = await get(client, dashboard)
    assert status == 200
    assert "1 running, 3 waiting, 2 ended" in text
    order = [text.index(f">{name}</a>") for name in
             ("running", "next", "queued", "new", "late", "early")]  # fmt: skip
    assert order == sorted(order)


async def test_a_benchmark_of_another_version_hides_no_other(client, dashboard, put, named):
    other = named("other")
    other["spec"] = {"database": {"engine": "Abacus"}}
    put(named("quick"), other)
    status, text, _ = await get(client, dashboard)
    assert status == 200
    assert ">quick</a>" in text
    assert "1 running, 1 not readable" in text
    assert "is of another version of dbbench: database.engine" in text.replace("spec.", "")
    status, text, _ = await get(client, f"{dashboard}benchmarks/db/other")
    assert status == 502
    assert "is of another version of dbbench" in text


async def test_results_are_those_of_the_report_command(client, dashboard, served, exported):
    for kind, key in (("md", "report.md"), ("csv", "summary.csv"), ("json", "summary.json")):
        status, text, headers = await get(client, f"{dashboard}benchmarks/db/quick/report.{kind}")
        assert (status, text) == (200, exported.published[key])
        assert headers["Content-Disposition"] == f'attachment; filename="quick.{kind}"'
    status, text, headers = await get(client, f"{dashboard}benchmarks/db/quick/report.html")
    assert status == 200
    assert "Content-Disposition" not in headers
    printed = await asyncio.to_thread(CliRunner().invoke, cli, ["report", "quick", "-o", "html"])
    assert text == printed.stdout


async def test_a_page_links_to_its_results_when_there_are_some(
    client, dashboard, served, put, named
):
    _, text, _ = await get(client, f"{dashboard}benchmarks/db/quick")
    assert text.count("/benchmarks/db/quick/report.") == 4
    put(named("quick"))
    _, text, _ = await get(client, f"{dashboard}benchmarks/db/quick")
    assert "report." not in text.replace("The report is", "")


async def test_a_benchmark_or_results_that_are_not_there(client, dashboard, put, named):
    put(named("quick"))
    status, text, _ = await get(client, f"{dashboard}benchmarks/db/slow")
    assert status == 404
    assert "there are: quick" in text
    status, text, _ = await get(client, f"{dashboard}benchmarks/db/quick/report.json")
    assert status == 404
    assert "has not begun" in text


async def test_nothing_can_be_changed_through_it(client, dashboard, api, put, named):
    put(named("quick"))
    page = f"{dashboard}benchmarks/db/quick"
    for url in (dashboard, page, f"{page}/report.json"):
        for method in ("POST", "PUT", "PATCH", "DELETE"):
            async with client.request(method, url) as answer:
                assert answer.status == 405
                assert answer.headers["Allow"] == "GET,HEAD"
    assert api.requested == []


@pytest.mark.parametrize(
    ("host", "own"),
    [
        ("127.0.0.1:8474", True), ("127.0.0.1", True), ("localhost:9", True), ("[::1]:8474", True),
        ("192.168.1.7:8474", True), ("rebound.example:8474", False), ("", False),
        ("localhost.rebound.example", False), ("127.0.0.1@rebound.example", False),
        ("127.0.0.1.rebound.example", False), ("[", False), ("[::1", False),
    ],
)  # fmt: skip
def test_names_that_somebody_could_rebind_are_not_its_own(host, own):
    assert is_own_name(host) is own


async def test_a_foreign_name_is_refused_and_the_cluster_not_asked(client, dashboard, api, put):
    put()
    status, text, _ = await get(client, dashboard, Host="rebound.example")
    assert status == 421
    assert "localhost" in text
    assert api.requested == []
    assert (await get(client, dashboard, Host="localhost:1"))[0] == 200


@pytest.mark.parametrize(
    "path", ["", "benchmarks/db/quick", "benchmarks/db/slow", "elsewhere",
             "benchmarks/db/quick/report.html", "benchmarks/db/quick/report.csv"]
)  # fmt: skip
async def test_no_other_origin_may_read_frame_or_sniff_an_answer(client, dashboard, served, path):
    _, _, headers = await get(client, f"{dashboard}{path}")
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cache-Control"] == "no-store"
    assert "Access-Control-Allow-Origin" not in headers
    if headers["Content-Type"].startswith("text/html"):
        policy = headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'")
        assert policy.endswith("frame-ancestors 'none'")
        scripts = [part for part in policy.split("; ") if part.startswith("script-src")]
        assert all(part.startswith("script-src 'sha256-") for part in scripts)


@pytest.mark.parametrize(
    "path",
    ["benchmarks/db/..%2F..%2Fsecrets%2Fs", "benchmarks/..%2Fkube-system/quick", "benchmarks/db/..",
     "benchmarks/db/quick%2Fstatus", "benchmarks/DB/Quick", "benchmarks/db/quick%3Fwatch=1"],
)  # fmt: skip
async def test_a_path_reaches_nothing_else_in_the_cluster(dashboard, api, path):
    # Written by hand: clients resolve dots themselves.
    host, port = dashboard.removeprefix("http://").strip("/").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(f"GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
    answer = await reader.read()
    writer.close()
    assert answer.startswith(b"HTTP/1.1 404")
    assert api.requested == []


async def test_other_namespaces_are_shown_when_asked_for_alone(client, dashboard, api, put, named):
    put(named("far", namespace="elsewhere"))
    status, text, _ = await get(client, f"{dashboard}benchmarks/elsewhere/far")
    assert status == 404
    assert "start one with -n elsewhere or -A" in text
    assert api.requested == []
    everywhere = Connection(Where(None, None, None), everywhere=True)
    async with everywhere as connection, Server(connection, "127.0.0.1", 0) as server:
        _, text, _ = await get(client, server.url)
        assert "Benchmarks in all namespaces of" in text
        status, _, _ = await get(client, f"{server.url}benchmarks/elsewhere/far")
        assert status == 200


@pytest.mark.parametrize(
    ("answer", "status", "expected"),
    [
        ((500, {"message": "etcd <is> gone"}), 503, "answered 500: etcd &lt;is&gt; gone"),
        ((403, {"message": "no right"}), 502, "kubectl auth can-i list dbbenchmarks.dbbench.io"),
    ],
)
async def test_a_failure_is_a_page_that_says_why(client, dashboard, api, answer, status, expected):
    api.answers[LIST] = [answer]
    found, text, headers = await get(client, dashboard)
    assert found == status
    assert expected in text
    assert ("Refresh" in headers) is (status == 503)


async def test_it_logs_in_again_when_its_credentials_have_expired(
    client, dashboard, api, put, named
):
    put(named("quick"))
    api.answers[LIST].insert(0, (401, {"message": "Unauthorized"}))
    status, text, _ = await get(client, dashboard)
    assert status == 200
    assert ">quick</a>" in text
    api.answers[LIST] = [(401, {"message": "Unauthorized"})]
    status, text, _ = await get(client, dashboard)
    assert status == 502
    assert "does not accept these credentials; log in again" in text


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_prints_where_it_is_and_ends_when_told_to(api, put, named, number):
    put(named("quick"))
    command = [sys.executable, "-m", "dbbench.cli.main", "dashboard", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        url = process.stdout.readline().strip()
        assert url.startswith("http://127.0.0.1:")
        status, text, _ = asyncio.run(fetched(url))
        process.send_signal(number)
        assert process.wait(60) == 0
    assert status == 200
    assert ">quick</a>" in text


async def fetched(url):
    async with ClientSession() as client:
        return await get(client, url)


async def test_a_port_that_is_taken_is_named_with_the_way_out(dashboard, put):
    put()
    port = dashboard.strip("/").rpartition(":")[2]
    command = ["dashboard", "--port", port]
    found = await asyncio.to_thread(CliRunner().invoke, cli, command)
    assert found.exit_code == 2
    assert f"cannot listen on 127.0.0.1, port {port}" in found.stderr
    assert "0 one that is free" in found.stderr


def test_it_does_not_start_where_no_cluster_answers(api):
    api.answers[LIST] = [(403, {"message": "no right"})]
    found = CliRunner().invoke(cli, ["dashboard", "--port", "0"])
    assert found.exit_code == 2
    assert found.stdout == ""
    assert "no right" in found.stderr


def test_an_address_is_an_address(api):
    found = CliRunner().invoke(cli, ["dashboard", "--address", "localhost"])
    assert found.exit_code == 2
    assert "'localhost' is no IP address" in found.stderr
